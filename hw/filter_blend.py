"""Blends of the MinMip filter: a plane of four texels, and two planes of a volume (spec 04)."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.filter_ramp import ONE_LOG2, WEIGHT_BITS
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import Multiplier

__all__ = ["LINE_BITS", "PLANE_BITS", "VOLUME_BITS", "Blend", "DepthBlend", "PlaneBlend", "larger"]

LINE_BITS = 8 + ONE_LOG2
PLANE_BITS = LINE_BITS + ONE_LOG2
VOLUME_BITS = PLANE_BITS + ONE_LOG2
"""A byte times the weights of one, two and three axes: 255 times 1 is the most."""
PRODUCT_BITS = 18
"""Width of a multiplier."""


def larger(a, b):
    """Return the larger of two bytes, by the sign of their difference."""
    return Mux((a - b)[-1], b, a)


class Blend(wiring.Component):
    """Between two numbers by a weight, exact: `start * 512 + step * near`.

    One number per clock.

    Parameters
    ----------
    bits : int
        Of the numbers, up to 36.

    Attributes
    ----------
    latency : int
        4, or 5 when the step is too wide for one multiplier.

    Members
    -------
    start : In(bits)
    step : In(bits)
        From the start to the end, which has `bits` too.
    near : In(WEIGHT_BITS)
        Weight of the end, 0 to 512.
    o : Out(bits + 9)
    """

    start: Signal
    step: Signal
    near: Signal
    o: Signal

    def __init__(self, bits: int):
        if not 1 <= bits <= 2 * PRODUCT_BITS:
            raise ValueError(f"bits must be in 1..{2 * PRODUCT_BITS}, not {bits}")
        self.bits = bits
        self.latency = 4 if bits <= PRODUCT_BITS else 5
        super().__init__(
            {
                "start": In(bits),
                "step": In(bits),
                "near": In(WEIGHT_BITS),
                "o": Out(bits + ONE_LOG2),
            }
        )

    def elaborate(self, platform):
        m = Module()
        products = []
        for low in range(0, self.bits, PRODUCT_BITS):
            limb = self.step[low : low + PRODUCT_BITS]
            m.submodules[f"limb{low}"] = product = Multiplier(
                unsigned(WEIGHT_BITS), unsigned(len(limb))
            )
            m.d.comb += [product.a.eq(self.near), product.b.eq(limb)]
            products.append(product.p)
        if len(products) == 2:
            low, high = products
            whole = Cat(low[:PRODUCT_BITS], high + low[PRODUCT_BITS:])
            products = [delay(m, whole, 1, name="product")]

        # The lowest 9 bits take no part in the sum, and the end has no more bits than the start.
        start = delay(m, self.start, self.latency - 1, name="start")
        whole = (start + products[0][ONE_LOG2:])[: self.bits]
        m.d.sync += self.o.eq(Cat(products[0][:ONE_LOG2], whole))
        return m


class PlaneBlend(wiring.Component):
    """Four texels and two weights to one value, exact.

    One value per clock, latency 12. With the own texel a and its neighbours h, v and g (across,
    along and diagonal), the corners of the blend are a, max(a, h), max(a, v) and the largest of
    all: the near neighbour only adds, so no step is negative.

    Members
    -------
    texel : In(ArrayLayout(8, 4))
        a, h, v, g.
    near : In(ArrayLayout(WEIGHT_BITS, 2))
        Weight of h and of v, 0 to 512.
    o : Out(PLANE_BITS)
        The blend times 2**18.
    """

    texel: In(data.ArrayLayout(unsigned(8), 4))
    near: In(data.ArrayLayout(unsigned(WEIGHT_BITS), 2))
    o: Out(PLANE_BITS)

    latency = 12

    def elaborate(self, platform):
        m = Module()
        own, across, along, diagonal = self.texel

        # Clocks 1 to 3: the corners a, h, v, g of the blend, and the steps from a to h, v to g.
        own_q1 = delay(m, own, 1, name="own")
        across_q1 = delay(m, larger(own, across), 1, name="across")
        along_q1 = delay(m, larger(own, along), 1, name="along")
        row_q1 = delay(m, larger(along, diagonal), 1, name="row")
        all_q2 = delay(m, larger(across_q1, row_q1), 1, name="all")
        along_q2 = delay(m, along_q1, 1, name="along_1")
        steps = [
            delay(m, (across_q1 - own_q1)[:8], 2, name="step0"),
            delay(m, (all_q2 - along_q2)[:8], 1, name="step1"),
        ]
        starts = [delay(m, own_q1, 2, name="own_1"), delay(m, along_q2, 1, name="along_2")]

        # Clocks 4 to 7: both rows.
        lines, near = [], delay(m, self.near[0], 3, name="near_x")
        for n, (start, step) in enumerate(zip(starts, steps, strict=True)):
            m.submodules[f"line{n}"] = line = Blend(8)
            m.d.comb += [
                line.start.eq(start),
                line.step.eq(step),
                line.near.eq(near),
            ]
            lines.append(line.o)

        # Clocks 8 to 12: from row to row; both corners of the second are the larger ones.
        m.submodules.plane = plane = Blend(LINE_BITS)
        m.d.comb += [
            plane.start.eq(delay(m, lines[0], 1, name="start")),
            plane.step.eq(delay(m, (lines[1] - lines[0])[:LINE_BITS], 1, name="step")),
            plane.near.eq(delay(m, self.near[1], 8, name="near_y")),
            self.o.eq(plane.o),
        ]
        return m


class DepthBlend(wiring.Component):
    """Two planes of a volume and a weight to one value, exact.

    One plane per clock, latency 6. The first plane of a lane is kept until its second one comes.

    Members
    -------
    plane : In(PLANE_BITS)
        The blend of the first plane, or of the larger texels of both: not less than the first.
    first : In(1)
        Keep this plane.
    second : In(1)
        Blend with the plane that is kept; else the plane goes through.
    near : In(WEIGHT_BITS)
        Weight of the second plane, 0 to 512.
    o : Out(VOLUME_BITS)
        The blend times 2**27.
    """

    plane: In(PLANE_BITS)
    first: In(1)
    second: In(1)
    near: In(WEIGHT_BITS)
    o: Out(VOLUME_BITS)

    latency = 6

    def elaborate(self, platform):
        m = Module()
        kept = Signal(PLANE_BITS, reset_less=True)
        with m.If(self.first):
            m.d.sync += kept.eq(self.plane)

        # Clock 1: the step; then from depth to depth.
        start = Mux(self.second, kept, self.plane)
        m.submodules.blend = blend = Blend(PLANE_BITS)
        m.d.comb += [
            blend.start.eq(delay(m, start, 1, name="start")),
            blend.step.eq(delay(m, (self.plane - kept)[:PLANE_BITS], 1, name="step")),
            blend.near.eq(delay(m, Mux(self.second, self.near, 0), 1, name="near")),
            self.o.eq(blend.o),
        ]
        return m
