"""Hypothesis strategies of whole traces, on the same generator as the seeded bulk runs."""

from hypothesis import strategies as st
from random_traces import KINDS, random_trace

__all__ = ["KINDS", "random_trace", "traces"]


def traces(kinds=KINDS, quads=4):
    """Traces of 1 to `quads` requests; hypothesis shrinks every random choice."""
    return st.builds(
        random_trace,
        st.randoms(use_true_random=False),
        st.integers(1, quads),
        st.sampled_from(kinds),
    )
