"""A block between registers, so that synthesis measures it and not the pins."""

from amaranth.hdl import Cat, Elaboratable, Module, Shape, Signal, Value
from amaranth.lib.wiring import In

__all__ = ["OnePin", "Registered"]


class Registered(Elaboratable):
    """A block with a register at every port.

    Parameters
    ----------
    block : wiring.Component
        What is measured.

    Attributes
    ----------
    inputs, outputs, ports : list of Signal
        The outer ports, and all of them.
    bits : int
        Registers that this adds.
    """

    def __init__(self, block):
        self.block = block
        self.inputs, self.outputs = [], []
        self._pairs = []
        for path, member, value in block.signature.flatten(block):
            inner = Value.cast(value)
            name = "__".join(str(part) for part in path)
            if member.flow == In:
                port = Signal(Shape.cast(inner.shape()), name=name)
                self._pairs.append((inner, port))
                self.inputs.append(port)
            else:
                port = Signal(Shape.cast(inner.shape()), name=name, reset_less=True)
                self._pairs.append((port, inner))
                self.outputs.append(port)
        self.ports = self.inputs + self.outputs
        self.bits = sum(len(port) for port in self.ports)

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = self.block
        for target, source in self._pairs:
            if any(target is port for port in self.outputs):
                m.d.sync += target.eq(source)
            else:
                held = Signal(source.shape(), name=f"{source.name}_q", reset_less=True)
                m.d.sync += held.eq(source)
                m.d.comb += target.eq(held)
        return m


class OnePin(Elaboratable):
    """A block on two pins, for tools that want a pin for every port.

    All inputs hang on one shift register; all outputs are registered and folded into one bit, four
    by four, with a register behind each fold.

    Parameters
    ----------
    block : wiring.Component
        What is measured.

    Attributes
    ----------
    ports : list of Signal
        The outer ports.
    bits : int
        Registers that this adds.
    """

    def __init__(self, block):
        self.inner = Registered(block)
        self.scan_in, self.scan_out = Signal(), Signal(reset_less=True)
        self.ports = [self.scan_in, self.scan_out]
        self._chain = Signal(len(Cat(self.inner.inputs)), reset_less=True)
        self._folds = []
        folded = Cat(self.inner.outputs)
        while len(folded) > 4:
            groups = [folded[at : at + 4] for at in range(0, len(folded), 4)]
            fold = Signal(len(groups), name=f"fold{len(self._folds)}", reset_less=True)
            self._folds.append((fold, Cat(group.xor() for group in groups)))
            folded = fold
        self._folds.append((self.scan_out, folded.xor()))
        # A register of the chain holds what the port register before it does: Yosys merges the two.
        self.bits = self.inner.bits + sum(len(fold) for fold, _ in self._folds)

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = self.inner
        m.d.comb += Cat(self.inner.inputs).eq(self._chain)
        m.d.sync += self._chain.eq(Cat(self.scan_in, self._chain[:-1]))
        m.d.sync += [fold.eq(value) for fold, value in self._folds]
        return m
