"""Whether a packet is carried out, answered again, or refused."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.packet_receiver import LENGTH, packet
from minmip.hw.board.packet_sender import reply
from minmip.hw.board.protocol import Command, Status

__all__ = ["RESET_CLOCKS", "Session"]

RESET_CLOCKS = 16
"""How long the unit is reset, and then left alone: its reset has registers on its way."""


class Session(wiring.Component):
    """Carry out each request once, in order; send the last reply again when it is asked for.

    A `hello` opens the session: it resets the unit, and its sequence number is the first. After
    that a request is carried out when it has the next number. The number of the last one again
    means that its reply was lost: the reply is sent once more, nothing is done. Everything else is
    refused: the refusal has the number that would be taken.

    A request that takes more than `patience_clocks` ends as STUCK: the unit is reset, the session
    is closed.

    Parameters
    ----------
    patience_clocks : int
        Clocks that a request may take.

    Attributes
    ----------
    states, patience, following, kept : Signal
        Inner values, for proofs; `states` has a bit for each of `STATES`.

    Members
    -------
    i : In(stream.Signature(packet()))
        Taken when its reply was sent.
    start : Out(1)
        Carry out the request at `i`, for one clock.
    done : In(1)
        It was carried out; `status` says how, `reply_length` bytes are in the reply's buffer.
    status, reply_length : In
    rewind : Out(1)
        The reply's buffer is sent from its first byte on.
    reset : Out(1)
        Reset the unit and whatever carries out requests. Also after power-up.
    o : Out(stream.Signature(reply()))
    is_open : Out(1)
    busy : Out(1)
        A request is carried out.
    """

    STATES = ("rest", "reset", "release", "start", "wait", "keep", "reply", "send")

    i: stream.Interface
    start: Signal
    done: Signal
    status: Signal
    reply_length: Signal
    rewind: Signal
    reset: Signal
    o: stream.Interface
    is_open: Signal
    busy: Signal

    def __init__(self, patience_clocks: int):
        if patience_clocks < 1:
            raise ValueError(f"patience_clocks must be 1 or more, not {patience_clocks}")
        self.patience_clocks = patience_clocks
        self.states = Signal(len(self.STATES))
        self.patience = Signal(range(max(patience_clocks, RESET_CLOCKS) + 1))
        self.following = Signal(8)  # sequence number of the next request
        self.kept = Signal(reply())  # header of the last reply
        super().__init__(
            {
                "i": In(stream.Signature(packet())),
                "start": Out(1),
                "done": In(1),
                "status": In(8),
                "reply_length": In(LENGTH),
                "rewind": Out(1),
                "reset": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "o": Out(stream.Signature(reply())),
                "is_open": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        request, answer = self.i.payload, self.o.payload
        patience, following, kept = self.patience, self.following, self.kept
        last = Signal(8)
        m.d.comb += last.eq(following - 1)
        m.d.sync += self.reset.eq(0)

        def refuse(status):
            m.d.sync += [
                answer.sequence.eq(following),
                answer.status.eq(status),
                answer.length.eq(0),
            ]
            m.next = "reply"

        with m.FSM() as fsm:
            m.d.comb += self.states.eq(Cat(fsm.ongoing(name) for name in self.STATES))
            with m.State("rest"):
                m.d.sync += patience.eq(RESET_CLOCKS - 1)
                with m.If(self.i.valid):
                    with m.If(request.status != Status.DONE):
                        refuse(request.status)
                    with m.Elif(request.code == Command.HELLO):
                        m.next = "reset"
                    with m.Elif(~self.is_open):
                        refuse(Status.CLOSED)
                    with m.Elif(request.sequence == following):
                        m.next = "start"
                    with m.Elif(request.sequence == last):
                        m.d.sync += answer.eq(kept)
                        m.next = "reply"
                    with m.Else():
                        refuse(Status.SEQUENCE)
            with m.State("reset"):
                m.d.sync += [self.reset.eq(1), self.is_open.eq(1), patience.eq(patience - 1)]
                with m.If(patience == 0):
                    m.d.sync += patience.eq(RESET_CLOCKS - 1)
                    m.next = "release"
            with m.State("release"):
                m.d.sync += patience.eq(patience - 1)
                with m.If(patience == 0):
                    m.next = "start"
            with m.State("start"):
                m.d.comb += self.start.eq(1)
                m.d.sync += patience.eq(self.patience_clocks)
                m.next = "wait"
            with m.State("wait"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += patience.eq(patience - 1)
                stuck = patience == 0
                with m.If(self.done | stuck):
                    m.d.sync += [
                        answer.sequence.eq(request.sequence),
                        answer.status.eq(Mux(self.done, self.status, Status.STUCK)),
                        answer.length.eq(Mux(self.done, self.reply_length, 0)),
                        following.eq(request.sequence + 1),
                    ]
                    m.next = "keep"
                    with m.If(~self.done):
                        m.d.sync += [self.is_open.eq(0), self.reset.eq(1)]
            with m.State("keep"):
                m.d.sync += kept.eq(answer)
                m.next = "reply"
            with m.State("reply"):
                m.d.comb += self.rewind.eq(1)
                m.next = "send"
            with m.State("send"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.d.comb += self.i.ready.eq(1)
                    m.next = "rest"
        return m
