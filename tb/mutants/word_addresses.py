"""Mutants of the addresses of words."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "pitch_of_mip_0",
        "word_addresses",
        "i.columns >> word.mip",
        "i.columns >> 0",
        "each mip has its own pitch",
    ),
    Mutant(
        "level_of_word_0",
        "word_addresses",
        "i.mip_offset[word.mip]",
        "i.mip_offset[i.word[0].mip]",
        "each word has its own mip",
    ),
    Mutant(
        "slice_of_word_0",
        "word_addresses",
        "delay(m, word.slice, 2",
        "delay(m, i.word[0].slice, 2",
        "each word has its own slice",
    ),
    Mutant(
        "pitch_short",
        "word_addresses",
        "columns_q1 + 1",
        "columns_q1",
        "columns are stored less one",
    ),
    Mutant(
        "volume_pitch",
        "word_addresses",
        "blocks << THICK_LOG2",
        "blocks << THIN_LOG2",
        "blocks of 256B_S volumes have 8 columns",
    ),
    Mutant(
        "linear_volume_pitch",
        "word_addresses",
        "thick = swizzled & ",
        "thick = ",
        "a LINEAR volume is laid out like an array",
    ),
    Mutant(
        "volume_as_slices",
        "word_addresses",
        '"volume": delay(m, self.i.volume, 2, name="volume"),',
        "",
        "depths of a 256B_S volume lie in slabs of eight",
    ),
    Mutant(
        "valid_by_bytes",
        "word_addresses",
        "word.valid.eq(found.side.valid[n])",
        "word.valid.eq(words.o.payload[n].mask.any())",
        "a read says itself which words it needs",
    ),
    Mutant(
        "words_early",
        "word_addresses",
        "words.o.ready.eq(self.o.ready & buffer.o.valid)",
        "words.o.ready.eq(self.o.ready)",
        "bytes wait for their addresses",
    ),
]
