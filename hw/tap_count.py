"""LOD step 5: over-long footprints and the number of taps."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.less_than import less_than
from minmip.hw.lod_lengths import det_bits, length2_bits
from minmip.hw.lod_scale import EXPONENT_BITS

__all__ = ["TapCount"]

CANDIDATES = 4
"""1, 2, 4 and 8 taps are compared; 16 needs no comparison."""
FINE_LAST = 154
"""Largest T at which a length can be within reach of the largest (8c + a) / 8 texels."""
FINE_STEPS = 5
"""From FINE_LAST down so many T need a comparison; under them every length is within reach."""


class TapCount(wiring.Component):
    """Compare the ratio of anisotropy with its limit and the tap counts (`docs/lod.md` step 5).

    Both answers are made, for a minor axis above and under one texel: which it is the logarithm
    says later. Free running, one lane per clock, no handshake, latency `TapCount.latency`.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes, `lod.mantissa_bits`.

    Members
    -------
    length2 : In(length2_bits(cfg))
        Larger squared length, L2.
    det : In(det_bits(cfg))
        At most `length2`.
    exponent : In(EXPONENT_BITS)
        T of the algorithm.
    max_log2, threshold : In(3)
        Log2 of the largest tap count, 0 to 4; ANISO_THRESHOLD.
    over : Out(1)
        The ratio is above the limit.
    taps_log2, fine_taps_log2 : Out(3)
        Answer for a minor axis of one texel and more, and for one under a texel.
    """

    length2: Signal
    det: Signal
    exponent: Signal
    max_log2: Signal
    threshold: Signal
    over: Signal
    taps_log2: Signal
    fine_taps_log2: Signal

    latency = 8

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        super().__init__(
            {
                "length2": In(length2_bits(cfg)),
                "det": In(det_bits(cfg)),
                "exponent": In(EXPONENT_BITS),
                "max_log2": In(3),
                "threshold": In(3),
                "over": Out(1),
                "taps_log2": Out(3),
                "fine_taps_log2": Out(3),
            }
        )

    def elaborate(self, platform):
        m = Module()
        over_q6, misses_q6 = self._coarse(m)
        fine_misses_q6 = self._fine(m)
        smallest_q7 = self._smallest(m, "smallest", misses_q6)
        fine_smallest_q7 = self._smallest(m, "fine_smallest", fine_misses_q6)

        over_q7 = delay(m, over_q6, 1, name="over")
        max_q7 = delay(m, self.max_log2, 7, name="max_log2")
        taps_q8 = Signal(3, reset_less=True)
        fine_taps_q8 = Signal(3, reset_less=True)
        m.d.sync += [
            taps_q8.eq(Mux(~over_q7 & (smallest_q7 < max_q7), smallest_q7, max_q7)),
            fine_taps_q8.eq(Mux(fine_smallest_q7 < max_q7, fine_smallest_q7, max_q7)),
        ]
        m.d.comb += [
            self.over.eq(delay(m, over_q7, 1, name="over_late")),
            self.taps_log2.eq(taps_q8),
            self.fine_taps_log2.eq(fine_taps_q8),
        ]
        return m

    def _smallest(self, m, name, misses_q6):
        """Stage 7: log2 of the smallest count that does not miss, or of 16."""
        smallest_q7 = Signal(3, name=f"{name}_q7", reset_less=True)
        m.d.sync += smallest_q7.eq(CANDIDATES)
        for log2 in reversed(range(CANDIDATES)):
            with m.If(~misses_q6[log2]):
                m.d.sync += smallest_q7.eq(log2)
        return smallest_q7

    def _coarse(self, m):
        """Stages 1 to 6: L2 > max * det, and 8 * L2 > det * (8c + a) for each candidate c.

        The second is L2 - floor(a * det / 8) > det * c.
        """
        bits = det_bits(self.cfg)
        limit_q1 = Signal(bits + CANDIDATES, reset_less=True)
        m.d.sync += limit_q1.eq(self.det << self.max_log2)
        length2_q1 = delay(m, self.length2, 1, name="length2")
        over_q3 = less_than(m, limit_q1, length2_q1, name="over")

        det_q1 = delay(m, self.det, 1, name="det")
        threshold_q1 = delay(m, self.threshold, 1, name="threshold")
        three_q1 = Signal(bits + 2, reset_less=True)
        part_q2 = Signal(bits + 2, reset_less=True)
        four_q2 = Signal(bits, reset_less=True)
        share_q3 = Signal(bits + 3, reset_less=True)  # a * det
        with m.Switch(threshold_q1[:2]):
            for a, multiple in enumerate((0, det_q1, det_q1 << 1, three_q1)):
                with m.Case(a):
                    m.d.sync += part_q2.eq(multiple)
        m.d.sync += [
            three_q1.eq(self.det + (self.det << 1)),
            four_q2.eq(Mux(threshold_q1[2], det_q1, 0)),
            share_q3.eq(part_q2 + (four_q2 << 2)),
        ]

        length2_q3 = delay(m, length2_q1, 2, name="length2_late")
        det_q4 = delay(m, det_q1, 3, name="det_late")
        # Not negative: no determinant is above the larger squared length.
        rest_q4 = Signal(length2_bits(self.cfg), reset_less=True)
        m.d.sync += rest_q4.eq(length2_q3 - (share_q3 >> 3))
        misses_q6 = [
            less_than(m, det_q4 << log2, rest_q4, name=f"miss{log2}") for log2 in range(CANDIDATES)
        ]
        return delay(m, over_q3, 3, name="over_early"), Cat(misses_q6)

    def _fine(self, m):
        """Stages 1 to 6: 64 * (squared length in texels) > (8c + a)^2 for each candidate c.

        L2 has its leading one at bit 2 * mantissa_bits - 2 or up to 3 above, so that only a few T
        are near the largest reach of (8 * 8 + 7)^2 at all.
        """
        low = 2 * self.cfg.lod.mantissa_bits - 14  # the shift of L2 at FINE_LAST
        window = self.length2[low:]
        step_q1 = Signal(3, reset_less=True)
        out_q1 = Signal(reset_less=True)
        in_q1 = Signal(reset_less=True)
        window_q1 = delay(m, window, 1, name="window")
        sticky_q1 = Signal(reset_less=True)
        m.d.sync += [
            step_q1.eq(FINE_LAST - self.exponent),
            out_q1.eq(FINE_LAST < self.exponent),
            in_q1.eq(self.exponent < FINE_LAST - FINE_STEPS + 1),
            sticky_q1.eq(self.length2[:low].any()),
        ]

        # Two units per integer: the odd one above an integer stands for all between.
        length_q2 = Signal(1 + len(window), reset_less=True)
        with m.Switch(step_q1):
            for step in range(FINE_STEPS):
                shift = 2 * step
                with m.Case(step) if step < FINE_STEPS - 1 else m.Default():
                    sticky = sticky_q1 | window_q1[:shift].any()
                    m.d.sync += length_q2.eq(Cat(sticky, window_q1[shift:]))
        threshold_q1 = delay(m, self.threshold, 1, name="fine_threshold")
        misses_q3 = Signal(CANDIDATES, reset_less=True)
        for log2 in range(CANDIDATES):
            reach_q2 = Signal(14, name=f"reach{log2}_q2", reset_less=True)
            with m.Switch(threshold_q1):
                for a in range(8):
                    with m.Case(a):
                        m.d.sync += reach_q2.eq(2 * ((8 << log2) + a) ** 2)
            m.d.sync += misses_q3[log2].eq((reach_q2 - length_q2)[-1])
        out_q3 = delay(m, out_q1, 2, name="out")
        in_q3 = delay(m, in_q1, 2, name="in")
        misses_q4 = Signal(CANDIDATES, reset_less=True)
        m.d.sync += misses_q4.eq(
            (misses_q3 & ~in_q3.replicate(CANDIDATES)) | out_q3.replicate(CANDIDATES)
        )
        return delay(m, misses_q4, 2, name="fine_misses")
