"""Serial line: 8 data bits, no parity, one stop bit, any rate up to a quarter of the clock.

A phase counts fractions of a bit, so that the clock need not be a multiple of the rate.
"""

from amaranth.hdl import Cat, Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["UartReceiver", "UartTransmitter"]

_PHASE_BITS = 20
"""The rate is right to a millionth of the clock."""


def _step(clock_hz: int, baud: int) -> int:
    """What the phase advances in a clock."""
    if not 0 < 4 * baud <= clock_hz:
        raise ValueError(
            f"baud must be at most a quarter of the clock of {clock_hz} Hz, not {baud}"
        )
    return round((baud << _PHASE_BITS) / clock_hz)


class UartReceiver(wiring.Component):
    """Bytes of a serial line. They do not wait: one that is not taken in its clock is lost.

    A start bit that is gone in its middle is no start bit. A byte without a stop bit comes with
    `broken`, and the next start bit is looked for when the line is high again.

    Parameters
    ----------
    clock_hz, baud : int
        Clock of the domain and bits per second.

    Attributes
    ----------
    resting : Signal
        No byte has begun; for proofs.

    Members
    -------
    rx : In(1)
        The line, not yet in step with the clock; high at rest.
    valid : Out(1)
        A byte is there, for one clock.
    data : Out(8)
    broken : Out(1)
        With `valid`: it had no stop bit.
    """

    rx: Signal
    valid: Signal
    data: Signal
    broken: Signal

    def __init__(self, *, clock_hz: int, baud: int):
        self.step = _step(clock_hz, baud)
        self.resting = Signal()
        super().__init__(
            {
                "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
                "valid": Out(1),
                "data": Out(8),
                "broken": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        line = Signal(init=1)
        m.submodules.step = FFSynchronizer(self.rx, line, init=1)
        phase, middle = Signal(_PHASE_BITS), Signal()
        bits = Signal(range(9))
        m.d.sync += [Cat(phase, middle).eq(phase + self.step), self.valid.eq(0)]
        with m.FSM() as fsm:
            m.d.comb += self.resting.eq(fsm.ongoing("rest"))
            with m.State("rest"):
                # From the edge to the middle of the start bit it is half a bit, less the half clock
                # that the edge is seen late, and the clock in which `middle` follows the phase.
                late = 3 * self.step // 2
                m.d.sync += [Cat(phase, middle).eq((1 << _PHASE_BITS - 1) + late), bits.eq(0)]
                with m.If(~line):
                    m.next = "start"
            with m.State("start"):
                with m.If(middle):
                    m.next = "data"
                    with m.If(line):
                        m.next = "rest"
            with m.State("data"):
                with m.If(middle):
                    m.d.sync += [self.data.eq(Cat(self.data[1:], line)), bits.eq(bits + 1)]
                    with m.If(bits == 7):
                        m.next = "stop"
            with m.State("stop"):
                with m.If(middle):
                    m.d.sync += [self.valid.eq(1), self.broken.eq(~line)]
                    m.next = "rest"
                    with m.If(~line):
                        m.next = "broken"
            with m.State("broken"):
                with m.If(line):
                    m.next = "rest"
        return m


class UartTransmitter(wiring.Component):
    """A stream of bytes to a serial line, back to back while there are any.

    Parameters
    ----------
    clock_hz, baud : int
        Clock of the domain and bits per second.

    Members
    -------
    i : In(stream.Signature(8))
    tx : Out(1)
        The line; high at rest.
    """

    i: stream.Interface
    tx: Signal

    def __init__(self, *, clock_hz: int, baud: int):
        self.step = _step(clock_hz, baud)
        super().__init__(
            {
                "i": In(stream.Signature(unsigned(8))),
                "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            }
        )

    def elaborate(self, platform):
        m = Module()
        phase, tick = Signal(_PHASE_BITS), Signal()
        bits, left = Signal(10, init=-1), Signal(range(11))
        m.d.sync += Cat(phase, tick).eq(phase + self.step)
        m.d.comb += self.i.ready.eq(left == 0)
        m.d.sync += self.tx.eq(bits[0])
        with m.If(left == 0):
            with m.If(self.i.valid):
                m.d.sync += [
                    bits.eq(Cat(0, self.i.payload, 1)),
                    left.eq(10),
                    Cat(phase, tick).eq(self.step),  # `tick` is a clock late
                ]
        with m.Elif(tick):
            m.d.sync += [bits.eq(Cat(bits[1:], 1)), left.eq(left - 1)]
        return m
