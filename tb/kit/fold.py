"""One byte of memory and the operations on it, in order: what merging must not change."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value

from minmip.hw.shapes import MemoryOp

__all__ = ["ByteWrite", "Step", "applied", "byte_of"]


@dataclass(frozen=True)
class ByteWrite:
    """An operation on the watched byte, if there is one in this place."""

    there: Value
    op: Value
    operand: Value

    @property
    def all(self) -> Value:
        return Cat(self.there, self.op, self.operand)

    @classmethod
    def register(cls, m: Module, name: str) -> ByteWrite:
        """Return signals of an operation, none at first, for the spec to set."""
        return cls(
            Signal(name=f"{name}_there"),
            Signal(2, name=f"{name}_op"),
            Signal(8, name=f"{name}_operand"),
        )

    def kept(self, m: Module, name: str) -> ByteWrite:
        """Return the same in signals, which the logic behind shares."""
        named = self.register(m, name)
        m.d.comb += named.all.eq(Cat(self.there, self.op, self.operand))
        return named

    def same(self, other: ByteWrite) -> Value:
        """Both are the same operation, or neither is there."""
        alike = (Value.cast(self.op) == Value.cast(other.op)) & (self.operand == other.operand)
        return (self.there == other.there) & (~self.there | alike)


@dataclass(frozen=True)
class Step:
    """An operation on the watched byte, and the byte before and after it."""

    before: Value
    after: Value
    write: ByteWrite

    @property
    def all(self) -> Value:
        return Cat(self.before, self.after, self.write.all)

    @classmethod
    def register(cls, m: Module, name: str) -> Step:
        """Return signals for the spec to set."""
        before, after = (Signal(8, name=f"{name}_{when}") for when in ("before", "after"))
        return cls(before, after, ByteWrite.register(m, name))


def applied(m: Module, before: Value, writes: list[ByteWrite], *, name: str) -> Value:
    """Return the byte after operations, the first of the list first."""
    for n, write in enumerate(writes):
        after = Signal(8, name=f"{name}_{n}")
        m.d.comb += after.eq(before)
        with m.If(write.there):
            with m.Switch(write.op):
                with m.Case(MemoryOp.MIN):
                    m.d.comb += after.eq(Mux(write.operand < before, write.operand, before))
                with m.Case(MemoryOp.MAX):
                    m.d.comb += after.eq(Mux(write.operand > before, write.operand, before))
                with m.Case(MemoryOp.OR):
                    m.d.comb += after.eq(write.operand | before)
                with m.Case(MemoryOp.SET):
                    m.d.comb += after.eq(write.operand)
        before = after
    return before


def byte_of(word, lane: Value) -> Value:
    """Byte or mask bit `lane` of a word; of one byte for all, that."""
    return Array(word[n] for n in range(len(word)))[lane] if len(word) > 1 else word[0]
