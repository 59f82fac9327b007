"""The golden model's sample pattern and LOD against measured GPUs (docs/oracle.md)."""

import numpy as np
import pytest
from oracle import anisotropy, data, h200, lod, report
from oracle.answers import our_fixed_coordinate
from oracle.build import Ops
from oracle.data import U, V
from oracle.judge import judge, rounds_to_nearest

WANTED = {
    "level": {"B13", "B16", "G1", "C1", "C2", "C4", "C5", "E64", "X"},
    "gradient": {"A2", "A3np", "A3rect", "A7", "C2", "C3", "C4", "C5", "E64", "X"},
}


@pytest.fixture(scope="module", params=["excerpt", "full"])
def oracle(request):
    found = data.folders()
    if request.param not in found:
        pytest.skip(f"the full GPU set is not at {data.FULL}")
    return data.Oracle(found[request.param])


@pytest.mark.parametrize("kind", ["level", "gradient"])
def test_every_op_is_equal_or_explained(oracle, kind):
    verdict = judge(oracle, report.jobs_of(oracle, kind))
    groups = verdict.groups()
    print("\n" + report.judge_table(groups))
    assert set(groups) == WANTED[kind]
    assert {name: row["unexplained"] for name, row in groups.items()} == dict.fromkeys(groups, 0)
    assert all(row["equal"] > row["ops"] / 3 for row in groups.values())


def test_coordinate_rules_part_only_at_borders_and_ties(oracle):
    """The H200's coordinates and ours never differ by more than the step that explains them."""
    compared = parted = 0
    for job in oracle.jobs:
        if job.fill in ("mipconst", "layer"):
            continue  # these show no coordinates
        rows = oracle.rows(job)
        for column, size in ((U, job.width), (V, job.height)):
            u = rows[:, column].astype(np.float64)
            cut = size * 2.0**-21  # what cutting the coordinate to 21 bits may move
            linear = [rule(u, size, True) for rule in (h200.fixed_coordinate, our_fixed_coordinate)]
            point = [rule(u, size, False) for rule in (h200.fixed_coordinate, our_fixed_coordinate)]
            exact = (u * size - 0.5) * 256
            assert np.all(np.abs(linear[0] - exact) <= 0.5 + 256 * cut)
            assert np.all(np.abs(linear[1] - exact) <= 0.5 + 256 * size * 2.0**-33)
            other = point[0] >> 8 != point[1] >> 8
            border = np.abs(u * size - np.rint(u * size))
            assert np.all(border[other] <= 1 / 512 + cut)
            compared += 2 * len(u)
            parted += int(other.sum() + (linear[0] != linear[1]).sum())
    print(f"\n{parted} of {compared} coordinates part")
    assert 0 < parted < compared / 10


@pytest.mark.parametrize("kind", ["level", "gradient"])
def test_our_level_and_clamp_operands_round_to_nearest(oracle, kind):
    assert rounds_to_nearest(oracle, report.jobs_of(oracle, kind)).all()


def test_our_lod_against_exact_log2(oracle):
    for job in lod.jobs(oracle):
        inside, cut = lod.our_accuracy(oracle, job)
        print(f"\n{job.name}: {inside}; {cut.ops} cut")
        assert inside.ops > 100
        assert inside.worst <= 1 / 256
        assert cut.worst == 0


def test_our_lod_is_exact_at_powers_of_two_and_monotonic(oracle):
    """A2 is a dense sweep of axis-aligned gradients, A7 has powers of two."""
    for job in lod.jobs(oracle):
        if job.max_aniso > 1 or job.name not in ("A2_an0", "A7_an0"):
            continue
        ops = Ops.of(oracle, [job])
        dx, dy = lod.texel_gradients(ops)
        found, bias = lod.our_lod(ops)
        exact = lod.exact_lod(ops)
        aligned = (dx[:, 1] == 0) & (dy[:, 0] == 0)
        with np.errstate(invalid="ignore"):
            power = aligned & (exact == np.rint(exact)) & (np.abs(exact - 8) < 39)
        assert np.array_equal((found - bias)[power], exact[power] * 256)
        if job.name == "A2_an0":
            order = np.argsort(exact, kind="stable")
            assert aligned.all()
            assert np.all(np.diff((found - bias)[order]) >= 0)
        else:
            assert power.sum() > 10


def test_h200_lod_against_its_own_rule(oracle):
    for job in lod.jobs(oracle):
        if job.max_aniso <= 1:
            error = lod.h200_rule_error(oracle, job)
            print(f"\n{job.name}: {len(error)} ops, {np.unique(error)} / 256")
            assert np.abs(error).max() <= h200.FIT_ERROR


def test_anisotropic_footprints_are_reported(oracle):
    """No gate by texel: the probes lie elsewhere. The table must have ops to speak of."""
    print("\n" + report.anisotropy_table(oracle))
    compared = anisotropy.compare(oracle, anisotropy.jobs(oracle))
    assert compared.ops > 100
    assert np.isfinite([*compared.centre, *compared.spread]).all()


def test_documented_tables_are_those_of_the_full_set():
    if "full" not in data.folders():
        pytest.skip(f"the full GPU set is not at {data.FULL}")
    text = (data.REPOSITORY / "docs" / "oracle.md").read_text()
    for table in report.tables(data.Oracle(data.FULL)):
        assert table in text, "run tb/oracle/report.py and put its tables into docs/oracle.md"
