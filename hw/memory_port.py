"""The byte-atomic memory port: MIN, MAX and OR on single bytes (spec 03 "Atomic write")."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from minmip.hw.byte_lane import ByteLane
from minmip.hw.config import UnitConfig
from minmip.hw.lib.delay import delay
from minmip.hw.map_memory import MapMemorySignature
from minmip.hw.shapes import (
    ADDRESS_BITS,
    CLIENT_BITS,
    MemoryOp,
    host_request,
    host_response,
    memory_request,
)

__all__ = ["BLOCK_BITS", "MemoryPort"]

BLOCK_BITS = ADDRESS_BITS - 8
"""The start and the limit of the memory count blocks of 256 bytes."""
_CHUNK = 6
"""Address bits that are compared in one clock."""


class MemoryPort(wiring.Component):
    """Read-modify-write of the bytes of memory words, in the order in which they are accepted.

    One word operation per clock sustained, whatever words they hit. The operations of the pipeline
    (`i`) have no answer; requests of the host (`i_host`) are answered with the word. Both share one
    pipeline that never stalls, so none loses an update of the other.

    When both want in, they take turns: either waits one clock at most. `i.ready` follows
    `i_host.valid` and `i_host.ready` follows `i.valid`, combinationally. The answer to a host
    request comes `latency` clocks after its acceptance, when the memory holds what it wrote, and
    can't be held back.

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
    base, limit : In(40)
        The memory: its first block of 256 bytes, and the first one behind it.
    i : In(stream.Signature(memory_request(cfg)))
        Operations of the pipeline.
    idle : Out(1)
        Every operation that `i` has accepted is in memory: `latency` clocks after the last one.
    dropped : Out(1)
        High for one clock for each operation of `i` outside the memory.
    i_host : In(stream.Signature(host_request(cfg, CLIENT_BITS)))
    o_host : Out(stream.Signature(host_response(cfg, CLIENT_BITS), always_ready=True))
    memory : Out(MapMemorySignature(cfg))
    """

    i: stream.Interface
    i_host: stream.Interface
    o_host: stream.Interface

    def __init__(self, cfg: UnitConfig):
        self.cfg = cfg
        self.latency = cfg.memory_latency + 7
        super().__init__(
            {
                "base": In(BLOCK_BITS),
                "limit": In(BLOCK_BITS),
                "i": In(stream.Signature(memory_request(cfg))),
                "idle": Out(1, init=1),
                "dropped": Out(1),
                "i_host": In(stream.Signature(host_request(cfg, CLIENT_BITS))),
                "o_host": Out(stream.Signature(host_response(cfg, CLIENT_BITS), always_ready=True)),
                "memory": Out(MapMemorySignature(cfg)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # Stages are counted as in `ByteLane`: 0 is the clock of the read, `last` that of the write.
        latency = self.cfg.memory_latency
        last = latency + 3
        memory, lanes = self.memory, self.cfg.word_bytes

        # Stages -2 to 0.
        request, valid, is_host, tag = self._accept(m)
        equal = self._find_equal(m, request.address, last)
        address, inside = self._place(m, request.address)
        valid = delay(m, valid, 2, name="valid", reset_less=False)
        is_host = delay(m, is_host, 2, name="is_host")
        mask = delay(m, request.mask, 2, name="mask")
        live = valid & inside

        # The bytes that each stage writes.
        writes = [mask & live.replicate(lanes)]
        for stage in range(1, last + 1):
            writes.append(delay(m, writes[-1], 1, name=f"writes{stage}", reset_less=False))
        m.d.comb += [
            memory.read_en.eq(valid),
            memory.read_addr.eq(address),
            memory.write_mask.eq(writes[last]),
            memory.write_addr.eq(delay(m, address, last, name="address")),
        ]

        op = delay(m, request.op, latency + 2, name="op")
        operand = delay(m, request.data, latency + 2, name="operand")
        mask = delay(m, mask, latency, name="operand_mask")
        for index in range(lanes):
            m.submodules[f"lane{index}"] = lane = ByteLane(latency)
            hit = Cat(equal[n] & writes[n + 1][index] for n in range(last))
            # OR with 0 leaves the byte as it is.
            lane_op = Mux(mask[index], op, MemoryOp.OR)
            lane_operand = Mux(mask[index], operand[index], 0)
            m.d.comb += [
                lane.hit.eq(delay(m, hit, 1, name=f"hit{index}")),
                lane.op.eq(delay(m, lane_op, 1, name=f"op{index}")),
                lane.operand.eq(delay(m, lane_operand, 1, name=f"operand{index}")),
                lane.read.eq(memory.read_data[index]),
                memory.write_data[index].eq(lane.result),
            ]

        m.d.sync += self.dropped.eq(valid & ~is_host & ~inside)
        answered = delay(m, valid & is_host, last, name="answered", reset_less=False)
        inside = delay(m, inside, last, name="inside")
        m.d.sync += [
            self.o_host.valid.eq(answered),
            self.o_host.payload.error.eq(~inside),
            self.o_host.payload.tag.eq(delay(m, tag, last + 2, name="tag")),
        ]
        for index in range(lanes):
            byte = self.o_host.payload.data[index]
            m.d.sync += byte.eq(memory.write_data[index] & inside.replicate(8))
        return m

    def _accept(self, m):
        """Let one of the two requesters in.

        Returns the operation in stage -2, whether there is one, whether it is the host's, and the
        host's tag.
        """
        host_turn = Signal(init=1)  # unless it had the clock before
        take_host = Signal()
        m.d.comb += [
            self.i.ready.eq(~(self.i_host.valid & host_turn)),
            self.i_host.ready.eq(host_turn | ~self.i.valid),
            take_host.eq(self.i_host.valid & self.i_host.ready),
        ]
        m.d.sync += host_turn.eq(~take_host)

        left = Signal(range(self.latency))  # clocks until the last operation of `i` is in memory
        m.d.comb += self.idle.eq(left == 0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += left.eq(self.latency - 1)
        with m.Elif(~self.idle):
            m.d.sync += left.eq(left - 1)

        host = self.i_host.payload
        request = Signal(memory_request(self.cfg), reset_less=True)
        m.d.sync += request.eq(self.i.payload)
        with m.If(take_host):
            m.d.sync += [
                request.op.eq(MemoryOp.SET),
                request.address.eq(host.address),
                request.data.eq(host.data),
                request.mask.eq(host.mask),
            ]
        valid = delay(m, self.i.valid | self.i_host.valid, 1, name="taken", reset_less=False)
        is_host = delay(m, take_host, 1, name="taken_host")
        return request, valid, is_host, delay(m, host.tag, 1, name="taken_tag")

    def _find_equal(self, m, address, distances):
        """Compare an address of stage -2 with the ones before it: a bit per distance, in stage 0.

        The address within `memory_bytes` is enough: of two places with the same one, at most one
        lies in the memory.
        """
        low = address[: len(self.memory.read_addr)]
        equal = []
        older = low
        for distance in range(1, distances + 1):
            older = delay(m, older, 1, name=f"older{distance}")
            chunks = Cat(
                low[at : at + _CHUNK] == older[at : at + _CHUNK]
                for at in range(0, len(low), _CHUNK)
            )
            chunks = delay(m, chunks, 1, name=f"equal_chunks{distance}")
            equal.append(delay(m, chunks.all(), 1, name=f"equal{distance}"))
        return equal

    def _place(self, m, address):
        """Place an address of stage -2 in the memory: address and whether inside, in stage 0."""
        word_bits = 8 - self.cfg.word_log2  # of the words in a block
        block_bits = len(self.memory.read_addr) - word_bits
        word = delay(m, address[:word_bits], 1, name="word")
        block = delay(m, address[word_bits:], 1, name="block")

        # Stage -1.
        place = delay(m, (block - self.base)[:BLOCK_BITS], 1, name="place")
        below = delay(m, block < self.base, 1, name="below")
        above = delay(m, block >= self.limit, 1, name="above")
        word = delay(m, word, 1, name="word_placed")
        return Cat(word, place[:block_bits]), ~(below | above | place[block_bits:].any())
