"""The golden model and the second reading side by side, bit for bit."""

import dataclasses
import os

import numpy as np
from random_traces import random_trace
from reference import run as run_reference

from minmip.hw.config import FULL
from minmip.sim import golden
from minmip.sim.trace import PATTERN_DTYPE, Trace


def reference_arrays(trace, config=FULL):
    """What the second reading answers, as the arrays of spec 08."""
    slow = run_reference(trace, pattern=True, build=config)
    return {
        "error": np.array(slow.error, np.uint8),
        "samples": np.array(slow.samples, np.uint16),
        "writes": np.array(slow.writes, np.uint16),
        "filtered": np.array(slow.filtered, np.uint16).reshape(-1, 4),
        "memory": np.frombuffer(slow.memory, np.uint8),
        "pattern_start": np.array(slow.pattern_start, np.uint64),
        "pattern": np.array(slow.pattern, PATTERN_DTYPE),
    }


def differences(trace, config=FULL, wanted=None):
    """Sentences saying where the two readings differ on a trace; none when they agree.

    `wanted` are the reference's arrays where they are known already.
    """
    ours = golden.run(trace, config, pattern=True)
    wanted = wanted or reference_arrays(trace, config)
    found = []
    for name, want in wanted.items():
        have = getattr(ours, name)
        if have.dtype != want.dtype or have.shape != want.shape:
            found.append(f"{name}: golden {have.dtype}{have.shape}, reference {want.shape}")
            continue
        where = np.argwhere(have != want)
        if len(where):
            at = tuple(where[0])
            found.append(
                f"{name}{[int(i) for i in at]}: golden {have[at]}, reference {want[at]}"
                f" ({len(where)} differ)"
            )
    return found


def one_quad(trace, quad):
    """The trace of a single quad, with only its own descriptors."""
    arrays = {"t_sharp": trace.t_sharp[trace.t_index[quad]][None]}
    arrays["s_sharp"] = trace.s_sharp[trace.s_index[quad]][None]
    for field in dataclasses.fields(Trace):
        value = getattr(trace, field.name)
        if field.name in ("memory", "memory_base"):
            arrays[field.name] = value
        elif field.name not in ("t_index", "s_index", "meta", *arrays) and value is not None:
            arrays[field.name] = value[quad : quad + 1]
    return Trace(**arrays)


def disagreement(seed, quads, kind, config=FULL):
    """Compare a random trace; a text that names the seed and the first quads that differ alone."""
    trace = random_trace(np.random.default_rng(seed), quads, kind, config.swizzle_modes)
    found = differences(trace, config)
    if not found:
        return ""
    lines = [f"seed {seed}, {quads} quads, kind {kind!r}:", *found]
    for quad in range(quads):
        alone = differences(one_quad(trace, quad), config)
        if alone:
            lines.append(f"quad {quad} alone: {'; '.join(alone)}")
        if len(lines) > 8:
            break
    return "\n".join(lines)


def environment(name, default):
    """A number from the environment, to make the bulk runs longer."""
    return int(os.environ.get(name) or default)
