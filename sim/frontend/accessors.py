"""Reading glTF accessors: interleaved, normalised and sparse ones (glTF 2.0, 3.6)."""

from typing import Any

import numpy as np

from minmip.sim.frontend.errors import SceneError
from minmip.sim.frontend.gltf_document import Document, whole

__all__ = ["MAX_ELEMENTS", "read_accessor"]

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
TYPE_SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}

MAX_ELEMENTS = 1 << 26
"""Most elements of one accessor."""
MAX_EMPTY = 1 << 20
"""Most elements of one that has no buffer view: a few bytes of file must not ask for gigabytes."""


def read_accessor(document: Document, index: Any, kind: str, user: str) -> np.ndarray:
    """Elements of an accessor.

    Parameters
    ----------
    document : Document
        The file.
    index : int
        Which accessor.
    kind : str
        The `type` it must have: "SCALAR", "VEC2" or "VEC3".
    user : str
        Who refers to it, for error texts.

    Returns
    -------
    ndarray
        float32 [count, components] for floats and normalised integers, else the integers as they
        are stored.

    Raises
    ------
    SceneError
        If the accessor is of another kind, leaves its buffer view, or holds NaN or infinity.
    """
    accessor = document.item("accessors", index, user)
    what = f"accessors[{index}]"
    if accessor.type != kind:
        raise SceneError(f"{user}: {what}.type must be {kind}, not {accessor.type!r:.40}")
    dtype = _dtype(accessor.componentType, what)
    count = whole(accessor.count, f"{what}.count")
    most = MAX_EMPTY if accessor.bufferView is None else MAX_ELEMENTS
    if count > most:
        raise SceneError(f"{what}.count must be at most {most}, not {count}")
    size = TYPE_SIZES[kind]
    if accessor.bufferView is None:
        values = np.zeros((count, size), dtype)
    else:
        values = _elements(
            document, accessor.bufferView, accessor.byteOffset, dtype, count, size, what
        )
    if accessor.sparse is not None:
        _replace_sparse(document, accessor.sparse, values, f"{what}.sparse")
    if accessor.normalized and dtype.kind != "f":
        top = np.iinfo(dtype).max
        values = np.maximum(values.astype(np.float64) / top, -1).astype(np.float32)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise SceneError(f"{user}: {what} must hold finite numbers, but some are NaN or infinite")
    return values


def _dtype(component_type: Any, what: str) -> np.dtype:
    if component_type not in COMPONENTS:
        raise SceneError(
            f"{what}.componentType must be one of {', '.join(map(str, COMPONENTS))}, "
            f"not {component_type!r:.40}"
        )
    return np.dtype(COMPONENTS[component_type])


def _elements(
    document: Document, view: Any, offset: Any, dtype: np.dtype, count: int, size: int, what: str
) -> np.ndarray:
    """A copy of `count` elements of `size` components in a buffer view, [count, size]."""
    data, stride = document.view(view, what)
    offset = whole(offset or 0, f"{what}.byteOffset")
    element = dtype.itemsize * size
    stride = element if stride is None else stride
    if stride < element:
        raise SceneError(f"{what}: byteStride must be at least {element}, not {stride}")
    end = offset + stride * (count - 1) + element if count else 0
    if end > len(data):
        raise SceneError(f"{what} wants {end} bytes of bufferViews[{view}], which has {len(data)}")
    if not count:
        return np.zeros((0, size), dtype)
    strides = (stride, dtype.itemsize)
    return np.ndarray((count, size), dtype, data, offset, strides).copy()


def _replace_sparse(document: Document, sparse: Any, values: np.ndarray, what: str) -> None:
    """Write the elements that a sparse accessor replaces into `values`."""
    if sparse.indices is None or sparse.values is None:
        raise SceneError(f"{what} must have indices and values")
    count = whole(sparse.count, f"{what}.count")
    if count > len(values):
        raise SceneError(f"{what}.count must be at most {len(values)}, not {count}")
    kind = _dtype(sparse.indices.componentType, f"{what}.indices")
    if kind.kind != "u":
        raise SceneError(f"{what}.indices.componentType must be an unsigned kind, not {kind.name}")
    where = _elements(
        document, sparse.indices.bufferView, sparse.indices.byteOffset, kind, count, 1, what
    )[:, 0]
    if count and where.max() >= len(values):
        raise SceneError(f"{what}.indices must be below {len(values)}, not {where.max()}")
    values[where] = _elements(
        document,
        sparse.values.bufferView,
        sparse.values.byteOffset,
        values.dtype,
        count,
        values.shape[1],
        what,
    )
