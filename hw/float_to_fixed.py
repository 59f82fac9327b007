"""float32 to fixed point with 32 fraction bits: step 0 of the coordinate rules (spec 02)."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.shapes import FLOAT

__all__ = ["MAGNITUDE_BITS", "FloatToFixed"]

MAGNITUDE_BITS = 48
"""16 integer and 32 fraction bits: the saturation limit 2**15 has a bit of its own."""

TOP_EXPONENT = 127 + 15
"""Biased exponent of 2**15, the limit of saturation."""


class FloatToFixed(wiring.Component):
    """Magnitude of a float32 with 32 fraction bits, rounded to nearest even.

    One value per clock, latency 8. NaN and denormals are 0. The sign is bit 31 of the float, as it
    stands.

    The significand stands on top of a 48-bit window and moves right by 0 to 24 bits. For values
    from 2**-9 on the whole window is the magnitude; for smaller ones its upper half is, and the
    lower half says how to round. One shifter so serves both.

    Parameters
    ----------
    infinity : int
        Magnitude of an infinity when not `wraps`, 1 to 2**15.

    Members
    -------
    i : In(FLOAT)
    wraps : In(1)
        1: keep the value modulo 2, infinities are 0. 0: saturate to +-2**15.
    magnitude : Out(MAGNITUDE_BITS)
        Below 2**33 with `wraps`.
    """

    i: In(FLOAT)
    wraps: In(1)
    magnitude: Out(MAGNITUDE_BITS)

    latency = 8

    def __init__(self, infinity: int):
        if not 1 <= infinity <= 1 << 15:
            raise ValueError(f"infinity must be in 1..32768, not {infinity}")
        self.infinity = infinity
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        fraction, exponent = self.i[:23], self.i[23:31]

        # Clock 1: how far the value lies below 2**15.
        distance_q1 = Signal(signed(9), reset_less=True)  # 142 - 255 to 142 - 0
        special_q1 = Signal(reset_less=True)
        some_q1 = Signal(3, reset_less=True)  # the fraction is not 0, by thirds
        significand_q1 = delay(m, Cat(fraction, Const(1, 1)), 1, name="significand")
        m.d.sync += [
            distance_q1.eq(TOP_EXPONENT - exponent),
            special_q1.eq(exponent.all()),
            some_q1.eq(Cat(fraction[:8].any(), fraction[8:16].any(), fraction[16:].any())),
        ]

        # Clock 2: what to do with it, by the distance over 8 and modulo 8. Compares with constants
        # of a few bits need no carry chain.
        wraps_q1 = delay(m, self.wraps, 1, name="wraps")
        low, eights = distance_q1[:3], distance_q1[3:].as_signed()  # eights: -15 to 17
        small = Signal()  # distance 25 or more: the window's upper half is the magnitude
        large = Signal()  # distance 0 or less: the value is 2**15 or more
        far = Signal()  # distance 49 or more: not even a half is left
        even = Signal()  # distance -9 or less: a multiple of 2
        early = Signal()  # distance -8 to -1: 8 places to the left, which the window cannot do
        coarse = Signal(2)
        with m.Switch(eights):
            with m.Case(0, 1, 2, 3):
                m.d.comb += [coarse.eq(eights), large.eq(~distance_q1.any())]
                with m.If((eights == 3) & low.any()):
                    m.d.comb += [small.eq(1), coarse.eq(0)]
            with m.Case(4, 5, 6):
                m.d.comb += [small.eq(1), coarse.eq(eights - 3), far.eq((eights == 6) & low.any())]
            with m.Case(-1):
                m.d.comb += [large.eq(1), early.eq(1)]
            with m.Default():
                m.d.comb += [far.eq(~eights[-1]), large.eq(eights[-1]), even.eq(eights[-1])]
        zero_q2, top_q2, early_q2 = (
            Signal(name=f"{name}_q2", reset_less=True) for name in ("zero", "top", "early")
        )
        m.d.sync += [
            zero_q2.eq(far | (wraps_q1 & even) | (special_q1 & some_q1.any())),
            top_q2.eq(large & ~wraps_q1),
            early_q2.eq(early & wraps_q1),
        ]
        shift_q2 = delay(m, Cat(low, coarse), 1, name="shift")
        small_q2 = delay(m, small, 1, name="small")
        special_q2 = delay(m, special_q1, 1, name="special")
        significand_q2 = delay(m, significand_q1, 1, name="significand_2")

        # Clock 3: the significand that enters the window; its unit is 2**24 of the magnitude's.
        significand_q3 = Signal(24, reset_less=True)
        m.d.sync += significand_q3.eq(significand_q2)
        with m.If(early_q2):
            m.d.sync += significand_q3.eq(significand_q2 << 8)  # the bits cut are 2**33 and up
        with m.If(top_q2):
            m.d.sync += significand_q3.eq(Mux(special_q2, self.infinity << 8, 1 << 23))
        with m.If(zero_q2):
            m.d.sync += significand_q3.eq(0)
        shift_q3 = delay(m, Mux(top_q2, 0, shift_q2), 1, name="shift_2")

        # Clocks 4 and 5: the shift, by ones while the window is narrow, then by eights.
        window_q4 = Signal(24 + 7, reset_less=True)
        window_q5 = Signal(48, reset_less=True)
        eights_q4 = delay(m, shift_q3[3:], 1, name="eights")
        m.d.sync += [
            window_q4.eq(Cat(Const(0, 7), significand_q3) >> shift_q3[:3]),
            window_q5.eq(Cat(Const(0, 17), window_q4) >> Cat(Const(0, 3), eights_q4)),
        ]

        # Clock 6: the half or the whole of the window, and what rounding must know.
        small_q5 = delay(m, small_q2, 3, name="small_2")
        wraps_q5 = delay(m, wraps_q1, 4, name="wraps_2")
        kept_q6 = Signal(MAGNITUDE_BITS, reset_less=True)
        half_q6 = Signal(reset_less=True)
        below_q6 = Signal(3, reset_less=True)  # something lies below the half, by thirds
        m.d.sync += [
            kept_q6.eq(Mux(small_q5, window_q5[24:], window_q5)),
            half_q6.eq(small_q5 & window_q5[23]),
            below_q6.eq(Cat(window_q5[:8].any(), window_q5[8:16].any(), window_q5[16:23].any())),
        ]
        with m.If(wraps_q5):
            m.d.sync += kept_q6[33:].eq(0)  # modulo 2

        # Clocks 7 and 8: round. Only the upper half of a window is rounded, so 25 bits may change.
        kept_q7 = delay(m, kept_q6, 1, name="kept")
        up_q7 = delay(m, half_q6 & (below_q6.any() | kept_q6[0]), 1, name="up")
        m.d.sync += self.magnitude.eq(Cat((kept_q7[:25] + up_q7)[:25], kept_q7[25:]))
        return m
