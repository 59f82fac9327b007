"""Fraction of a binary logarithm: table and interpolation."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.config import LodConfig
from minmip.hw.lib.delay import delay
from minmip.hw.vendor.parts import Multiplier, Rom

__all__ = ["Log2Fraction"]


class Log2Fraction(wiring.Component):
    """log2 of a number 1.x (`docs/lod.md` step 3).

    Free running, one number per clock, latency `Log2Fraction.latency`, no handshake. One block RAM
    and one multiplier.

    Parameters
    ----------
    cfg : LodConfig
        Table.

    Members
    -------
    x : In(index_bits + interpolation_bits)
        Bits below the leading one.
    o : Out(log_fraction_bits)
    """

    x: Signal
    o: Signal

    latency = 6

    def __init__(self, cfg: LodConfig):
        self.cfg = cfg
        slope_bits = max(cfg.log_slope).bit_length()
        self.row = data.StructLayout({"base": cfg.log_fraction_bits, "slope": slope_bits})
        self.rom = Rom(
            self.row,
            [
                self.row.const({"base": base, "slope": slope}).as_bits()
                for base, slope in zip(cfg.log_base[:-1], cfg.log_slope, strict=True)
            ],
        )
        self.multiplier = Multiplier(slope_bits, cfg.interpolation_bits)
        super().__init__(
            {
                "x": In(cfg.index_bits + cfg.interpolation_bits),
                "o": Out(cfg.log_fraction_bits),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.rom, m.submodules.multiplier = self.rom, self.multiplier
        low_bits = self.cfg.interpolation_bits
        m.d.comb += [
            self.rom.addr.eq(self.x[low_bits:]),
            self.multiplier.a.eq(self.rom.data.slope),
            self.multiplier.b.eq(delay(m, self.x[:low_bits], self.rom.latency, name="low")),
        ]
        base = delay(m, self.rom.data.base, self.multiplier.latency, name="base")
        # Below the next entry, so under 1: no growth.
        fraction = Signal(unsigned(self.cfg.log_fraction_bits), reset_less=True)
        m.d.sync += fraction.eq(base + (self.multiplier.p >> low_bits))
        m.d.comb += self.o.eq(fraction)
        return m
