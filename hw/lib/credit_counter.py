"""Counter of the free places behind something that cannot wait."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["CreditCounter"]


class CreditCounter(wiring.Component):
    """Say whether one more beat may be taken.

    Parameters
    ----------
    places : int
        Beats that have room, more than `kept_back`.
    registers : int
        For long ways: 1 puts registers behind `take` and `give`, 2 one more in front of `ready`.

    Attributes
    ----------
    kept_back : int
        2 + `registers` places stay free, so that `ready` is a register and no adder feeds it.
    credit : Signal
        Free places less `kept_back`, as far as the counter has heard.

    Members
    -------
    ready : Out(1)
        A beat may be taken in this clock.
    ready_next : Out(1)
        `ready` of the next clock.
    take : In(1)
        A beat is taken; only with `ready`.
    give : In(1)
        A place becomes free.
    """

    ready: Signal
    ready_next: Signal
    take: Signal
    give: Signal

    def __init__(self, places: int, *, registers: int = 0):
        if registers not in (0, 1, 2):
            raise ValueError(f"registers must be 0, 1 or 2, not {registers}")
        self.kept_back = 2 + registers
        if places <= self.kept_back:
            raise ValueError(f"places must be {self.kept_back + 1} or more, not {places}")
        self.places = places
        self.registers = registers
        init = places - self.kept_back
        self.credit = Signal(range(-self.kept_back, init + 1), init=init)
        # Signals that proofs look at.
        self._take, self._give = Signal(), Signal()
        self._early = Signal(init=1)
        super().__init__(
            # The stubs of Out do not know init.
            {
                "ready": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "ready_next": Out(1),
                "take": In(1),
                "give": In(1),
            }
        )

    @property
    def free(self):
        """Free places in this clock, for proofs."""
        heard = self.credit + self.kept_back
        return heard - self._take + self._give if self.registers else heard

    @property
    def promise(self):
        """What always holds, for proofs: a beat that may be taken has a place."""
        now = ~self.ready | (self.free > 0)
        return now & (~self._early | (self.free > 1)) if self.registers == 2 else now

    def elaborate(self, platform):
        m = Module()
        take, give = self.take, self.give
        if self.registers:
            take, give = self._take, self._give
            m.d.sync += [take.eq(self.take), give.eq(self.give)]
        # The sign says "fewer than are kept back". Each register on the way from a beat to `ready`
        # is a clock, in which one more may come: so many places are still there.
        m.d.comb += self.ready_next.eq(~self.credit[-1])
        if self.registers == 2:
            m.d.sync += self._early.eq(~self.credit[-1])
            m.d.comb += self.ready_next.eq(self._early)
        m.d.sync += self.ready.eq(self.ready_next)
        with m.If(take & ~give):
            m.d.sync += self.credit.eq(self.credit - 1)
        with m.If(give & ~take):
            m.d.sync += self.credit.eq(self.credit + 1)
        return m
