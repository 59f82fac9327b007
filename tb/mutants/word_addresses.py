"""Mutants of the addresses of words."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "read_beats_write",
        "word_addresses",
        ".any() & ~beat.read",
        ".any()",
        "what is read is not written",
    ),
    Mutant(
        "empty_beats_write",
        "word_addresses",
        "side.writes.eq(Cat(word.valid for word in beat.word).any() & ~beat.read)",
        "side.writes.eq(~beat.read)",
        "beats without a word write nothing",
    ),
    Mutant(
        "flush_ends_early",
        "word_addresses",
        "beat.flush & beat.last",
        "beat.flush",
        "a flush ends with its last beat",
    ),
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
        '"z": word.slice',
        '"z": i.word[0].slice',
        "each word has its own slice",
    ),
    Mutant(
        "tail_from_mip_0",
        "word_addresses",
        "word.mip - i.first_tail",
        "word.mip",
        "mips from the descriptor's first one on are in the tail",
    ),
    Mutant(
        "slot_0_before_the_tail",
        "word_addresses",
        "Mux(behind < 0, NO_SLOT, behind[:4])",
        "Mux(behind < 0, 0, behind[:4])",
        "mips before the tail have no slot",
    ),
    Mutant(
        "volume_as_slices",
        "word_addresses",
        "for name in KEPT}",
        "for name in KEPT[:3]}",
        "depths of a volume lie in slabs",
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
