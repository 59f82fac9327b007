"""Pipes and packers of a GPU, which the X and T modes depend on (spec 05, 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from minmip.sim.layout.arguments import need, whole_number
from minmip.sim.layout.errors import LayoutError

__all__ = ["ANACONDA", "HARDWARE", "LOCKHART", "NAVI10", "NAVI21", "AddressConfig"]

_PIPES, _INTERLEAVE, _PACKERS = (0, 7), (3, 7), (8, 7)
"""Shift and mask of the fields of GB_ADDR_CONFIG."""


@dataclass(frozen=True, kw_only=True)
class AddressConfig:
    """What the address equations need to know of a GPU.

    Parameters
    ----------
    pipes_log2, packers_log2 : int
        log2 of NUM_PIPES and NUM_PKRS. RB+ parts have packers <= pipes <= packers + 2, all but
        64 pipes with 64 packers; Navi1x parts have no packers.
    rb_plus : bool
        True for gfx10.3 (both consoles), False for Navi1x.
    """

    pipes_log2: int
    packers_log2: int
    rb_plus: bool = True

    def __post_init__(self):
        for name in ("pipes_log2", "packers_log2"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name)))
        need("rb_plus", bool, self.rb_plus)
        pipes, packers = self.pipes_log2, self.packers_log2
        if not 0 <= pipes <= 6:
            raise LayoutError(f"a GPU has 1 to 64 pipes (log2 0 to 6), not log2 {pipes}")
        if not self.rb_plus and packers:
            raise LayoutError(f"a Navi1x part has no packers (log2 0), not log2 {packers}")
        if self.rb_plus and (not packers <= pipes <= packers + 2 or packers in (6, -1, -2)):
            raise LayoutError(
                "an RB+ part has packers <= pipes <= 4 * packers and at most 32 packers, not "
                f"pipes 2^{pipes} and packers 2^{packers}"
            )

    @classmethod
    def from_register(cls, gb_addr_config: int, *, rb_plus: bool = True) -> AddressConfig:
        """Read GB_ADDR_CONFIG, of which NUM_PIPES, PIPE_INTERLEAVE_SIZE and NUM_PKRS count."""
        register = whole_number("GB_ADDR_CONFIG", gb_addr_config)
        pipes, interleave, packers = (
            register >> shift & mask for shift, mask in (_PIPES, _INTERLEAVE, _PACKERS)
        )
        if interleave:
            raise LayoutError(f"the pipe interleave is 256 bytes (field 0), not field {interleave}")
        return cls(pipes_log2=pipes, packers_log2=packers if rb_plus else 0, rb_plus=rb_plus)

    @property
    def var_log2(self) -> int:
        """Bytes of a VAR block as a power of two: 16 KB for each pipe."""
        return 14 + self.pipes_log2

    def xor_mask(self, pipe_bank_xor: int, block_log2: int) -> int:
        """Address bits that a surface's pipeBankXor flips inside a block."""
        pipes = self.pipes_log2
        banks = max(0, min(4, block_log2 - 10 - pipes))
        mask = (1 << pipes) - 1 | ((1 << banks) - 1) << pipes + 2
        return (pipe_bank_xor & mask) << 8 & (1 << block_log2) - 1


ANACONDA = AddressConfig.from_register(0x345)
"""Series X: 32 pipes, 8 packers, inferred in spec 05."""
LOCKHART = AddressConfig.from_register(0x243)
"""Series S: 8 pipes, 4 packers, inferred in spec 05."""
NAVI21 = AddressConfig.from_register(0x444)
NAVI10 = AddressConfig.from_register(0x44, rb_plus=False)

HARDWARE = {"anaconda": ANACONDA, "lockhart": LOCKHART, "navi21": NAVI21, "navi10": NAVI10}
"""The configurations that have a name."""
