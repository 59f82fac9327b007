"""The documents: README's example prints what it says, links and commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def test_the_example_of_the_readme():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    promised = re.search(r"^# (\[.*?\])", code, re.M).group(1)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == promised


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    text = path.read_text()
    assert "@@" not in text, "a figure is not filled in"
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_commands_exist(path):
    text = path.read_text()
    names = r"run|replay|doctor|stream-share|stream|measure-\w+|measure|verilog|synth|formal"
    names += "|rates|peers|layout|swizzle|unswizzle|convert|bitstream|constraints"
    commands = set(re.findall(rf"minmip ({names})\b", text))
    from minmip.sim.cli import main

    assert commands <= set(main.commands)
    for target in re.findall(r"^    make (\w+)", text, re.M):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)
