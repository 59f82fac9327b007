"""LOD steps 2 and 5: squared lengths, major axis, determinant."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.lib.less_than import less_than
from minmip.hw.vendor.parts import Multiplier

__all__ = ["LodLengths", "det_bits", "length2_bits"]


def length2_bits(cfg: UnitConfig) -> int:
    """Bits of a squared length: up to three squares."""
    return 2 * cfg.lod.mantissa_bits + (2 if cfg.axes == 3 else 1)


def det_bits(cfg: UnitConfig) -> int:
    """Bits of the determinant: two products."""
    return 2 * cfg.lod.mantissa_bits + 1


class LodLengths(wiring.Component):
    """Larger squared length and determinant of two vectors (`docs/lod.md` steps 2 and 5).

    Free running, one lane per clock, no handshake. A multiplier per component and two for the
    determinant.

    Parameters
    ----------
    cfg : UnitConfig
        Number of axes, `lod.mantissa_bits`.

    Members
    -------
    q : In(ArrayLayout(mantissa_bits, 2 * axes))
        Magnitudes of dX's components, then dY's.
    sign : In(2 * axes)
    length2 : Out(length2_bits(cfg))
    det : Out(det_bits(cfg))
    major_is_x : Out(1)
    """

    q: data.View
    sign: Signal
    length2: Signal
    det: Signal
    major_is_x: Signal

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = 6 + (cfg.axes - 1)
        magnitude = unsigned(cfg.lod.mantissa_bits)
        super().__init__(
            {
                "q": In(data.ArrayLayout(magnitude, 2 * cfg.axes)),
                "sign": In(2 * cfg.axes),
                "length2": Out(length2_bits(cfg)),
                "det": Out(det_bits(cfg)),
                "major_is_x": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        axes, width = self.cfg.axes, self.cfg.lod.mantissa_bits

        def product(name, a, b):
            m.submodules[name] = part = Multiplier(width, width)
            m.d.comb += [part.a.eq(a), part.b.eq(b)]
            return part.p

        squares = [product(f"square{n}", self.q[n], self.q[n]) for n in range(2 * axes)]
        x2 = self._sum(m, "x2", squares[:axes])
        y2 = self._sum(m, "y2", squares[axes:])

        larger = less_than(m, y2, x2, name="larger")
        x2, y2 = delay(m, x2, 2, name="x2_late"), delay(m, y2, 2, name="y2_late")
        length2 = Signal(length2_bits(self.cfg), reset_less=True)
        m.d.sync += length2.eq(Mux(larger, x2, y2))
        m.d.comb += [
            self.length2.eq(length2),
            self.major_is_x.eq(delay(m, larger, 1, name="larger_late")),
        ]

        # |a - b| of two signed products: the sum of the magnitudes when the signs differ.
        a = product("det_a", self.q[0], self.q[axes + 1])
        b = product("det_b", self.q[1], self.q[axes])
        differ = self.sign[0] ^ self.sign[axes + 1] ^ self.sign[1] ^ self.sign[axes]
        differ = delay(m, differ, 3, name="differ")
        bits = det_bits(self.cfg)
        b_q1 = Signal(bits + 1, reset_less=True)  # inverted for a subtraction
        a_q1 = delay(m, a, 1, name="det_a")
        differ_q1 = delay(m, differ, 1, name="differ_late")
        difference = Signal(bits + 2)  # bit 0 makes the carry
        difference_q2 = Signal(signed(bits + 1), reset_less=True)
        m.d.sync += b_q1.eq(Cat(b, 0) ^ (~differ).replicate(bits + 1))
        m.d.comb += difference.eq(Cat(~differ_q1, a_q1) + Cat(~differ_q1, b_q1))
        m.d.sync += difference_q2.eq(difference[1:])
        # Its magnitude: inverted, then one more.
        flipped_q3 = Signal(bits, reset_less=True)
        negative_q3 = Signal(reset_less=True)
        det_q4 = Signal(bits, reset_less=True)
        negative = difference_q2[-1]
        m.d.sync += [
            negative_q3.eq(negative),
            flipped_q3.eq(difference_q2 ^ negative.replicate(bits)),
            det_q4.eq(flipped_q3 + negative_q3),
        ]
        m.d.comb += self.det.eq(delay(m, det_q4, self.latency - 7, name="det"))
        return m

    def _sum(self, m, name, squares):
        """One stage per addition."""
        total = squares[0]
        for n, square in enumerate(squares[1:]):
            square = delay(m, square, n, name=f"{name}_square{n + 1}")
            older, total = (
                total,
                Signal(length2_bits(self.cfg), name=f"{name}_{n}", reset_less=True),
            )
            m.d.sync += total.eq(older + square)
        return total
