"""Mutants of the addresses of words."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "pitch_of_mip_0",
        "word_addresses",
        "i.columns >> i.mip",
        "i.columns >> 0",
        "each mip has its own pitch",
    ),
    Mutant(
        "level_0",
        "word_addresses",
        "i.mip_offset[i.mip]",
        "i.mip_offset[0]",
        "each mip has its own place",
    ),
    Mutant(
        "rows_swapped",
        "word_addresses",
        "y_q2[n >> 1]",
        "y_q2[1 - (n >> 1)]",
        "word 2r + c is at row r",
    ),
    Mutant(
        "pitch_short",
        "word_addresses",
        "columns_q1 + 1",
        "columns_q1",
        "columns are stored less one",
    ),
    Mutant(
        "words_early",
        "word_addresses",
        "words.o.ready.eq(self.o.ready & buffer.o.valid)",
        "words.o.ready.eq(self.o.ready)",
        "bytes wait for their addresses",
    ),
]
