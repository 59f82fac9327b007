"""The host link: requests out of a serial line, their replies back. Wiring only."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.board.byte_reader import ByteReader
from minmip.hw.board.config import BoardConfig
from minmip.hw.board.packet_receiver import LENGTH, PacketReceiver
from minmip.hw.board.packet_sender import PacketSender
from minmip.hw.board.protocol import MAX_PAYLOAD
from minmip.hw.board.session import Session
from minmip.hw.board.uart import UartReceiver, UartTransmitter
from minmip.hw.vendor.parts import BlockRam

__all__ = ["HostLink"]


class HostLink(wiring.Component):
    """Serial line, packets and session; one request at a time (`docs/board.md`).

    Parameters
    ----------
    cfg : BoardConfig
        Clock and times.

    Members
    -------
    rx : In(1)
        Serial line from the host, not in step with the clock.
    tx : Out(1)
        Serial line to the host.
    start : Out(1)
        A request begins, for one clock.
    code, length : Out
        Of the request, until `done`.
    o_payload : Out(stream.Signature(8))
        Its payload.
    empty : Out(1)
        All of it was taken.
    i_payload : In(stream.Signature(8))
        Payload of the reply, MAX_PAYLOAD bytes at most; always ready.
    done : In(1)
        The request is carried out, and its reply whole.
    status : In(8)
        With `done`.
    reset : Out(1)
        Reset whatever carries out requests.
    is_open, busy : Out(1)
        There is a session; a request is carried out.
    refused : Out(1)
        The last reply was not DONE.
    """

    rx: Signal
    tx: Signal
    start: Signal
    code: Signal
    length: Signal
    o_payload: stream.Interface
    empty: Signal
    i_payload: stream.Interface
    done: Signal
    status: Signal
    reset: Signal
    is_open: Signal
    busy: Signal
    refused: Signal

    def __init__(self, cfg: BoardConfig):
        self.cfg = cfg
        super().__init__(
            {
                "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
                "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "start": Out(1),
                "code": Out(8),
                "length": Out(LENGTH),
                "o_payload": Out(stream.Signature(unsigned(8))),
                "empty": Out(1),
                "i_payload": In(stream.Signature(unsigned(8))),
                "done": In(1),
                "status": In(8),
                "reset": Out(1),
                "is_open": Out(1),
                "busy": Out(1),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        line = {"clock_hz": self.cfg.clock_hz, "baud": self.cfg.baud}
        m.submodules.uart_receiver = uart_receiver = UartReceiver(**line)
        m.submodules.uart_transmitter = uart_transmitter = UartTransmitter(**line)
        m.submodules.receiver = receiver = PacketReceiver(self.cfg.gap_clocks)
        m.submodules.sender = sender = PacketSender()
        m.submodules.session = session = Session(self.cfg.patience_clocks)
        m.submodules.request = request = BlockRam(unsigned(8), MAX_PAYLOAD + 1)
        m.submodules.reply = reply = BlockRam(unsigned(8), MAX_PAYLOAD + 1)
        m.submodules.request_bytes = request_bytes = ByteReader()
        m.submodules.reply_bytes = reply_bytes = ByteReader()
        written = Signal(LENGTH)  # bytes of the reply

        for source, sink in (
            (receiver.o, session.i),
            (session.o, sender.i),
            (reply_bytes.o, sender.i_payload),
            (sender.o, uart_transmitter.i),
            (request_bytes.o, wiring.flipped(self.o_payload)),
        ):
            wiring.connect(m, source, sink)
        m.d.comb += [
            uart_receiver.rx.eq(self.rx),
            self.tx.eq(uart_transmitter.tx),
            receiver.valid.eq(uart_receiver.valid),
            receiver.data.eq(uart_receiver.data),
            receiver.broken.eq(uart_receiver.broken),
            request.write_en.eq(receiver.write_en),
            request.write_addr.eq(receiver.write_addr),
            request.write_data.eq(receiver.write_data),
            request.read_addr.eq(request_bytes.address),
            request_bytes.data.eq(request.read_data),
            request_bytes.start.eq(session.start),
            request_bytes.length.eq(session.i.payload.length),
            self.start.eq(session.start),
            self.code.eq(session.i.payload.code),
            self.length.eq(session.i.payload.length),
            self.empty.eq(request_bytes.empty),
            session.done.eq(self.done),
            session.status.eq(self.status),
            session.reply_length.eq(written),
            self.i_payload.ready.eq(1),
            reply.write_en.eq(self.i_payload.valid),
            reply.write_addr.eq(written),
            reply.write_data.eq(self.i_payload.payload),
            reply.read_addr.eq(reply_bytes.address),
            reply_bytes.data.eq(reply.read_data),
            reply_bytes.start.eq(session.rewind),
            reply_bytes.length.eq(session.o.payload.length),
            self.reset.eq(session.reset),
            self.is_open.eq(session.is_open),
            self.busy.eq(session.busy),
        ]
        with m.If(session.start):
            m.d.sync += written.eq(0)
        with m.Elif(self.i_payload.valid):
            m.d.sync += written.eq(written + 1)
        with m.If(session.o.valid):
            m.d.sync += self.refused.eq(session.o.payload.status != 0)
        return m
