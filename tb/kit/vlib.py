"""A block as a fast simulation: its Verilog, verilated, with golden columns in and out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib import stream
from amaranth.lib.wiring import In

from kit.packing import pack, unpack
from minmip.hw.build import verilog
from minmip.sim.runners.verilator import Design, Model, Port, Run, Traffic

__all__ = [
    "LONG",
    "SEED",
    "TRAFFIC",
    "VerilatedBlock",
    "assert_columns_equal",
    "beats_of",
    "find_member",
    "stream_ports",
]

LONG = bool(os.environ.get("MINMIP_LONG"))
"""Benches send many more beats."""
SEED = int(os.environ.get("MINMIP_FIRST_SEED", "1"))
"""Seed of their random beats, the first one where there are several."""

TRAFFIC = {
    "full": Traffic(),
    "random valid": Traffic(valid=0.5),
    "random ready": Traffic(ready=0.5),
    "both": Traffic(valid=0.4, ready=0.4, longest=3),
    "long stalls": Traffic(valid=0.02, ready=0.02, longest=150),
}
"""Traffic modes of every bench."""


def stream_ports(block):
    """Split a block's members: input streams, output streams (name to payload shape), ports."""
    streams: dict[str, dict[str, Any]] = {"in": {}, "out": {}}
    ports: dict[str, dict[str, int]] = {"in": {}, "out": {}}

    def walk(signature, path):
        for member_name, member in signature.members.items():
            inward = "in" if member.flow == In else "out"  # what is in an In is turned already
            for index in product(*map(range, member.dimensions)):
                parts = (*path, str(member_name), *map(str, index))
                if member.is_port:
                    ports[inward]["__".join(parts)] = Shape.cast(member.shape).width
                elif isinstance(member.signature, stream.Signature):
                    shape = member.signature.members["payload"].shape
                    streams[inward]["__".join(parts)] = shape
                else:
                    walk(member.signature, parts)

    walk(block.signature, ())
    return streams["in"], streams["out"], ports["in"], ports["out"]


def find_member(block, name: str):
    """Look up the member of a Verilog name: `o__1` is `block.o[1]`."""
    found = block
    for part in name.split("__"):
        found = found[int(part)] if part.isdigit() else getattr(found, part)
    return found


class VerilatedBlock:
    """The `model` of a `block`, and the shapes of its streams.

    The same Verilog is compiled once and kept under `.build`. `extra` is Verilog of the cells that
    the platform brings in.
    """

    def __init__(self, block, name: str, platform=None, *, extra: str = ""):
        self.block = block
        self.inputs, self.outputs, ports, probes = stream_ports(block)
        source = verilog(block, name, platform) + extra
        assert "[-1:0]" not in source, f"{name}: a signal of no bits is no Verilog"
        self.model = Model(
            Design.of(source, name),
            [Port(stream_name, Shape.cast(s).width) for stream_name, s in self.inputs.items()],
            [Port(stream_name, Shape.cast(s).width) for stream_name, s in self.outputs.items()],
            [Port(port, width) for port, width in ports.items()],
            [Port(port, width) for port, width in probes.items()],
            clocked="  input clk;" in source,
        )
        self.model.reset()

    def run(
        self,
        columns: Mapping[str, object],
        expected: Mapping[str, int] | int,
        *,
        traffic: str | Traffic | Mapping[str, Traffic] = "full",
        seed: int = 1,
        quiet: int = 256,
        max_cycles: int | None = None,
    ) -> tuple[dict[str, Any], Run]:
        """Send golden columns by stream name; return the columns of the outputs, and the `Run`.

        `expected` beats (of every output, or by name) must come, no more and no fewer, and none may
        change or fall while it waits: an AssertionError says which rule was broken.
        """
        beats = {name: pack(self.inputs[name], column) for name, column in columns.items()}
        if isinstance(expected, int):
            expected = dict.fromkeys(self.outputs, expected)
        run = self.model.run(
            beats,
            expected,
            traffic=TRAFFIC[traffic] if isinstance(traffic, str) else traffic,
            seed=seed,
            quiet=quiet,
            max_cycles=max_cycles,
        )
        for name, rows in beats.items():
            assert run.taken[name] == len(rows), f"{name}: took {run.taken[name]} of {len(rows)}"
        for name, count in expected.items():
            assert run.given[name] == count, f"{name}: {run.given[name]} beats, not {count}"
        for name, count in run.broken.items():
            assert count == 0, f"{name}: {count} beats changed or fell before they were taken"
        columns_out = {name: unpack(self.outputs[name], run.results[name]) for name in expected}
        return columns_out, run

    def check(self, columns: Mapping[str, Any], wanted: Mapping[str, Any], **options) -> Run:
        """`run`, and what comes must be the golden columns `wanted`, by stream name."""
        counts = {name: beats_of(part) for name, part in wanted.items()}
        result, run = self.run(columns, counts, **options)
        assert_columns_equal(result, wanted)
        return run


def beats_of(columns) -> int:
    """Count the beats of columns."""
    while isinstance(columns, Mapping):
        columns = next(iter(columns.values()))
    return len(columns)


def assert_columns_equal(actual, wanted, path: str = "") -> None:
    """Compare columns of any depth; name the field and the first beat that differs."""
    if isinstance(wanted, Mapping):
        for name, column in wanted.items():
            assert_columns_equal(actual[name], column, f"{path}.{name}" if path else str(name))
        return
    wanted, actual = np.asarray(wanted), np.asarray(actual)
    assert actual.shape == wanted.shape, f"{path}: shape {actual.shape}, not {wanted.shape}"
    if not np.array_equal(actual, wanted):
        first = tuple(np.argwhere(actual != wanted)[0])
        count = int((actual != wanted).sum())
        raise AssertionError(
            f"{path}: {count} of {actual.size} differ, first at {[int(i) for i in first]}: "
            f"{actual[first]}, wanted {wanted[first]}"
        )
