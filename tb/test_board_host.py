"""The host side of a board: `minmip replay --backend board` on a pseudo-terminal."""

from __future__ import annotations

import re

import numpy as np
import pytest
from board_model import ModelBoard, on_a_terminal, packet
from board_objects import SIMULATED, Faults, board_trace
from click.testing import CliRunner

from minmip.hw.board.config import identity
from minmip.hw.board.protocol import Command
from minmip.hw.config import FULL
from minmip.sim import golden
from minmip.sim.cli import main
from minmip.sim.runners import board as board_runner
from minmip.sim.runners.board_link import BoardLink, encode, open_port
from minmip.sim.runners.unit import make_unit
from minmip.sim.runners.verilate import RunnerError

NAMES = make_unit(SIMULATED.unit).counter_names
SEED = 1


@pytest.fixture
def quick(monkeypatch):
    """Timeouts for a board that answers at once."""

    def link(port):
        return BoardLink(port, timeout=0.2, gap=0.04, tries=8)

    monkeypatch.setattr(board_runner, "BoardLink", link)


@pytest.fixture
def files(tmp_path):
    board_trace(SEED).save(tmp_path / "trace.npz")
    return tmp_path


def replay(files, *options):
    wanted = (files / "trace.npz", "-o", files / "result.npz", "--backend", "board", *options)
    return CliRunner().invoke(main, ["replay", *map(str, wanted)], catch_exceptions=False)


def check_map(files):
    wanted = golden.run(board_trace(SEED), config=SIMULATED.unit)
    with np.load(files / "result.npz") as found:
        np.testing.assert_array_equal(found["memory"], wanted.memory)
        np.testing.assert_array_equal(found["error"], wanted.error)
        np.testing.assert_array_equal(found["filtered"], wanted.filtered)
        assert "cycles" not in found


def test_replay(files, quick):
    with on_a_terminal(ModelBoard(SIMULATED, NAMES)) as port:
        done = replay(files, "--port", port, "--check")
    assert done.exit_code == 0, done.output
    assert "24 quads, 2 refused" in done.output
    check_map(files)


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_replay_with_faults(files, quick, seed):
    faults = Faults(0.0003, seed=seed)
    with on_a_terminal(ModelBoard(SIMULATED, NAMES), faults) as port:
        done = replay(files, "--port", port)
    assert done.exit_code == 0, f"seed {seed}: {done.output}"
    assert faults.count > 0, f"seed {seed}"
    check_map(files)


class Resets(ModelBoard):
    """Somebody pushes the button at some quads packets."""

    times = 0

    def request(self, sequence, code, payload):
        if self.times and self.open and code == Command.QUADS:
            self.times -= 1
            self.reset()
            return b""
        return super().request(sequence, code, payload)


def test_reset_in_the_middle(files, quick):
    board = Resets(SIMULATED, NAMES)
    board.times = 2
    with on_a_terminal(board) as port:
        done = replay(files, "--port", port)
    assert done.exit_code == 0, done.output
    assert board.times == 0
    check_map(files)


def test_reset_again_and_again(files, quick):
    board = Resets(SIMULATED, NAMES)
    board.times = 100
    with on_a_terminal(board) as port:
        done = replay(files, "--port", port)
    assert done.exit_code == 2
    assert done.output == f"minmip: the board on {port} was reset in the middle, 3 times\n"


class Other(ModelBoard):
    """Says of itself what it is not."""

    def __init__(self, text: bytes):
        super().__init__(SIMULATED, NAMES)
        self.text = text


def changed(old: bytes, new: bytes) -> bytes:
    assert old in identity(SIMULATED)
    return identity(SIMULATED).replace(old, new)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"hello, world", "the answer to hello describes no minmip board"),
        (changed(b'"minmip":1', b'"minmip":2'), "the board speaks protocol 2, wanted 1"),
        (changed(b'"lanes":1', b'"lanes":3'), "parameters that this minmip does not know: lanes"),
        (changed(b'"lanes"', b'"wheels"'), "parameters that this minmip does not know: .*wheels"),
    ],
)
def test_another_board(files, quick, text, sentence):
    with on_a_terminal(Other(text)) as port:
        done = replay(files, "--port", port)
    assert done.exit_code == 2
    assert re.fullmatch(f"minmip: {port}: .*{sentence}.*\n", done.output)


def test_another_preset(files, quick):
    with on_a_terminal(ModelBoard(SIMULATED, NAMES)) as port:
        done = replay(files, "--port", port, "--preset", "full")
    assert done.exit_code == 2
    assert done.output == (
        f"minmip: the board on {port} is another build: swizzle_modes is [1], "
        f"wanted {sorted(FULL.swizzle_modes)}\n"
    )


def test_no_answer(files, quick):
    class Silent(ModelBoard):
        def feed(self, data):
            return b""

        def silence(self):
            return b""

    with on_a_terminal(Silent(SIMULATED, NAMES)) as port:
        done = replay(files, "--port", port)
    assert done.exit_code == 2
    assert done.output == (
        f"minmip: no board answers on {port}: 8 requests (hello), and no whole reply within 0.2 s "
        "to any\n"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "--backend board wants --port, the serial port, such as /dev/ttyUSB0"),
        (
            ("--port", "/dev/nothing"),
            r"the serial port /dev/nothing does not open \(No such file or directory\); serial .*",
        ),
        (("--port", "x", "--lanes", "1"), "--lanes says how the gateware is built; .*"),
    ],
)
def test_bad_options(files, options, sentence):
    done = replay(files, *options)
    assert done.exit_code == 2
    assert re.fullmatch(f"minmip: {sentence}\n", done.output), done.output


def test_port_without_a_board(files):
    done = replay(files, "--port", "x", "--backend", "golden")
    assert done.exit_code == 2
    assert done.output == "minmip: --port wants --backend board, not golden\n"


def test_pattern_and_large_maps(quick):
    trace = board_trace(SEED)
    with on_a_terminal(ModelBoard(SIMULATED, NAMES)) as port:
        unit = board_runner.connect(port)
        with pytest.raises(RunnerError, match="a board keeps no sample pattern: leave out"):
            unit(trace, pattern=True)
        trace.memory = np.zeros(8192, np.uint8)
        with pytest.raises(RunnerError, match="8192 bytes of map memory, the board holds 4096"):
            unit(trace)
        with pytest.raises(RunnerError, match=r"refused a request \(write\): it reaches outside"):
            unit.link.request(Command.WRITE, (1 << 30).to_bytes(6, "little") + bytes(16))
        unit.link.port.close()  # pyright: ignore[reportAttributeAccessIssue]


def test_both_sides_write_packets_alike():
    assert encode(7, Command.CLEAR, b"abc") == packet(7, 3, b"abc")
    with pytest.raises(ValueError, match="a payload must have 2047 bytes at most, not 2048"):
        encode(0, Command.WRITE, bytes(2048))


def test_a_port_has_one_owner():
    with on_a_terminal(ModelBoard(SIMULATED, NAMES)) as port:
        first = open_port(port, 3_000_000)
        with pytest.raises(RunnerError, match="does not open"):
            open_port(port, 3_000_000)
        first.close()  # pyright: ignore[reportAttributeAccessIssue]
