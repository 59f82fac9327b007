"""Every block that stands alone: the list that the commands and the benches share.

A new block adds one line to `BLOCKS`, or to `BOARD_BLOCKS` when it is of the board.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from minmip.hw.config import FULL, UnitConfig

__all__ = ["BLOCKS", "BOARD_BLOCKS", "UNIT", "make_block"]


def _block(path: str, *arguments) -> Callable:
    """Constructor at `module:Class` of `minmip.hw`, with fixed arguments or else the parameters.

    The import is late, so that one block can be built while another is being written.
    """

    def make(cfg: UnitConfig):
        module, _, name = path.partition(":")
        constructor = getattr(import_module(f"minmip.hw.{module}"), name)
        return constructor(*arguments) if arguments else constructor(cfg)

    return make


def _board(path: str, *names: str, **fixed) -> Callable:
    """Constructor of a block of the board, with parameters of the ULX3S by their names.

    `cfg` is the whole board, with the unit that is asked for.
    """

    def make(cfg: UnitConfig):
        from minmip.hw.board.config import ULX3S

        module, _, name = path.partition(":")
        constructor = getattr(import_module(f"minmip.hw.board.{module}"), name)
        board = replace(ULX3S, unit=cfg)
        values = {name: board if name == "cfg" else getattr(board, name) for name in names}
        return constructor(**values, **fixed)

    return make


BLOCKS: dict[str, Callable] = {
    "stage": _block("lib.stage:Stage", 32),
    "queue": _block("lib.queue:Queue", 32, 16),
    "stream_fork": _block("lib.fork:Fork", 32, 2),
    "stream_join": _block("lib.join:Join", {"a": 16, "b": 16}),
    "arbiter": _block("lib.arbiter:Arbiter", 32, 3),
    "descriptor_decode": _block("descriptor_decode:DescriptorDecode"),
    "context_table": _block("context_table:ContextTable"),
    "gradient": _block("gradient:GradientUnit"),
    "quad_gradients": _block("quad_gradients:QuadGradients"),
    "quad_front": _block("quad_front:QuadFront"),
    "lane_split": _block("lane_split:LaneSplit"),
    "lod": _block("lod:LodUnit"),
    "lane_lod": _block("lane_lod:LaneLod"),
    "mip_choice": _block("mip_choice:MipChoice"),
    "tap_walker": _block("tap_walker:TapWalker"),
    "coordinate": _block("coordinate:CoordinateUnit"),
    "rescale": _block("rescale:RescaleUnit"),
    "footprint": _block("footprint:Footprint"),
    "pattern_router": _block("pattern_router:PatternRouter"),
    "slab_split": _block("slab_split:SlabSplit"),
    "combine": _block("combine:Combine"),
    "address_generator": _block("address_generator:AddressGenerator"),
    "word_addresses": _block("word_addresses:WordAddresses"),
    "retire": _block("retire:Retire"),
    "filter_unit": _block("filter_unit:FilterUnit"),
    "answer_join": _block("answer_join:AnswerJoin"),
    "combining_buffer": _block("combining_buffer:CombiningBuffer"),
    "memory_port": _block("memory_port:MemoryPort"),
    "atomic_memory": _block("atomic_memory:AtomicMemory"),
    "host_port": _block("host_port:HostPort"),
    "clear_engine": _block("clear_engine:ClearEngine"),
    "resolve_engine": _block("resolve_engine:ResolveEngine"),
    "map_store": _block("map_store:MapStore"),
    "counters": _block("counters:Counters", {f"event{n}": 1 + n % 6 for n in range(40)}),
}
"""Block name to its constructor from a `UnitConfig`. Names are no words of Verilog."""

BOARD_BLOCKS: dict[str, Callable] = {
    "uart_receiver": _board("uart:UartReceiver", "clock_hz", "baud"),
    "uart_transmitter": _board("uart:UartTransmitter", "clock_hz", "baud"),
    "packet_receiver": _board("packet_receiver:PacketReceiver", "gap_clocks"),
    "packet_sender": _board("packet_sender:PacketSender"),
    "byte_reader": _board("byte_reader:ByteReader"),
    "session": _board("session:Session", "patience_clocks"),
    "host_link": _board("link:HostLink", "cfg"),
    "quad_loader": _block("board.quad_loader:QuadLoader"),
    "to_bytes": _block("board.to_bytes:ToBytes"),
    "memory_commands": _block("board.memory_commands:MemoryCommands"),
    "commands": _board("commands:Commands", "cfg", counters=40),
    "board": _board("top:Board", "cfg"),
}
"""The same of the board. They are no part of `--block all`."""

UNIT = "texture_addresser"
"""Name of the whole unit: commands take it beside the blocks."""


def make_block(name: str, cfg: UnitConfig = FULL):
    """Build a block, or the whole unit, by its name.

    Raises
    ------
    ValueError
        When there is no such block.
    """
    if name == UNIT:
        return _block("top:TextureAddresser")(cfg)
    blocks = BLOCKS | BOARD_BLOCKS
    if name not in blocks:
        known = ", ".join([*sorted(BLOCKS), UNIT, *BOARD_BLOCKS])
        raise ValueError(f"there is no block {name!r}; there are {known}")
    return blocks[name](cfg)
