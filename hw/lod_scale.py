"""LOD step 1: gradient components scaled to texels, on one exponent."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.normalise import Normaliser
from minmip.hw.shapes import FLOAT, SIZE_BITS
from minmip.hw.vendor.parts import Multiplier

__all__ = ["EXPONENT_BITS", "LodScale"]

EXPONENT_BITS = 9
"""The common exponent T of `docs/lod.md` is 0 or in 25..293."""
LOW_BITS = 18
"""Bits of a significand that the first of its two multipliers takes."""
PRODUCT_BITS = 24 + SIZE_BITS


class LodScale(wiring.Component):
    """Scale the components of a lane's gradients by the texture's size (`docs/lod.md` step 1).

    Each size is shifted until its top bit is set. Then the top bit of a component's product is one
    of two, and the exponent of the product is known before it.

    Free running, one lane per clock, no handshake. Per component two multipliers.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes, `lod.mantissa_bits` (18 or fewer).

    Members
    -------
    ddx, ddy : In(ArrayLayout(FLOAT, axes))
    size : In(ArrayLayout(SIZE_BITS, axes))
        1 or more.
    axes : In(2)
        Axes in use, 1 or more; the others count as zero.
    q : Out(ArrayLayout(mantissa_bits, 2 * axes))
        Magnitudes, those of ddx first. Without meaning when `exponent` is 0.
    sign : Out(2 * axes)
    exponent : Out(EXPONENT_BITS)
        T of the algorithm. 0 when every component is zero, or `undefined`.
    undefined : Out(1)
        A component in use is NaN or infinite.
    """

    ddx: data.View
    ddy: data.View
    size: data.View
    axes: Signal
    q: data.View
    sign: Signal
    exponent: Signal
    undefined: Signal

    def __init__(self, cfg: UnitConfig):
        if cfg.lod.mantissa_bits > 18:
            raise ValueError(
                f"lod.mantissa_bits must be 18 or fewer in gateware, not {cfg.lod.mantissa_bits}"
            )
        self.cfg = cfg
        self.components = 2 * cfg.axes
        # size 2, product 3, its sum 1, normalised 1, maximum, distance 2, shift 2, rounded 2
        self.latency = 13 + ceil_log2(self.components)
        vector = data.ArrayLayout(FLOAT, cfg.axes)
        magnitude = unsigned(cfg.lod.mantissa_bits)
        super().__init__(
            {
                "ddx": In(vector),
                "ddy": In(vector),
                "size": In(data.ArrayLayout(unsigned(SIZE_BITS), cfg.axes)),
                "axes": In(2),
                "q": Out(data.ArrayLayout(magnitude, self.components)),
                "sign": Out(self.components),
                "exponent": Out(EXPONENT_BITS),
                "undefined": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        normalised = []
        for axis in range(self.cfg.axes):
            m.submodules[f"size{axis}"] = part = Normaliser(SIZE_BITS, SIZE_BITS)
            m.d.comb += part.i.eq(self.size[axis])
            normalised.append(part)

        gradients = [*(self.ddx[n] for n in range(self.cfg.axes))]
        gradients += [self.ddy[n] for n in range(self.cfg.axes)]
        used = [self.axes > n for n in range(self.cfg.axes)] * 2
        undefined_q1 = Signal(reset_less=True)
        undefined_q2 = Signal(self.components, reset_less=True)
        special = Cat(g[23:31].all() & u for g, u in zip(gradients, used, strict=True))
        m.d.sync += [
            undefined_q1.eq(special.any()),
            undefined_q2.eq(undefined_q1.replicate(self.components)),
        ]
        m.d.comb += [
            self.undefined.eq(delay(m, undefined_q1, self.latency - 1, name="undefined_q1")),
            self.sign.eq(delay(m, Cat(g[31] for g in gradients), self.latency, name="sign")),
        ]

        scaled = []
        for n, (gradient, use) in enumerate(zip(gradients, used, strict=True)):
            zero = Signal(name=f"zero{n}")
            m.d.comb += zero.eq(~(use & gradient[23:31].any()))
            scaled.append(
                self._product(m, n, gradient, zero, undefined_q2[n], normalised[n % self.cfg.axes])
            )
        exponent = self._largest(m, [top for _, top in scaled])
        levels = ceil_log2(self.components)
        for n, (mantissa, top) in enumerate(scaled):
            mantissa = delay(m, mantissa, levels, name=f"mantissa{n}")
            top = delay(m, top, levels, name=f"top{n}")
            m.d.comb += self.q[n].eq(self._align(m, n, mantissa, top, exponent))
        m.d.comb += self.exponent.eq(delay(m, exponent, 6, name="exponent"))
        return m

    def _product(self, m, n, gradient, zero, undefined_q2, size_q2):
        """Stages 1 to 7: mantissa, its guard and sticky bit (20 bits), and its `top` exponent."""
        fraction_q2 = delay(m, gradient[:23], 2, name=f"fraction{n}")
        low = Multiplier(LOW_BITS, SIZE_BITS)
        high = Multiplier(24 - LOW_BITS, SIZE_BITS)
        m.submodules[f"low{n}"], m.submodules[f"high{n}"] = low, high
        m.d.comb += [
            low.a.eq(fraction_q2[:LOW_BITS]),
            high.a.eq(Cat(fraction_q2[LOW_BITS:], 1)),
            low.b.eq(size_q2.o),
            high.b.eq(size_q2.o),
        ]
        # Exponent of a product whose top bit is 0; it does not count for zeros.
        base_q3 = Signal(EXPONENT_BITS, name=f"base{n}_q3", reset_less=True)
        dead_q3 = Signal(name=f"dead{n}_q3", reset_less=True)
        exponent_q2 = delay(m, gradient[23:31], 2, name=f"exponent{n}")
        m.d.sync += [
            base_q3.eq(exponent_q2 + (PRODUCT_BITS - 1) - size_q2.count),
            dead_q3.eq(delay(m, zero, 2, name=f"zero{n}") | undefined_q2),
        ]
        # The low bits of the sum are those of the lower product.
        upper_bits = PRODUCT_BITS - LOW_BITS
        upper_q6 = Signal(upper_bits, name=f"upper{n}_q6", reset_less=True)
        # Which fours of the low bits hold a one: the multiplier's pins lie far apart.
        fours = [low.p[bit : min(bit + 4, LOW_BITS)] for bit in range(0, LOW_BITS, 4)]
        sticky_q6 = Signal(len(fours), name=f"sticky{n}_q6", reset_less=True)
        m.d.sync += [
            upper_q6.eq(low.p[LOW_BITS:] + high.p),
            sticky_q6.eq(Cat(part.any() for part in fours)),
        ]
        base_q6 = delay(m, base_q3, 3, name=f"base{n}_q3")
        dead_q6 = delay(m, dead_q3, 3, name=f"dead{n}_q3")

        width = self.cfg.lod.mantissa_bits + 1  # and the guard bit
        normal = Signal(upper_bits, name=f"normal{n}")
        mantissa_q7 = Signal(1 + width, name=f"mantissa{n}_q7", reset_less=True)
        top_q7 = Signal(EXPONENT_BITS, name=f"top{n}_q7", reset_less=True)
        m.d.comb += normal.eq(Mux(upper_q6[-1], upper_q6, Cat(0, upper_q6)))
        m.d.sync += [
            mantissa_q7.eq(Cat(normal[:-width].any() | sticky_q6.any(), normal[-width:])),
            top_q7.eq(base_q6 + upper_q6[-1]),
        ]
        with m.If(dead_q6):
            m.d.sync += top_q7.eq(0)
        return mantissa_q7, top_q7

    def _largest(self, m, tops):
        """One stage per level of a tree."""
        level = 0
        while len(tops) > 1:
            level += 1
            pairs = [tops[n : n + 2] for n in range(0, len(tops), 2)]
            tops = []
            for n, pair in enumerate(pairs):
                most = Signal(EXPONENT_BITS, name=f"most{level}_{n}", reset_less=True)
                m.d.sync += most.eq(Mux(pair[-1] < pair[0], pair[0], pair[-1]))
                tops.append(most)
        return tops[0]

    def _align(self, m, n, mantissa, top, exponent):
        """Six stages: shift right by `exponent - top` and round, saturating.

        A zero component has `top` 0, 25 or more under the exponent, and so becomes 0.
        """
        width = self.cfg.lod.mantissa_bits
        distance_q1 = Signal(EXPONENT_BITS, name=f"distance{n}_q1", reset_less=True)
        m.d.sync += distance_q1.eq(exponent - top)

        mantissa_q1 = delay(m, mantissa, 1, name=f"mantissa{n}_late")
        mantissa_q2 = delay(m, mantissa_q1, 1, name=f"mantissa{n}_later")
        eights_q2 = Signal(2, name=f"eights{n}_q2", reset_less=True)
        fine_q2 = Signal(3, name=f"fine{n}_q2", reset_less=True)
        far_q2 = Signal(name=f"far{n}_q2", reset_less=True)
        # Ones in the parts of 8 bits, and whether the coarse shift drops the part.
        ones_q2 = Signal(3, name=f"ones{n}_q2", reset_less=True)
        drop_q2 = Signal(3, name=f"drop{n}_q2", reset_less=True)
        value, eights, far = mantissa_q1[1:], distance_q1[3:5], distance_q1[5:].any()
        m.d.sync += [
            fine_q2.eq(distance_q1[:3]),
            eights_q2.eq(eights),
            far_q2.eq(far),
            ones_q2.eq(Cat(value[:8].any(), value[8:16].any(), value[16:].any())),
            drop_q2.eq(Cat(far | eights.any(), far | eights[1], far | eights.all())),
        ]

        coarse_q3 = Signal(1 + width, name=f"coarse{n}_q3", reset_less=True)
        sticky_q3 = Signal(name=f"sticky{n}_q3", reset_less=True)
        fine_q3 = delay(m, fine_q2, 1, name=f"fine{n}_late")
        m.d.sync += [
            coarse_q3.eq(Mux(far_q2, 0, mantissa_q2[1:] >> (eights_q2 << 3))),
            sticky_q3.eq(mantissa_q2[0] | (ones_q2 & drop_q2).any()),
        ]
        shifted_q4 = Signal(1 + width, name=f"shifted{n}_q4", reset_less=True)
        sticky_q4 = Signal(name=f"sticky{n}_q4", reset_less=True)
        lost = Cat(coarse_q3[bit] & (bit < fine_q3) for bit in range(7))
        m.d.sync += [shifted_q4.eq(coarse_q3 >> fine_q3), sticky_q4.eq(sticky_q3 | lost.any())]

        rounded_q5 = Signal(width + 1, name=f"rounded{n}_q5", reset_less=True)
        up = shifted_q4[0] & (sticky_q4 | shifted_q4[1])
        m.d.sync += rounded_q5.eq(shifted_q4[1:] + up)
        # A carry out leaves zeros below: all ones is the largest magnitude.
        q_q6 = Signal(width, name=f"q{n}_q6", reset_less=True)
        m.d.sync += q_q6.eq(rounded_q5[:width] | rounded_q5[width].replicate(width))
        return q_q6
