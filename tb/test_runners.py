# amaranth: UnusedElaboratable=no
"""The unit behind `replay` and `run`: both simulators against the golden model, stalls, waves."""

import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from gltf_maker import SQUARE_UV, textured_square
from random_traces import KINDS, random_trace
from traces import CLAMP, LINEAR, MIN, image, sampler
from wave_file import Waves

from minmip.hw.config import FULL, SMALL
from minmip.sim import golden
from minmip.sim.cli import main
from minmip.sim.compare import differences
from minmip.sim.runners import unit as unit_module
from minmip.sim.runners import verilated_unit
from minmip.sim.runners.pysim import SimulatedUnit
from minmip.sim.runners.unit import CHUNK, run_unit
from minmip.sim.runners.verilate import STREAM_NAME, RunnerError
from minmip.sim.runners.verilated_unit import VerilatedUnit
from minmip.sim.runners.verilator import Traffic
from minmip.sim.trace import Trace

STAGES = (
    *("front", "split", "lookup_lod", "lod", "lookup_mips", "mips", "taps", "lookup_footprint"),
    *("footprint", "router"),
)
STALLS = Traffic(valid=0.3, ready=0.3, longest=20)


@pytest.fixture(scope="module")
def verilated():
    return VerilatedUnit(FULL)


def check(run, trace_, cfg=FULL):
    """Run with the sample pattern and compare everything that there is with the golden model."""
    result = run(trace_, pattern=True)
    found = differences(trace_, result, golden.run(trace_, config=cfg, pattern=True, workers=1))
    assert not found, "\n".join(found)
    quads = len(trace_)
    assert result.counters["quads"] == quads
    assert result.counters["flushes"] == 1
    for code in (1, 14, 31):
        assert result.counters[f"code_{code}"] == int((result.error == code).sum())
    if quads:
        assert result.accept_cycle[0] == 0
        assert (np.diff(result.accept_cycle.astype(np.int64)) > 0).all()
        assert (np.diff(result.done_cycle.astype(np.int64)) > 0).all()
        assert (result.done_cycle > result.accept_cycle).all()
        assert result.cycles > result.done_cycle[-1]
    return result


