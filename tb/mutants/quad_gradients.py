"""Mutants of the gradients of quads."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "every_opcode_is_implicit",
        "quad_gradients",
        "Mux(is_implicit(quad.opcode), difference, given)",
        "difference",
        "given gradients stay",
    ),
    Mutant(
        "bias_is_not_implicit",
        "quad_gradients",
        "is_implicit(quad.opcode)",
        "~quad.opcode.any()",
        "SAMPLE_B is implicit too",
    ),
    Mutant(
        "lanes_from_1",
        "quad_gradients",
        "self.i.payload.uvw[lane]",
        "self.i.payload.uvw[lane + 1]",
        "lanes 0 to 2 feed the gradients",
    ),
]
