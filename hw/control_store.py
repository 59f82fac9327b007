"""Decoded descriptor pairs: decode one into the store, read another (spec 01)."""

from functools import reduce
from operator import or_

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.counted_mips import NO_TAIL, PAIRS, tail_layouts
from minmip.hw.descriptor_words import (
    TYPE_1D,
    TYPE_1D_ARRAY,
    TYPE_2D,
    TYPE_2D_ARRAY,
    TYPE_3D,
    among,
    key_layout,
)
from minmip.hw.legality import Legality
from minmip.hw.lib.delay import delay
from minmip.hw.map_layout import MapLayout
from minmip.hw.scaled_size import ScaledSize
from minmip.hw.shapes import (
    BLOCK_BITS,
    CODE_BITS,
    SIZE_BITS,
    TEXEL_BITS,
    context_index,
    control,
)

__all__ = ["ControlStore", "stored_control"]

NOT_STORED = ("entry", "fresh", "tag")
"""Fields of `control` that belong to the request."""

SLOPE_TIMES_2 = (5, 6, 8, 10, 16, 32, 64, 128)
OFFSET_256 = (64, 32, 16, 8, 4, 2, 0, 0)
CODE_GATHER, CODE_OUTSIDE = 4, 31


def stored_control(cfg: UnitConfig) -> data.StructLayout:
    """What `control` says of a pair, and `gather_code`, the code of a request to gather."""
    members = {name: field.shape for name, field in control(cfg) if name not in NOT_STORED}
    return data.StructLayout(members | {"gather_code": unsigned(CODE_BITS)})


