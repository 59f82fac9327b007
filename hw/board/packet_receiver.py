"""Packets of the host link, out of the bytes of a serial line that may be noisy."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from minmip.hw.board.protocol import HEADER_BYTES, MAX_PAYLOAD, SYNC, Status

__all__ = ["LENGTH", "PacketReceiver", "packet"]

LENGTH = unsigned(MAX_PAYLOAD.bit_length())
"""Bytes of a payload."""


def packet() -> data.StructLayout:
    """A packet that came: `status` DONE, or what is wrong with it; then the rest means nothing."""
    return data.StructLayout(
        {"status": unsigned(8), "sequence": unsigned(8), "code": unsigned(8), "length": LENGTH}
    )


class PacketReceiver(wiring.Component):
    """Find packets, check them, put their payload into a buffer.

    A packet is told of when its CRC is right. Of a broken one, what comes behind it is thrown away
    up to `gap_clocks` without a byte: then the host waits for a reply, and the next byte is the
    start of a packet. Half a packet is broken after that time too. At rest whatever is not SYNC is
    ignored. While a packet is at `o`, bytes are lost and the buffer stays as it is.

    Parameters
    ----------
    gap_clocks : int
        2 or more.

    Attributes
    ----------
    crc : amaranth.lib.crc.Processor
        The checker of packets.
    states, header, count, silence : Signal
        Inner values, for proofs; `states` has a bit for each of `STATES`.

    Members
    -------
    valid, data, broken : In
        A byte, as of `UartReceiver`.
    write_en, write_addr, write_data : Out
        The payload, to the buffer.
    o : Out(stream.Signature(packet()))
    """

    STATES = ("rest", "header", "length", "payload", "crc", "check", "drain", "tell")

    valid: Signal
    data: Signal
    broken: Signal
    write_en: Signal
    write_addr: Signal
    write_data: Signal
    o: stream.Interface

    def __init__(self, gap_clocks: int):
        if gap_clocks < 2:
            raise ValueError(f"gap_clocks must be 2 or more, not {gap_clocks}")
        self.gap_clocks = gap_clocks
        self.states = Signal(len(self.STATES))
        self.header = Signal(8 * HEADER_BYTES)
        self.count = Signal(LENGTH)  # bytes of this part of the packet so far
        self.silence = Signal(range(gap_clocks), init=gap_clocks - 1)  # counts down
        self.crc: Any = CRC32_ETHERNET().create()
        super().__init__(
            {
                "valid": In(1),
                "data": In(8),
                "broken": In(1),
                "write_en": Out(1),
                "write_addr": Out(LENGTH),
                "write_data": Out(8),
                "o": Out(stream.Signature(packet())),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = crc = self.crc
        found = self.o.payload
        header, count, silence = self.header, self.count, self.silence
        length = header[16:]
        reason = Signal(8)
        begin = Signal()
        m.d.comb += [
            crc.start.eq(begin),
            crc.valid.eq(self.valid & ~begin),
            crc.data.eq(self.data),
            self.write_addr.eq(count),
            self.write_data.eq(self.data),
            found.sequence.eq(header[:8]),
            found.code.eq(header[8:16]),
            found.length.eq(length),
            found.status.eq(reason),
        ]
        m.d.sync += silence.eq(silence - 1)
        with m.If(self.valid | (silence == 0)):
            m.d.sync += silence.eq(self.gap_clocks - 1)

        def listen(next_byte):
            """Wait for a byte in the middle of a packet."""
            with m.If(self.valid):
                m.d.sync += count.eq(count + 1)
                next_byte()
                with m.If(self.broken):
                    m.d.sync += reason.eq(Status.NOISE)
                    m.next = "drain"
            with m.Elif(silence == 0):
                m.d.sync += reason.eq(Status.SHORT)
                m.next = "tell"

        def header_byte():
            m.d.sync += header.eq(Cat(header[8:], self.data))
            with m.If(count == HEADER_BYTES - 1):
                m.d.sync += count.eq(0)
                m.next = "length"

        def payload_byte():
            m.d.comb += self.write_en.eq(1)
            with m.If(count == length - 1):
                m.d.sync += count.eq(0)
                m.next = "crc"

        def crc_byte():
            with m.If(count == 3):
                m.next = "check"

        with m.FSM() as fsm:
            m.d.comb += self.states.eq(Cat(fsm.ongoing(name) for name in self.STATES))
            with m.State("rest"):
                m.d.comb += begin.eq(1)
                m.d.sync += [count.eq(0), reason.eq(Status.DONE)]
                with m.If(self.valid & ~self.broken & (self.data == SYNC)):
                    m.next = "header"
            with m.State("header"):
                listen(header_byte)
            with m.State("length"):
                m.next = "payload"
                with m.If(length == 0):
                    m.next = "crc"
                with m.If(length > MAX_PAYLOAD):
                    m.d.sync += reason.eq(Status.LONG)
                    m.next = "drain"
            with m.State("payload"):
                listen(payload_byte)
            with m.State("crc"):
                listen(crc_byte)
            with m.State("check"):
                m.next = "tell"
                with m.If(~crc.match_detected):
                    m.d.sync += reason.eq(Status.CRC)
                    m.next = "drain"
            with m.State("drain"):
                with m.If(~self.valid & (silence == 0)):
                    m.next = "tell"
            with m.State("tell"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "rest"
        return m
