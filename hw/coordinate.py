"""Coordinate unit: float32 coordinates of one tap to texels and weights (spec 02 "Coordinates")."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.address_mode import AddressMode, Mode
from minmip.hw.config import UnitConfig
from minmip.hw.float_to_fixed import FloatToFixed
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.shapes import (
    AXIS_REQUEST,
    AXIS_RESULT,
    TEXEL_BITS,
    coordinate_request,
    coordinate_result,
)
from minmip.hw.tap_coordinate import CLAMP_LIMIT, STEP, RangeReduction, TapSum
from minmip.hw.texel_position import TexelPosition

__all__ = ["AxisDatapath", "CoordinateDatapath", "CoordinateUnit"]

SATURATION = 1 << 15
"""An infinite component of the line; infinite coordinates are 10 (`CLAMP_LIMIT`)."""


class AxisDatapath(wiring.Component):
    """Footprint of one tap on one axis.

    For the MinMip filter (`filter`, spec 04): the texel in which the position lies, and its
    neighbour on the near side, touched if `linear`. The position is that of POINT, `weight` its
    fraction.

    One axis per clock, latency 29.

    Parameters
    ----------
    line : bool
        Build the tap offset. Without it `major` and the step are ignored: volumes are never
        anisotropic.
    size_after : int
        Clocks from the request to its `size`, which is needed late, 0 to 17.

    Members
    -------
    i : In(AXIS_REQUEST)
    truncate : In(1)
        TRUNC_COORD, with `i`.
    step : In(STEP)
        Distance of the tap from the line's middle in 1/32 of the line, 1 clock after `i`.
    o : Out(AXIS_RESULT)
    """

    i: In(AXIS_REQUEST)
    truncate: In(1)
    step: In(STEP)
    o: Out(AXIS_RESULT)

    tap_at = FloatToFixed.latency + TapSum.latency
    position_at = tap_at + RangeReduction.latency
    texel_at = position_at + TexelPosition.latency
    latency = texel_at + 1 + AddressMode.latency

    def __init__(self, *, line: bool, size_after: int = 0):
        self.line = line
        self.size_after = size_after
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.coordinate = coordinate = FloatToFixed(CLAMP_LIMIT)
        m.submodules.reduction = reduction = RangeReduction()
        m.submodules.position = position = TexelPosition()
        mode = self.i.mode
        wrap, mirror = mode == Mode.WRAP, mode == Mode.MIRROR
        negative = self.i.coordinate[31]

        # The coordinate waits for the products of the line; as a float it is narrowest.
        fixed_at = self.tap_at - (TapSum.coordinate_latency if self.line else 0)
        wait = fixed_at - FloatToFixed.latency
        m.d.comb += [
            coordinate.i.eq(delay(m, self.i.coordinate, wait, name="coordinate")),
            coordinate.wraps.eq(delay(m, wrap | mirror, wait, name="wraps")),
            reduction.negative.eq(delay(m, negative, self.tap_at, name="sign")),
            reduction.wrap.eq(delay(m, wrap, self.tap_at, name="wrap")),
            reduction.mirror.eq(delay(m, mirror, self.tap_at, name="mirror")),
        ]
        if self.line:
            m.submodules.major = major = FloatToFixed(SATURATION)
            m.submodules.tap = tap = TapSum()
            # The sum is turned over with the coordinate, so the step takes both signs.
            against_q1 = delay(m, negative ^ self.i.major[31], 1, name="against")
            step_q2 = Signal(STEP, reset_less=True)
            m.d.sync += step_q2.eq(Mux(against_q1, -self.step, self.step))
            m.d.comb += [
                major.i.eq(self.i.major),
                tap.line.eq(major.magnitude),
                tap.step.eq(delay(m, step_q2, major.latency - 2, name="step")),
                tap.coordinate.eq(coordinate.magnitude),
                reduction.i.eq(tap.o),
            ]
        else:
            m.d.comb += reduction.i.eq(Cat(Const(0, 5), coordinate.magnitude))

        size_q = delay(m, self.i.size, self.position_at - self.size_after, name="size")
        linear_q = delay(m, self.i.linear, self.position_at, name="linear")
        filter_q = delay(m, self.i.filter, self.position_at, name="filter")
        m.d.comb += [
            position.magnitude.eq(reduction.o),
            position.negative.eq(reduction.o_negative),
            position.size.eq(size_q),
            position.linear.eq(linear_q & ~filter_q),
            position.truncate.eq(delay(m, self.truncate, self.position_at, name="truncate")),
        ]

        # One clock for the second texel, then both go through the address mode. A texel of weight 0
        # is dropped, but the filter's weights follow from the fraction later.
        first, fraction = position.position[8:].as_signed(), position.position[:8]
        linear = delay(m, linear_q, position.latency, name="linear_2")
        filters = delay(m, filter_q, position.latency, name="filter_2")
        weight = Mux(linear | filters, fraction, 0)
        weight_q1 = delay(m, weight, 1, name="weight")
        linear_q1 = delay(m, linear, 1, name="linear_3")
        filters_q1 = delay(m, filters, 1, name="filter_3")
        first_q1 = delay(m, first, 1, name="first")
        second_q1 = Signal(signed(17), reset_less=True)  # -2**15 - 1 to 2**15
        before = filters & ~fraction[-1]  # in the first half of its texel
        m.d.sync += second_q1.eq(first + Cat(Const(1, 1), before).as_signed())
        last_q1 = delay(m, (size_q - 1)[:TEXEL_BITS], position.latency + 1, name="last")
        mode_q1 = delay(m, mode, self.texel_at + 1, name="mode")
        for n, texel in enumerate((first_q1, second_q1)):
            m.submodules[f"mode{n}"] = one = AddressMode()
            m.d.comb += [
                one.i.eq(texel),
                one.last.eq(last_q1),
                one.mode.eq(mode_q1),
                one.use.eq(Mux(filters_q1, linear_q1, weight_q1.any()) if n else 1),
                self.o.texel[n].eq(one.o),
                self.o.touched[n].eq(one.touched),
            ]
        m.d.comb += self.o.weight.eq(delay(m, weight_q1, AddressMode.latency, name="weight_2"))
        return m


class CoordinateDatapath(wiring.Component):
    """One axis set: every axis of one lane and tap.

    One axis set per clock, latency 29.

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3. Axis 2 has no tap offset.
    size_after : int
        Clocks from a request to its sizes, as for `AxisDatapath`.

    Members
    -------
    i : In(coordinate_request(cfg))
        `tap` must be below `2**taps_log2`, `taps_log2` at most 4, sizes 1 to 16384.
    i_valid : In(1)
    o : Out(coordinate_result(cfg))
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig, *, size_after: int = 0):
        self.cfg = cfg
        self.size_after = size_after
        self.axes = [AxisDatapath(line=axis < 2, size_after=size_after) for axis in range(cfg.axes)]
        self.latency = self.axes[0].latency
        super().__init__(
            {
                "i": In(coordinate_request(cfg)),
                "i_valid": In(1),
                "o": Out(coordinate_result(cfg)),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # Tap i of n lies (2i + 1 - n) / 2n of the line from its middle: counted in 1/32, as the 5
        # bits (2i + 1) * 16/n less 16.
        place_q1 = Signal(5, reset_less=True)
        with m.Switch(self.i.taps_log2):
            for log2 in range(4):
                with m.Case(log2):
                    m.d.sync += place_q1.eq(Cat(Const(1, 1), self.i.tap) << (4 - log2))
            with m.Default():
                m.d.sync += place_q1.eq(Cat(Const(1, 1), self.i.tap))
        step_q1 = Cat(place_q1[:4], ~place_q1[4]).as_signed()

        for axis, part in enumerate(self.axes):
            m.submodules[f"axis{axis}"] = part
            m.d.comb += [
                Value.cast(part.i).eq(Value.cast(self.i.axis[axis])),
                part.truncate.eq(self.i.truncate),
                part.step.eq(step_q1),
                Value.cast(self.o.axis[axis]).eq(Value.cast(part.o)),
            ]
        m.d.comb += [
            self.o.tag.eq(delay(m, self.i.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m


class CoordinateUnit(CreditBuffer):
    """Stream block of `CoordinateDatapath`.

    One axis set per clock, latency 31. No `ready` runs through it (`CreditBuffer`).

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3.

    Members
    -------
    i : In(stream.Signature(coordinate_request(cfg)))
    o : Out(stream.Signature(coordinate_result(cfg)))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(CoordinateDatapath(cfg))
