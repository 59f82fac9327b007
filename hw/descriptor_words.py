"""The fields of the T# and S# words that have an effect on the unit (spec 01)."""

from amaranth.hdl import Cat, Value
from amaranth.lib import data

from minmip.hw.config import UnitConfig

__all__ = [
    "LINKED_FILTER",
    "LINKED_MAX",
    "LINKED_MIN",
    "LINKED_OR",
    "S_FIELDS",
    "TYPE_1D",
    "TYPE_1D_ARRAY",
    "TYPE_2D",
    "TYPE_2D_ARRAY",
    "TYPE_3D",
    "TYPE_CUBE",
    "T_FIELDS",
    "among",
    "key_bits",
    "key_layout",
]

LINKED_OR, LINKED_MIN, LINKED_MAX, LINKED_FILTER = 1, 2, 3, 4
TYPE_1D, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY = 8, 9, 10, 11, 12, 13

T_FIELDS = {
    # name: (lowest bit, width)
    "base_address": (0, 40),
    "view_min_lod": (40, 12),
    "format": (52, 9),
    "width": (62, 16),
    "height": (78, 16),
    "resource_level": (95, 1),
    "base_level": (108, 4),
    "last_level": (112, 4),
    "sw_mode": (116, 5),
    "linked_type": (121, 3),
    "type": (124, 4),
    "depth": (128, 16),
    "base_array": (144, 16),
    "max_mip": (164, 4),
    "depth_scale": (168, 4),
    "height_scale": (172, 4),
    "width_scale": (176, 4),
    "linked_resource": (184, 1),
    "compression_en": (213, 1),
}
S_FIELDS = {
    "clamp_x": (0, 3),
    "clamp_y": (3, 3),
    "clamp_z": (6, 3),
    "max_aniso_ratio": (9, 3),
    "force_unnormalized": (15, 1),
    "aniso_threshold": (16, 3),
    "trunc_coord": (27, 1),
    "min_lod": (32, 12),
    "max_lod": (44, 12),
    "lod_bias": (64, 14),
    "mag_filter": (84, 2),
    "min_filter": (86, 2),
    "z_filter": (88, 2),
    "mip_filter": (90, 2),
    "aniso_override": (93, 1),
    "deriv_adjust_en": (95, 1),
    "slope_u": (96, 3),
    "offset_u": (99, 3),
    "slope_v": (102, 3),
    "offset_v": (105, 3),
    "border_color_type": (126, 2),
}
_VOLUME_FIELDS = ("depth_scale", "clamp_z", "z_filter")
"""Without volumes these have no effect either."""


def _fields(cfg: UnitConfig, table: dict) -> dict:
    """Those fields of a table that this build of the unit looks at."""
    return {
        name: place for name, place in table.items() if cfg.axes == 3 or name not in _VOLUME_FIELDS
    }


def key_layout(cfg: UnitConfig) -> data.StructLayout:
    """Every field with an effect, T# first: equal keys are equal descriptor pairs."""
    fields = _fields(cfg, T_FIELDS) | _fields(cfg, S_FIELDS)
    return data.StructLayout({name: width for name, (_, width) in fields.items()})


def key_bits(cfg: UnitConfig, t_sharp: Value, s_sharp: Value) -> Value:
    """Gather the bits of `key_layout(cfg)` from a T# (256 bits) and an S# (128 bits)."""
    return Cat(
        word[low : low + width]
        for word, table in ((t_sharp, T_FIELDS), (s_sharp, S_FIELDS))
        for low, width in _fields(cfg, table).values()
    )


def among(value: Value, numbers) -> Value:
    """Whether a field is one of some numbers."""
    return Cat(value == number for number in sorted(numbers)).any()
