"""What may be at the other end of a serial port: each ends in one sentence, and no file."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from board_model import QUADS, ModelBoard, on_a_terminal, packet
from board_objects import SIMULATED, board_trace
from click.testing import CliRunner

from minmip.hw.board.config import identity, unit_of
from minmip.hw.board.protocol import Command
from minmip.sim.cli import main
from minmip.sim.runners import board as board_runner
from minmip.sim.runners import board_link
from minmip.sim.runners.board_link import BoardLink, open_port
from minmip.sim.runners.unit import make_unit
from minmip.sim.runners.verilate import RunnerError

NAMES = make_unit(SIMULATED.unit).counter_names
SEED = 1
NO_ANSWER = (
    r"no board answers on {port}: 3 requests \(hello\), and no whole reply within 0.1 s to any"
)


class Gone(ModelBoard):
    """Its cable is pulled out at the first quads."""

    def request(self, sequence, code, payload):
        if code == QUADS:
            raise EOFError
        return super().request(sequence, code, payload)


class Babbles(ModelBoard):
    """Sends, whatever it is asked."""

    def __init__(self, text: bytes):
        super().__init__(SIMULATED, NAMES)
        self.text = text

    def feed(self, data):
        return self.text

    def silence(self):
        return self.text


class Answers(ModelBoard):
    """Answers one command with what it should not."""

    def __init__(self, code: int, status: int, payload: bytes):
        super().__init__(SIMULATED, NAMES)
        self.wrong = code, status, payload

    def work(self, code, payload):
        if code == self.wrong[0]:
            return self.wrong[1:]
        return super().work(code, payload)


def whole(sequence: int) -> bytes:
    """A reply that is right in itself, of another request."""
    return packet(sequence, 0, b"abc")


BOARDS = {
    "pulled out": (lambda: Gone(SIMULATED, NAMES), "the serial port {port} failed: .*"),
    "noise": (lambda: Babbles(random.Random(SEED).randbytes(97)), NO_ANSWER),
    "SYNC for ever": (lambda: Babbles(b"\x6d" * 50), NO_ANSWER),
    "a byte now and then": (lambda: Babbles(b"x"), NO_ANSWER),
    "half a reply": (lambda: Babbles(whole(1)[:-1]), NO_ANSWER),
    "old replies for ever": (lambda: Babbles(whole(77) * 9), NO_ANSWER),
    "a length that is none": (lambda: Babbles(b"\x6d\x01\x00\xff\xff"), NO_ANSWER),
    "short answers": (
        lambda: Answers(Command.QUADS, 0, bytes(12)),
        "the board on {port} is another build: the reply to quads has 12 bytes, wanted .*",
    ),
    "answers of other quads": (
        lambda: Answers(Command.QUADS, 0, b"\xff" * 12 * 24),
        "(answer 0 has tag 65535 .*|the board on {port} is another build: .*)",
    ),
    "short memory": (
        lambda: Answers(Command.READ, 0, b"x"),
        "the board on {port} is another build: the reply to read has 1 bytes, wanted 512",
    ),
    "few counters": (
        lambda: Answers(Command.COUNTERS, 0, b""),
        "the board on {port} is another build: the reply to counters has 0 bytes, wanted .*",
    ),
    "a status that is none": (
        lambda: Answers(Command.CLEAR, 99, b""),
        r"the board refused a request \(clear\): status 99",
    ),
    "a unit that is stuck": (
        lambda: Answers(Command.QUADS, 18, b""),
        r"the board refused a request \(quads\): the unit did not answer in time",
    ),
    "a line feed in its version": (
        lambda: Answers(Command.HELLO, 0, b'{"minmip":"1\\n\\u001b[2J"}'),
        r"{port}: the board speaks protocol 1\?\?\[2J, wanted 1",
    ),
}


def replay(folder, port: str):
    files = (f"{folder}/trace.npz", "-o", f"{folder}/result.npz")
    options = ("--backend", "board", "--port", port)
    return CliRunner().invoke(main, ["replay", *files, *options], catch_exceptions=False)


@pytest.mark.parametrize("name", BOARDS)
def test_other_end(tmp_path, monkeypatch, name):
    make, sentence = BOARDS[name]
    timeout = 0.1 if sentence is NO_ANSWER else 5.0  # the board in Python takes a while

    def link(port):
        return BoardLink(port, timeout=timeout, gap=0.03, tries=3)

    monkeypatch.setattr(board_runner, "BoardLink", link)
    board_trace(SEED).save(tmp_path / "trace.npz")
    with on_a_terminal(make()) as port:
        done = replay(tmp_path, port)
    assert done.exit_code == 2
    assert re.fullmatch(f"minmip: {sentence.format(port=port)}\n", done.output), done.output
    assert [file.name for file in tmp_path.iterdir()] == ["trace.npz"]


def test_port_that_takes_nothing(monkeypatch):
    """Nobody reads at the other end: a write must not wait for ever."""
    monkeypatch.setattr(board_link, "_WRITE_TIMEOUT", 0.2)

    class Deaf(ModelBoard):
        deaf = True

    with on_a_terminal(Deaf(SIMULATED, NAMES)) as name:
        port = open_port(name, 3_000_000)
        link = BoardLink(port, timeout=0.01, gap=0.01, tries=100)
        with pytest.raises(RunnerError, match=f"the serial port {name} failed: Write timeout"):
            link.request(Command.WRITE, bytes(2047))
        port.close()  # pyright: ignore[reportAttributeAccessIssue]


def test_memory_that_the_board_has_not(tmp_path, monkeypatch):
    trace = board_trace(SEED)
    trace.memory = np.zeros(1 << 13, np.uint8)
    trace.save(tmp_path / "trace.npz")
    with on_a_terminal(ModelBoard(SIMULATED, NAMES)) as port:
        done = replay(tmp_path, port)
    assert done.exit_code == 2
    assert done.output == ("minmip: the trace has 8192 bytes of map memory, the board holds 4096\n")
    assert not (tmp_path / "result.npz").exists()


def said(seed: int):
    """What boards may say of themselves: the identity with one part that is something else."""
    others = (None, True, 0, -1, 1 << 70, 1.5, float("inf"), "x", [], [1], [[1]], {}, {"a": 1})
    build = json.loads(identity(SIMULATED))
    for part in (build, build["unit"], build["unit"]["lod"]):
        for key, value in list(part.items()):
            for other in others:
                part[key] = other
                yield json.dumps(build).encode()
            part[key] = value
    yield from (b"", b"null", b"[]", b"[" * 2000, b"9" * 2000, b"\xff\xfe")
    rng = random.Random(seed)
    for _ in range(300):
        text = bytearray(identity(SIMULATED))
        for _ in range(rng.randrange(1, 4)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        yield bytes(text)


def test_any_identity():
    """It is a unit that can be built, or one sentence."""
    sentences = []
    for text in said(SEED):
        try:
            unit, _ = unit_of(text)
        except ValueError as error:
            sentences.append(str(error))
        else:
            make_unit(unit)
    assert len(sentences) > 200
    wrong = [text for text in sentences if len(text) > 200 or not text.isprintable()]
    assert not wrong, f"seed {SEED}"