def coherent(quads, **options):
    """Bilinear MinMip feedback along a line of a 64x64 map."""
    t = image((4096, 4096), kind=MIN, scales=(6, 6), view=(0, 11), SW_MODE=0)
    s = sampler(CLAMP, LINEAR, LINEAR, 2)
    at = np.arange(quads, dtype=np.float32)
    uvw = np.zeros((quads, 4, 3), np.float32)
    pixel = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
    uvw[:, :, :2] = (pixel + np.stack([2 * at % 4096, at // 64 % 4096], 1)[:, None]) / 4096
    memory = np.full(64 * 256, 0xFF, np.uint8)
    return Trace(
        t_sharp=t[None], s_sharp=s[None], opcode=np.zeros(quads, np.uint8), uvw=uvw, memory=memory,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_random_traces(verilated, kind):
    for seed in range(3):
        print(f"{kind}, seed {seed}")
        check(verilated, random_trace(np.random.default_rng(seed), 150, kind))


def test_stalls_change_no_result(verilated):
    verilated.traffic = STALLS
    try:
        stalled = check(verilated, random_trace(np.random.default_rng(7), 300))
    finally:
        verilated.traffic = Traffic()
    free = check(verilated, random_trace(np.random.default_rng(7), 300))
    assert stalled.cycles > free.cycles


def test_many_chunks(verilated):
    """Quads go on from chunk to chunk: no clock is lost between, and every tag comes round."""
    trace_ = coherent(2 * CHUNK + 5)
    done = []
    result = verilated(trace_, progress=done.append)
    assert not differences(trace_, result, golden.run(trace_, config=FULL))
    assert sum(done) == len(trace_)
    assert len(done) >= 3
    assert result.cycles < 1.2 * len(trace_)


@pytest.mark.parametrize("quads", [0, 1, CHUNK - 1, CHUNK])
def test_lengths(verilated, quads):
    check(verilated, coherent(quads))


def test_pattern_fills_its_buffer(verilated, monkeypatch):
    monkeypatch.setattr(unit_module, "_PATTERN_ROOM", 7)
    check(verilated, random_trace(np.random.default_rng(3), 200, "plain"))


@pytest.mark.parametrize("base", [0, (1 << 48) - 64 * 256, 1 << 48, 1 << 60])
def test_memory_anywhere(verilated, base):
    trace_ = coherent(20, memory_base=base)
    trace_.t_sharp[0, 0] = base >> 8 & 0xFFFFFFFF
    check(verilated, trace_)


def test_memory_of_odd_size(verilated):
    trace_ = coherent(300)
    check(verilated, replace(trace_, memory=np.full(64 * 256 + 7, 0xFF, np.uint8)))
    check(verilated, replace(trace_, memory=np.full(3, 0xFF, np.uint8)))
    check(verilated, replace(trace_, memory=np.zeros(0, np.uint8)))


def test_memory_too_large(verilated):
    memory = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), ((1 << 30) + 1,), (0,))
    trace_ = coherent(1)
    trace_.memory = memory
    with pytest.raises(RunnerError, match=r"1073741825 bytes of map memory.* up to 1073741824"):
        run_unit(verilated, trace_)


def test_a_stuck_unit_is_told(verilated, monkeypatch):
    monkeypatch.setattr(verilated_unit, "PATIENCE", 500)
    verilated.traffic = Traffic(ready=1.0)  # for ever
    try:
        with pytest.raises(
            RunnerError, match=r"is stuck: .* 0 answered \(i valid, not ready; o va"
        ):
            verilated(coherent(5000))
    finally:
        verilated.traffic = Traffic()
    check(verilated, coherent(10))


def test_counters_add_up(verilated):
    trace_ = coherent(3000)
    result, wanted = verilated(trace_), golden.run(trace_, config=FULL)
    assert result.counters["samples"] == wanted.counters["samples"]
    assert result.counters["byte_writes"] == wanted.counters["byte_writes"]
    assert 0 < result.counters["memory_operations"] <= result.counters["words"]
    assert result.samples is None
    assert result.writes is None


@pytest.mark.parametrize("kind", ["mixed", "plain"])
def test_amaranths_simulator(kind):
    traces = random_trace(np.random.default_rng(11), 12, kind, SMALL.swizzle_modes)
    check(SimulatedUnit(SMALL), traces, SMALL)


def test_both_simulators_take_the_same_clocks(verilated):
    trace_ = random_trace(np.random.default_rng(5), 12)
    fast, slow = verilated(trace_), SimulatedUnit(FULL)(trace_)
    assert fast.cycles == slow.cycles
    assert fast.counters == slow.counters
    np.testing.assert_array_equal(fast.accept_cycle, slow.accept_cycle)
    np.testing.assert_array_equal(fast.done_cycle, slow.done_cycle)


def test_golden_loads_no_gateware():
    script = (
        "import sys; from click.testing import CliRunner; from minmip.sim.cli import main; "
        "from minmip.sim.backends import make_backend; make_backend('golden'); "
        "assert not {'amaranth', 'verilator', 'cocotb'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def waves_of(path, first, last, quads=40):
    unit = VerilatedUnit(SMALL, wave=path, wave_cycles=(first, last))
    result = check(unit, coherent(quads), SMALL)
    return Waves(path), result


def test_window_of_waves(tmp_path):
    waves, _ = waves_of(tmp_path / "w.vcd", 20, 30)
    assert waves.clocks == list(range(20, 30))


def test_waves_show_every_handshake(tmp_path):
    """Of the streams of the unit and of its stages, by their own names, with their fields."""
    waves, result = waves_of(tmp_path / "w.vcd", 0, 100_000)
    accepted = waves.beats("i", "tag")
    first = accepted[0][0]
    quads = list(enumerate(result.accept_cycle.tolist()))
    assert accepted[:-1] == [(first + clock, tag) for tag, clock in quads]
    answered = [(first + clock, 0) for clock in result.done_cycle.tolist()]
    assert waves.beats("o", "code")[:-1] == answered
    # What a stage gives, the next one takes in that clock.
    for giver, taker in itertools.pairwise(STAGES):
        beats = waves.beats(f"{giver}__o")
        assert beats == waves.beats(f"{taker}__i"), (giver, taker)
        assert len(beats) >= 41, giver
    for stage in ("combine", "addresses", "retire", "buffer", "store"):
        assert waves.beats(f"{stage}__i"), stage
    assert len(waves.beats("lookup_footprint__i")) == result.counters["tap_beats"]
    assert waves.beats("retire__o_words") == waves.beats("buffer__i")
    assert waves.beats("buffer__o") == waves.beats("store__i")
    assert "taps__o__payload.lane[0].mip" in waves.names
    others = {name for name in waves.names if not STREAM_NAME.fullmatch(name) and "." in name}
    assert all(name.startswith(("i_", "o_")) for name in others), others


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [("w.txt", RunnerError, "not 'w.txt'"), ("no/w.vcd", FileNotFoundError, "no/w.vcd")],
)
def test_waves_refused(tmp_path, name, error, words):
    with pytest.raises(error, match=words):
        VerilatedUnit(SMALL, wave=tmp_path / name)


def run_command(scene, backend, out, *options):
    """Run `minmip run`; return the bytes of each picture by name."""
    arguments = ["run", str(scene), "--size", "320x180", "--backend", backend, "--out", str(out)]
    result = CliRunner().invoke(main, [*arguments, *options])
    assert result.exit_code == 0, result.output
    return {path.name: path.read_bytes() for path in out.glob("*.png")}


@pytest.mark.parametrize("kind", ["minmip", "used"])
@pytest.mark.parametrize("scene", ["builtin", "glTF"])
def test_run_draws_the_same_maps(tmp_path, scene, kind):
    """The main job: maps and frame of the RTL are those of the golden model."""
    if scene == "glTF":
        maker = textured_square(uv=SQUARE_UV * 3 - 1)
        scene = maker.save(tmp_path)
    options = ("--kind", kind, "--region", "16x16", "--aniso", "4")
    pictures = run_command(scene, "golden", tmp_path / "golden", *options)
    assert len(pictures) >= 2
    assert run_command(scene, "verilator", tmp_path / "verilator", *options) == pictures
