"""Mutants of the ECP5 hard blocks."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "halves_exchanged",
        "vendor.ecp5",
        ".eq(output[place : place + bits])",
        ".eq(output.rotate_left(18)[place : place + bits])",
        "the lower half of a 36-bit read leaves by port A",
    ),
    Mutant(
        "ninth_bits_filled",
        "vendor.ecp5",
        "place = place // 8 * 9 + place % 8",
        "pass",
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
    Mutant(
        "first_enable_for_all",
        "vendor.ecp5",
        "part.write_en[n] for n, *_ in slots",
        "part.write_en[0] for n, *_ in slots",
        "each part of a row has its own write enable",
    ),
    Mutant(
        "parts_without_ninth_bit",
        "vendor.ecp5",
        "C(0, 9 - bits if bits < 9 else 0)",
        "C(0, 0)",
        "each part has 9 bits of the block for itself",
    ),
]
