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
        Beats that have room, 3 or more: two are kept back, so that `ready` is a register and no
        adder feeds it.

    Attributes
    ----------
    credit : Signal
        Free places less 2, which proofs look at.

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

    def __init__(self, places: int):
        if places < 3:
            raise ValueError(f"places must be 3 or more, not {places}")
        self.places = places
        self.credit = Signal(range(-2, places - 1), init=places - 2)
        super().__init__(
            # The stubs of Out do not know init.
            {
                "ready": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "ready_next": Out(1),
                "take": In(1),
                "give": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # The sign says "fewer than two": one clock later, after at most one more beat, a place is
        # still there.
        m.d.sync += self.ready.eq(~self.credit[-1])
        m.d.comb += self.ready_next.eq(~self.credit[-1])
        with m.If(self.take & ~self.give):
            m.d.sync += self.credit.eq(self.credit - 1)
        with m.If(self.give & ~self.take):
            m.d.sync += self.credit.eq(self.credit + 1)
        return m
