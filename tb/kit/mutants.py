"""Mutants of the gateware: one small fault, put into the source text of a module."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from unittest.mock import patch

__all__ = ["Mutant", "planted"]


@dataclass(frozen=True)
class Mutant:
    """A fault: `old` text, found once in `minmip.hw.<module>`, becomes `new`; `breaks` says what.

    Methods can be broken, but not `__init__`; functions where they are called as the module's.
    """

    name: str
    module: str
    old: str
    new: str
    breaks: str


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Let the module's functions and the methods of its classes have the fault.

    Raises
    ------
    ValueError
        When the text to replace is not there exactly once: the gateware has changed.
    """
    module = import_module(f"minmip.hw.{mutant.module}")
    source = inspect.getsource(module)
    if source.count(mutant.old) != 1:
        raise ValueError(
            f"mutant {mutant.name}: {mutant.old!r} must be in {mutant.module} once, "
            f"not {source.count(mutant.old)} times"
        )
    namespace = {"__name__": module.__name__}
    faulty = source.replace(mutant.old, mutant.new)
    exec(compile(faulty, f"<mutant {mutant.name}>", "exec", dont_inherit=True), namespace)
    patches = [
        patch.object(original, method, function)
        for name, original in vars(module).items()
        if inspect.isclass(original) and original.__module__ == module.__name__
        for method, function in vars(namespace[name]).items()
        if inspect.isfunction(function) and method != "__init__"
    ]
    patches += [
        patch.object(module, name, namespace[name])
        for name, original in vars(module).items()
        if inspect.isfunction(original) and original.__module__ == module.__name__
    ]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()
