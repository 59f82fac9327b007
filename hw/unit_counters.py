"""What the whole unit counts, and where in the pipeline."""

from itertools import product

from amaranth.hdl import Cat

from minmip.hw.config import UnitConfig
from minmip.hw.descriptor_words import LINKED_FILTER
from minmip.hw.lib.delay import delay
from minmip.hw.lib.pop_count import PopCount

__all__ = ["CODES", "STALLS", "count_events", "event_widths"]

CODES = (*range(1, 19), 31)
"""Error codes, each with a counter."""

STALLS = (
    *("front", "split", "lod", "mips", "taps", "footprint", "router", "slabs", "combine"),
    *("addresses", "retire", "buffer", "memory", "filter", "pattern", "answer"),
)
"""Stages with a counter of the clocks in which a beat waits in front of them."""


def event_widths(cfg: UnitConfig) -> dict[str, int]:
    """Counted events, and the bits of what each may add in a clock."""
    texels = ((1 << cfg.axes) * cfg.lanes).bit_length()  # and no more bytes than texels
    names = ("quads", "flushes", "parts", "tap_beats", "pattern_beats")
    widths = dict.fromkeys(names, 1) | {"samples": texels, "byte_writes": texels}
    widths |= {"words": 3, "merges": 3, "misses": 1, "conflicts": 1, "aged": 1}
    widths |= {"memory_operations": 1, "dropped": 1, "filter_reads": 1}
    widths |= {f"code_{code}": 1 for code in CODES}
    return widths | {f"stall_{name}": 1 for name in STALLS}


def count_events(m, unit, waiting, buffer, store):
    """Connect the unit's counters, and what finds out how much to count.

    Parameters
    ----------
    m : Module
        Of the unit.
    unit : TextureAddresser
    waiting : dict of str to stream.Interface
        Streams whose stalls are counted, by the names of `STALLS`.
    buffer : CombiningBuffer
    store : MapStore
    """
    m.submodules.counters = counters = unit.counters
    m.submodules.samples = samples = PopCount((1 << unit.cfg.axes) * unit.cfg.lanes)
    m.submodules.byte_writes = byte_writes = PopCount(4 * unit.cfg.word_bytes)
    # Before the slabs: a depth that clamps to the other counts, as columns and rows do.
    beat, words = waiting["slabs"].payload, waiting["buffer"].payload.word
    writes = beat.active & (beat.linked != LINKED_FILTER).replicate(unit.cfg.lanes)
    touched = Cat(
        active & Cat(texel).all()
        for lane, active in zip(beat.lane, writes, strict=True)
        for texel in product(*(axis.touched for axis in lane.axis))
    )
    masks = Cat(word.mask & word.valid.replicate(len(word.mask)) for word in words)
    taken = {name: port.valid & port.ready for name, port in waiting.items()}
    # `ready` comes late: it has a clock of its own.
    touched &= taken["slabs"].replicate(len(touched))
    masks &= taken["buffer"].replicate(len(masks))
    m.d.comb += [
        samples.i.eq(delay(m, touched, 1, name="touched")),
        byte_writes.i.eq(delay(m, masks, 1, name="masks")),
        unit.counter_value.eq(counters.value),
        counters.select.eq(unit.counter_select),
        counters.clear.eq(unit.counter_clear),
    ]
    # An answer and its transfer may lie far from the counters.
    answer = delay(m, unit.o.payload.code, 1, name="code")
    answered = delay(m, taken["answer"], 1, name="answered")
    events = {
        "quads": taken["front"] & ~unit.i.payload.flush,
        "flushes": taken["front"] & unit.i.payload.flush,
        "parts": taken["lod"],
        "tap_beats": taken["footprint"],
        "pattern_beats": taken["pattern"],
        "samples": samples.o,
        "byte_writes": byte_writes.o[: counters.widths["byte_writes"]],
        "words": sum(
            (taken["buffer"] & word.valid for word in words[1:]), taken["buffer"] & words[0].valid
        ),
        "merges": buffer.hits,
        "misses": buffer.misses,
        "conflicts": buffer.conflicts,
        "aged": buffer.aged,
        "memory_operations": taken["memory"],
        "dropped": store.dropped,
        "filter_reads": taken["filter"],
    }
    events |= {f"code_{code}": answered & (answer == code) for code in CODES}
    events |= {f"stall_{name}": port.valid & ~port.ready for name, port in waiting.items()}
    for name, event in events.items():
        m.d.comb += getattr(counters, name).eq(event)
