"""Address modes on integer texels: steps 3 and 4 of spec 02 "Coordinates"."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.lib.delay import delay
from minmip.hw.shapes import TEXEL_BITS

__all__ = ["AddressMode", "Mode"]

STEP_BITS = 17
"""A texel before its address mode: -2**15 to 2**15."""


class Mode(enum.IntEnum, shape=3):
    """Address modes of S#.CLAMP_X, _Y, _Z (spec 01)."""

    WRAP = 0
    MIRROR = 1
    CLAMP = 2
    MIRROR_ONCE = 3
    HALF_BORDER = 4
    MIRROR_HALF_BORDER = 5
    BORDER = 6
    MIRROR_BORDER = 7


class AddressMode(wiring.Component):
    """Bring a texel into the grid, or say that it lies in the border.

    One texel per clock, latency 3. No divider: reduced coordinates leave wrapped texels in -1..N
    and mirrored ones in -2N-1..2N of a grid of N.

    Members
    -------
    i : In(signed(17))
        Texel; in the range above for wrap and mirror.
    last : In(TEXEL_BITS)
        Last texel of the grid, N - 1.
    mode : In(3)
        `Mode`.
    use : In(1)
        0: the texel is dropped, as in the border.
    o : Out(TEXEL_BITS)
        0 unless touched.
    touched : Out(1)
    """

    i: In(signed(STEP_BITS))
    last: In(TEXEL_BITS)
    mode: In(3)
    use: In(1)
    o: Out(TEXEL_BITS)
    touched: Out(1)

    latency = 3

    def elaborate(self, platform):
        m = Module()
        # Clock 1: reflect about 0, which all odd modes do first: t < 0 becomes -t - 1.
        reflects = self.i[-1] & self.mode[0]
        texel_q1 = Signal(signed(STEP_BITS), reset_less=True)
        m.d.sync += texel_q1.eq(Mux(reflects, ~self.i, self.i))
        last_q1 = delay(m, self.last, 1, name="last")
        mode_q2 = delay(m, self.mode, 2, name="mode")
        use_q2 = delay(m, self.use, 2, name="use")

        # Clock 2: beyond the last texel? And the reflection about it, 2N - 1 - t.
        room_q2 = Signal(signed(STEP_BITS + 1), reset_less=True)
        mirrored_q2 = Signal(signed(STEP_BITS + 1), reset_less=True)
        m.d.sync += [
            room_q2.eq(last_q1 - texel_q1),
            mirrored_q2.eq(Cat(Const(1, 1), last_q1) - texel_q1),
        ]
        texel_q2 = delay(m, texel_q1, 1, name="texel_2")
        last_q2 = delay(m, last_q1, 1, name="last_2")

        # Clock 3: choose. A texel is below, inside or beyond the grid.
        below, beyond = texel_q2[-1], room_q2[-1]
        inside = ~(below | beyond)
        chosen, touched = Signal(TEXEL_BITS), Signal()
        with m.If(inside):
            m.d.comb += [chosen.eq(texel_q2), touched.eq(1)]
        with m.Else():
            with m.Switch(mode_q2):
                with m.Case(Mode.WRAP):
                    m.d.comb += [chosen.eq(Mux(below, last_q2, 0)), touched.eq(1)]
                with m.Case(Mode.MIRROR):  # 2N, the only texel beyond the reflection, is 0 again
                    m.d.comb += [chosen.eq(Mux(mirrored_q2[-1], 0, mirrored_q2)), touched.eq(1)]
                with m.Case(Mode.CLAMP, Mode.MIRROR_ONCE):
                    m.d.comb += [chosen.eq(Mux(below, 0, last_q2)), touched.eq(1)]
                with m.Default():
                    m.d.comb += touched.eq(0)  # the border
        m.d.sync += [
            self.o.eq(Mux(use_q2, chosen, 0)),
            self.touched.eq(touched & use_q2),
        ]
        return m
