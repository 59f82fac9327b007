"""The worked examples of spec 04: a map row [0, 5], slope 5, offset 1/64."""

import numpy as np
from traces import CLAMP, LINEAR, READ, image, sampler, trace

__all__ = ["EXAMPLES", "check_filter_examples", "filter_row"]

EXAMPLES = [
    # position in texels, value. One on the border itself belongs to the right texel.
    *((1 - d, value) for d, value in ((1 / 64, 5.0), (26 / 256, 2.8515625), (0.21875, 0.0))),
    *((0.5, 0.0), (0.75, 0.0)),
    *((1 + d, 5.0) for d in (0, 1 / 256, 0.25, 0.5)),
]


def filter_row(row, at, **fields):
    """Trace of one quad per position `at`, in texels of a LINEAR map of one row.

    `fields` of the sampler are put in place of the example's.
    """
    codes = {"MINMIP_SLOPE_U": 3, "MINMIP_OFFSET_U": 4, "MINMIP_SLOPE_V": 3, "MINMIP_OFFSET_V": 4}
    memory = np.zeros(256, np.uint8)
    memory[: len(row)] = [8 * v for v in row]
    t = image((len(row), 1), kind=READ, SW_MODE=0)
    quads = [{"uvw": [x / len(row), 0.5], "exec_mask": 15} for x in at]
    return trace(t, sampler(CLAMP, mag=LINEAR, **(codes | fields)), quads, memory=memory)


def check_filter_examples(run):
    """Raise unless `run` (trace to result) gives the values of the spec, to every lane."""
    positions, values = zip(*EXAMPLES, strict=True)
    found = np.asarray(run(filter_row([0, 5], positions)).filtered) / 256
    np.testing.assert_array_equal(found, np.repeat(np.array(values)[:, None], 4, axis=1))
