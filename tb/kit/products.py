"""Multipliers out of the way of a solver: any products that keep some laws of multiplication.

A solver that works bit by bit does not get through the products of a blend. These proofs show that
the gateware around the multipliers is right whatever they give, so long as it fits the laws here,
which all products of non-negative integers do; `Multiplier` itself is tested in `test_vendor.py`.
"""

from __future__ import annotations

from itertools import combinations

from amaranth.hdl import Assert, Assume, Const, Fragment, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from kit.formal import Proof, Spec
from minmip.hw.lib.delay import delay

__all__ = ["FreeProducts", "LawSpec", "law_proof"]


class FreeProducts:
    """A platform, as `minmip.hw.vendor.ecp5` is one: its products are free inputs of the proof."""

    def __init__(self):
        self.parts: list = []
        self.products: list[Signal] = []

    def get_multiplier(self, part) -> Module:
        m = Module()
        product = Signal(len(part.p), name=f"product{len(self.parts)}")
        m.d.comb += part.p.eq(product)
        self.parts.append(part)
        self.products.append(product)
        return m

    def assume_laws(self, m: Module, clock: Signal, due: tuple[int, ...], one: int) -> None:
        """The laws for weights up to `one`, at clock `due[n]` for product n."""
        factors = [
            (delay(m, part.a, part.latency, name=f"a{n}"), delay(m, part.b, part.latency, name="b"))
            for n, part in enumerate(self.parts)
        ]
        for n, ((a, b), p) in enumerate(zip(factors, self.products, strict=True)):
            laws = [
                (a > one) | (p <= b * Const(one)),
                (a != one) | (p == b * Const(one)),
                (a != 0) | (p == 0),
            ]
            m.d.comb += [Assume((clock != due[n]) | law) for law in laws]
        for n, k in combinations(range(len(factors)), 2):
            if due[n] != due[k]:
                continue
            (a, b), (c, d) = factors[n], factors[k]
            p, q = self.products[n], self.products[k]
            grown, step = Mux(d >= b, q - p, p - q), Mux(d >= b, d - b, b - d)
            laws = [
                # One weight: the difference is the weight times the difference.
                (a != c) | (grown >= 0),
                (a != c) | (a > one) | (grown <= step * Const(one)),
                # One number: more weight is not less.
                (b != d) | (Mux(c >= a, q - p, p - q) >= 0),
            ]
            m.d.comb += [Assume((clock != due[n]) | law) for law in laws]


class LawSpec(Spec):
    """What `laws` say of one beat through some copies of a free-running part.

    The beat enters in clock 0. `due` are the clocks at which its products come from the
    multipliers of each copy, in the order of the gateware; a wrong one makes the proof fail.
    """

    one = 512
    due: tuple[int, ...] = ()

    def __init__(self, *parts):
        super().__init__(parts[0])
        self.parts = parts
        self.platform = FreeProducts()
        # At once: the products are free inputs of the proof.
        self.fragments = [Fragment.get(part, self.platform) for part in parts]
        self.ports = [*self.platform.products, *(p for part in parts for p in Spec(part).ports)]

    def legal(self, *inputs: dict) -> Value:
        """Inputs the copies are made for."""
        return Const(1, 1)

    def laws(self, *inputs: dict) -> list[Value]:
        """Return what must be true of the outputs, from the inputs, one dict for each copy."""
        raise NotImplementedError

    def elaborate(self, platform):
        m = Module()
        for n, fragment in enumerate(self.fragments):
            m.submodules[f"part{n}"] = fragment
        clocks = self.block.latency
        clock = Signal(range(clocks + 2))
        m.d.sync += clock.eq(clock + (clock <= clocks))
        self.platform.assume_laws(m, clock, self.due * len(self.parts), self.one)
        now = [
            {
                name: getattr(part, name)
                for name, member in part.signature.members.items()
                if member.flow == In
            }
            for part in self.parts
        ]
        m.d.comb += Assume((clock != 0) | self.legal(*now))
        old = [
            {name: delay(m, value, clocks, name=f"old{n}_{name}") for name, value in part.items()}
            for n, part in enumerate(now)
        ]
        m.d.comb += [Assert((clock != clocks) | law) for law in self.laws(*old)]
        return m


def law_proof(block: str, name: str, says: str, make) -> Proof:
    """Prove for every beat: what comes of it depends on no other."""
    clocks = make().block.latency
    return Proof(block=block, name=name, says=says, make=make, mode="bmc", depth=clocks + 1)