class ControlStore(wiring.Component):
    """Decodes one descriptor pair at a time and holds the last D results.

    A decode takes 26 clocks from `start` to `done` if `drained` is high in the clock after `start`;
    otherwise it waits for that before it writes. Reading has no latency: `o` follows `read_entry`.

    One scaler works out nine sides, an axis per clock: first those of the map, from which the
    layout's walk takes 14 clocks more, meanwhile those of mip 0 and of the view.

    Parameters
    ----------
    cfg : UnitConfig
        `descriptor_entries`, and what is built in.

    Members
    -------
    key : In(key_layout(cfg))
        Must hold still from `start` to the clock before `done`.
    memory_base, memory_limit : In(40), In(41)
        Likewise; first block of 256 bytes of the memory, and the first one behind it.
    start : In(1)
    drained : In(1)
        Nobody reads the entry that is written.
    write_entry : In(unsigned)
        From the clock after `begun` to `done`.
    begun : Out(1)
        The entry is overwritten from the next clock on.
    soon : Out(1)
        High 3 clocks before `done`.
    done : Out(1)
        The entry can be read from the next clock on.
    read_entry : In(unsigned)
    o : Out(stored_control(cfg))
    """

    key: data.View
    memory_base: Signal
    memory_limit: Signal
    start: Signal
    drained: Signal
    write_entry: Signal
    begun: Signal
    soon: Signal
    done: Signal
    read_entry: Signal
    o: data.View

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        index = context_index(cfg)
        super().__init__(
            {
                "key": In(key_layout(cfg)),
                "memory_base": In(BLOCK_BITS),
                "memory_limit": In(BLOCK_BITS + 1),
                "start": In(1),
                "drained": In(1),
                "write_entry": In(index),
                "begun": Out(1),
                "soon": Out(1),
                "done": Out(1),
                "read_entry": In(index),
                "o": Out(stored_control(cfg)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.layout = layout = MapLayout(self.cfg)
        m.submodules.legality = legality = Legality(self.cfg)
        # All but the sides have time: they look at a copy, which takes load off the key.
        key, axes, o = delay(m, self.key, 1, name="key"), self.cfg.axes, self.o
        fields = self._fields(key)
        op = self._sequence(m)
        side, scaled = self._side(m, op)
        is_array = fields["is_array"]
        m.d.comb += [
            layout.map.mode.eq(key.sw_mode),
            layout.map.volume.eq(fields["volume"]),
            layout.map.last_slice.eq(Mux(is_array, key.depth, key.base_array)),
            layout.map.max_mip.eq(key.max_mip),
            layout.map.base.eq(key.base_address),
            layout.memory_base.eq(self.memory_base),
            layout.memory_limit.eq(self.memory_limit),
            layout.side.eq(side),
            layout.load_x.eq(scaled[0]),
            layout.load_y.eq(scaled[1]),
            layout.load_z.eq(scaled[2] if axes == 3 else 0),
            legality.key.eq(key),
            self.begun.eq(op[1]),
            self.soon.eq(delay(m, layout.chain_valid, 3, name="soon", reset_less=False)),
            self.done.eq(layout.fits_valid),
        ]

        ready = [
            (o[name], delay(m, Value.cast(value), 1, name=name)) for name, value in fields.items()
        ]
        # Of the mode only what may differ is worth a place.
        for bit, mode_bit in enumerate(key.sw_mode):
            kinds = {mode >> bit & 1 for mode in self.cfg.swizzle_modes}
            if len(kinds) > 1:
                ready.append((o.mode[bit], delay(m, mode_bit, 1, name=f"mode{bit}")))
            else:
                m.d.comb += o.mode[bit].eq(kinds.pop())
        self._keep(m, "fields", op[2], ready)
        size = Signal(SIZE_BITS, reset_less=True)
        m.d.sync += size.eq(side + 1)
        sized = delay(m, scaled, 1, name="sized", reset_less=False)
        for axis in range(axes):
            self._keep(m, f"size{axis}", sized[axes + axis], [(o.size[axis], size)])
            self._keep(m, f"view{axis}", sized[2 * axes + axis], [(o.view_size[axis], size)])
        for mip in range(2 * PAIRS):
            valid, offset = layout.offset_valid[mip // 2], layout.offset[mip % 2]
            self._keep(m, f"mip{mip}", valid, [(o.mip_offset[mip], offset)])
        map_parts = [(o.columns, layout.columns), (o.chain, layout.chain)]
        if tail_layouts(self.cfg):
            map_parts.append((o.first_tail, layout.first_tail))
        else:
            m.d.comb += o.first_tail.eq(NO_TAIL)
        self._keep(m, "map", layout.chain_valid, map_parts)

        # Which code it is, if any, is known long before `fits`.
        code = legality.code
        broken = Signal(reset_less=True)
        worst = Signal(CODE_BITS, reset_less=True)
        gather = Signal(CODE_BITS, reset_less=True)
        m.d.sync += [
            broken.eq(code.any()),
            worst.eq(Mux(code.any(), code, CODE_OUTSIDE)),
            gather.eq(Mux(code.any() & (code < CODE_GATHER), code, CODE_GATHER)),
        ]
        outside = key.linked_resource & ~layout.fits
        answer = Mux(broken | outside, worst, 0)
        self._keep(m, "codes", self.done, [(o.code, answer), (o.gather_code, gather)])
        return m

    def _sequence(self, m):
        """One-hot: which side goes into the scaler. The first waits there for `drained`."""
        count = 3 * self.cfg.axes
        op = Signal(count)
        wait = op[0] & ~self.drained
        m.d.sync += op.eq(Cat(self.start | wait, op[0] & ~wait, op[1:-1]))
        return op

    def _side(self, m, op):
        """Scaled side less one, and its one-hot `op`: the map's sides, mip 0's and the view's."""
        key, axes = self.key, self.cfg.axes
        m.submodules.scaler = scaler = ScaledSize()
        field = Signal(TEXEL_BITS, reset_less=True)
        shift = Signal(4, reset_less=True)
        used = Signal(reset_less=True)
        one_axis = among(key.type, (TYPE_1D, TYPE_1D_ARRAY))
        sides = [
            (key.width, key.width_scale, C(1)),
            (key.height, key.height_scale, ~one_axis),
        ]
        if axes == 3:
            sides.append((key.depth, key.depth_scale, key.type == TYPE_3D))
        with m.If(op[:axes].any()):
            m.d.sync += shift.eq(_selected(op, [scale for _, scale, _ in sides]))
        with m.Elif(op[axes : 2 * axes].any()):
            m.d.sync += shift.eq(0)
        with m.Else():
            m.d.sync += shift.eq(key.base_level)
        axis = [Cat(op[n::axes]).any() for n in range(axes)]
        m.d.sync += [
            field.eq(_selected(axis, [side[:TEXEL_BITS] for side, _, _ in sides])),
            used.eq(_selected(axis, [used for _, _, used in sides])),
        ]
        m.d.comb += [scaler.field.eq(field), scaler.shift.eq(shift), scaler.used.eq(used)]
        scaled = delay(m, op, 1 + scaler.latency, name="scaled", reset_less=False)
        return scaler.less_one, scaled

    def _fields(self, key):
        """What follows from the words at once."""
        cfg = self.cfg
        volume = key.type == TYPE_3D
        is_array = among(key.type, (TYPE_1D_ARRAY, TYPE_2D_ARRAY))
        one_axis = among(key.type, (TYPE_1D, TYPE_1D_ARRAY))
        single = key.aniso_override & (key.base_level == key.last_level)
        flat = among(key.type, (TYPE_2D, TYPE_2D_ARRAY))
        aniso = flat & (key.mag_filter[1] | key.min_filter[1]) & key.max_aniso_ratio.any() & ~single
        last_slice = Mux(is_array, key.depth, key.base_array)
        return {
            "linked": Mux(key.linked_resource, key.linked_type, 0),
            "axes": Mux(one_axis, 1, Mux(volume, 3, 2)),
            "is_array": is_array,
            "first_slice": Mux(volume, 0, key.base_array),
            "last_slice": Mux(volume, 0, last_slice),
            "base_level": key.base_level,
            "last_level": key.last_level,
            "view_min_lod": key.view_min_lod,
            "aniso": aniso,
            "max_aniso_log2": Mux(key.max_aniso_ratio[2], 4, key.max_aniso_ratio),
            "threshold": key.aniso_threshold,
            "truncate": key.trunc_coord,
            "min_lod": key.min_lod,
            "max_lod": key.max_lod,
            "lod_bias": key.lod_bias,
            "mag_linear": key.mag_filter[0],
            "min_linear": key.min_filter[0],
            "z_linear": key.z_filter[1] if cfg.axes == 3 else C(0),
            "mip_filter": key.mip_filter,
            "filter_slope2": Cat(
                _looked_up(SLOPE_TIMES_2, slope, 8) for slope in (key.slope_u, key.slope_v)
            ),
            "filter_offset": Cat(
                _looked_up(OFFSET_256, offset, 7) for offset in (key.offset_u, key.offset_v)
            ),
            "clamp": Cat(key[f"clamp_{axis}"] for axis in "xyz"[: cfg.axes]),
            "scale": Cat(key[f"{side}_scale"] for side in ("width", "height", "depth")[: cfg.axes]),
            "base": key.base_address,
            "volume": volume if cfg.axes == 3 else C(0),
        }

    def _keep(self, m, name, enable, parts):
        """Give the parts of `o`, [(part, value)], a memory, written when `enable` is high."""
        width = sum(len(Value.cast(part)) for part, _ in parts)
        m.submodules[name] = rows = Memory(
            shape=unsigned(width), depth=1 << context_index(self.cfg).width, init=[]
        )
        write, read = rows.write_port(), rows.read_port(domain="comb")
        place = 0
        for part, value in parts:
            part = Value.cast(part)
            end = place + len(part)
            m.d.comb += [write.data[place:end].eq(value), part.eq(read.data[place:end])]
            place = end
        m.d.comb += [
            write.en.eq(enable),
            write.addr.eq(self.write_entry),
            read.addr.eq(self.read_entry),
        ]


def _looked_up(table, code: Value, bits: int) -> Value:
    """Entry of a constant table."""
    packed = sum(entry << bits * n for n, entry in enumerate(table))
    return Const(packed, bits * len(table)).word_select(code, bits)


def _selected(choice, values) -> Value:
    """The value whose choice is high."""
    return reduce(or_, (Mux(c, v, 0) for c, v in zip(choice, values, strict=False)))
