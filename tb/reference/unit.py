"""Spec 08: a whole trace, strictly one quad after another."""

from dataclasses import dataclass, field

from reference.feedback import write_quad
from reference.legality import READ, Build, error_code
from reference.minmip import filter_lane
from reference.pattern import Quad, pattern_rows
from reference.words import decode_image, decode_sampler


@dataclass
class Answer:
    """The output of spec 08, plus the two counters, in plain lists."""

    memory: bytearray
    error: list = field(default_factory=list)
    filtered: list = field(default_factory=list)
    pattern_start: list = field(default_factory=lambda: [0])
    pattern: list = field(default_factory=list)  # (lane, mip, x, y, z, weight, lod)
    samples: list = field(default_factory=list)
    writes: list = field(default_factory=list)


def float_bits(array, quads):
    """Float32 array [quads, ...] -> nested tuples of bit patterns; a missing one is never read."""

    def freeze(nested):
        return tuple(map(freeze, nested)) if isinstance(nested, list) else nested

    return [()] * quads if array is None else freeze(array.view("uint32").tolist())


def quads_of(trace):
    """Yield (image index, sampler index, Quad) in order."""
    quads = len(trace.opcode)
    uvw, ddx, ddy, slices, lod, clamp = (
        float_bits(array, quads)
        for array in (trace.uvw, trace.ddx, trace.ddy, trace.slice, trace.lod, trace.clamp)
    )
    for q in range(quads):
        live = int(trace.exec_mask[q]) & ~int(trace.helper_mask[q])
        yield (
            int(trace.t_index[q]),
            int(trace.s_index[q]),
            Quad(
                opcode=int(trace.opcode[q]),
                flags=int(trace.flags[q]),
                live=tuple(bool(live >> lane & 1) for lane in range(4)),
                uvw=uvw[q],
                slices=slices[q],
                ddx=ddx[q],
                ddy=ddy[q],
                lod=lod[q],
                clamp=clamp[q],
            ),
        )


def run(trace, pattern=True, build=None):
    """Process every quad of a trace; `build` is what the unit contains (default: everything)."""
    build = build or Build()
    images = [decode_image(words) for words in trace.t_sharp.tolist()]
    samplers = [decode_sampler(words) for words in trace.s_sharp.tolist()]
    base = int(trace.memory_base)
    answer = Answer(bytearray(trace.memory.tobytes()))
    for t, s, quad in quads_of(trace):
        image, sampler = images[t], samplers[s]
        error = error_code(image, sampler, quad.flags, base, len(answer.memory), build)
        filtered, samples, writes = [0] * 4, 0, 0
        if error:
            pass
        elif not image.linked:
            if pattern:
                answer.pattern.extend(pattern_rows(quad, image, sampler))
        elif image.linked_type == READ:
            filtered = [
                filter_lane(quad, lane, image, sampler, answer.memory, base, build.xor_patterns)
                if live
                else 0
                for lane, live in enumerate(quad.live)
            ]
        else:
            samples, writes = write_quad(
                quad, image, sampler, answer.memory, base, build.xor_patterns
            )
        answer.error.append(error)
        answer.filtered.append(filtered)
        answer.samples.append(samples)
        answer.writes.append(writes)
        answer.pattern_start.append(len(answer.pattern))
    return answer
