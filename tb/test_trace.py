import contextlib
import io
import zipfile

import numpy as np
import pytest

from minmip.sim.trace import PATTERN_DTYPE, Result, Trace, TraceError


def arrays(quads=3, **changes):
    rng = np.random.default_rng(quads)
    base = {
        "t_sharp": rng.integers(0, 1 << 32, (2, 8), dtype=np.uint32),
        "s_sharp": rng.integers(0, 1 << 32, (1, 4), dtype=np.uint32),
        "opcode": np.zeros(quads, np.uint8),
        "uvw": rng.random((quads, 4, 3), np.float32),
        "memory_base": 4096,
        "memory": rng.integers(0, 256, 512, dtype=np.uint8),
    }
    return base | changes


def file_arrays(**changes):
    inputs = arrays()
    inputs["memory_base"] = np.uint64(inputs["memory_base"])
    inputs["version"] = np.uint16(1)
    return inputs | changes


def test_round_trip_keeps_every_array_and_meta(tmp_path):
    optional = {
        "flags": np.array([0, 1, 7], np.uint8),
        "t_index": np.array([1, 0, 1], np.uint32),
        "exec_mask": np.array([15, 1, 0], np.uint8),
        "clamp": np.full((3, 4), np.nan, np.float32),
        "meta": {"frame": np.array(7), "mesh": np.array("duck")},
    }
    trace = Trace(**arrays(), **optional)
    path = tmp_path / "t.npz"
    trace.save(path)
    again = Trace.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["t.npz"]
    for name in vars(trace):
        wanted, got = getattr(trace, name), getattr(again, name)
        if name == "meta":
            assert got["frame"] == 7
            assert str(got["mesh"]) == "duck"
        elif wanted is None:
            assert got is None
        elif name == "memory_base":
            assert got == wanted
        else:
            assert got.dtype == wanted.dtype
            assert got.tobytes() == wanted.tobytes()


def test_defaults():
    trace = Trace(**arrays())
    assert (trace.exec_mask == 15).all()
    for name in ("flags", "t_index", "s_index", "helper_mask", "slice"):
        assert not getattr(trace, name).any()
    assert trace.ddx is None
    assert len(trace) == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"opcode": np.array([0, 5, 0], np.uint8)}, "opcode: wanted an opcode .*quad 1 has 5"),
        ({"opcode": np.full(3, 2, np.uint8)}, "ddx: wanted because quad 0 has opcode 2"),
        ({"opcode": np.array([0, 0, 3], np.uint8)}, "lod: wanted because quad 2"),
        ({"opcode": np.array([0, 1, 0], np.uint8)}, "lod: wanted because quad 1"),
        ({"flags": np.array([0, 0, 1], np.uint8)}, "clamp: wanted because quad 2"),
        ({"flags": np.array([0, 0, 8], np.uint8)}, "flags: wanted a set of the flag bits"),
        ({"t_index": np.array([0, 2, 0], np.uint32)}, "t_index: .*quad 1 has 2"),
        ({"s_index": np.array([1, 0, 0], np.uint32)}, "s_index: .*quad 0 has 1"),
        ({"exec_mask": np.array([0, 0, 16], np.uint8)}, "exec_mask: .*quad 2 has 16"),
        (
            {"uvw": np.zeros((3, 4, 2), np.float32)},
            r"uvw: wanted shape \[3, 4, 3\], not \[3, 4, 2\]",
        ),
        ({"uvw": np.zeros((3, 4, 3))}, "uvw: wanted dtype float32, not float64"),
        ({"slice": np.zeros((2, 4), np.float32)}, r"slice: wanted shape \[3, 4\]"),
        ({"t_sharp": np.zeros((1, 4), np.uint32)}, r"t_sharp: wanted shape \[T, 8\]"),
        ({"memory": np.zeros((2, 2), np.uint8)}, r"memory: wanted shape \[B\]"),
        ({"memory_base": 100}, "memory_base: wanted a multiple of 256, not 100"),
        ({"opcode": [0, 0, 0]}, "opcode: wanted a uint8 array, not list"),
    ],
)
def test_wrong_arrays_are_named(change, sentence):
    with pytest.raises(TraceError, match=sentence):
        Trace(**arrays(**change))


