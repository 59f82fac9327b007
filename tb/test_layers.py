"""Rules of the tree: who imports whom, what is packaged, where decisions point."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HW = sorted((ROOT / "hw").rglob("*.py"))
SIM = sorted((ROOT / "sim").rglob("*.py"))
DRIVES_GATEWARE = (
    *("sim/board_commands.py", "sim/hw_commands.py", "sim/synth_commands.py", "sim/runners/"),
)


def name(path):
    return path.relative_to(ROOT).as_posix()


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}: imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", HW, ids=name)
def test_hw_imports_nothing_of_ours_but_hw(path):
    ours = [m for m in imports(path) if m.split(".")[0] == "minmip"]
    assert all(m.startswith("minmip.hw") for m in ours), ours
    # With postponed annotations Amaranth would silently see empty interfaces.
    assert "__future__" not in imports(path)


def test_parameters_need_no_amaranth():
    assert not [m for m in imports(ROOT / "hw/config.py") if m.startswith("amaranth")]
    assert not (ROOT / "hw/__init__.py").read_text().strip()


@pytest.mark.parametrize("path", SIM, ids=name)
def test_sim_knows_the_parameters_only(path):
    gateware = {m for m in imports(path) if m.startswith(("minmip.hw", "amaranth"))}
    if not name(path).startswith(DRIVES_GATEWARE):
        assert gateware <= {"minmip.hw.config"}, gateware


@pytest.mark.parametrize("path", [*HW, *SIM, *sorted((ROOT / "tb").rglob("*.py"))], ids=name)
def test_files_are_one_clear_thing(path):
    assert len(path.read_text().splitlines()) <= 500


def test_every_package_is_packaged():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = {
        "minmip." + name(path.parent).replace("/", ".")
        for path in (*HW, *SIM)
        if path.name == "__init__.py"
    }
    assert found == set(setup["packages"])
    for folder in {path.parent for path in (*HW, *SIM)}:
        assert (folder / "__init__.py").exists(), folder


def test_decisions_point_at_files():
    rows = [r for r in (ROOT / "docs/decisions.md").read_text().splitlines() if r.startswith("| D")]
    assert len(rows) > 10
    for row in rows:
        for place in re.findall(r"`((?:hw|sim|tb)/[^`]+)`", row.rsplit("|", 2)[1]):
            assert (ROOT / place).exists(), place
