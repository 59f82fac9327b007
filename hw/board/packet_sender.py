"""Packets of the host link, from a buffer to the serial line."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from minmip.hw.board.packet_receiver import LENGTH
from minmip.hw.board.protocol import HEADER_BYTES, SYNC

__all__ = ["PacketSender", "reply"]


def reply() -> data.StructLayout:
    """Header of a packet whose payload is in the buffer."""
    return data.StructLayout({"sequence": unsigned(8), "status": unsigned(8), "length": LENGTH})


class PacketSender(wiring.Component):
    """Send SYNC, header, payload and CRC.

    Attributes
    ----------
    crc : amaranth.lib.crc.Processor
        What makes the CRC.
    states, short, count : Signal
        Inner values, for proofs; `states` has a bit for each of `STATES`.

    Members
    -------
    i : In(stream.Signature(reply()))
        Taken when its last byte has gone to `o`; until then the buffer must stay as it is.
    i_payload : In(stream.Signature(8))
        The bytes of the buffer, from the first on.
    o : Out(stream.Signature(8))
    """

    STATES = ("rest", "header", "payload", "crc")

    i: stream.Interface
    i_payload: stream.Interface
    o: stream.Interface

    def __init__(self):
        self.crc: Any = CRC32_ETHERNET().create()
        self.states = Signal(len(self.STATES))
        self.short = Signal(32)  # header or CRC, shifted out
        self.count = Signal(LENGTH)
        super().__init__(
            {
                "i": In(stream.Signature(reply())),
                "i_payload": In(stream.Signature(unsigned(8))),
                "o": Out(stream.Signature(unsigned(8))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = crc = self.crc
        header = self.i.payload
        short, count = self.short, self.count
        moves = Signal()
        m.d.comb += [
            moves.eq(self.o.valid & self.o.ready),
            crc.data.eq(self.o.payload),
        ]
        with m.FSM() as fsm:
            m.d.comb += self.states.eq(Cat(fsm.ongoing(name) for name in self.STATES))
            with m.State("rest"):
                m.d.comb += [
                    self.o.valid.eq(self.i.valid),
                    self.o.payload.eq(SYNC),
                    crc.start.eq(1),
                ]
                m.d.sync += [
                    short.eq(Cat(header.sequence, header.status, header.length)),
                    count.eq(0),
                ]
                with m.If(moves):
                    m.next = "header"
            with m.State("header"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(short), crc.valid.eq(moves)]
                with m.If(moves):
                    m.d.sync += [short.eq(short >> 8), count.eq(count + 1)]
                    with m.If(count == HEADER_BYTES - 1):
                        m.d.sync += count.eq(0)
                        m.next = "payload"
            with m.State("payload"):
                with m.If(count == header.length):
                    m.d.sync += [short.eq(crc.crc), count.eq(0)]
                    m.next = "crc"
                with m.Else():
                    m.d.comb += [
                        self.o.valid.eq(self.i_payload.valid),
                        self.o.payload.eq(self.i_payload.payload),
                        self.i_payload.ready.eq(self.o.ready),
                        crc.valid.eq(moves),
                    ]
                    with m.If(moves):
                        m.d.sync += count.eq(count + 1)
            with m.State("crc"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(short)]
                with m.If(moves):
                    m.d.sync += [short.eq(short >> 8), count.eq(count + 1)]
                    with m.If(count == 3):
                        m.d.comb += self.i.ready.eq(1)
                        m.next = "rest"
        return m
