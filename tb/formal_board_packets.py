"""Proofs of the packets of the host link: what is received and what is sent (`docs/board.md`)."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from kit.formal import Proof, Spec, StreamContract, contract_proofs

from minmip.hw.board.packet_receiver import PacketReceiver
from minmip.hw.board.packet_sender import PacketSender
from minmip.hw.board.protocol import MAX_PAYLOAD, SYNC, Status

__all__ = ["proofs"]

MATCH = 0x5A
"""Sum of a whole packet."""
GAP = 3
"""Clocks of silence: the receiver's rules are those of any number."""


class Checksum(wiring.Component):
    """Stands in for the CRC of Amaranth, with its members: a sum that any byte changes.

    The blocks know nothing of what is inside; the simulations have the true one.
    """

    def __init__(self):
        self.sum = Signal(8)
        super().__init__(
            {
                "start": In(1),
                "data": In(8),
                "valid": In(1),
                "crc": Out(32),
                "match_detected": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        with m.If(self.start):
            m.d.sync += self.sum.eq(0)
        with m.If(self.valid):
            m.d.sync += self.sum.eq(added(Mux(self.start, 0, self.sum), self.data))
        m.d.comb += [self.crc.eq(self.sum), self.match_detected.eq(self.sum == MATCH)]
        return m


def added(sum_, byte):
    """Add a byte; another order of bytes gives another sum."""
    return (sum_.rotate_left(1) ^ byte)[:8]


class ReceivedPackets(Spec):
    """What is told as whole has SYNC, header, `length` bytes and their CRC-32, without a pause.

    A monitor that knows the format, and nothing of the block, reads the same bytes.
    """

    IDLE, HEADER, PAYLOAD, CRC, OVER = range(5)

    def __init__(self):
        super().__init__(receiver())
        self.watch = self.free(11, "watch")

    def properties(self, m: Module) -> None:
        block = self.block
        found, byte = block.o.payload, block.data
        told = block.o.valid & block.o.ready
        after = Signal()  # a serial line brings no two bytes in a row
        m.d.sync += after.eq(block.valid)
        m.d.comb += Assume(~(block.valid & after))

        phase, count, good = Signal(3), Signal(12), Signal()
        header, crc = Signal(32), Signal(8)
        quiet = Signal(range(GAP + 1))  # clocks since the last byte, GAP or more are one
        place, value, cell = Signal(11), Signal(8), Signal(8)  # one byte of the payload is watched
        m.d.sync += quiet.eq(Mux(quiet == GAP, GAP, quiet + 1))
        inside = (phase == self.HEADER) | (phase == self.PAYLOAD) | (phase == self.CRC)
        with m.If(phase == self.IDLE):
            m.d.sync += [place.eq(self.watch), good.eq(0), count.eq(0), crc.eq(0)]
        with m.If(block.valid):
            m.d.sync += quiet.eq(0)
            with m.If((phase == self.IDLE) & (byte == SYNC) & ~block.broken & ~block.o.valid):
                m.d.sync += phase.eq(self.HEADER)
            with m.If(inside):
                m.d.sync += [crc.eq(added(crc, byte)), count.eq(count + 1)]
            with m.If(phase == self.HEADER):
                whole = Cat(header[8:], byte)
                m.d.sync += header.eq(whole)
                with m.If(count == 3):
                    length = whole[16:]
                    m.d.sync += [
                        phase.eq(Mux(length == 0, self.CRC, self.PAYLOAD)),
                        count.eq(0),
                    ]
                    with m.If(length > MAX_PAYLOAD):
                        m.d.sync += phase.eq(self.OVER)
            with m.If(phase == self.PAYLOAD):
                with m.If(count == place):
                    m.d.sync += value.eq(byte)
                with m.If(count + 1 == header[16:]):
                    m.d.sync += [phase.eq(self.CRC), count.eq(0)]
            with m.If(phase == self.CRC):
                with m.If(count == 3):
                    m.d.sync += [phase.eq(self.OVER), good.eq(added(crc, byte) == MATCH)]
            with m.If(inside & block.broken):
                m.d.sync += [phase.eq(self.OVER), good.eq(0)]
        with m.Elif(inside & (quiet == GAP - 1)):
            m.d.sync += phase.eq(self.OVER)
        with m.If(told):
            m.d.sync += phase.eq(self.IDLE)
        with m.If(block.write_en & (block.write_addr == place)):
            m.d.sync += cell.eq(block.write_data)

        # The rule.
        done = found.status == Status.DONE
        with m.If(block.o.valid):
            m.d.comb += [Assert(phase == self.OVER), Assert(done == good)]
        with m.If(block.o.valid & done):
            m.d.comb += [
                Assert(Cat(found.sequence, found.code, found.length) == header[:27]),
                Assert(header[16:] <= MAX_PAYLOAD),
                Assert((place >= found.length) | (cell == value)),
            ]
        # It does not hang: after GAP clocks without a byte it waits for SYNC, or has news.
        state = {name: block.states[n] for n, name in enumerate(block.STATES)}
        m.d.comb += Assert((quiet != GAP) | state["rest"] | state["tell"])
        self._invariants(m, state, phase, count, good, header, crc, quiet)
        with m.If(state["payload"] | state["crc"] | state["check"] | (state["tell"] & good)):
            kept = (place < count) | ~state["payload"]
            m.d.comb += Assert((place >= header[16:]) | ~kept | (cell == value))

    def _invariants(self, m, state, phase, count, good, header, crc, quiet):
        """What block and monitor have in common in every state."""
        block = self.block
        length = header[16:]
        m.d.comb += [
            Assert(Cat(state.values()).any()),
            Assert((quiet == GAP) | (block.silence == GAP - 1 - quiet)),
            Assert(~state["rest"] | (phase == self.IDLE)),
            Assert(block.header == header),
        ]
        with m.If(state["header"]):
            m.d.comb += [Assert(phase == self.HEADER), Assert(count < 4)]
        with m.If(state["length"]):
            long = length > MAX_PAYLOAD
            wanted = Mux(long, self.OVER, Mux(length == 0, self.CRC, self.PAYLOAD))
            m.d.comb += [Assert(phase == wanted), Assert(count == 0), Assert(quiet == 0)]
        with m.If(state["payload"]):
            m.d.comb += [Assert(phase == self.PAYLOAD), Assert(count < length)]
            m.d.comb += Assert(length <= MAX_PAYLOAD)
        with m.If(state["crc"]):
            m.d.comb += [Assert(phase == self.CRC), Assert(count < 4)]
        with m.If(state["check"]):
            m.d.comb += [Assert(phase == self.OVER), Assert(quiet == 0)]
            m.d.comb += [Assert(good == (crc == MATCH)), Assert(block.crc.sum == crc)]
        with m.If(state["header"] | state["length"] | state["payload"] | state["crc"]):
            m.d.comb += [Assert(block.count == count), Assert(~good), Assert(block.crc.sum == crc)]
            m.d.comb += Assert(block.o.payload.status == Status.DONE)
        with m.If(state["payload"] | state["crc"] | state["check"]):
            m.d.comb += Assert(length <= MAX_PAYLOAD)
        with m.If(state["check"]):
            m.d.comb += Assert(block.o.payload.status == Status.DONE)
        with m.If(state["drain"]):
            m.d.comb += [Assert(phase == self.OVER), Assert(~good)]
            m.d.comb += Assert(block.o.payload.status != Status.DONE)
        with m.If(state["tell"]):
            m.d.comb += Assert(phase == self.OVER)


class SentPackets(StreamContract):
    """What is sent is SYNC, header, `length` bytes in their order, and the CRC of all but SYNC."""

    IDLE, HEADER, PAYLOAD, CRC = range(4)

    def __init__(self):
        super().__init__(sender())

    def properties(self, m: Module) -> None:
        super().properties(m)
        block = self.block
        i, bytes_, o = block.i, block.i_payload, block.o
        header = Cat(i.payload.sequence, i.payload.status, i.payload.length, Const(0, 5))
        phase, count, total = Signal(2), Signal(12), Signal(8)
        moves = o.valid & o.ready
        state = {name: block.states[n] for n, name in enumerate(block.STATES)}
        after_header = Mux(i.payload.length == 0, self.CRC, self.PAYLOAD)
        last, following, wanted = Signal(), Signal(2), Signal(8)
        with m.Switch(phase):
            with m.Case(self.IDLE):
                m.d.comb += [wanted.eq(SYNC), last.eq(1), following.eq(self.HEADER)]
            with m.Case(self.HEADER):
                m.d.comb += [wanted.eq(header.word_select(count[:2], 8)), last.eq(count == 3)]
                m.d.comb += following.eq(after_header)
            with m.Case(self.PAYLOAD):
                m.d.comb += [wanted.eq(bytes_.payload), last.eq(count + 1 == i.payload.length)]
                m.d.comb += [following.eq(self.CRC), Assert(~o.valid | bytes_.valid)]
            with m.Case(self.CRC):
                m.d.comb += [wanted.eq(Cat(total, Const(0, 24)).word_select(count[:2], 8))]
                m.d.comb += [last.eq(count == 3), following.eq(self.IDLE)]
        with m.If(moves):
            m.d.sync += [count.eq(Mux(last, 0, count + 1)), phase.eq(Mux(last, following, phase))]
            with m.If((phase == self.HEADER) | (phase == self.PAYLOAD)):
                m.d.sync += total.eq(added(total, o.payload))
            with m.If((phase == self.CRC) & last):
                m.d.sync += total.eq(0)
        over = moves & last & (phase == self.CRC)
        taken = bytes_.valid & bytes_.ready
        m.d.comb += [
            *(Assert(~o.valid | (o.payload == wanted)), Assert(~o.valid | i.valid)),
            Assert((i.valid & i.ready) == over),
            Assert(taken == (moves & (phase == self.PAYLOAD))),
        ]

        # What block and monitor have in common; `payload` lasts a clock longer than the bytes.
        m.d.comb += [
            Assert(Cat(state.values()).any()),
            Assert(state["rest"] == (phase == self.IDLE)),
        ]
        m.d.comb += [
            Assert(state["rest"] | i.valid),
            Assert(state["rest"] | (block.crc.sum == total)),
        ]
        m.d.comb += Assert(~state["rest"] | (total == 0) & (count == 0))
        rest = Signal(32)
        m.d.comb += rest.eq(block.short)
        with m.If(state["header"]):
            m.d.comb += [
                Assert(phase == self.HEADER),
                Assert(block.count == count),
                Assert(count < 4),
            ]
            m.d.comb += Assert(rest == header >> (count[:2] << 3))
        with m.If(state["payload"]):
            done = block.count == i.payload.length
            m.d.comb += Assert(phase == Mux(done, self.CRC, self.PAYLOAD))
            m.d.comb += Assert(Mux(done, count == 0, block.count == count))
            m.d.comb += Assert(block.count <= i.payload.length)
        with m.If(state["crc"]):
            m.d.comb += [Assert(phase == self.CRC), Assert(block.count == count), Assert(count < 4)]
            m.d.comb += Assert(rest == Cat(total, Const(0, 24)) >> (count[:2] << 3))


def sender() -> PacketSender:
    block = PacketSender()
    block.crc = Checksum()
    return block


def receiver() -> PacketReceiver:
    block = PacketReceiver(GAP)
    block.crc = Checksum()
    return block


def proofs() -> list[Proof]:
    return [
        *contract_proofs("packet_receiver", lambda: StreamContract(receiver()), cover=8),
        Proof(
            block="packet_receiver",
            name="packets",
            says="what is told as whole is whole; after a silence the next packet is waited for",
            make=ReceivedPackets,
        ),
        # The contract needs what else is known of the block: one proof of both.
        Proof(
            block="packet_sender",
            name="packets",
            says="SYNC, header, bytes and CRC are sent in their order, each until it is taken",
            make=SentPackets,
        ),
        contract_proofs("packet_sender", lambda: StreamContract(sender()), cover=4)[1],
    ]
