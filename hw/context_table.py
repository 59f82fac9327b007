"""Decoded descriptor pairs of the quads inside the unit."""

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from minmip.hw.beats import context_answer, control_fields
from minmip.hw.config import UnitConfig
from minmip.hw.lib.queue import Queue
from minmip.hw.shapes import context_index, control

__all__ = ["ContextTable", "context_fields"]


def context_fields(cfg: UnitConfig) -> tuple[str, ...]:
    """Names of the fields of `control` that belong to a pair and not to one request."""
    return tuple(name for name, _ in control(cfg) if name not in ("code", "entry", "fresh", "tag"))


class ContextTable(wiring.Component):
    """Keep the control struct of a descriptor pair until no quad needs it any more (spec 01).

    A *context* is the number of the entry that answers a request. The first answer since the entry
    was decoded (`fresh`) brings new fields: it waits until the quads of the old ones have left,
    then the fields are copied. All others go straight on.

    Quads are counted per context: in at `i`, out by `release`. While a context has about 255 quads
    inside, every answer waits.

    One beat per clock, latency 2; a fresh beat takes 3 clocks from when the last quad of its
    context was released, and there are 31 clocks between two of them. `i.ready` follows registers
    and `i.payload.fresh`; `o.valid` and `o.payload` are registers; `o.ready` reaches nothing but
    registers. `control_<n>` follows `context_<n>` through look-up table memory.

    Parameters
    ----------
    cfg : UnitConfig
        Contexts are `descriptor_entries`.
    readers : sequence of tuple of str
        For each reader the fields it reads; the others cost nothing. By default one reads all.

    Members
    -------
    i : In(stream.Signature(control(cfg)))
    o : Out(stream.Signature(context_answer(cfg)))
    released_valid, released : In(1), In(context_index(cfg))
        A quad of this context has left.
    context_<n> : In(context_index(cfg))
        What reader n wants to see; a context that has quads inside.
    control_<n> : Out(control_fields(cfg, *readers[n]))
        Its fields, in the same clock.
    """

    i: stream.Interface
    o: stream.Interface
    released_valid: Signal
    released: Signal

    rows = 16
    """Answers that may wait at the output: while the quad's operands are on their way."""
    count_bits = 8

    def __init__(self, cfg: UnitConfig, readers: Sequence[tuple[str, ...]] | None = None):
        self.cfg = cfg
        self.readers = (context_fields(cfg),) if readers is None else tuple(readers)
        index = context_index(cfg)
        self.load = Signal()  # a fresh beat's fields are being copied: it may go on
        super().__init__(
            {
                "i": In(stream.Signature(control(cfg))),
                "o": Out(stream.Signature(context_answer(cfg))),
                "released_valid": In(1),
                "released": In(index),
                **{f"context_{n}": In(index) for n in range(len(self.readers))},
                **{
                    f"control_{n}": Out(control_fields(cfg, *fields))
                    for n, fields in enumerate(self.readers)
                },
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = Queue(self.o.payload.shape(), self.rows)
        answer, go, accept = self.i.payload, Signal(), Signal()
        full, unused = self._count(m, accept)
        m.d.comb += [
            go.eq(queue.i.ready & ~full & (~answer.fresh | self.load)),
            accept.eq(self.i.valid & go),
            self.i.ready.eq(go),
            queue.i.valid.eq(accept),
            queue.i.payload.context.eq(answer.entry),
            queue.i.payload.code.eq(answer.code),
        ]
        wiring.connect(m, queue.o, wiring.flipped(self.o))

        # In its first clock `unused` does not count the beat before it yet.
        waits, waited = Signal(), Signal()
        m.d.comb += waits.eq(self.i.valid & answer.fresh & ~accept)
        m.d.sync += [
            waited.eq(waits),
            self.load.eq(waits & waited & unused.bit_select(answer.entry, 1)),
        ]
        self._copy(m)
        return m

    def _count(self, m, accept):
        """Count the quads of each context; return "some has many" and "has none" by context."""
        contexts = self.cfg.descriptor_entries
        more, less = Signal(contexts), Signal(contexts)
        many, unused = Signal(contexts), Signal(contexts)
        full = Signal()
        for n in range(contexts):
            count = Signal(self.count_bits, name=f"count{n}")
            m.d.sync += [
                more[n].eq(accept & (self.i.payload.entry == n)),
                less[n].eq(self.released_valid & (self.released == n)),
                unused[n].eq(~count.any() & ~more[n]),
                # Three beats more may come before `full` is seen.
                many[n].eq(count[2:].all()),
            ]
            with m.If(more[n] & ~less[n]):
                m.d.sync += count.eq(count + 1)
            with m.If(less[n] & ~more[n]):
                m.d.sync += count.eq(count - 1)
        m.d.sync += full.eq(many.any())
        return full, unused

    def _copy(self, m):
        """Keep each field in a memory of its own, with a port for each of its readers."""
        for name in context_fields(self.cfg):
            reading = [n for n, fields in enumerate(self.readers) if name in fields]
            if not reading:
                continue
            shape = control_fields(self.cfg, name)
            m.submodules[name] = rows = Memory(
                shape=shape, depth=1 << context_index(self.cfg).width, init=[]
            )
            write = rows.write_port()
            m.d.comb += [
                write.en.eq(self.load),
                write.addr.eq(self.i.payload.entry),
                write.data[name].eq(self.i.payload[name]),
            ]
            for n in reading:
                read = rows.read_port(domain="comb")
                m.d.comb += [
                    read.addr.eq(getattr(self, f"context_{n}")),
                    getattr(self, f"control_{n}")[name].eq(read.data[name]),
                ]
