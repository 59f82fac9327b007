"""The byte-atomic memory port: MIN, MAX and OR on single bytes (spec 03 "Atomic write")."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.byte_lane import ByteLane
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapMemorySignature
from minmip.hw.memory_window import MemoryWindow
from minmip.hw.shapes import (
    BLOCK_BITS,
    CLIENT_BITS,
    MemoryOp,
    host_request,
    host_response,
    memory_request,
)

__all__ = ["PORT_CLOCKS", "MemoryPort"]

PORT_CLOCKS = 7
"""Clocks of the memory port beside those of the memory."""
_CHUNK = 4
"""Address bits that are compared in one clock."""


class MemoryPort(wiring.Component):
    """Read-modify-write of the bytes of memory words, in the order in which they are accepted.

    One word operation per clock sustained, whatever words they hit. The operations of the pipeline
    (`i`) have no answer; requests of the host (`i_host`) are answered with the word. Both share one
    pipeline that never stalls, so none loses an update of the other.

    One of the two is ready, until the other wants in: so they take turns, and either waits one
    clock at most. `i.ready`, `i_host.ready` and `idle` are registers. The answer to a host request
    comes `latency` clocks after its acceptance, when the memory holds what it wrote, and can't be
    held back.

    An operation outside the memory (below `base`, at or above `limit`, or beyond `memory_bytes`)
    reads and writes nothing. `base` and `limit` may change while nothing is under way.

    After a reset the memory holds what some first part of the accepted operations made of it.

    Parameters
    ----------
    cfg : UnitConfig
        Word, size and latency of the memory.

    Attributes
    ----------
    latency : int
        `memory_latency + 7`.

    Members
    -------
    base, limit : In(40), In(41)
        The memory: its first block of 256 bytes, and the first one behind it.
    i : In(stream.Signature(memory_request(cfg)))
        Operations of the pipeline.
    idle : Out(1)
        Every operation that `i` has accepted is in memory: `latency` clocks after the last one.
    dropped : Out(1)
        High for one clock for each operation of `i` outside the memory.
    i_host : In(stream.Signature(host_request(cfg, CLIENT_BITS)))
    o_host : Out(host_response(cfg, CLIENT_BITS))
    o_host_valid : Out(1)
    memory : Out(MapMemorySignature(cfg))
    """

    i: stream.Interface
    i_host: stream.Interface
    o_host: data.View
    memory: wiring.PureInterface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = cfg.memory_latency + PORT_CLOCKS
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "limit": In(BLOCK_BITS + 1),
                "i": In(stream.Signature(memory_request(cfg))),
                "idle": Out(1, init=1),  # pyright: ignore[reportCallIssue]
                "dropped": Out(1),
                "i_host": In(stream.Signature(host_request(cfg, CLIENT_BITS))),
                "o_host": Out(host_response(cfg, CLIENT_BITS)),
                "o_host_valid": Out(1),
                "memory": Out(MapMemorySignature(cfg)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # Stages are counted as in `ByteLane`: 0 is the clock of the read, `last` that of the write.
        latency = self.cfg.memory_latency
        last = latency + 3
        memory, lanes = self.memory, self.cfg.word_bytes

        # Stages -3 to 0.
        request, valid, is_host, tag = self._accept(m)
        equal = self._compare(m, request.address, last)
        m.submodules.window = window = MemoryWindow(self.cfg)
        valid = delay(m, valid, 1, name="valid", reset_less=False)
        m.d.comb += [
            window.base.eq(self.base),
            window.limit.eq(self.limit),
            window.address.eq(request.address),
            memory.read_en.eq(valid),
            memory.read_addr.eq(window.place),
            memory.write_addr.eq(delay(m, window.place, last, name="place")),
        ]

        # Stages 1 and 2: the bytes that the operation writes.
        valid = delay(m, valid, 1, name="valid_read", reset_less=False)
        live = delay(m, valid & window.inside, 1, name="live", reset_less=False)
        mask = delay(m, request.mask, 3, name="mask")
        writes = {2: mask & live.replicate(lanes)}
        for stage in range(3, last + 1):
            writes[stage] = delay(m, writes[stage - 1], 1, name=f"writes{stage}", reset_less=False)
        m.d.comb += memory.write_mask.eq(writes[last])
        # A read beside a write of the same word gives anything, in all its bytes.
        beside = equal[last] & delay(m, writes[last - 1].any(), 1, name="beside")

        op = delay(m, request.op, latency + 1, name="op")
        operand = delay(m, request.data, latency + 1, name="operand")
        mask = delay(m, request.mask, latency + 1, name="operand_mask")
        next_equal = delay(m, equal[1], 1, name="next_equal")
        for index in range(lanes):
            m.submodules[f"lane{index}"] = lane = ByteLane(latency)
            # The operation just before is known to write when this one is in stage 1.
            hit = Cat(
                next_equal & writes[2][index],
                (equal[distance] & writes[distance][index] for distance in range(2, last)),
                beside,
            )
            m.d.comb += [
                lane.hit.eq(delay(m, hit, 1, name=f"hit{index}")),
                lane.op.eq(op),
                lane.operand.eq(operand[index]),
                lane.enable.eq(mask[index]),
                lane.read.eq(memory.read_data[index]),
                memory.write_data[index].eq(lane.result),
            ]

        is_host = delay(m, is_host, 2, name="is_host")
        m.d.sync += self.dropped.eq(valid & ~is_host & ~window.inside)
        answered = delay(m, valid & is_host, last - 1, name="answered", reset_less=False)
        inside = delay(m, live, last - 2, name="inside")
        m.d.sync += [
            self.o_host_valid.eq(answered),
            self.o_host.error.eq(~inside),
            self.o_host.tag.eq(delay(m, tag, last + 1, name="tag")),
        ]
        for index in range(lanes):
            byte = self.o_host.data[index]
            m.d.sync += byte.eq(memory.write_data[index] & inside.replicate(8))
        return m

    def _accept(self, m):
        """Let one of the two requesters in.

        Returns the operation in stage -1, whether there is one, whether it is the host's, and the
        host's tag.
        """
        host_turn = Signal()
        m.d.sync += host_turn.eq(Mux(host_turn, ~self.i.valid, self.i_host.valid))
        m.d.comb += [self.i.ready.eq(~host_turn), self.i_host.ready.eq(host_turn)]
        take_own, take_host = Signal(), Signal()
        m.d.comb += [
            take_own.eq(self.i.valid & self.i.ready),
            take_host.eq(self.i_host.valid & self.i_host.ready),
        ]

        # Clocks until the last operation of `i` is in memory; the sign says that it is.
        left = Signal(range(-1, self.latency - 3), init=-1)
        taken = delay(m, take_own, 1, name="taken_own", reset_less=False)
        with m.If(taken):
            m.d.sync += left.eq(self.latency - 4)
        with m.Elif(~left[-1]):
            m.d.sync += left.eq(left - 1)
        m.d.sync += self.idle.eq(~take_own & ~taken & left[-1])

        # Stage -2: both are here and the choice too, so that one register picks the whole word.
        valid = delay(m, take_own | take_host, 1, name="taken", reset_less=False)
        is_host = delay(m, take_host, 1, name="taken_host")
        own = delay(m, self.i.payload, 1, name="own")
        host = delay(m, self.i_host.payload, 1, name="host")
        picked = Signal(memory_request(self.cfg))
        m.d.comb += picked.eq(own)
        with m.If(is_host):
            m.d.comb += [
                picked.op.eq(MemoryOp.SET),
                picked.address.eq(host.address),
                picked.data.eq(host.data),
                picked.mask.eq(host.mask),
            ]

        return (
            delay(m, picked, 1, name="request"),
            delay(m, valid, 1, name="request_valid", reset_less=False),
            delay(m, is_host, 1, name="request_host"),
            delay(m, host.tag, 1, name="request_tag"),
        )

    def _compare(self, m, address, distances):
        """Compare an address of stage -1 with the ones before it: a bit per distance, in stage 0.

        The address within `memory_bytes` is enough: of two places with the same one, at most one
        lies in the memory.
        """
        low = older = address[: len(self.memory.read_addr)]
        equal = {}
        for distance in range(1, distances + 1):
            older = delay(m, older, 1, name=f"older{distance}")
            chunks = Cat(
                low[at : at + _CHUNK] == older[at : at + _CHUNK]
                for at in range(0, len(low), _CHUNK)
            )
            equal[distance] = delay(m, chunks, 1, name=f"equal{distance}").all()
        return equal
