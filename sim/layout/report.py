"""A layout as a table for people and as plain data for JSON."""

from __future__ import annotations

from minmip.sim.layout.query import MipLayout, PlaneLayout, ResourceLayout

__all__ = ["as_data", "as_table"]

_COLUMNS = ("mip", "elements", "padded", "offset", "bytes", "")


def as_data(resource: ResourceLayout) -> dict:
    """Return the layout under XG's names as dicts, lists, numbers and strings."""
    texture = resource.texture
    data = {name: getattr(resource, name) for name in ("Dimension", "SizeBytes")}
    data |= {
        "BaseAlignmentBytes": resource.BaseAlignmentBytes,
        "MipLevels": resource.MipLevels,
        "SwizzleMode": texture.swizzle.name,
        "XGLayout": texture.swizzle.xg_layout,
        "Planes": [_plane_data(plane) for plane in resource.Planes],
    }
    return data


def _plane_data(plane: PlaneLayout) -> dict:
    surface = plane.surface
    data = {k: v for k, v in vars(plane).items() if k not in ("MipLayout", "surface")}
    data["BlockElements"] = list(surface.block)
    data["BlockBytes"] = 1 << surface.block_log2
    data["AddressBits"] = str(surface.pattern) if surface.pattern else None
    data["MipLayout"] = [dict(vars(mip)) for mip in plane.MipLayout]
    return data


def as_table(resource: ResourceLayout) -> str:
    """Return the layout as text: the resource, then each plane with a line for each mip."""
    texture = resource.texture
    mode = texture.swizzle
    lines = []
    lines.append(
        f"{mode.name} (mode {mode.number}, layout {mode.xg_layout:#x}), {resource.Dimension}: "
        f"{resource.SizeBytes} bytes, alignment {resource.BaseAlignmentBytes}"
    )
    for number, plane in enumerate(resource.Planes):
        surface = plane.surface
        block = "x".join(map(str, surface.block[: 3 if surface.block[2] > 1 else 2]))
        lines.append(
            f"plane {number} {plane.Usage}: {plane.BytesPerElement}-byte elements, blocks of "
            f"{block} elements, {plane.SizeBytes} bytes at {plane.BaseOffsetBytes}"
        )
        chain = "slab" if surface.block[2] > 1 else "slice"
        lines.append(
            f"{surface.slabs} {chain}{'s' * (surface.slabs > 1)} of {plane.SliceSizeBytes} bytes; "
            f"{plane.StandardMipCount} mips and {plane.MipTailMipCount} in the tail"
        )
        if surface.pattern:
            lines.append(f"address bits from 0: {surface.pattern}")
        lines += _columns([_COLUMNS, *map(_row, range(resource.MipLevels), plane.MipLayout)])
    return "\n".join(lines)


def _row(number: int, mip: MipLayout) -> tuple[str, ...]:
    true = (mip.WidthElements, mip.HeightElements, mip.DepthOrArraySize)
    padded = (mip.PaddedWidthElements, mip.PaddedHeightElements, mip.PaddedDepthOrArraySize)
    return (
        str(number),
        "x".join(map(str, true)),
        "x".join(map(str, padded)),
        str(mip.OffsetBytes),
        str(mip.SizeBytes),
        "tail" if mip.IsMipTail else "",
    )


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Align the columns to the right, and nothing after the last word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
