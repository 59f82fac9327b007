"""The slow second reading of the specification: one lane, one tap, one texel at a time.

Plain Python integers and fractions, written from spec 01 to 05 and 08, `docs/decisions.md` and
`docs/lod.md` alone, independent of `sim/golden`. The tests compare the two bit for bit.
"""

from reference.unit import Answer, run

__all__ = ["Answer", "run"]
