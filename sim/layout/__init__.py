"""Texture layouts of gfx10.3 GPUs: mip chains, swizzle modes, element addresses (spec 05)."""

from minmip.sim.layout.dds import DdsImage, read_dds, write_dds
from minmip.sim.layout.errors import LayoutError
from minmip.sim.layout.hardware import (
    ANACONDA,
    HARDWARE,
    LOCKHART,
    NAVI10,
    NAVI21,
    AddressConfig,
)
from minmip.sim.layout.modes import MODES, SwizzleMode, swizzle_mode
from minmip.sim.layout.patterns import Pattern
from minmip.sim.layout.pipe_xor import xor_patterns
from minmip.sim.layout.query import MipLayout, PlaneLayout, ResourceLayout, layout
from minmip.sim.layout.swizzling import swizzle, unswizzle
from minmip.sim.layout.texture import Texture, natural_mips

__all__ = [
    "ANACONDA",
    "HARDWARE",
    "LOCKHART",
    "MODES",
    "NAVI10",
    "NAVI21",
    "AddressConfig",
    "DdsImage",
    "LayoutError",
    "MipLayout",
    "Pattern",
    "PlaneLayout",
    "ResourceLayout",
    "SwizzleMode",
    "Texture",
    "layout",
    "natural_mips",
    "read_dds",
    "swizzle",
    "swizzle_mode",
    "unswizzle",
    "write_dds",
    "xor_patterns",
]
