"""Mutants of the map memory and its read ports."""

from kit.mutants import Mutant

MUTANTS = [
    Mutant(
        "copy_misses_a_write",
        "map_memory",
        "ram.write_en.eq(mask)",
        "ram.write_en.eq(mask & ((copy != 3) | ~write_addr[0]).replicate(len(mask)))",
        "every copy gets every write",
    ),
    Mutant(
        "one_address_for_all",
        "map_memory",
        "delay(m, port.read_addr, before",
        "delay(m, self.port.read_addr, before",
        "each port reads at its own address",
    ),
    Mutant(
        "copies_written_whole",
        "map_memory",
        "ram.write_en.eq(mask)",
        "ram.write_en.eq(mask.any().replicate(len(mask)) if copy else mask)",
        "bytes without their mask bit stay in the copies too",
    ),
    Mutant(
        "outside_ports_all_alike",
        "map_memory",
        "wiring.flipped(inner), wiring.flipped(outer)",
        "wiring.flipped(inner), wiring.flipped(self.outside_reads[0])",
        "each port leads to its own outside",
    ),
]
