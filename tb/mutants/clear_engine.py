"""Mutants of the clear engine."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "first_word_whole",
        "clear_engine",
        "from_first.eq(C(-1, word_bytes) << first)",
        "from_first.eq(C(-1, word_bytes))",
        "bytes before the range stay",
    ),
    Mutant(
        "last_word_whole",
        "clear_engine",
        "to_last.eq(~(C(-2, word_bytes) << below[:word_log2]))",
        "to_last.eq(C(-1, word_bytes))",
        "bytes behind the range stay",
    ),
    Mutant(
        "one_word_more",
        "clear_engine",
        "below.eq(span - (1 + word_bytes))",
        "below.eq(span - word_bytes)",
        "the last word is the one with the last byte",
    ),
    Mutant(
        "done_when_sent",
        "clear_engine",
        "with m.If(to_hear[-1]):",
        "with m.If(to_send[-1]):",
        "the result comes after every answer",
    ),
    Mutant(
        "error_of_the_last_word",
        "clear_engine",
        "result.error.eq(result.error | response.payload.error)",
        "result.error.eq(response.payload.error)",
        "an error anywhere in the range is reported",
    ),
    Mutant(
        "no_bytes_one_word",
        "clear_engine",
        "with m.If(length == 0):",
        "with m.If(0):",
        "a range of no bytes writes nothing",
    ),
    Mutant(
        "upper_address_stays",
        "clear_engine",
        "Mux(wraps, next_high, high)",
        "high",
        "a range goes on over 256 words",
    ),
]
