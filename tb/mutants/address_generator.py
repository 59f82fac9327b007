"""Mutants of the address generator."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "slab_of_one",
        "address_generator",
        "slab_q1.eq(z >> 3)",
        "slab_q1.eq(z)",
        "a slab holds eight slices",
    ),
    Mutant(
        "flat_volume",
        "address_generator",
        "Cat(x[0], x[1], z[0], y[0], z[1], y[1], x[2], z[2])",
        "Cat(x[:3], y[:2], z[:3])",
        "the texel order of the thick box",
    ),
    Mutant(
        "chain_cut",
        "address_generator",
        "(chain_high.p << CHAIN_LIMB)",
        "0",
        "chains of 64 MiB and more",
    ),
    Mutant(
        "offset_lost",
        "address_generator",
        "request.base + request.offset",
        "request.base",
        "mips stand at their offset in the chain",
    ),
]
