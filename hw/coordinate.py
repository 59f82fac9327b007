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
from minmip.hw.tap_coordinate import CLAMP_LIMIT, TapCoordinate, TapOffset
from minmip.hw.texel_position import TexelPosition

__all__ = ["AxisDatapath", "CoordinateDatapath", "CoordinateUnit"]

SATURATION = 1 << 15
"""An infinite component of the line; infinite coordinates are 10 (`CLAMP_LIMIT`)."""


class AxisDatapath(wiring.Component):
    """Footprint of one tap on one axis.

    One axis per clock.

    Parameters
    ----------
    line : bool
        Build the tap offset. Without it `major` and the step are ignored: volumes are never
        anisotropic.

    Members
    -------
    i : In(AXIS_REQUEST)
    truncate : In(1)
        TRUNC_COORD, with `i`.
    step, step_negative : In
        Distance of the tap from the line's middle in 1/32 of the line, `FloatToFixed.latency` clocks
        after `i`.
    o : Out(AXIS_RESULT)
    """

    i: In(AXIS_REQUEST)
    truncate: In(1)
    step: In(4)
    step_negative: In(1)
    o: Out(AXIS_RESULT)

    def __init__(self, *, line: bool):
        self.line = line
        self.coordinate = FloatToFixed(CLAMP_LIMIT)
        self.tap = TapCoordinate()
        self.position = TexelPosition()
        self.modes = (AddressMode(), AddressMode())
        self.position_at = self.coordinate.latency + TapOffset.latency + self.tap.latency
        self.texel_at = self.position_at + self.position.latency
        self.latency = self.texel_at + 1 + self.modes[0].latency
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.coordinate = coordinate = self.coordinate
        m.submodules.tap = tap = self.tap
        m.submodules.position = position = self.position
        mode = self.i.mode
        wrap, mirror = mode == Mode.WRAP, mode == Mode.MIRROR

        # The coordinate waits for the offset; as a float it is narrowest.
        wait = TapOffset.latency
        fixed_at = coordinate.latency + wait
        m.d.comb += [
            coordinate.i.eq(delay(m, self.i.coordinate, wait, name="coordinate")),
            coordinate.wraps.eq(delay(m, wrap | mirror, wait, name="wraps")),
            tap.coordinate.eq(coordinate.magnitude),
            tap.coordinate_negative.eq(coordinate.negative),
            tap.wrap.eq(delay(m, wrap, fixed_at, name="wrap")),
            tap.mirror.eq(delay(m, mirror, fixed_at, name="mirror")),
        ]
        if self.line:
            m.submodules.major = major = FloatToFixed(SATURATION)
            m.submodules.offset = offset = TapOffset()
            m.d.comb += [
                major.i.eq(self.i.major),
                offset.magnitude.eq(major.magnitude),
                offset.step.eq(self.step),
                tap.offset.eq(offset.o),
                tap.offset_negative.eq(
                    delay(m, major.negative ^ self.step_negative, wait, name="offset_negative")
                ),
            ]

        size_q = delay(m, self.i.size, self.position_at, name="size")
        linear_q = delay(m, self.i.linear, self.position_at, name="linear")
        m.d.comb += [
            position.magnitude.eq(tap.magnitude),
            position.negative.eq(tap.negative),
            position.size.eq(size_q),
            position.linear.eq(linear_q),
            position.truncate.eq(delay(m, self.truncate, self.position_at, name="truncate")),
        ]

        # One clock for the second texel, then both go through the address mode. A texel of weight 0
        # is dropped.
        first, fraction = position.position[8:].as_signed(), position.position[:8]
        weight = Mux(delay(m, linear_q, position.latency, name="linear_2"), fraction, 0)
        weight_q1 = delay(m, weight, 1, name="weight")
        first_q1 = delay(m, first, 1, name="first")
        second_q1 = Signal(signed(17), reset_less=True)  # 2**15 at most
        m.d.sync += second_q1.eq(first + 1)
        last_q1 = delay(m, (size_q - 1)[:TEXEL_BITS], position.latency + 1, name="last")
        mode_q1 = delay(m, mode, self.texel_at + 1, name="mode")
        for n, texel in enumerate((first_q1, second_q1)):
            m.submodules[f"mode{n}"] = one = self.modes[n]
            m.d.comb += [
                one.i.eq(texel),
                one.last.eq(last_q1),
                one.mode.eq(mode_q1),
                one.use.eq(weight_q1.any() if n else 1),
                self.o.texel[n].eq(one.o),
                self.o.touched[n].eq(one.touched),
            ]
        m.d.comb += self.o.weight.eq(delay(m, weight_q1, one.latency, name="weight_2"))
        return m


class CoordinateDatapath(wiring.Component):
    """One axis set: every axis of one lane and tap.

    One axis set per clock, latency that of `AxisDatapath`.

    Parameters
    ----------
    cfg : UnitConfig
        `axes`: 2 or 3. Axis 2 has no tap offset.

    Members
    -------
    i : In(coordinate_request(cfg))
        `tap` must be below `2**taps_log2`, `taps_log2` at most 4, sizes 1 to 16384.
    i_valid : In(1)
    o : Out(coordinate_result(cfg))
    o_valid : Out(1)
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.axes = [AxisDatapath(line=axis < 2) for axis in range(cfg.axes)]
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
            for log2 in range(5):
                with m.Case(log2):
                    m.d.sync += place_q1.eq(Cat(Const(1, 1), self.i.tap) << (4 - log2))
        step_q2 = Signal(4, reset_less=True)
        m.d.sync += step_q2.eq(Mux(place_q1[4], place_q1[:4], -place_q1[:4]))
        negative_q2 = delay(m, ~place_q1[4], 2 - 1, name="negative")
        wait = FloatToFixed.latency - 2
        step = delay(m, step_q2, wait, name="step")
        step_negative = delay(m, negative_q2, wait, name="step_negative")

        for axis, part in enumerate(self.axes):
            m.submodules[f"axis{axis}"] = part
            m.d.comb += [
                Value.cast(part.i).eq(Value.cast(self.i.axis[axis])),
                part.truncate.eq(self.i.truncate),
                part.step.eq(step),
                part.step_negative.eq(step_negative),
                Value.cast(self.o.axis[axis]).eq(Value.cast(part.o)),
            ]
        m.d.comb += [
            self.o.tag.eq(delay(m, self.i.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m


class CoordinateUnit(CreditBuffer):
    """Stream block of `CoordinateDatapath`: one axis set per clock.

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
