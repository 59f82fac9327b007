"""Mutants of the front of the pipeline."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "flush_is_decoded",
        "quad_front",
        "decode.i.valid.eq(to_decode.valid & ~request.flush)",
        "decode.i.valid.eq(to_decode.valid)",
        "the descriptors of a flush are not looked at",
    ),
    Mutant(
        "flush_waits_for_an_answer",
        "quad_front",
        "whole.eq(answer.valid | quad.flush)",
        "whole.eq(answer.valid)",
        "a flush has no answer",
    ),
    Mutant(
        "flush_takes_an_answer",
        "quad_front",
        "answer.ready.eq(self.o.ready & operands.valid & ~quad.flush)",
        "answer.ready.eq(self.o.ready & operands.valid)",
        "an answer is for a quad",
    ),
    Mutant(
        "helpers_live",
        "quad_front",
        "o.live.eq(quad.exec & ~quad.helper)",
        "o.live.eq(quad.exec)",
        "helper lanes write nothing",
    ),
    Mutant(
        "refused_quads_live",
        "quad_front",
        "with m.If(~quad.flush & ~answer.payload.code.any()):",
        "with m.If(~quad.flush):",
        "a refused quad touches nothing",
    ),
]
