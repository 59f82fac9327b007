# amaranth: UnusedElaboratable=no
"""Slab split against its rule in numpy, and the texels that leave against those that came.

MINMIP_LONG=1 sends 10^6 beats; MINMIP_FIRST_SEED (default 1) is printed on a failure.
"""

import numpy as np
import pytest
from kit.cocotb_bench import run_cocotb
from kit.mutants import planted
from kit.stream import check_simulated
from kit.vlib import LONG, SEED, TRAFFIC, VerilatedBlock, assert_columns_equal
from mutants.slab_split import MUTANTS
from slab_vectors import golden_slabs, random_footprints

from minmip.hw.config import PRESETS
from minmip.hw.slab_split import SlabSplit
from minmip.sim.golden.descriptor import LINKED_FILTER


@pytest.fixture(scope="module", params=PRESETS)
def block(request):
    return VerilatedBlock(SlabSplit(PRESETS[request.param]), "slab_split")


def check(block, seed, count, traffic="full", **options):
    beats = random_footprints(np.random.default_rng(seed), count, block.block.cfg, **options)
    wanted = golden_slabs(beats, block.block.cfg)
    return block.check({"i": beats}, {"o": wanted}, traffic=traffic, seed=3)


def test_random(block):
    """Also one beat per clock at the output, without a gap."""
    for seed in range(SEED, SEED + (20 if LONG else 1)):
        print("seed", seed)
        run = check(block, seed, 50_000)
        stamps = run.output_stamps["o"]
        assert stamps[-1] - stamps[0] == len(stamps) - 1
        latency = stamps[0] - run.input_stamps["i"][0]
        assert latency == block.block.latency == 2 * block.block.cfg.volumes


def test_flat_rate(block):
    """Beats without depths: one per clock in and out."""
    run = check(block, 5, 3000, volumes=0)
    for stamps in (run.input_stamps["i"], run.output_stamps["o"]):
        assert len(stamps) == 3000
        np.testing.assert_array_equal(np.diff(stamps), 1)


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic(block, traffic):
    check(block, 2, 300 if traffic == "long stalls" else 5000, traffic)


def texels(axis, lanes):
    """Rows of beat, lane, x, y, z of what lanes [n, lanes] touch; `axis` x, y, z are pairs
    of texels and of "is touched"."""
    rows = []
    for corner in range(8):
        side = [corner >> n & 1 for n in range(3)]
        touched = np.all([touch[..., s] for (_, touch), s in zip(axis, side, strict=True)], axis=0)
        beat, lane = np.nonzero(touched & lanes)
        places = [texel[beat, lane, s] for (texel, _), s in zip(axis, side, strict=True)]
        rows.append(np.stack([beat, lane, *places], axis=1))
    return np.concatenate(rows)


def bits(column, width):
    return column[..., None] >> np.arange(width) & 1 == 1


@pytest.mark.parametrize("filters", [False, True])
def test_no_texel_lost(block, filters):
    """Each texel of an active lane leaves once."""
    cfg = block.block.cfg
    beats = random_footprints(np.random.default_rng(6), 20_000, cfg)
    texel = beats["lane"]["axis"]["texel"]
    texel[:, :, :2, 1] = texel[:, :, :2, 0] ^ 1  # so that no two are the same
    chosen = (beats["linked"] == LINKED_FILTER) == filters
    beats["active"] = np.where(chosen, beats["active"], 0)
    result, _ = block.run({"i": beats}, len(golden_slabs(beats, cfg)["tag"]))
    out, into = result["o"], beats["lane"]
    depth = np.zeros((*into["slice"].shape, 2), np.int64), np.array([True, False])
    if cfg.volumes:
        depth = tuple(into["axis"][name][:, :, 2] for name in ("texel", "touched"))
    z = depth[0] + into["slice"][..., None], np.broadcast_to(depth[1], depth[0].shape) == 1
    sides = [
        (into["axis"]["texel"][:, :, n], into["axis"]["touched"][:, :, n] == 1) for n in range(2)
    ]
    wanted = np.unique(texels([*sides, z], bits(beats["active"], cfg.lanes)), axis=0)

    # The beat that each came from: a new one after each that is done.
    source = np.cumsum(np.append(0, out["done"][:-1]))
    lane = out["lane"]
    sides = [(lane[n], bits(lane[f"{n}_touched"], 2)) for n in "xy"]
    one = np.stack([lane["slice"], lane["slice"]], axis=-1)
    z = one, np.broadcast_to([True, False], one.shape)
    found = texels([*sides, z], bits(out["active"], cfg.lanes))
    found[:, 0] = source[found[:, 0]]
    assert_columns_equal({"texels": found[np.lexsort(found.T[::-1])]}, {"texels": wanted})
    assert len(wanted) > 2000


def simulated(preset="default", traffic="full"):
    """Some beats in Amaranth's simulator."""
    cfg = PRESETS[preset]
    beats = random_footprints(np.random.default_rng(4), 300, cfg)
    wanted = golden_slabs(beats, cfg)
    check_simulated(SlabSplit(cfg), {"i": beats}, {"o": wanted}, traffic=traffic)


@pytest.mark.parametrize("preset", PRESETS)
def test_pysim(preset):
    simulated(preset, "both")


def test_cocotb():
    cfg = PRESETS["default"]
    beats = random_footprints(np.random.default_rng(5), 150, cfg)
    run_cocotb(SlabSplit(cfg), "slab_split", {"i": beats}, {"o": golden_slabs(beats, cfg)})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(mutant):
    with planted(mutant), pytest.raises(AssertionError):
        simulated(traffic="both")
