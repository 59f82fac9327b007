"""Mutants of the memory port."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "no_forwarding_1",
        "byte_lane",
        'loop = delay(m, hit[0], 1, name="loop")',
        'loop = delay(m, hit[0] & 0, 1, name="loop")',
        "operations on one byte, one after the other",
    ),
    Mutant(
        "no_forwarding_2",
        "byte_lane",
        "old = Mux(hit[1], result, Mux(found, carried, read))",
        "old = Mux(found, carried, read)",
        "operations on one byte, 2 apart",
    ),
    Mutant(
        "no_forwarding_3",
        "byte_lane",
        "found = delay(m, self.hit[2:].any()",
        "found = delay(m, self.hit[3:].any()",
        "operations on one byte, 3 apart",
    ),
    Mutant(
        "no_forwarding_4",
        "byte_lane",
        "range(latency + 2, 2, -1)",
        "(latency + 1,)",
        "operations on one byte, 4 apart",
    ),
    Mutant(
        "read_beside_write",
        "memory_port",
        'beside = equal[last] & delay(m, writes[last - 1].any(), 1, name="beside")',
        "beside = equal[last] & 0",
        "a read beside a write of the same word gives anything",
    ),
    Mutant(
        "or_is_min",
        "byte_op",
        "is_min, is_max = op == MemoryOp.MIN, op == MemoryOp.MAX",
        "is_min, is_max = (op == MemoryOp.MIN) | (op == MemoryOp.OR), op == MemoryOp.MAX",
        "OR joins both bytes",
    ),
    Mutant(
        "mask_ignored",
        "byte_lane",
        "op = Mux(self.enable, self.op, MemoryOp.OR)",
        "op = self.op",
        "bytes without their mask bit stay",
    ),
    Mutant(
        "host_loses",
        "memory_port",
        "self.i_host.ready.eq(host_turn)",
        "self.i_host.ready.eq(1)",
        "a host write beside an operation of the pipeline is not lost",
    ),
    Mutant(
        "outside_written",
        "memory_window",
        "self.inside.eq(near & below)",
        "self.inside.eq(near)",
        "nothing at or above the limit is written",
    ),
    Mutant(
        "high_bits_ignored",
        "memory_window",
        "self.inside.eq(near & below)",
        "self.inside.eq(below)",
        "an address far below the base does not wrap into the memory",
    ),
    Mutant(
        "idle_early",
        "memory_port",
        "left.eq(self.latency - 4)",
        "left.eq(self.latency - 5)",
        "idle says that everything is in memory",
    ),
]
