"""Proofs of the session: which packets are carried out, and that each is answered."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal
from kit.formal import Proof, Spec, StreamContract, contract_proofs

from minmip.hw.board.protocol import Command, Status
from minmip.hw.board.session import RESET_CLOCKS, Session

__all__ = ["proofs"]


class SessionRules(Spec):
    """Each packet has one reply; a whole one with the next number in a session is done, once.

    What is told of a broken packet, one of no session or of another number starts nothing; the
    reply that comes again is the last one. A reset is long, and long over when work starts. The
    time from packet to reply is bounded.
    """

    PATIENCE = 5
    SETTLED = RESET_CLOCKS - 2
    BOUND = 2 * RESET_CLOCKS + PATIENCE + 8

    def __init__(self):
        super().__init__(Session(self.PATIENCE))

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        block = self.block
        i, o = block.i, block.o
        state = {name: block.states[n] for n, name in enumerate(block.STATES)}
        hello = i.payload.code == Command.HELLO
        whole = i.payload.status == Status.DONE
        m.d.comb += [
            Assume(o.ready),  # the sender takes its time; that is no wait of the session
            Assume(~block.done | (block.status != Status.STUCK)),  # only a session says that
        ]

        started, over, status, length = Signal(), Signal(), Signal(8), Signal(11)
        following, is_open = Signal(8), Signal()
        before = Signal.like(o.payload)  # the last reply of a request that was started
        since = Signal(range(RESET_CLOCKS + 1))  # clocks since the reset, and of it
        held = Signal(range(RESET_CLOCKS + 1))
        age = Signal(range(self.BOUND + 2))
        last = (following - 1)[:8]
        with m.If(block.reset):
            m.d.sync += [since.eq(0), held.eq(Mux(since == 0, held + (held != RESET_CLOCKS), 1))]
        with m.Elif(since != RESET_CLOCKS):
            m.d.sync += since.eq(since + 1)
        m.d.sync += age.eq(Mux(i.valid & ~i.ready, age + 1, 0))
        with m.If(block.start):
            m.d.sync += started.eq(1)
        with m.If(started & ~over & (block.done | (block.patience == 0))):
            m.d.sync += [
                *(over.eq(1), status.eq(Mux(block.done, block.status, Status.STUCK))),
                length.eq(Mux(block.done, block.reply_length, 0)),
            ]
        with m.If(i.valid & i.ready):
            m.d.sync += [started.eq(0), over.eq(0)]
            with m.If(started):
                m.d.sync += [following.eq(i.payload.sequence + 1), before.eq(o.payload)]
                m.d.sync += is_open.eq(status != Status.STUCK)

        in_turn = is_open & (i.payload.sequence == following)
        with m.If(block.start):
            m.d.comb += [
                Assert(i.valid & whole & (hello | in_turn)),
                Assert(~started & (since >= self.SETTLED)),
                Assert(~hello | (held >= RESET_CLOCKS)),
            ]
        m.d.comb += [Assert((i.valid & i.ready) == (o.valid & o.ready)), Assert(age <= self.BOUND)]
        wrong = Mux(is_open, Status.SEQUENCE, Status.CLOSED)
        again = is_open & whole & (i.payload.sequence == last)
        reply = o.payload
        right = Signal()
        with m.If(started):
            done = (reply.status == status) & (reply.length == length)
            m.d.comb += right.eq(done & (reply.sequence == i.payload.sequence))
        with m.Elif(again):
            m.d.comb += right.eq((reply == before) & ~hello)
        with m.Else():
            refusal = reply.status == Mux(whole, wrong, i.payload.status)
            m.d.comb += right.eq(refusal & (reply.sequence == following) & (reply.length == 0))
        m.d.comb += Assert(~o.valid | right)

        # What block and monitor have in common in every state.
        resets = state["reset"] | state["release"]
        left, p = Signal(range(-1, self.BOUND + 1)), block.patience
        m.d.comb += [
            Assert(Cat(state.values()).any()),
            Assert(block.following == Mux(over, (i.payload.sequence + 1)[:8], following)),
            Assert(started == (state["wait"] | over)),
            Assert(~over | state["keep"] | state["reply"] | state["send"]),
            Assert(~is_open | (block.kept == before) | over),
            Assert(state["rest"] | i.valid),
            Assert(~block.is_open | resets | ((since >= self.SETTLED) & ~block.reset)),
            Assert(over | resets | state["start"] | state["wait"] | (block.is_open == is_open)),
            Assert(age + left <= self.BOUND),
            *(Assert(held <= RESET_CLOCKS), Assert(since <= RESET_CLOCKS)),
        ]
        with m.If(state["rest"]):
            m.d.comb += [Assert(~started), Assert(~over), Assert(age == 0), left.eq(self.BOUND)]
        with m.If(state["reset"]):
            m.d.comb += [Assert(whole & hello), Assert(p < RESET_CLOCKS)]
            m.d.comb += left.eq(p + RESET_CLOCKS + self.PATIENCE + 6)
            with m.If(p < RESET_CLOCKS - 1):
                m.d.comb += [Assert(block.reset), Assert(held + p >= RESET_CLOCKS - 2)]
                m.d.comb += [Assert(block.is_open), Assert((p == RESET_CLOCKS - 2) | (since == 0))]
        with m.If(state["release"]):
            m.d.comb += [Assert(whole & hello), Assert(p < RESET_CLOCKS), Assert(block.is_open)]
            m.d.comb += left.eq(p + self.PATIENCE + 5)
            with m.If(p == RESET_CLOCKS - 1):
                m.d.comb += [Assert(block.reset), Assert(since == 0), Assert(held >= 15)]
            with m.Else():
                m.d.comb += [Assert(since + p == self.SETTLED), Assert(held == RESET_CLOCKS)]
                m.d.comb += Assert(~block.reset)
        with m.If(state["start"]):
            m.d.comb += [Assert(block.is_open), Assert(whole & (hello | in_turn))]
            m.d.comb += [left.eq(self.PATIENCE + 4), Assert(~hello | (held == RESET_CLOCKS))]
        with m.If(state["wait"]):
            m.d.comb += [Assert(block.is_open), Assert(p <= self.PATIENCE), left.eq(p + 3)]
            m.d.comb += Assert(~over)
        with m.If(state["keep"]):
            m.d.comb += [Assert(over), left.eq(2)]
        with m.If(state["reply"] | state["send"]):
            m.d.comb += [Assert(~over | (block.kept == o.payload)), left.eq(state["reply"])]
        with m.If(state["keep"] | state["reply"] | state["send"]):
            m.d.comb += Assert(right)
        with m.If(over):
            m.d.comb += Assert(block.is_open == (status != Status.STUCK))


def proofs() -> list[Proof]:
    return [
        *contract_proofs("session", lambda: StreamContract(Session(5)), cover=6),
        Proof(
            block="session",
            name="rules",
            says="one reply to a packet in bounded time; what is next in a session is done, once",
            make=SessionRules,
        ),
    ]
