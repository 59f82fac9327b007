"""ports.h of the stream harness: access to the ports of one verilated block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["OutsideMemory", "Port", "ports_header"]


@dataclass(frozen=True)
class Port:
    """A stream's payload or a plain port: its Verilog name (`i` for `i__payload`) and width."""

    name: str
    width: int

    @property
    def words(self) -> int:
        """32-bit words of one value."""
        return (self.width + 31) // 32


@dataclass(frozen=True)
class OutsideMemory:
    """A member `MapMemorySignature`: its Verilog name, bytes of a word, clocks of a read.

    `reads` are members `MapReadSignature` of the same memory.
    """

    name: str
    word_bytes: int
    latency: int
    reads: tuple[str, ...] = ()


_ACCESS = """
template <class T> inline void put(T& port, const uint32_t* words) {
    uint64_t value = words[0];
    if (sizeof(T) == 8) value |= static_cast<uint64_t>(words[1]) << 32;
    port = static_cast<T>(value);
}
template <std::size_t N> inline void put(VlWide<N>& port, const uint32_t* words) {
    std::memcpy(&port[0], words, 4 * N);
}
template <class T> inline void take(const T& port, uint32_t* words) {
    const uint64_t value = port;
    words[0] = static_cast<uint32_t>(value);
    if (sizeof(T) == 8) words[1] = static_cast<uint32_t>(value >> 32);
}
template <std::size_t N> inline void take(const VlWide<N>& port, uint32_t* words) {
    std::memcpy(words, &port[0], 4 * N);
}
struct MemoryPort {
    bool read_en[MEMORY_READERS];
    uint64_t read_addr[MEMORY_READERS], write_addr;
    uint32_t write_mask;
    uint32_t write_data[MEMORY_BYTES / 4 + 1];
};
"""

_NO_WAVE = """
struct Wave {
    Wave(VerilatedContext&, Top&, const char*) {}
    void dump(uint64_t) {}
};
"""

_WAVE = """
#include "verilated_{kind}_c.h"
struct Wave {{
    Verilated{Kind}C file;
    Wave(VerilatedContext& context, Top& top, const char* path) {{
        context.traceEverOn(true);
        top.trace(&file, 99);
        file.open(path);
    }}
    ~Wave() {{ file.close(); }}
    void dump(uint64_t time) {{ file.dump(time); }}
}};
"""


def ports_header(
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    ports: Sequence[Port],
    probes: Sequence[Port],
    *,
    clocked: bool,
    memory: OutsideMemory | None = None,
    wave: str | None = None,
) -> str:
    """Write ports.h, in which the compiler unrolls every access by number.

    Parameters
    ----------
    inputs, outputs, ports, probes : sequence of Port
        Input and output streams, plain inputs and plain outputs.
    clocked : bool
        Whether there are `clk` and `rst`.
    memory : OutsideMemory
        The memory that the harness plays.
    wave : "vcd", "fst" or None
        Format of waves.
    """
    return "\n".join(
        [
            '#include "Vtop.h"',
            "using Top = Vtop;",
            f"constexpr unsigned INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)};",
            f"constexpr unsigned OUTPUT_WORDS = {max([p.words for p in outputs] or [1])};",
            f"constexpr unsigned INPUT_SIZE[] = {{{_sizes(inputs)}}};",
            f"constexpr unsigned OUTPUT_SIZE[] = {{{_sizes(outputs)}}};",
            f"constexpr bool HAS_MEMORY = {'true' if memory else 'false'};",
            f"constexpr unsigned MEMORY_BYTES = {memory.word_bytes if memory else 4};",
            f"constexpr unsigned MEMORY_LATENCY = {memory.latency if memory else 1};",
            f"constexpr unsigned MEMORY_READERS = {1 + len(memory.reads) if memory else 1};",
            _ACCESS,
            _WAVE.format(kind=wave, Kind=wave.capitalize()) if wave else _NO_WAVE,
            _function(
                "void drive_clock(Top& top, bool high)", "top.clk = high;" if clocked else ""
            ),
            _function(
                "void drive_reset(Top& top, bool high)", "top.rst = high;" if clocked else ""
            ),
            *_memory_access(memory),
            _by_number(
                "void drive_payload(Top& top, unsigned n, const uint32_t* words)",
                [f"put({_member(p.name + '__payload')}, words); return;" for p in inputs],
            ),
            _by_number(
                "void drive_valid(Top& top, unsigned n, bool valid)",
                [f"{_member(p.name + '__valid')} = valid; return;" for p in inputs],
            ),
            _by_number(
                "bool input_ready(Top& top, unsigned n)",
                [f"return {_member(p.name + '__ready')};" for p in inputs],
                "return false;",
            ),
            _by_number(
                "void read_payload(Top& top, unsigned n, uint32_t* words)",
                [f"take({_member(p.name + '__payload')}, words); return;" for p in outputs],
            ),
            _by_number(
                "bool output_valid(Top& top, unsigned n)",
                [f"return {_member(p.name + '__valid')};" for p in outputs],
                "return false;",
            ),
            _by_number(
                "void drive_ready(Top& top, unsigned n, bool ready)",
                [f"{_member(p.name + '__ready')} = ready; return;" for p in outputs],
            ),
            _by_number(
                "void set_port(Top& top, unsigned n, const uint32_t* words)",
                [f"put({_member(p.name)}, words); return;" for p in ports],
            ),
            _by_number(
                "void get_port(Top& top, unsigned n, uint32_t* words)",
                [f"take({_member(p.name)}, words); return;" for p in probes],
            ),
            "",
        ]
    )


def _member(name: str) -> str:
    return f"top.{name.replace('__', '___05F')}"  # Verilator's spelling


def _sizes(streams: Sequence[Port]) -> str:
    return ", ".join(str(port.words) for port in streams) or "0"


def _function(head: str, body: str) -> str:
    return f"static inline {head} {{ {body} }}"


def _by_number(head: str, cases: Sequence[str], otherwise: str = "") -> str:
    body = " ".join(f"case {n}: {case}" for n, case in enumerate(cases))
    return _function(head, f"switch (n) {{ {body} default: break; }} {otherwise}")


def _memory_access(memory: OutsideMemory | None) -> list[str]:
    read = "MemoryPort read_memory_port(Top& top)"
    drive = "void drive_memory_port(Top& top, unsigned n, const uint32_t* words)"
    if memory is None:
        return [_function(read, "return {};"), _function(drive, "")]

    def at(name: str) -> str:
        return _member(f"{memory.name}__{name}")

    readers = (memory.name, *memory.reads)
    body = "".join(
        f"port.{field}[{n}] = {_member(f'{reader}__{field}')}; "
        for n, reader in enumerate(readers)
        for field in ("read_en", "read_addr")
    )
    body += "".join(f"port.{name} = {at(name)}; " for name in ("write_addr", "write_mask"))
    return [
        _function(
            read,
            f"MemoryPort port; {body}take({at('write_data')}, port.write_data); return port;",
        ),
        _by_number(drive, [f"put({_member(f'{r}__read_data')}, words); return;" for r in readers]),
    ]
