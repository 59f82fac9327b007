"""Event counters of the unit."""

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.delay import delay

__all__ = ["Counters"]

_LOW = 12
"""Bits of a sum that have registers; the others are in look-up table memory."""
_HIGH = 48 - _LOW


class Counters(wiring.Component):
    """Add up what each input says in each clock, in 48 bits; one sum at a time can be read.

    Only the low 12 bits of a sum are a counter of its own. A round goes over all sums in 64 clocks
    and carries into the others, which are rows of a memory: in that time at most 64 * 63 are added,
    so that there is one carry at most.

    An event is in its sum 2 clocks later: reading beside it shows a sum of some clock, never a
    half. What is said in the clock of `clear`, or before, is forgotten.

    Parameters
    ----------
    widths : dict of str to int
        Name of each event and the bits of what it may add in one clock, 1 to 6; 64 events at most.

    Attributes
    ----------
    names : tuple of str
        The events by `select`.
    latency : int
        Clocks from `select` to `value`.

    Members
    -------
    <name> : In(width)
        For each event.
    clear : In(1)
    select : In(unsigned)
        Number of the sum in `names`; a number behind the last gives 0.
    value : Out(48)
        The sum that was selected `latency` clocks before.
    """

    latency = 4
    rows = 64

    clear: Signal
    select: Signal
    value: Signal

    def __init__(self, widths: dict[str, int]):
        for name, width in widths.items():
            if not 1 <= width <= 6:
                raise ValueError(f"an event must have 1 to 6 bits, but {name} has {width}")
        if len(widths) > self.rows:
            raise ValueError(f"there may be {self.rows} events at most, not {len(widths)}")
        self.widths = dict(widths)
        self.names = tuple(widths)
        # Unasked, Yosys makes a block RAM without output register of 64 rows.
        self.high = Memory(
            shape=_HIGH, depth=self.rows, init=[], attrs={"ram_style": "distributed"}
        )
        super().__init__(
            {name: In(width) for name, width in widths.items()}
            | {"clear": In(1), "select": In(ceil_log2(len(widths))), "value": Out(48)}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.high = self.high
        count = len(self.names)
        clear = delay(m, self.clear, 1, name="clear", reset_less=False)
        wraps = Signal(count)  # the low bits wrap in this clock
        lows = []
        for n, name in enumerate(self.names):
            event = delay(m, getattr(self, name), 1, name=name, reset_less=False)
            low = Signal(_LOW, name=f"{name}_low")
            total = Signal(_LOW + 1, name=f"{name}_total")
            m.d.comb += [total.eq(low + event), wraps[n].eq(total[-1])]
            m.d.sync += low.eq(total)
            with m.If(clear):
                m.d.sync += low.eq(0)
            lows.append(low)
        carry, stale = self._carry(m, wraps, clear)

        # What belongs to one sum is read in one clock. Eight sums at a time: no choice is wide.
        select = delay(m, self.select, 1, name="select")
        row = self.high.read_port(domain="comb")
        m.d.comb += row.addr.eq(select)
        sums = [Cat(low, carry[n], stale[n]) for n, low in enumerate(lows)]
        sums += [Const(0, _LOW + 2)] * (-count % 8)
        groups = [Array(sums[at : at + 8])[select[:3]] for at in range(0, len(sums), 8)]
        picked = [delay(m, group, 1, name=f"group{n}") for n, group in enumerate(groups)]
        select_q2 = delay(m, select[3:], 1, name="select_group")
        high_q3 = delay(m, row.data, 2, name="row")

        low_q3, carry_q3, stale_q3 = Signal(_LOW), Signal(), Signal()
        picked_q3 = Cat(low_q3, carry_q3, stale_q3)
        with m.Switch(select_q2):
            for n, one in enumerate(picked):
                with m.Case(n):
                    m.d.sync += picked_q3.eq(one)
            with m.Default():
                m.d.sync += picked_q3.eq(0)
        m.d.sync += self.value.eq(Cat(low_q3, _next(high_q3, carry_q3, stale_q3)))
        return m

    def _carry(self, m, wraps, clear):
        """Go round the rows; return what each lacks: a carry, or that it is from before `clear`."""
        count = len(wraps)
        carry, stale = Signal(count), Signal(count, init=-1)
        turn, visit = Signal(range(self.rows)), Signal(self.rows, init=1)
        m.d.sync += [turn.eq(turn + 1), visit.eq(visit.rotate_left(1))]
        read, write = self.high.read_port(domain="comb"), self.high.write_port()

        # Not both at once: a carry takes longer after a clear than a round. A clear beside the
        # first of the two clocks of a visit leaves a stale row, as it should.
        visit_q1 = delay(m, visit[:count], 1, name="visit")
        carry_q1 = delay(m, (visit & carry).any(), 1, name="carry", reset_less=False)
        stale_q1 = delay(m, (visit & stale).any(), 1, name="stale", reset_less=False)
        m.d.comb += [
            read.addr.eq(turn),
            write.addr.eq(delay(m, turn, 1, name="turn")),
            write.data.eq(_next(delay(m, read.data, 1, name="old"), carry_q1, stale_q1)),
            write.en.eq(1),
        ]
        m.d.sync += [
            carry.eq(wraps | (carry & ~(visit_q1 & carry_q1.replicate(count)))),
            stale.eq(stale & ~(visit_q1 & stale_q1.replicate(count))),
        ]
        with m.If(clear):
            m.d.sync += [carry.eq(0), stale.eq(-1)]
        return carry, stale


def _next(row, carry, stale):
    """High bits of a sum."""
    return ((row & ~stale.replicate(len(row))) + carry)[: len(row)]
