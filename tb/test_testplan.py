"""`testplan.toml`: everything it names exists, and nothing is left out."""

import ast
import importlib
import tomllib
from pathlib import Path

import pytest
from kit.proofs import all_proofs

from minmip.hw.blocks import BLOCKS

HERE = Path(__file__).parent


def read_plan(text):
    features = tomllib.loads(text)["feature"]
    for feature in features:
        if set(feature) != {"block", "rule", "tests", "mutants"}:
            raise ValueError(f"a feature has block, rule, tests and mutants, not {set(feature)}")
    return features


def existing_tests():
    found = {f"formal:{proof.title}" for proof in all_proofs()}
    for file in HERE.glob("test_*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add(f"{file.name}::{node.name}")
    return found


def existing_mutants():
    return {
        f"{file.stem}.{mutant.name}"
        for file in HERE.glob("mutants/*.py")
        for mutant in importlib.import_module(f"mutants.{file.stem}").MUTANTS
    }


def complaints(features, tests, mutants, blocks):
    """One sentence per fault of the plan."""
    found = []
    for feature in features:
        where = f"{feature['block']}, {feature['rule']!r}"
        if not feature["tests"]:
            found.append(f"{where}: no test")
        found += [f"{where}: no test {name}" for name in feature["tests"] if name not in tests]
        found += [
            f"{where}: no mutant {name}" for name in feature["mutants"] if name not in mutants
        ]
    for block in sorted(blocks):
        own = [feature for feature in features if feature["block"] == block]
        if not own:
            found.append(f"{block}: no entry")
        elif not any(feature["mutants"] for feature in own):
            found.append(f"{block}: no mutant")
    listed = {name for feature in features for name in feature["mutants"]}
    found += [f"mutant {name} is in no feature" for name in sorted(mutants - listed)]
    return found


def test_plan_is_complete():
    features = read_plan((HERE / "testplan.toml").read_text())
    found = complaints(features, existing_tests(), existing_mutants(), BLOCKS)
    assert not found, "\n".join(found)


def test_checker_sees_every_fault():
    plan = {"block": "a", "rule": "r", "tests": ["t"], "mutants": ["m.n"]}
    assert complaints([plan], {"t"}, {"m.n"}, {"a"}) == []
    assert complaints([plan], set(), {"m.n"}, {"a"}) == ["a, 'r': no test t"]
    assert complaints([plan], {"t"}, set(), {"a"}) == ["a, 'r': no mutant m.n"]
    assert complaints([plan], {"t"}, {"m.n"}, {"a", "b"}) == ["b: no entry"]
    assert complaints([plan], {"t"}, {"m.n", "m.o"}, {"a"}) == ["mutant m.o is in no feature"]
    bare = plan | {"tests": [], "mutants": []}
    assert complaints([bare], {"t"}, set(), {"a"}) == ["a, 'r': no test", "a: no mutant"]
    with pytest.raises(ValueError, match="a feature has block, rule, tests and mutants"):
        read_plan('[[feature]]\nblock = "a"\n')
