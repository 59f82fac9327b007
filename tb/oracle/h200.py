"""Number rules of the measured H200, as formulas (oracle/README.md, "How real hardware differs").

Every rule here is exact or carries its own known error: the judge gives them to the golden model
and wants the measured answer, so a difference is explained by a formula and not by a tolerance.
"""

import numpy as np

FIT_ERROR = 2
"""The gradient rule below was fitted: within 2/256 of the hardware's LOD everywhere."""


def fixed_coordinate(
    u: np.ndarray, size: np.ndarray | int, linear: np.ndarray | bool
) -> np.ndarray:
    """Texel coordinate in 1/256, int64: of the texel for POINT, of the footprint for LINEAR.

    The coordinate is cut (floor) to 21 fraction bits, or to 8 + log2(size) if that is more. POINT
    is the plain floor; LINEAR rounds half up.
    """
    bits = np.maximum(21, 8 + np.ceil(np.log2(size)))
    steps = np.floor(u.astype(np.float64) * 2.0**bits)
    texels = steps * 2.0**-bits * size
    return np.where(linear, np.floor(texels * 256 + 0.5) - 128, np.floor(texels) * 256).astype(
        np.int64
    )


def cut(value: np.ndarray) -> np.ndarray:
    """Explicit LOD and LOD clamp operand: 8 fraction bits, truncated toward zero."""
    return (np.trunc(value.astype(np.float64) * 256) / 256).astype(np.float32)


def length(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cheap length of a vector: max + 11/32 min."""
    x, y = np.abs(x), np.abs(y)
    return np.maximum(x, y) + 11 / 32 * np.minimum(x, y)


def gradient_lod(ddx: np.ndarray, ddy: np.ndarray, size: np.ndarray) -> np.ndarray:
    """LOD of gradients in 1/256, int64 [n], before bias and clamps, isotropic.

    rho = the largest cheap length of dx, dy, 11/16 (dx + dy) and 11/16 (dx - dy), in texels; its
    logarithm is read from a table by 8 mantissa bits (the middle of each step). A NaN component
    counts as zero; a zero rho is the far low end.

    Parameters
    ----------
    ddx, ddy : float32 [n, 2]
        Gradients in normalised units.
    size : [n, 2]
        Width and height of mip 0.
    """
    dx = np.nan_to_num(ddx.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300) * size
    dy = np.nan_to_num(ddy.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300) * size
    vectors = (dx, dy, (dx + dy) * 11 / 16, (dx - dy) * 11 / 16)
    rho = np.max([length(v[:, 0], v[:, 1]) for v in vectors], axis=0)
    mantissa, exponent = np.frexp(rho)  # mantissa in [1/2, 1)
    step = np.floor(mantissa * 512) - 256
    table = np.rint(np.log2(1 + (step + 0.5) / 256) * 256)
    return np.where(rho == 0, -(1 << 15), (exponent - 1) * 256 + table).astype(np.int64)


def requantise(wx: np.ndarray, wy: np.ndarray, mip: np.ndarray, i: np.ndarray, j: np.ndarray):
    """Final weight in 1/256 of footprint corner (i, j), int64, when all sum to 256.

    The mip's share is split over the two columns, half up in favour of column 1; each column over
    its rows, half up in favour of row j = i. (Fitted on groups B and E64: exact on every op.)

    Parameters
    ----------
    wx, wy : int64 [n]
        Weight of column 1 and of row 1, in 1/256.
    mip : int64 [n]
        Weight of the mip level in 1/256.
    i, j : int64 [n]
        Column and row of the corner, 0 or 1.
    """
    column1 = (wx * mip + 128) >> 8
    column = np.where(i == 1, column1, mip - column1)
    row1 = np.where(i == 1, (column * wy + 128) >> 8, (column * wy + 127) >> 8)
    return np.where(j == 1, row1, column - row1)
