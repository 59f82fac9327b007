"""Blocks around a credit buffer, some with queues beside it: contract, and every beat once.

The datapath is any that answers in order, no matter when: that the real one does is proved of it
alone (`ValidLatency`, `kit.same_beat`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amaranth.hdl import Assert, Assume, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from kit.formal import FreeDatapath, Proof, StreamContract, contract_proofs, valid_proof
from kit.same_beat import same_beat_proof
from minmip.hw.lib.credit import CreditBuffer
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue

__all__ = ["PassedOnce", "SideContract", "passing_proof", "side_proofs"]


class SlowDatapath(FreeDatapath):
    """Stands in for a datapath too, but takes as long as it likes: `arrives` is a free input."""

    def __init__(self, datapath):
        self.arrives = Signal(name="arrives")
        super().__init__(datapath)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [Value.cast(self.o).eq(self.any_result), self.o_valid.eq(self.arrives)]
        return m


class SideContract(StreamContract):
    """The contract, whatever the datapath answers: all queues hold the same beats.

    `queues` gives for each queue how many clocks after its beat was taken an entry is written; the
    results come later, no matter when.
    """

    def __init__(self, block, buffer: CreditBuffer, queues: Mapping[Queue, int]):
        self.buffer = buffer
        self.queues = dict(queues)
        self.latest = max(queues.values(), default=0)
        if buffer.datapath.latency <= self.latest:
            raise ValueError(f"results must come after {self.latest} clocks")
        self.datapath = buffer.datapath = SlowDatapath(buffer.datapath)
        super().__init__(block)
        self.ports += [self.datapath.any_result, self.datapath.arrives]
        self.inside = Signal(range(buffer.credits.places + 2))
        self.beats: dict[Queue, Value] = {}  # in each queue

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o = self.block.i, self.block.o
        places = self.buffer.credits.places
        # Beats inside, those in the datapath, and which of the last clocks took one.
        inside = self.inside
        working = Signal.like(inside, name="working")
        taken = Signal(max(self.latest, 1), name="taken")
        take, give, arrives = i.valid & i.ready, o.valid & o.ready, self.datapath.arrives
        m.d.sync += [
            inside.eq(inside + take - give),
            working.eq(working + take - arrives),
            taken.eq(take | taken << 1),
        ]

        def young(clocks):
            return sum((taken[n] for n in range(clocks)), Const(0))

        m.d.comb += [
            Assume(~arrives | (working > young(self.latest))),
            Assert(working >= young(self.latest)),
            Assert(self.buffer.credits.free + inside == places),
            Assert(self.buffer.credits.promise),
            Assert(inside <= places),
        ]
        for queue, clocks in self.queues.items():
            m.d.comb += Assert(queue.i.valid == (taken[clocks - 1] if clocks else take))
            self._holds(m, queue, inside - young(clocks))
        self._holds(m, self.buffer.queue, inside - working)

    def _holds(self, m: Module, queue: Queue, beats: Value) -> None:
        self.beats[queue] = beats
        used = queue.more + 1
        m.d.comb += [
            Assert(used + queue.o.valid == beats),
            Assert(queue.o.valid | (used <= 1)),
            Assert(queue.vacant == ~queue.o.valid),
            Assert((used >= 0) & (used <= queue.depth)),
        ]


class PassedOnce(SideContract):
    """What the datapath and each queue got for the n-th beat comes out n-th, all at once.

    A `tag` that goes beside the datapath is the same at both ends.
    """

    def __init__(self, block, buffer: CreditBuffer, queues: Mapping[Queue, int]):
        super().__init__(block, buffer, queues)
        self.watch = self.free(1, "watch")
        self.probes = {
            queue: queue.rows.read_port(domain="comb") for queue in (*self.queues, buffer.queue)
        }

    def properties(self, m: Module) -> None:
        super().properties(m)
        i, o = self.block.i, self.block.o
        taken, given = Signal(name="any_taken"), Signal(name="any_given")
        m.d.comb += [taken.eq(i.valid & i.ready), given.eq(o.valid & o.ready)]

        # What is taken reaches the datapath, so many clocks later.
        datapath, entry = self.datapath, self.buffer.entry
        payload = delay(m, Value.cast(self.buffer.i.payload), entry, name="payload")
        m.d.comb += [
            Assert(datapath.i_valid == delay(m, taken, entry, name="entered", reset_less=False)),
            Assert(~datapath.i_valid | (Value.cast(datapath.i) == payload)),
        ]

        # The watched beat, from the clock in which it comes to the one in which it goes.
        come, over, comes = Signal(), Signal(), Signal()
        ahead, came_ahead = Signal.like(self.inside), Signal.like(self.inside)
        tag, came_tag = (Signal(len(_tag(i.payload)), name=name) for name in ("tag", "came_tag"))
        m.d.comb += [
            comes.eq(taken & self.watch & ~come & ~over),
            ahead.eq(Mux(come, came_ahead, self.inside)),
        ]
        m.d.sync += came_ahead.eq(ahead - given)
        with m.If(comes):
            m.d.sync += [come.eq(1), came_tag.eq(_tag(i.payload))]
        m.d.comb += tag.eq(Mux(come, came_tag, _tag(i.payload)))
        goes = come & given & (ahead == 0)
        with m.If(goes):
            m.d.sync += [come.eq(0), over.eq(1)]
        m.d.comb += [Assert(~come | (ahead < self.inside)), Assert(~o.valid | (self.inside != 0))]

        for queue in self.probes:
            beats, seen = self.beats[queue], _seen(queue.i.payload)
            entry = Signal(len(seen), name="entry")
            with m.If((come | comes) & queue.i.valid & (ahead == beats)):
                m.d.sync += entry.eq(seen)
            inside = come & (ahead < beats)
            self._keeps(m, queue, inside, ahead, entry)
            if queue is not self.buffer.queue and len(_tag(queue.i.payload)):
                m.d.comb += Assert(~inside | (entry == tag))
        if self.queues and len(_tag(o.payload)):
            with m.If(come & o.valid & (ahead == 0)):
                m.d.comb += Assert(_tag(o.payload) == tag)

    def _keeps(self, m: Module, queue: Queue, holds: Value, ahead: Value, entry: Value) -> None:
        """State that a queue holds the entry of the watched beat where it must."""
        probe, shown = self.probes[queue], queue.o.valid & (ahead == 0)
        used = queue.more + 1
        m.d.comb += [
            probe.addr.eq(queue.read.addr + ahead - queue.o.valid),
            Assert((queue.write.addr - queue.read.addr - used)[: len(queue.read.addr)] == 0),
        ]
        with m.If(holds & shown):
            m.d.comb += Assert(_seen(queue.o.payload) == entry)
        with m.Elif(holds):
            m.d.comb += Assert(_seen(probe.data) == entry)


def _tag(payload) -> Value:
    """The tag in a payload, wherever it stands; 0 without one."""
    if isinstance(payload, data.View) and isinstance(payload.shape(), data.StructLayout):
        names = [name for name, _ in payload.shape()]
        if "tag" in names:
            return Value.cast(payload["tag"])
        for name in ("side", "beat"):
            if name in names:
                return _tag(payload[name])
    return Const(0, 0)


def _seen(payload) -> Value:
    """What is compared: the tag if there is one, since a queue moves all bits alike; else all."""
    tag = _tag(payload)
    return tag if len(tag) else Value.cast(payload)


def passing_proof(
    name: str,
    make: Callable,
    queues: Callable[..., tuple[CreditBuffer, Mapping[Queue, int]]] | None = None,
) -> Proof:
    """State `PassedOnce` of a block; `queues` as in `side_proofs`, by default a `CreditBuffer`."""

    def spec():
        block = make()
        return PassedOnce(block, *(queues(block) if queues else (block, {})))

    whole = spec()
    depth = max(whole.latest, whole.buffer.entry) + 2
    return Proof(
        block=name,
        name="beats",
        says="no beat is lost, doubled, invented or overtaken; each leaves with its own answer"
        + (" and side data" if queues else ""),
        make=spec,
        depth=depth,
    )


def side_proofs(
    name: str,
    make: Callable,
    queues: Callable[..., tuple[CreditBuffer, Mapping[Queue, int]]],
    *,
    pure: bool = True,
) -> list[Proof]:
    """Contract, offers, beats, valid bits; `queues` finds in a block what `SideContract` needs.

    `pure`: no register of the datapath remembers anything, so that paths are proved, too.
    """

    def contract():
        block = make()
        return SideContract(block, *queues(block))

    def datapath():
        return queues(make())[0].datapath

    cover, depth = datapath().latency + 8, contract().latest + 2
    return [
        *contract_proofs(name, contract, cover=cover, depth=depth),
        passing_proof(name, make, queues),
        valid_proof(name, datapath),
        *([same_beat_proof(name, datapath)] if pure else []),
    ]
