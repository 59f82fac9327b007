"""Blends of the MinMip filter: a plane of four texels, and two planes of a volume (spec 04)."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.filter_ramp import ONE_LOG2, WEIGHT_BITS
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import Multiplier

__all__ = ["LINE_BITS", "PLANE_BITS", "VOLUME_BITS", "DepthBlend", "PlaneBlend", "larger"]

LINE_BITS = 8 + ONE_LOG2
PLANE_BITS = LINE_BITS + ONE_LOG2
VOLUME_BITS = PLANE_BITS + ONE_LOG2
"""A byte times the weights of one, two and three axes: 255 times 1 is the most."""
PRODUCT_BITS = 18
"""Width of a multiplier."""


def larger(a, b):
    """Return the larger of two bytes, by the sign of their difference."""
    return Mux((a - b)[-1], b, a)


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

        # Clocks 4 to 7: both rows. A line is at most 255 * 512.
        weight = delay(m, self.near[0], 3, name="weight0")
        lines = []
        for n, (start, step) in enumerate(zip(starts, steps, strict=True)):
            m.submodules[f"line{n}"] = product = Multiplier(unsigned(WEIGHT_BITS), unsigned(8))
            m.d.comb += [product.a.eq(weight), product.b.eq(step)]
            start = delay(m, start, product.latency, name=f"start{n}")
            lines.append(delay(m, _sum(start, product.p, LINE_BITS), 1, name=f"line{n}"))

        # Clock 8: the step from row to row; both corners of the second are the larger ones.
        step_q8 = delay(m, (lines[1] - lines[0])[:LINE_BITS], 1, name="step")

        # Clocks 9 to 12.
        m.submodules.plane = product = Multiplier(unsigned(WEIGHT_BITS), unsigned(LINE_BITS))
        m.d.comb += [
            product.a.eq(delay(m, self.near[1], 8, name="weight1")),
            product.b.eq(step_q8),
        ]
        line = delay(m, lines[0], 1 + product.latency, name="line")
        m.d.sync += self.o.eq(_sum(line, product.p, PLANE_BITS))
        return m


class DepthBlend(wiring.Component):
    """Two planes of a volume and a weight to one value, exact.

    One plane per clock, latency 6. The first plane of a lane is kept until its second one comes.

    Attributes
    ----------
    kept : Signal
        That plane, which proofs look at.

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

    def __init__(self):
        self.kept = Signal(PLANE_BITS, reset_less=True)
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        kept = self.kept
        with m.If(self.first):
            m.d.sync += kept.eq(self.plane)

        # Clock 1.
        start_q1 = delay(m, Mux(self.second, kept, self.plane), 1, name="start")
        step_q1 = delay(m, (self.plane - kept)[:PLANE_BITS], 1, name="step")
        weight_q1 = delay(m, Mux(self.second, self.near, 0), 1, name="weight")

        # Clocks 2 to 5: the step is too wide for one multiplier.
        products = []
        for n, limb in enumerate((step_q1[:PRODUCT_BITS], step_q1[PRODUCT_BITS:])):
            m.submodules[f"limb{n}"] = product = Multiplier(unsigned(WEIGHT_BITS), limb.shape())
            m.d.comb += [product.a.eq(weight_q1), product.b.eq(limb)]
            products.append(product)
        low, high = products[0].p, products[1].p
        product_q5 = Signal(VOLUME_BITS, reset_less=True)  # a step times 1 at the most
        m.d.sync += product_q5.eq(Cat(low[:PRODUCT_BITS], high + low[PRODUCT_BITS:]))

        # Clock 6.
        start_q5 = delay(m, start_q1, products[0].latency + 1, name="start_1")
        m.d.sync += self.o.eq(_sum(start_q5, product_q5, VOLUME_BITS))
        return m


def _sum(start, product, bits):
    """Add a product to `start * 512`: the lowest 9 bits take no part in the sum."""
    return Cat(product[:ONE_LOG2], (start + product[ONE_LOG2:])[: bits - ONE_LOG2])
