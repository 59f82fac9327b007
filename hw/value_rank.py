"""The order of the values that the lanes of a beat write (spec 03 "Combine")."""

from amaranth.hdl import Cat, Module, Value

from minmip.hw.lib.delay import delay

__all__ = ["rank_values"]


def rank_values(m: Module, values: list[Value], descending: Value, clocks: int) -> list[Value]:
    """Sort the lanes by their values, the strongest first.

    Parameters
    ----------
    m : Module
        The registers are added to its `sync` domain.
    values : list of Value
        Of each lane, unsigned, all of one width.
    descending : Value
        The largest value is the strongest, else the smallest; of equal ones the first lane's.
    clocks : int
        Latency, 2 or more.

    Returns
    -------
    list of Value
        Of each rank its lane, one-hot.
    """
    lanes = range(len(values))
    value_q1 = [
        delay(m, value ^ descending.replicate(len(value)), 1, name=f"value{n}")
        for n, value in enumerate(values)
    ]
    beaten_by = {lane: [] for lane in lanes}
    for first in lanes:
        for second in lanes[first + 1 :]:
            # The sign of the difference: the second lane's is smaller.
            smaller = (value_q1[second] - value_q1[first])[-1]
            later = delay(m, smaller, clocks - 2, name=f"later{first}{second}")
            beaten_by[first].append(later)
            beaten_by[second].append(~later)
    return [
        delay(m, Cat(sum(beaten_by[lane]) == rank for lane in lanes), 1, name=f"rank{rank}")
        for rank in lanes
    ]
