"""The unit with every stream of its stages under its own name, for waves."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring

from minmip.hw.top import TextureAddresser

__all__ = ["WatchedUnit"]


class WatchedUnit(TextureAddresser):
    """The unit, with signals such as `taps__i__valid` at its top that nothing reads.

    In the Verilog of a stage a stream may have the name of another one that is joined to it, or
    that a part inside it has: these names are sure. Parameters as of `TextureAddresser`.
    """

    def elaborate(self, platform):
        """Build the unit and name its streams."""
        m: Any = super().elaborate(platform)
        for name, (block, _) in m._named_submodules.items():  # Amaranth has no public list
            if isinstance(block, wiring.Component):
                _name_streams(m, name, block)
        return m


def _name_streams(m: Module, name: str, block: wiring.Component) -> None:
    for member, flow in block.signature.members.items():
        if flow.is_signature and isinstance(flow.signature, stream.Signature):
            sides = getattr(block, member)
            for side in ("valid", "ready", "payload"):
                value = getattr(sides, side)
                watched = Signal(value.shape(), name=f"{name}__{member}__{side}")
                m.d.comb += watched.eq(value)
