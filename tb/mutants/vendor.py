"""Mutants of the ECP5 hard blocks."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "halves_exchanged",
        "vendor.ecp5",
        "read_data[low : low + bits].eq(output)",
        "read_data[low : low + bits].eq(output.rotate_left(18))",
        "the lower half of a 36-bit read leaves by port A",
    ),
    Mutant(
        "ninth_bits_filled",
        "vendor.ecp5",
        "place // 8 * 9 + place % 8",
        "place",
        "narrow rows leave each byte's ninth bit empty",
    ),
    Mutant(
        "operand_without_sign",
        "vendor.ecp5",
        "value[-1] if value.shape().signed else C(0)",
        "C(0)",
        "signed operands are extended by their sign",
    ),
    Mutant(
        "no_output_register",
        "vendor.ecp5",
        'p_REGMODE_B="OUTREG"',
        'p_REGMODE_B="NOREG"',
        "read latency 2",
    ),
]
