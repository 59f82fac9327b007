"""Descriptor decode: T# and S# words to a control struct and an error code (spec 01)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from minmip.hw.config import UnitConfig
from minmip.hw.control_store import NOT_STORED, ControlStore
from minmip.hw.descriptor_match import DescriptorMatch
from minmip.hw.descriptor_words import key_bits, key_layout
from minmip.hw.lib.credit_counter import CreditCounter
from minmip.hw.lib.delay import delay
from minmip.hw.lib.queue import Queue
from minmip.hw.shapes import BLOCK_BITS, TAG_BITS, context_index, control, descriptor_request

__all__ = ["DescriptorDecode"]

CODE_OFFSET = 1


class DescriptorDecode(wiring.Component):
    """Decode the descriptors of requests, in order; hold the last D pairs.

    One request per clock while its pair is held (a hit), latency 8. A miss takes 31 clocks: its
    pair is decoded and replaces the least recently used one. Bits without an effect do not count,
    so pairs that differ in them only are one pair.

    Requests wait in a ring of rows. Each is compared with the held keys; a hit goes on to the
    output as the number of its entry. At a miss, the requests behind it are forgotten, the pair is
    decoded, and reading starts again at the row of the miss. An entry is not rewritten while an
    answer that reads it waits at the output.

    Each answer names its `entry`. The first one since the entry was decoded is `fresh`: whoever
    copies those knows what the others say, but for their own error codes.

    When `memory_base` or `memory_limit` change, all entries are dropped: requests accepted in that
    clock or later are judged by the new bounds (code 31), those under way by the old or the new
    ones. Reset drops all entries too.

    `i.ready` and `o.valid` are registers; `o.payload` follows registers through look-up table
    memory; `o.ready` reaches nothing but registers.

    Parameters
    ----------
    cfg : UnitConfig
        D is `descriptor_entries`; what is not built in is code 14.

    Members
    -------
    i : In(stream.Signature(descriptor_request()))
    o : Out(stream.Signature(control(cfg)))
    memory_base, memory_limit : In(40), In(41)
        First block of 256 bytes of the memory, and the first one behind it.
    """

    i: stream.Interface
    o: stream.Interface
    memory_base: Signal
    memory_limit: Signal
    match_part = DescriptorMatch
    store_part = ControlStore
    rows = 16
    """Requests between the two ends: a hit holds its row for 9 clocks, and 2 rows are kept back."""

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.match = self.match_part(cfg)
        self.store = self.store_part(cfg)
        super().__init__(
            {
                "i": In(stream.Signature(descriptor_request())),
                "o": Out(stream.Signature(control(cfg))),
                "memory_base": In(BLOCK_BITS),
                "memory_limit": In(BLOCK_BITS + 1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.match = match = self.match
        m.submodules.store = store = self.store
        side = data.StructLayout({"offset": 1, "gather": 1, "tag": TAG_BITS})
        row = data.StructLayout({"key": key_layout(self.cfg), "side": side})
        m.submodules.ring = ring = Memory(shape=row, depth=self.rows, init=[])
        m.submodules.free = free = CreditCounter(self.rows)
        answer = data.StructLayout({"entry": context_index(self.cfg), "fresh": 1, "side": side})
        m.submodules.answers = answers = Queue(answer, self.rows, never_full=True)
        write, read = ring.write_port(), ring.read_port(domain="comb")

        accepted = Signal(range(self.rows))
        last = Signal(range(self.rows), init=self.rows - 1)  # accepted - 1
        reading = Signal(range(self.rows))
        answered = Signal(range(self.rows))
        some = Signal()  # rows wait to be read
        accept, issue, hit, miss = Signal(), Signal(), Signal(), Signal()
        running = Signal(init=1)
        m.d.comb += [
            self.i.ready.eq(free.ready),
            accept.eq(self.i.valid & self.i.ready),
            free.take.eq(accept),
            free.give.eq(self.o.valid & self.o.ready),
            write.en.eq(accept),
            write.addr.eq(accepted),
            write.data.key.as_value().eq(
                key_bits(
                    self.cfg, self.i.payload.t_sharp.as_value(), self.i.payload.s_sharp.as_value()
                )
            ),
            write.data.side.offset.eq(self.i.payload.offset),
            write.data.side.gather.eq(self.i.payload.gather),
            write.data.side.tag.eq(self.i.payload.tag),
            read.addr.eq(reading),
        ]
        with m.If(accept):
            m.d.sync += [accepted.eq(accepted + 1), last.eq(accepted)]

        # Stage 0 holds a row; stage 4 knows whether its key is held.
        request = Signal(row, reset_less=True)
        valid = Signal(match.latency + 1)
        m.d.sync += request.eq(read.data)
        m.d.comb += [
            match.key.eq(request.key),
            issue.eq(running & some & ~miss),
            hit.eq(valid[-1] & match.found),
            miss.eq(valid[-1] & ~match.found),
            match.used.eq(hit),
            answers.i.valid.eq(hit),
            answers.i.payload.entry.eq(match.entry),
            answers.i.payload.fresh.eq(self._fresh(m, hit, match, store)),
            answers.i.payload.side.eq(delay(m, request.side, match.latency, name="side")),
        ]
        with m.If(hit):
            m.d.sync += answered.eq(answered + 1)
        m.d.sync += valid.eq(Cat(issue, valid[:-1]))
        with m.If(issue):
            m.d.sync += [reading.eq(reading + 1), some.eq(reading != last)]
        with m.If(accept):
            m.d.sync += some.eq(1)
        with m.If(miss):
            m.d.sync += [valid.eq(0), reading.eq(answered), some.eq(1), running.eq(0)]
        # Early by so much that the first hit finds the entry filled.
        with m.If(store.soon):
            m.d.sync += running.eq(1)

        self._watch_memory(m, match, store)
        m.d.comb += [
            store.key.eq(request.key),
            store.start.eq(delay(m, miss, 1, name="start", reset_less=False)),
            store.drained.eq(answers.more[-1] & ~answers.o.valid),
            store.write_entry.eq(match.victim),
            match.replace.eq(store.begun),
            match.fill.eq(store.done),
        ]
        self._answer(m, answers.o, store)
        return m

    def _fresh(self, m, hit, match, store):
        """Whether no request has hit the entry found now since it was filled."""
        fresh = Signal(self.cfg.descriptor_entries)
        for entry, bit in enumerate(fresh):
            with m.If(hit & (match.entry == entry)):
                m.d.sync += bit.eq(0)
            with m.If(store.done & (store.write_entry == entry)):
                m.d.sync += bit.eq(1)
        return fresh.bit_select(match.entry, 1)

    def _watch_memory(self, m, match, store):
        """Pass the memory's bounds on, and drop all entries when they change."""
        bounds = Cat(self.memory_base, self.memory_limit)
        bounds_q = Signal(len(bounds))
        groups = range(0, len(bounds), 8)
        changed = Signal(len(groups))
        flush = Signal()
        m.d.sync += [
            bounds_q.eq(bounds),
            changed.eq(Cat((bounds[n : n + 8] != bounds_q[n : n + 8]) for n in groups)),
            flush.eq(changed.any()),
        ]
        m.d.comb += [
            Cat(store.memory_base, store.memory_limit).eq(bounds_q),
            match.flush.eq(flush),
        ]

    def _answer(self, m, answer, store):
        """Drive `o` with the entry that an answer names, and the request's own error codes."""
        held = store.o
        m.d.comb += [
            store.read_entry.eq(answer.payload.entry),
            self.o.valid.eq(answer.valid),
            answer.ready.eq(self.o.ready),
            self.o.payload.tag.eq(answer.payload.side.tag),
            self.o.payload.entry.eq(answer.payload.entry),
            self.o.payload.fresh.eq(answer.payload.fresh),
        ]
        for name, _ in control(self.cfg):
            if name not in ("code", *NOT_STORED):
                m.d.comb += self.o.payload[name].eq(held[name])
        side = answer.payload.side
        code = Mux(side.gather, held.gather_code, held.code)
        m.d.comb += self.o.payload.code.eq(Mux(side.offset, CODE_OFFSET, code))
