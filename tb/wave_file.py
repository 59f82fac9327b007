"""Reads a VCD file of the unit's waves: which beats a stream took, and when."""

from __future__ import annotations

from pathlib import Path

__all__ = ["Waves"]

CLOCK = 10
"""Units of time in a clock; half way through it everything is as the rising edge finds it."""


class Waves:
    """The signals of a file, by scope and name.

    Attributes
    ----------
    names : set of str
        Such as "taps__i__valid"; the scopes TOP and of the unit are left out.
    clocks : list of int
        What the file covers.
    """

    def __init__(self, path: Path):
        self._ids: dict[str, str] = {}
        self._values: list[dict[str, int]] = []  # by clock
        self.clocks: list[int] = []
        scopes: list[str] = []
        now: dict[str, int] = {}
        time = None
        for line in path.read_text().splitlines():
            words = line.split()
            match words:
                case ["$scope", _, name, _]:
                    scopes.append(name)
                case ["$upscope", _]:
                    scopes.pop()
                case ["$var", _, _, key, name, *_]:
                    self._ids[".".join([*scopes[2:], name])] = key
                case [value] if value.startswith("#"):
                    self._keep(time, now)
                    time = int(value[1:])
                case [value, key] if value[0] == "b":
                    now[key] = int(value[1:], 2)
                case [value] if value[0] in "01":
                    now[value[1:]] = int(value[0])
        self._keep(time, now)
        self.names = set(self._ids)

    def _keep(self, time: int | None, now: dict[str, int]) -> None:
        if time is not None and time % CLOCK:
            self.clocks.append(time // CLOCK)
            self._values.append(dict(now))

    def value(self, name: str, clock: int) -> int:
        """Value of a signal before the rising edge that ends a clock."""
        return self._values[clock - self.clocks[0]][self._ids[name]]

    def beats(self, stream: str, field: str = "") -> list[tuple[int, int]]:
        """Clock and payload, or a field of it, of each transfer of a stream.

        Streams are called "taps__i"; those of the unit itself "i".
        """
        payload = f"{stream}__payload" + (f".{field}" if field else "")
        return [
            (clock, self.value(payload, clock))
            for clock in self.clocks
            if self.value(f"{stream}__valid", clock) and self.value(f"{stream}__ready", clock)
        ]
