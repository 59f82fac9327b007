# amaranth: UnusedElaboratable=no
"""Campaigns: a seed is run once, failures are kept and told apart, and the sums are right."""

import campaign
import pytest
from click.testing import CliRunner


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a hostile campaign of made-up seeds; return what it says and the seeds it ran."""
    ran = []

    def hostile(seed):
        ran.append(seed)
        assert seed != 3, "seed 3, stuck: 7 of 8 taken"
        assert seed != 4, "seed 4: byte 5 is 1,\nnot 2"
        return 1000, 10_000 * seed, seed % 2 == 0

    def start(seeds, status=""):
        ran.clear()
        monkeypatch.setattr(campaign, "git", lambda word, *_: status if word == "status" else "c0")
        result = CliRunner().invoke(campaign.main, ["hostile", seeds])
        return result.output, list(ran)

    monkeypatch.setattr(campaign, "hostile", hostile)
    monkeypatch.setattr(campaign, "build_folder", lambda: tmp_path)
    return start


def test_taken_up(run):
    said, ran = run("1:3")
    assert ran == [1, 2]
    assert "hostile-c0: 2000 quads in 2 seeds, 0 hangs, 0 mismatches, 10.0 clocks/quad" in said
    said, ran = run("1:6")
    assert ran == [3, 4, 5]
    assert "3000 quads in 5 seeds, 1 hangs, 1 mismatches, 30.0 clocks/quad" in said
    assert "seed 3: hang: seed 3, stuck: 7 of 8 taken" in said
    assert "seed 4: mismatch: seed 4: byte 5 is 1, not 2" in said


def test_names_a_commit(run):
    said, ran = run("1:3", status=" M hw/top.py")
    assert not ran
    assert "commit what has changed in hw/" in said
