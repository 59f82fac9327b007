"""A verilated block: whole arrays of beats through its streams."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from minmip.sim.runners.ports_header import OutsideMemory, Port, ports_header
from minmip.sim.runners.verilate import Design, RunnerError, build_library

__all__ = ["Design", "Model", "OutsideMemory", "Port", "Run", "RunnerError", "Traffic"]

_FOREVER = (1 << 64) - 1


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """How willing each side is: chance of a stall per clock, and the clocks of the longest."""

    valid: float = 0.0
    ready: float = 0.0
    longest: int = 1


@dataclass
class Run:
    """What came of a run; arrays by stream name.

    `results` has one row of words per beat; the stamps are the clocks of the transfers; `taken` and
    `given` count them (`given` also counts what was too much); `broken` counts beats that changed
    or fell before they were taken.
    """

    cycles: int
    results: dict[str, np.ndarray] = field(default_factory=dict)
    input_stamps: dict[str, np.ndarray] = field(default_factory=dict)
    output_stamps: dict[str, np.ndarray] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


class _RunArguments(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("max_cycles", "quiet", "patience")),
        *((name, ctypes.c_uint64) for name in ("all_sent", "any_full", "seed")),
        *(
            (name, ctypes.c_void_p)
            for name in ("beats", "count", "input_stamp", "taken", "results", "capacity")
        ),
        *(
            (name, ctypes.c_void_p)
            for name in ("output_stamp", "given", "broken", "closing", "longest")
        ),
    ]


class Model:
    """A verilated block: state lives until the object is deleted.

    Parameters
    ----------
    design : Design
        Verilog, with `clk` and `rst` unless it is combinational.
    inputs, outputs : sequence of Port
        Streams, named without `__payload`.
    ports : sequence of Port
        Plain input ports.
    probes : sequence of Port
        Plain output ports.
    clocked : bool
        Whether there are `clk` and `rst`.
    memory : OutsideMemory
        A memory port, and its read ports, that the model serves from the bytes given to
        `use_memory`.
    wave : "vcd", "fst" or None
        Format of the waves that `start_wave` may write.
    speed : str
        Optimisation of g++ (`build_library`).

    Raises
    ------
    RunnerError
        When a tool is missing or refuses the design.
    """

    def __init__(
        self,
        design: Design,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        ports: Sequence[Port] = (),
        probes: Sequence[Port] = (),
        *,
        clocked: bool = True,
        memory: OutsideMemory | None = None,
        wave: str | None = None,
        speed: str = "",
    ):
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.ports = {port.name: (number, port) for number, port in enumerate(ports)}
        self.probes = {port.name: (number, port) for number, port in enumerate(probes)}
        self._memory: np.ndarray | None = None
        header = ports_header(
            *(self.inputs, self.outputs, ports, probes), clocked=clocked, memory=memory, wave=wave
        )
        library = ctypes.CDLL(str(build_library(design, header, wave=wave, speed=speed)))
        library.model_new.restype = ctypes.c_void_p
        library.model_run.restype = ctypes.c_uint64
        library.model_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        library.model_reset.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        library.model_delete.argtypes = [ctypes.c_void_p]
        library.model_memory.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
        library.model_stray.restype = ctypes.c_uint64
        library.model_stray.argtypes = [ctypes.c_void_p]
        library.model_wave.argtypes = [
            *(ctypes.c_void_p, ctypes.c_char_p),
            *(ctypes.c_uint64, ctypes.c_uint64),
        ]
        library.model_wave_end.argtypes = [ctypes.c_void_p]
        for access in (library.model_set, library.model_get):
            access.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
        self._library = library
        self._handle = library.model_new()

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.model_delete(self._handle)

    def reset(self, cycles: int = 2) -> None:
        """Hold `rst` for some clocks; beats on the way are lost."""
        self._library.model_reset(self._handle, cycles)

    def set(self, name: str, value: int) -> None:
        """Drive a plain input port."""
        number, port = self.ports[name]
        words = np.frombuffer(value.to_bytes(4 * port.words, "little"), "<u4")
        self._library.model_set(self._handle, number, words.ctypes.data)

    def get(self, name: str) -> int:
        """Read a plain output port."""
        number, port = self.probes[name]
        words = np.zeros(port.words, "<u4")
        self._library.model_get(self._handle, number, words.ctypes.data)
        return int.from_bytes(words.tobytes(), "little")

    def use_memory(self, memory: np.ndarray) -> None:
        """Serve the memory port from these bytes (uint8, whole words), in place."""
        self._memory = memory  # kept alive
        self._library.model_memory(self._handle, memory.ctypes.data, len(memory))

    @property
    def stray_writes(self) -> int:
        """Writes behind the end of the memory."""
        return self._library.model_stray(self._handle)

    def start_wave(self, path: str | os.PathLike, first: int, last: int) -> None:
        """Write clocks `first` to `last` - 1, counted from now, to a file."""
        self._library.model_wave(self._handle, os.fsencode(path), first, last)

    def end_wave(self) -> None:
        """Close the file of `start_wave`."""
        self._library.model_wave_end(self._handle)

    def run(
        self,
        beats: Mapping[str, np.ndarray],
        capacity: Mapping[str, int],
        *,
        traffic: Traffic | Mapping[str, Traffic] | None = None,
        seed: int = 1,
        max_cycles: int | None = None,
        quiet: int = 256,
        patience: int = _FOREVER,
        all_sent: bool = False,
        any_full: bool = False,
    ) -> Run:
        """Send beats and collect what comes, until nothing has moved for `quiet` clocks.

        A later run goes on where this one stopped: beats under way stay so.

        Parameters
        ----------
        beats : mapping of str to uint32 array [count, words]
            For each input stream; one that is left out sends nothing.
        capacity : mapping of str to int
            Beats to keep of each output stream.
        traffic : Traffic, or mapping of str to Traffic
            For all streams, or by stream name.
        seed : int
            Of the stalls.
        max_cycles : int
            Stop after so many clocks whatever happens; by default far above what stalls cost.
        quiet : int
            Clocks, with every output ready, in which nothing is left to send and nothing comes.
        patience : int
            Stop after so many clocks without a transfer.
        all_sent, any_full : bool
            Stop when all beats are taken; when an output has as many as it may keep, unless 0.
        """
        sent = {
            port.name: _beats(port, beats.get(port.name, np.zeros((0, port.words), np.uint32)))
            for port in self.inputs
        }
        unknown = (set(beats) - set(sent)) | (set(capacity) - {port.name for port in self.outputs})
        if unknown:
            raise ValueError(f"there is no stream {sorted(unknown)}")
        room = {port.name: int(capacity.get(port.name, 0)) for port in self.outputs}
        results = {p.name: np.zeros((room[p.name], p.words), np.uint32) for p in self.outputs}
        in_stamps = {name: np.zeros(len(rows), np.uint64) for name, rows in sent.items()}
        out_stamps = {name: np.zeros(count, np.uint64) for name, count in room.items()}
        taken, given, broken = (
            np.zeros(max(len(ports), 1), np.uint64)
            for ports in (self.inputs, self.outputs, self.outputs)
        )
        closing, longest = self._stalls(traffic or Traffic())
        count = np.array([len(rows) for rows in sent.values()] or [0], np.uint64)
        capacities = np.array(list(room.values()) or [0], np.uint64)
        if max_cycles is None:
            max_cycles = 10_000 + 200 * int(count.max() + capacities.max()) * int(longest.max())
        tables = [_pointers(table) for table in (sent, in_stamps, results, out_stamps)]
        arguments = _RunArguments(
            max_cycles=max_cycles,
            quiet=quiet,
            patience=patience,
            all_sent=all_sent,
            any_full=any_full,
            seed=seed,
            beats=ctypes.addressof(tables[0]),
            count=count.ctypes.data,
            input_stamp=ctypes.addressof(tables[1]),
            taken=taken.ctypes.data,
            results=ctypes.addressof(tables[2]),
            capacity=capacities.ctypes.data,
            output_stamp=ctypes.addressof(tables[3]),
            given=given.ctypes.data,
            broken=broken.ctypes.data,
            closing=closing.ctypes.data,
            longest=longest.ctypes.data,
        )
        cycles = self._library.model_run(self._handle, ctypes.addressof(arguments))
        run = Run(cycles)
        for port, number in zip(self.inputs, taken.tolist(), strict=False):
            run.taken[port.name] = number
            run.input_stamps[port.name] = in_stamps[port.name][:number]
        for port, number, wrong in zip(self.outputs, given.tolist(), broken.tolist(), strict=False):
            run.given[port.name], run.broken[port.name] = number, wrong
            run.results[port.name] = results[port.name][:number]
            run.output_stamps[port.name] = out_stamps[port.name][:number]
        return run

    def _stalls(self, traffic):
        """Chance in 2^-32 and longest stall of each stream, inputs first."""
        sides = [(p, "valid") for p in self.inputs] + [(p, "ready") for p in self.outputs]
        chosen = [
            (t, getattr(t, side))
            for port, side in sides
            for t in [
                traffic if isinstance(traffic, Traffic) else traffic.get(port.name, Traffic())
            ]
        ]
        closing = np.array([min(int(p * 2**32), 2**32 - 1) for _, p in chosen] or [0], np.uint32)
        longest = np.array([t.longest for t, _ in chosen] or [1], np.uint32)
        return closing, longest


def _beats(port: Port, rows: np.ndarray) -> np.ndarray:
    rows = np.ascontiguousarray(rows, np.uint32)
    if rows.ndim != 2 or rows.shape[1] != port.words:
        raise ValueError(f"{port.name} wants [count, {port.words}] words, not {rows.shape}")
    return rows


def _pointers(arrays: Mapping[str, np.ndarray]):
    return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays.values()))