@pytest.mark.parametrize("name", ["version", "t_sharp", "s_sharp", "opcode", "uvw", "memory"])
def test_missing_array(tmp_path, name):
    path = tmp_path / "t.npz"
    inputs = file_arrays()
    del inputs[name]
    np.savez(path, **inputs)
    with pytest.raises(TraceError, match=f"array '{name}' is missing"):
        Trace.load(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": np.uint16(2)}, "version: wanted 1, not 2"),
        ({"version": np.array([1], np.uint16)}, r"version: wanted shape \[\], not \[1\]"),
        ({"memory_base": np.int64(0)}, "memory_base: wanted dtype uint64"),
        ({"helper_masks": np.zeros(3, np.uint8)}, "'helper_masks' is not part of a trace"),
        ({"opcode": np.array([None] * 3)}, "array 'opcode' is not readable"),
    ],
)
def test_wrong_files_are_refused(tmp_path, change, sentence):
    path = tmp_path / "t.npz"
    np.savez(path, **file_arrays(**change))
    with pytest.raises(TraceError, match=sentence) as error:
        Trace.load(path)
    assert str(path) in str(error.value)


def test_files_that_are_no_archives(tmp_path):
    path = tmp_path / "t.npz"
    with pytest.raises(TraceError, match="no such file"):
        Trace.load(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(TraceError, match="not a readable"):
        Trace.load(path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(TraceError, match="not a readable"):
        Trace.load(tmp_path / "one.npy")
    with pytest.raises(TraceError, match="archive: Is a directory"):
        Trace.load(tmp_path)


def test_text_is_not_taken_for_a_pickle(tmp_path):
    path = tmp_path / "t.npz"
    path.write_bytes(b"not a zip")
    with pytest.raises(TraceError) as error:
        Trace.load(path)
    assert "pickle" not in str(error.value)


def test_save_names_the_folder_in_its_way(tmp_path):
    with pytest.raises(IsADirectoryError) as error:
        Trace(**arrays()).save(tmp_path)
    assert error.value.filename == str(tmp_path)
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}*.part"))


def test_truncated_and_damaged_files_are_one_sentence(tmp_path):
    whole = io.BytesIO()
    np.savez(whole, **file_arrays())
    data = whole.getvalue()
    rng = np.random.default_rng(5)
    path = tmp_path / "t.npz"
    refused = 0
    for _ in range(200):
        damaged = bytearray(data[: rng.integers(1, len(data))] if rng.random() < 0.5 else data)
        for at in rng.integers(0, len(damaged), 3):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(TraceError):  # nothing else may come out
            Trace.load(path)
            continue
        refused += 1
    assert refused > 100


def test_a_failed_save_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"

    def fail(file, **_):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        Trace(**arrays()).save(path)
    assert not list(tmp_path.iterdir())


def test_result_file_has_what_the_spec_lists(tmp_path):
    result = Result(
        memory=np.zeros(4, np.uint8),
        error=np.zeros(2, np.uint8),
        filtered=np.zeros((2, 4), np.uint16),
        samples=np.zeros(2, np.uint16),
        writes=np.zeros(2, np.uint16),
        pattern_start=np.zeros(3, np.uint64),
        pattern=np.zeros(0, PATTERN_DTYPE),
        meta={"frame": np.array(3)},
    )
    result.save(tmp_path / "o.npz")
    with zipfile.ZipFile(tmp_path / "o.npz") as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
    assert names == {"memory", "error", "filtered", "pattern_start", "pattern", "meta_frame"}
    rows = np.load(tmp_path / "o.npz")["pattern"]
    assert rows.dtype.names == ("lane", "mip", "x", "y", "z", "weight", "lod")
    assert [rows.dtype[i].str[1:] for i in range(7)] == ["u1", "u1", "u4", "u4", "u4", "u4", "i2"]
