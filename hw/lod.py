"""Level of detail and anisotropy of a lane from its gradients."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.lod_lengths import LodLengths, det_bits
from minmip.hw.lod_scale import LodScale
from minmip.hw.log2 import Log2Fraction
from minmip.hw.normalise import Normaliser
from minmip.hw.shapes import lod_request, lod_result
from minmip.hw.tap_count import TapCount

__all__ = ["LodDatapath", "LodUnit"]

LOD_MIN = -32768
"""Least of S7.8, in 1/256: stands for minus infinity."""
EXPONENT_BIAS = 150
"""A float32 is significand * 2**(exponent - 150)."""


class LodDatapath(wiring.Component):
    """LOD, tap count and major axis of one lane (spec 02 "LOD"; the algorithm is `docs/lod.md`).

    Isotropic lanes are anisotropic ones with a limit of one tap: L2 is never under the
    determinant.

    Free running, one lane per clock, latency `latency`.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes, and the algorithm's widths and table.

    Members
    -------
    i : In(lod_request(cfg))
    i_valid : In(1)
    o : Out(lod_result())
    o_valid : Out(1)
    """

    i: data.View
    i_valid: Signal
    o: data.View
    o_valid: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.scale = LodScale(cfg)
        self.lengths = LodLengths(cfg)
        self.taps = TapCount(cfg)
        self.normaliser = Normaliser(det_bits(cfg), 1 + self._mantissa_bits)
        self.det_log2 = Log2Fraction(cfg.lod)
        self.length2_log2 = Log2Fraction(cfg.lod)
        self.log_latency = self.normaliser.latency + Log2Fraction.latency
        self.latency = self.scale.latency + self.lengths.latency + self.log_latency + 6
        super().__init__(
            {
                "i": In(lod_request(cfg)),
                "i_valid": In(1),
                "o": Out(lod_result()),
                "o_valid": Out(1),
            }
        )

    @property
    def _mantissa_bits(self):
        """Bits below a leading one that the logarithm takes."""
        return self.cfg.lod.index_bits + self.cfg.lod.interpolation_bits

    def elaborate(self, platform):
        m = Module()
        m.submodules.scale = scale = self.scale
        m.submodules.lengths = lengths = self.lengths
        request = self.i
        max_log2 = Mux(request.aniso, request.max_aniso_log2, 0)
        m.d.comb += [
            scale.ddx.eq(request.ddx),
            scale.ddy.eq(request.ddy),
            scale.size.eq(request.size),
            scale.axes.eq(request.axes),
            lengths.q.eq(scale.q),
            lengths.sign.eq(scale.sign),
        ]
        before = scale.latency + lengths.latency
        exponent = delay(m, scale.exponent, lengths.latency, name="exponent")
        max_log2 = delay(m, max_log2, before, name="max_log2")
        threshold = delay(m, request.threshold, before, name="threshold")

        m.submodules.taps = taps = self.taps
        m.d.comb += [
            taps.length2.eq(lengths.length2),
            taps.det.eq(lengths.det),
            taps.exponent.eq(exponent),
            taps.max_log2.eq(max_log2),
            taps.threshold.eq(threshold),
        ]
        after = self.log_latency - taps.latency
        over = delay(m, taps.over, after, name="over")
        minor = self._minor(m, over, max_log2, exponent)

        # `minor` is at clock 0 of what follows, the rest is brought beside it.
        lod = self._round(m, minor)
        taps_log2 = Mux(
            minor[-1],
            delay(m, taps.fine_taps_log2, after + 3, name="fine_taps_log2"),
            delay(m, taps.taps_log2, after + 3, name="taps_log2"),
        )
        taps_log2 = delay(m, taps_log2, 2, name="taps_chosen")
        flat = delay(m, exponent == 0, self.log_latency + 5, name="flat")
        undefined = delay(
            m, scale.undefined, lengths.latency + self.log_latency + 6, name="undefined"
        )
        major_is_x = delay(m, lengths.major_is_x, self.log_latency + 5, name="major_is_x")
        lod_q = Signal(signed(16), reset_less=True)
        taps_q = Signal(3, reset_less=True)
        major_q = Signal(reset_less=True)
        m.d.sync += [
            lod_q.eq(Mux(flat, LOD_MIN, lod)),
            taps_q.eq(Mux(flat, 0, taps_log2)),
            major_q.eq(major_is_x & ~flat),
        ]
        m.d.comb += [
            self.o.lod.eq(lod_q),
            self.o.taps_log2.eq(taps_q),
            self.o.major_is_x.eq(major_q),
            self.o.undefined.eq(undefined),
            self.o.tag.eq(delay(m, request.tag, self.latency, name="tag")),
            self.o_valid.eq(delay(m, self.i_valid, self.latency, name="valid", reset_less=False)),
        ]
        return m

    def _minor(self, m, over, max_log2, exponent):
        """Twice log2 of the minor axis, `log_latency` + 3 clocks after the lengths."""
        fraction = self.cfg.lod.log_fraction_bits
        m.submodules.normaliser = normaliser = self.normaliser
        m.submodules.det_log2 = det_log2 = self.det_log2
        m.submodules.length2_log2 = length2_log2 = self.length2_log2
        det, length2 = self.lengths.det, self.lengths.length2

        # det can be anything below its top; zero is always over the limit.
        place = Signal(6, reset_less=True)
        m.d.comb += [normaliser.i.eq(det), det_log2.x.eq(normaliser.o[:-1])]
        m.d.sync += place.eq(len(det) - 1 - normaliser.count)
        place = delay(m, place, Log2Fraction.latency - 1, name="det_place")
        log_det = Cat(det_log2.o, place)

        # The leading one of L2 is at one of four places.
        lowest = 2 * self.cfg.lod.mantissa_bits - 2
        above = Signal(2)
        shifted = Signal(len(length2))
        x_q1 = Signal(self._mantissa_bits, reset_less=True)
        with m.Switch(length2[lowest + 1 :]):
            with m.Case(0):
                m.d.comb += above.eq(0)
            with m.Case(1):
                m.d.comb += above.eq(1)
            with m.Case(2, 3):
                m.d.comb += above.eq(2)
            with m.Default():
                m.d.comb += above.eq(3)
        m.d.comb += shifted.eq(length2 >> above)
        m.d.sync += x_q1.eq(shifted[:lowest][-self._mantissa_bits :])
        m.d.comb += length2_log2.x.eq(x_q1)
        late = self.log_latency - Log2Fraction.latency - 1
        log_length2 = Cat(
            delay(m, length2_log2.o, late, name="length2_fraction"),
            delay(m, above, self.log_latency, name="length2_place"),
        )
        offset = C(lowest << fraction)

        twice_q1 = Signal(signed(fraction + 8), reset_less=True)
        limited_q1 = Signal(fraction + 6, reset_less=True)
        chosen_q2 = Signal(signed(fraction + 8), reset_less=True)
        minor_q3 = Signal(signed(fraction + 10), reset_less=True)
        limit = delay(m, max_log2, self.log_latency, name="max_log2_late")
        over_q1 = delay(m, over, 1, name="over_late")
        scale_q2 = Signal(signed(10), reset_less=True)
        scale = delay(m, exponent, self.log_latency + 1, name="exponent_late")
        m.d.sync += [
            twice_q1.eq((log_det << 1) - log_length2 - offset),
            limited_q1.eq(log_length2 + offset - (limit << (fraction + 1))),
            chosen_q2.eq(Mux(over_q1, limited_q1, twice_q1)),
            scale_q2.eq((scale << 1) - 2 * (EXPONENT_BIAS + self.cfg.lod.mantissa_bits)),
            minor_q3.eq(chosen_q2 + (scale_q2 << fraction)),
        ]
        return minor_q3

    def _round(self, m, minor):
        """LOD two clocks later: to 1/256 with ties to even, saturated (without a register)."""
        shift = self.cfg.lod.log_fraction_bits + 1 - 8
        floor_q1 = Signal(signed(len(minor) - shift), reset_less=True)
        up_q1 = Signal(reset_less=True)
        rounded_q2 = Signal(signed(len(minor) - shift + 1), reset_less=True)
        m.d.sync += [
            floor_q1.eq(minor[shift:].as_signed()),
            up_q1.eq(minor[shift - 1] & (minor[: shift - 1].any() | minor[shift])),
            rounded_q2.eq(floor_q1 + up_q1),
        ]
        # Inside 16 bits when the sign and the bits from 15 up are one.
        sign, high = rounded_q2[-1], rounded_q2[15:]
        outside = high.any() & ~high.all()
        lod = Signal(signed(16))
        m.d.comb += lod.eq(Mux(outside, Cat((~sign).replicate(15), sign), rounded_q2[:16]))
        return lod


class LodUnit(CreditBuffer):
    """Stream block of `LodDatapath`: one lane per clock, latency `latency`.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes, and the algorithm's widths and table.

    Members
    -------
    i : In(stream.Signature(lod_request(cfg)))
    o : Out(stream.Signature(lod_result()))
    """

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(LodDatapath(cfg))
