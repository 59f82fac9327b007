"""Which held descriptor pair a request asks for, and which one has to go next."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import key_layout
from minmip.hw.shapes import context_index

__all__ = ["DescriptorMatch"]

_FIRST, _SECOND = 8, 16
"""Key bits that each flag covers after the first clock, and flags that each covers after the next:
two look-up tables deep."""


class DescriptorMatch(wiring.Component):
    """Keys of the held descriptor pairs, compared with one request per clock, latency 4.

    The least recently used entry is the one to be replaced: each `used` makes the entry found in
    that clock the most recent one.

    Parameters
    ----------
    cfg : UnitConfig
        `descriptor_entries`.

    Members
    -------
    key : In(key_layout(cfg))
    found : Out(1)
        An entry held this key. An entry counts from the clock after its `fill`, if that is at most
        2 clocks after its key came in.
    entry : Out(unsigned)
        Which one, if `found`.
    used : In(1)
        This `entry` is used now.
    victim : Out(unsigned)
        Least recently used entry, two clocks after a `used`.
    replace : In(1)
        Drop the victim and give it `key`, which must hold still for one clock more.
    fill : In(1)
        The victim is complete.
    flush : In(1)
        Drop all entries; the next `fill` too, unless its `replace` is later than this.
    """

    latency = 4

    key: data.View
    found: Signal
    entry: Signal
    used: Signal
    victim: Signal
    replace: Signal
    fill: Signal
    flush: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        index = context_index(cfg)
        super().__init__(
            {
                "key": In(key_layout(cfg)),
                "found": Out(1),
                "entry": Out(index),
                "used": In(1),
                "victim": Out(index),
                "replace": In(1),
                "fill": In(1),
                "flush": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        entries = self.cfg.descriptor_entries
        key = self.key.as_value()
        held = Signal(entries)
        victim = self._least_recent(m, entries, hit := Signal(entries, reset_less=True))

        write = Signal(entries)
        m.d.sync += write.eq(victim & self.replace.replicate(entries))
        hits = []
        for entry in range(entries):
            own = Signal(len(key), name=f"key{entry}", reset_less=True)
            with m.If(write[entry]):
                m.d.sync += own.eq(key)
            hits.append(self._equal(m, key, own, entry) & held[entry])
        hit_q3 = Signal(entries, reset_less=True)
        m.d.sync += [
            hit_q3.eq(Cat(hits)),
            hit.eq(hit_q3),
            self.found.eq(hit_q3.any()),
            self.entry.eq(_index(hit_q3)),
            self.victim.eq(_index(victim)),
        ]

        stale = Signal()  # a flush came while an entry was being filled
        with m.If(self.replace):
            m.d.sync += [held.eq(held & ~victim), stale.eq(0)]
        with m.If(self.fill & ~stale):
            m.d.sync += held.eq(held | victim)
        with m.If(self.flush):
            m.d.sync += [held.eq(0), stale.eq(1)]
        return m

    def _equal(self, m, key, own, entry):
        """All bits equal, of the key two clocks ago."""
        flags = [
            key[low : low + _FIRST] == own[low : low + _FIRST] for low in range(0, len(key), _FIRST)
        ]
        first = Signal(len(flags), name=f"first{entry}", reset_less=True)
        groups = range(0, len(flags), _SECOND)
        second = Signal(len(groups), name=f"second{entry}", reset_less=True)
        m.d.sync += [
            first.eq(Cat(flags)),
            second.eq(Cat(first[low : low + _SECOND].all() for low in groups)),
        ]
        return second.all()

    def _least_recent(self, m, entries, hit):
        """One-hot register: the entry that all others were used after."""
        # newer[a][b] for a < b: b was used after a. After reset, entry 0 is the oldest.
        newer = {}
        for a in range(entries):
            for b in range(a + 1, entries):
                newer[a, b] = later = Signal(name=f"newer_{a}_{b}", init=1)
                with m.If(self.used & hit[a]):
                    m.d.sync += later.eq(0)
                with m.If(self.used & hit[b]):
                    m.d.sync += later.eq(1)
        victim = Signal(entries, init=1)
        m.d.sync += victim.eq(
            Cat(
                Cat(newer[e, x] if e < x else ~newer[x, e] for x in range(entries) if x != e).all()
                for e in range(entries)
            )
        )
        return victim


def _index(one_hot):
    """Number of the bit that is set."""
    bits = ceil_log2(len(one_hot))
    return Cat(
        Cat(one_hot[n] for n in range(len(one_hot)) if n >> b & 1).any() for b in range(bits)
    )
