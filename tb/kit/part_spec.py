"""Proof that a free-running part computes a rule, for every input."""

from __future__ import annotations

from collections.abc import Callable

from amaranth.hdl import Assert, Assume, Const, Module, Value
from amaranth.lib.wiring import In

from kit.formal import Proof, Spec
from minmip.hw.lib.delay import delay

__all__ = ["PartSpec", "part_proof"]


class PartSpec(Spec):
    """A part gives what `rule` says of its inputs, `latency` clocks later, if they are `legal`."""

    def legal(self, inputs: dict) -> Value:
        """Inputs the part is made for."""
        return Const(1, 1)

    def rule(self, m: Module, inputs: dict) -> list[tuple[Value, Value]]:
        """Return outputs and their values, from the inputs of the same beat."""
        raise NotImplementedError

    def properties(self, m: Module) -> None:
        clocks = self.block.latency
        inputs = {
            name: getattr(self.block, name)
            for name, member in self.block.signature.members.items()
            if member.flow == In
        }
        m.d.comb += Assume(self.legal(inputs))
        begun = delay(m, Const(1, 1), clocks, name="begun", reset_less=False)
        old = {name: delay(m, value, clocks, name=f"old_{name}") for name, value in inputs.items()}
        for output, value in self.rule(m, old):
            m.d.comb += Assert(~begun | (output == value))


def part_proof(block: str, name: str, says: str, make: Callable[[], PartSpec]) -> Proof:
    """Prove by induction over the part's latency: after that nothing else is left in it."""
    return Proof(block=block, name=name, says=says, make=make, depth=make().block.latency + 1)
