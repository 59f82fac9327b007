"""Mutants of the join of answers and filter results."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "result_to_any_quad",
        "answer_join",
        "self.i_filter.ready.eq(go & queue.o.valid & oldest.read)",
        "self.i_filter.ready.eq(go & queue.o.valid)",
        "only filter quads take a result",
    ),
    Mutant(
        "result_without_a_quad",
        "answer_join",
        "self.i_filter.ready.eq(go & queue.o.valid & oldest.read)",
        "self.i_filter.ready.eq(go & oldest.read)",
        "a result waits for its quad",
    ),
    Mutant(
        "answer_without_result",
        "answer_join",
        "complete.eq(~oldest.read | self.i_filter.valid)",
        "complete.eq(1)",
        "a filter quad waits for its result",
    ),
    Mutant(
        "all_wait",
        "answer_join",
        "complete.eq(~oldest.read | self.i_filter.valid)",
        "complete.eq(self.i_filter.valid)",
        "other quads do not wait for the filter",
    ),
    Mutant(
        "values_everywhere",
        "answer_join",
        "Mux(oldest.read, source, 0)",
        "source",
        "answers of other quads have filtered values of 0",
    ),
    Mutant(
        "overwritten",
        "answer_join",
        "with m.If(go):",
        "with m.If(1):",
        "an answer waits until it is taken",
    ),
]
