"""Event counters of the unit."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.lib.choose import choose
from minmip.hw.lib.delay import delay

__all__ = ["Counters"]

_LOW = 13
"""Bits of a sum that have registers; the others are in look-up table memory."""
_HIGH = 48 - _LOW
_CARRY = 5
"""Clocks from a visit to the write of the row."""
_NEXT = 3
"""Clocks of `_next`."""


class Counters(wiring.Component):
    """Add up what each input says in each clock, in 48 bits; one sum at a time can be read.

    Only the low 13 bits of a sum are a counter of its own. A round goes over all sums in 64 clocks
    and carries into the others, which are rows of a memory: even in twice that time at most
    128 * 63 are added, so that there is one carry at most from a visit to the end of the next.

    An event is in its sum 3 clocks later: reading beside it shows a sum of some clock, never a
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

    latency = 7
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
        # Events come from far away.
        clear = delay(m, self.clear, 2, name="clear", reset_less=False)
        wraps = Signal(count)  # the low bits wrap in this clock
        lows = []
        for n, name in enumerate(self.names):
            event = delay(m, getattr(self, name), 2, name=name, reset_less=False)
            low = Signal(_LOW, name=f"{name}_low")
            total = Signal(_LOW + 1, name=f"{name}_total")
            m.d.comb += [total.eq(low + event), wraps[n].eq(total[-1])]
            m.d.sync += low.eq(total)
            with m.If(clear):
                m.d.sync += low.eq(0)
            lows.append(low)
        carry, stale = self._carry(m, wraps, clear)

        # What belongs to one sum is read in one clock. First one of each eight sums, then of these;
        # each choice is decoded a clock before it is made.
        select = delay(m, self.select, 1, name="select")
        row = self.high.read_port(domain="comb")
        m.d.comb += row.addr.eq(delay(m, select, 1, name="select_row"))
        sums = [Cat(low, carry[n], stale[n]) for n, low in enumerate(lows)]
        column = delay(m, _one_hot(select[:3], 8), 1, name="select_column")
        picked = []
        for n, at in enumerate(range(0, count, 8)):
            one = choose(column[: count - at], sums[at : at + 8])
            picked.append(delay(m, one, 1, name=f"group{n}"))
        group = delay(m, _one_hot(select[3:], len(picked)), 2, name="select_group")
        picked = delay(m, choose(group, picked), 1, name="picked")
        picked_low, picked_carry, picked_stale = picked[:_LOW], picked[_LOW], picked[_LOW + 1]
        high = delay(m, row.data, 2, name="row")
        low = delay(m, picked_low, _NEXT, name="value_low")
        high = _next(m, high, picked_carry, picked_stale, name="value")
        m.d.comb += self.value.eq(Cat(low, high))
        return m

    def _carry(self, m, wraps, clear):
        """Go round the rows; return what each lacks: a carry, or that it is from before `clear`."""
        count = len(wraps)
        carry, stale = Signal(count), Signal(count, init=-1)
        visit = Signal(self.rows, init=1)
        read, write = self.high.read_port(domain="comb"), self.high.write_port()
        write_turn = Signal(range(self.rows), init=self.rows - _CARRY)
        m.d.sync += [
            visit.eq(visit.rotate_left(1)),
            read.addr.eq(read.addr + 1),
            write_turn.eq(write_turn + 1),
        ]

        # Not both at once: a carry takes longer after a clear than a round. A clear between the
        # visit and the write leaves a stale row, or one that is 0, as it should.
        carries = _any_of(m, visit[:count] & carry, name="carry")
        was_stale = _any_of(m, visit[:count] & stale, name="stale")
        old = delay(m, read.data, 2, name="old")
        m.d.comb += [
            write.addr.eq(write_turn),
            write.data.eq(_next(m, old, carries, was_stale, name="row")),
            write.en.eq(1),
        ]
        # The flags change with the row.
        written = visit.rotate_right(_CARRY)[:count]
        done = [
            written & delay(m, flag, _NEXT, name=name, reset_less=False).replicate(count)
            for flag, name in ((carries, "carries"), (was_stale, "was_stale"))
        ]
        m.d.sync += [carry.eq(wraps | (carry & ~done[0])), stale.eq(stale & ~done[1])]
        with m.If(clear):
            m.d.sync += [carry.eq(0), stale.eq(-1)]
        return carry, stale


def _one_hot(number, count):
    """Bit `number` of `count`; none, if there is no such bit."""
    return Cat(number == n for n in range(count))


def _any_of(m, bits, *, name):
    """Whether any bit is high, 2 clocks later."""
    parts = Cat(bits[at : at + 8].any() for at in range(0, len(bits), 8))
    parts = delay(m, parts, 1, name=f"{name}_parts", reset_less=False)
    return delay(m, parts.any(), 1, name=f"{name}_any", reset_less=False)


def _next(m, row, carry, stale, *, name):
    """High bits of a sum, `_NEXT` clocks later: a carry goes half the way in a clock."""
    row = delay(m, row & ~stale.replicate(len(row)), 1, name=f"{name}_fresh")
    carry = delay(m, carry, 1, name=f"{name}_carry")
    half = len(row) // 2
    low = delay(m, row[:half] + carry, 1, name=f"{name}_low")
    high = delay(m, row[half:], 1, name=f"{name}_high")
    total = Cat(low[:half], (high + low[half])[: len(high)])
    return delay(m, total, 1, name=f"{name}_next")
