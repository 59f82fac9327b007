"""From requests to quads with a context: descriptors and gradients side by side."""

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, flipped

from minmip.hw.beats import quad_beat, quad_operands, quad_request
from minmip.hw.config import UnitConfig
from minmip.hw.context_table import ContextTable
from minmip.hw.descriptor_decode import DescriptorDecode
from minmip.hw.lib.fork import Fork
from minmip.hw.quad_gradients import QuadGradients
from minmip.hw.shapes import BLOCK_BITS

__all__ = ["QuadFront"]


class QuadFront(wiring.Component):
    """Find a quad's context and its gradients, in the order of the requests (spec 01, 02 "Inputs").

    Each request goes two ways: its descriptors to `DescriptorDecode` and `ContextTable`, its
    operands to `QuadGradients`; an answer and the operands meet again. A flush goes the second way
    only: its descriptor words are not looked at, and it comes out with context 0 and code 0.

    `live` is exec without helpers; nothing lives in a flush or in a refused quad.

    One quad per clock while descriptor pairs are held, latency `latency`. `i.ready` follows
    registers and `i.payload.flush`; `o.valid` and `o.payload` follow registers through three
    look-up tables at most; `o.ready` reaches nothing but registers.

    An answer waits for quads of its context to be released only when these have left at `o`, so
    neither way waits for the other in a circle.

    Parameters
    ----------
    cfg : UnitConfig
    readers : sequence of tuple of str
        As for `ContextTable`.

    Members
    -------
    i : In(stream.Signature(quad_request(cfg)))
    o : Out(stream.Signature(quad_beat(cfg)))
    memory_base, memory_limit
        As for `DescriptorDecode`.
    released_valid, released, context_<n>, control_<n>
        As for `ContextTable`.
    """

    i: stream.Interface
    o: stream.Interface
    memory_base: Signal
    memory_limit: Signal
    released_valid: Signal
    released: Signal

    def __init__(self, cfg: UnitConfig, readers: Sequence[tuple[str, ...]] | None = None):
        self.cfg = cfg
        self.decode = DescriptorDecode(cfg)
        self.table = ContextTable(cfg, readers)
        self.gradients = QuadGradients(cfg)
        self.latency = self.gradients.latency
        self.passed = {
            name: member
            for name, member in self.table.signature.members.items()
            if name not in ("i", "o")
        }
        super().__init__(
            {
                "i": In(stream.Signature(quad_request(cfg))),
                "o": Out(stream.Signature(quad_beat(cfg))),
                "memory_base": In(BLOCK_BITS),
                "memory_limit": In(BLOCK_BITS + 1),
                **self.passed,
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.decode = decode = self.decode
        m.submodules.table = table = self.table
        m.submodules.gradients = gradients = self.gradients
        m.submodules.fork = fork = Fork(quad_request(self.cfg), 2)
        wiring.connect(m, flipped(self.i), fork.i)
        to_decode, to_gradients = fork.o
        request = to_decode.payload
        m.d.comb += [
            decode.memory_base.eq(self.memory_base),
            decode.memory_limit.eq(self.memory_limit),
            decode.i.valid.eq(to_decode.valid & ~request.flush),
            to_decode.ready.eq(decode.i.ready | request.flush),
            *(
                decode.i.payload[name].eq(request[name])
                for name in ("t_sharp", "s_sharp", "offset", "gather")
            ),
            gradients.i.valid.eq(to_gradients.valid),
            to_gradients.ready.eq(gradients.i.ready),
            *(
                gradients.i.payload[name].eq(to_gradients.payload[name])
                for name, _ in quad_operands(self.cfg)
            ),
        ]
        wiring.connect(m, decode.o, table.i)
        for name, member in self.passed.items():
            inner, outer = getattr(table, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        self._meet(m, table.o, gradients.o)
        return m

    def _meet(self, m, answer, operands):
        """Put operands and their answer together; a flush has none."""
        quad, o = operands.payload, self.o.payload
        whole = Signal()  # the answer to these operands is there, if they have one
        m.d.comb += [
            whole.eq(answer.valid | quad.flush),
            self.o.valid.eq(operands.valid & whole),
            operands.ready.eq(self.o.ready & whole),
            answer.ready.eq(self.o.ready & operands.valid & ~quad.flush),
            *(o[name].eq(quad[name]) for name, _ in o.shape() if name in quad.shape().members),
        ]
        with m.If(~quad.flush):
            m.d.comb += [o.context.eq(answer.payload.context), o.code.eq(answer.payload.code)]
        with m.If(~quad.flush & ~answer.payload.code.any()):
            m.d.comb += o.live.eq(quad.exec & ~quad.helper)
