"""A choice that the layout of a map makes, one clock after its swizzle mode (spec 05)."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Value
from amaranth.utils import ceil_log2

from minmip.hw import swizzle
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.swizzle import Layout

__all__ = ["LayoutChoice", "layout_choice"]


@dataclass(frozen=True)
class LayoutChoice:
    """Which of some values a map has: their number, bit by bit, in as few bits as there need be."""

    values: tuple[Hashable, ...]
    bits: tuple[Value, ...]

    def later(self, m: Module, clocks: int, name: str) -> "LayoutChoice":
        """The same, `clocks` clocks later."""
        late = [delay(m, bit, clocks, name=f"{name}_{n}") for n, bit in enumerate(self.bits)]
        return LayoutChoice(self.values, tuple(late))

    def select(self, make: Callable) -> Value:
        """Choose among what `make` gives for each value."""
        options = [make(value) for value in self.values]
        for bit in self.bits:
            # Without a partner the last one is for both.
            odd = [*options[1::2], *options[-1:]]
            options = [Mux(bit, b, a) for a, b in zip(options[::2], odd, strict=False)]
        return options[0]


def layout_choice(
    m: Module,
    cfg: UnitConfig,
    mode: Value,
    volume: Value,
    value_of: Callable[[Layout], Hashable | None],
    name: str,
) -> LayoutChoice:
    """Tell the values of a build's layouts apart; valid one clock after `mode` and `volume`.

    Parameters
    ----------
    m : Module
        The registers are added to its `sync` domain.
    cfg : UnitConfig
        What layouts there are.
    mode, volume : Value
        Of a map.
    value_of : function
        Value of a layout; None: it may be any.
    name : str
        Of the registers.
    """
    found = dict.fromkeys(value_of(layout) for layout in swizzle.layouts(cfg))
    values = tuple(value for value in found if value is not None)

    def has_bit(bit: int) -> Callable[[Layout], bool | None]:
        def rule(layout):
            value = value_of(layout)
            return None if value is None else bool(values.index(value) >> bit & 1)

        return rule

    bits = [
        delay(m, swizzle.is_layout(cfg, mode, volume, has_bit(n)), 1, name=f"{name}_{n}")
        for n in range(ceil_log2(len(values)))
    ]
    return LayoutChoice(values, tuple(bits))
