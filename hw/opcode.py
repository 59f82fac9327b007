"""Opcodes of requests, as in trace files (spec 08)."""

from amaranth.hdl import Value

__all__ = ["has_bias", "is_explicit", "is_implicit", "is_level_zero"]

# SAMPLE 0, SAMPLE_B 1, SAMPLE_D 2, SAMPLE_L 3, SAMPLE_LZ 4; 5 to 7 do not exist and count as 4.


def is_implicit(opcode: Value) -> Value:
    """SAMPLE or SAMPLE_B: the gradients are differences of the coordinates."""
    return ~opcode[1:].any()


def has_bias(opcode: Value) -> Value:
    """SAMPLE_B: the operand `lod` is a bias."""
    return opcode == 1


def is_explicit(opcode: Value) -> Value:
    """SAMPLE_L or SAMPLE_LZ: the level is given."""
    return opcode[2] | opcode[:2].all()


def is_level_zero(opcode: Value) -> Value:
    """SAMPLE_LZ: the level is 0."""
    return opcode[2]
