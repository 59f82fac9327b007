"""Mutants of the MinMip filter."""

from kit.mutants import Mutant

MUTANTS: list[Mutant] = []
