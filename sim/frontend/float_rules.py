"""Arithmetic by the number rules of shaders (spec 07 "Numbers").

float32 as IEEE 754 has it, every result correctly rounded (ties to even), with these rules:

- denormals count as zero, going in and coming out; their sign is kept;
- float16 keeps its denormals, converting either way;
- every NaN that comes out is 0x7FC00000, so that results are the same on every machine.
"""

import numpy as np

__all__ = [
    "NAN",
    "add",
    "divide",
    "flush",
    "from_float16",
    "multiply",
    "square_root",
    "subtract",
    "to_float16",
]

NAN = np.uint32(0x7FC00000).view(np.float32)
"""The NaN of all results."""

SMALLEST_NORMAL = np.float32(2.0**-126)
HALF_NAN = np.uint16(0x7E00).view(np.float16)


def flush(values: np.ndarray) -> np.ndarray:
    """Denormals to zero of the same sign, any NaN to `NAN`; float32 [...].

    Raises ValueError if the values are not float32.
    """
    values = np.asarray(values)
    if values.dtype != np.float32:
        raise ValueError(f"operands must be float32, not {values.dtype}")
    values = values.copy()
    zero = np.copysign(np.float32(0), values)
    np.copyto(values, zero, where=np.abs(values) < SMALLEST_NORMAL)
    np.copyto(values, NAN, where=np.isnan(values))
    return values


def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a + b`, float32; Inf - Inf is NaN, -0 + 0 is 0."""
    return _ruled(np.add, a, b)


def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a - b`, float32; Inf - Inf is NaN."""
    return _ruled(np.subtract, a, b)


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a * b`, float32; 0 * Inf is NaN, also for a denormal in the place of 0."""
    return _ruled(np.multiply, a, b)


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a / b`, float32; 0 / 0 and Inf / Inf are NaN, other numbers by 0 are Inf."""
    return _ruled(np.divide, a, b)


def square_root(a: np.ndarray) -> np.ndarray:
    """Square root, float32; NaN below 0, -0 of -0."""
    return _ruled(np.sqrt, a)


def to_float16(values: np.ndarray) -> np.ndarray:
    """float32 to float16, ties to even: denormals are kept, from 65520 on it is Inf.

    Raises ValueError if the values are not float32.
    """
    with np.errstate(over="ignore", under="ignore"):
        half = flush(values).astype(np.float16)
    return np.where(np.isnan(half), HALF_NAN, half)


def from_float16(values: np.ndarray) -> np.ndarray:
    """float16 to float32, exact, denormals too.

    Raises ValueError if the values are not float16.
    """
    values = np.asarray(values)
    if values.dtype != np.float16:
        raise ValueError(f"values must be float16, not {values.dtype}")
    return flush(values.astype(np.float32))


def _ruled(operation: np.ufunc, *operands: np.ndarray) -> np.ndarray:
    """An operation of IEEE 754 between two flushes."""
    with np.errstate(all="ignore"):
        return flush(operation(*map(flush, operands)))
