"""The rules of spec 01 that a descriptor pair alone can break, and the lowest one broken."""

from amaranth.hdl import Array, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import VOLUME_MODES, UnitConfig
from minmip.hw.descriptor_words import (
    LINKED_FILTER,
    LINKED_MAX,
    LINKED_MIN,
    LINKED_OR,
    TYPE_1D,
    TYPE_1D_ARRAY,
    TYPE_2D_ARRAY,
    TYPE_3D,
    TYPE_CUBE,
    among,
    key_layout,
)
from minmip.hw.shapes import CODE_BITS

__all__ = ["Legality", "broken_rules"]

FORMAT_8_UNORM, FORMAT_8_UINT = 1, 5
BORDER_PALETTE = 3
ONE_LEVEL = (LINKED_MIN, LINKED_MAX, LINKED_FILTER)
"""Linked types whose map has no mip chain."""
ONE_AXIS_MODES = frozenset({0, 1})
"""Swizzle modes of 1D maps: LINEAR and 256B_S."""
LARGEST_FIELD_LOG2 = {"width": 14, "height": 14, "depth": 13, "base_array": 13}
"""Log2 of the first illegal value of a size or slice field."""
# Offset code 0..7 is 1/4 to 1/128, then two errors; the least code that lets a slope reach weight 1
# at the texel centre is 2 for slope code 0 (2.5), 1 for 1 (3) and 0 for all others.
LEAST_OFFSET_CODE = (2, 1, 0, 0, 0, 0, 0, 0)
_GROUP = 4


def _at_least(value: Value, log2: int) -> Value:
    return value[log2:].any()


def broken_rules(cfg: UnitConfig, key) -> dict[int, Value]:
    """Each rule by its code, in ascending order; true when it is broken.

    Code 1 and 4 hang on the request's flags and code 31 on the map's size: they are decided
    elsewhere.
    """
    linked = key.linked_resource
    filtering = linked & (key.linked_type == LINKED_FILTER) & key.mag_filter[0]
    uses_v = ~among(key.type, (TYPE_1D, TYPE_1D_ARRAY))
    volume = key.type == TYPE_3D
    is_array = among(key.type, (TYPE_1D_ARRAY, TYPE_2D_ARRAY))
    least = Array(Const(code, 2) for code in LEAST_OFFSET_CODE)
    bad_pair_u = key.offset_u < least[key.slope_u]
    bad_pair_v = key.offset_v < least[key.slope_v]
    modes = cfg.swizzle_modes
    left_out = ~among(key.linked_type, cfg.linked_types) | ~among(key.sw_mode, modes)
    for kind, legal in ((volume, VOLUME_MODES), (~uses_v, ONE_AXIS_MODES)):
        if modes - legal:
            left_out |= kind & ~among(key.sw_mode, modes & legal)
    over = {name: _at_least(key[name], log2) for name, log2 in LARGEST_FIELD_LOG2.items()}
    # The sign of a difference is a carry chain alone.
    first_beyond_last = (key.depth - key.base_array)[-1]
    return {
        2: key.type[1:] == 0b111,
        3: key.force_unnormalized,
        5: linked & ~among(key.linked_type, (LINKED_OR, *ONE_LEVEL)),
        6: linked & key.compression_en,
        7: linked & (key.border_color_type == BORDER_PALETTE),
        8: filtering & (key.offset_u[1:].all() | (uses_v & key.offset_v[1:].all())),
        9: filtering & (bad_pair_u | (uses_v & bad_pair_v)),
        10: linked & key.max_mip.any() & among(key.linked_type, ONE_LEVEL),
        11: key.type == TYPE_CUBE,
        12: key.base_level > key.last_level,
        13: ~key.type[3] | (is_array & first_beyond_last),
        14: ~among(key.type, cfg.resource_types) | (linked & left_out),
        15: linked & (key.linked_type == LINKED_OR) & (key.last_level > key.max_mip),
        16: linked & ~among(key.format, (FORMAT_8_UNORM, FORMAT_8_UINT)),
        17: key.deriv_adjust_en,
        18: over["width"]
        | over["height"]
        | ((volume | is_array) & over["depth"])
        | (~(volume | is_array) & over["base_array"])
        | ~key.resource_level,
    }


class Legality(wiring.Component):
    """Lowest rule that a descriptor pair breaks, 0 for none (spec 01, `docs/error-codes.md`).

    Free-running, latency 3.

    Parameters
    ----------
    cfg : UnitConfig
        What is built in: the rest is code 14.

    Members
    -------
    key : In(key_layout(cfg))
    code : Out(5)
    """

    latency = 3

    key: data.View
    code: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__({"key": In(key_layout(cfg)), "code": Out(CODE_BITS)})

    def elaborate(self, platform):
        m = Module()
        rules = []
        for code, broken in broken_rules(self.cfg, self.key).items():
            rule = Signal(name=f"rule{code}", reset_less=True)
            m.d.sync += rule.eq(broken)
            rules.append((code, rule))

        # The lowest rule of each group of four, then the lowest group.
        lowest = []
        for start in range(0, len(rules), _GROUP):
            group = rules[start : start + _GROUP]
            first = Signal(CODE_BITS, name=f"first{start}", reset_less=True)
            m.d.sync += first.eq(0)
            for code, rule in reversed(group):
                with m.If(rule):
                    m.d.sync += first.eq(code)
            lowest.append(first)
        m.d.sync += self.code.eq(0)
        for first in reversed(lowest):
            with m.If(first.any()):
                m.d.sync += self.code.eq(first)
        return m
