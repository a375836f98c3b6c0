"""Sequences from iterators and memory maps, and results as iterators."""

import threading
import time

import arrc
import numpy as np
import pytest

TEXT = """
entry total (s: seq i64) : i64 = seq.reduce (+) 0 s
entry scaled (k: i64) (s: seq i64) : seq i64 = seq.map (* k) s
entry dots (s: seq ([2]f64)) : f64 = seq.reduce (+) 0 (seq.map (\\p -> p[0] * p[1]) s)
entry pairs (s: seq (i64, f64)) : f64 = seq.reduce (+) 0 (seq.map (\\(i, x) -> f64.i64 i * x) s)
entry count (n: i64) : seq i64 = seq.produce n (+ 1)
"""


@pytest.fixture
def lib(compiled):
    return compiled(TEXT)


def numbers(n, sizes=(1, 7, 256, 1000)):
    """The numbers below `n`, in arrays of some sizes."""
    at, turn = 0, 0
    while at < n:
        size = min(sizes[turn % len(sizes)], n - at)
        yield np.arange(at, at + size)
        at, turn = at + size, turn + 1


def test_where_sequences_come_from(lib, tmp_path):
    expected = 1000 * 999 // 2
    file = tmp_path / "numbers.npy"
    np.save(file, np.arange(1000))
    mapped = np.load(file, mmap_mode="r")
    for source in (
        np.arange(1000),
        list(range(1000)),
        range(1000),
        mapped,
        numbers(1000),
        iter(range(1000)),
        (i for i in range(1000)),
        iter([list(range(500)), np.arange(500, 1000)]),
        np.arange(2000)[::2] // 2,
        lib.scaled(1, np.arange(1000)),
        iter([np.arange(0), np.arange(1000), np.arange(0)]),
    ):
        assert lib.total(source) == expected
    for empty in ([], iter([]), np.zeros(0, np.int64), iter([np.zeros(0, np.int64)])):
        assert lib.total(empty) == 0


def test_elements_that_are_no_numbers(lib):
    pairs = np.arange(20.0).reshape(10, 2)
    expected = float((pairs[:, 0] * pairs[:, 1]).sum())
    for source in (pairs, iter(pairs), iter([pairs[:3], pairs[3:]]), iter(list(pairs))):
        assert lib.dots(source) == expected
    columns = (np.arange(10), np.ones(10))
    for source in (columns, iter([columns]), iter([(columns[0][:4], columns[1][:4]), (columns[0][4:], columns[1][4:])])):
        assert lib.pairs(source) == 45


def test_parquet(lib, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"x": np.arange(1000), "y": [None] + [1] * 999}), file)

    def batches(column):
        return (batch[column] for batch in parquet.ParquetFile(file).iter_batches(batch_size=100))

    assert lib.total(batches("x")) == 499_500
    with pytest.raises(ValueError, match="missing"):
        lib.total(batches("y"))


def test_results_are_arrays_or_iterators(lib):
    assert lib.scaled(3, numbers(1000)).tolist() == list(range(0, 3000, 3))
    assert lib.scaled(3, []).shape == (0,)
    pieces = list(lib.scaled.stream(3, numbers(1000)))
    assert all(isinstance(piece, arrc.Array) for piece in pieces)
    assert np.concatenate(pieces).tolist() == list(range(0, 3000, 3))
    # One entry point's results go through another.
    assert lib.total(lib.scaled.stream(2, numbers(1000))) == 999_000
    with pytest.raises(arrc.ArgumentError, match="no sequence"):
        lib.total.stream([1])


def test_more_than_memory_holds():
    lib = arrc.compile(TEXT, target="cpu", mem_limit=16 << 20)
    n = 10_000_000
    assert lib.total(numbers(n, (100_000,))) == n * (n - 1) // 2
    assert sum(int(piece.numpy().sum()) for piece in lib.count.stream(n)) == n * (n + 1) // 2


def test_what_is_not_wanted_is_not_computed():
    lib = arrc.compile(TEXT, target="cpu")
    read = []

    def source():
        for i in range(10**9):
            read.append(i)
            yield np.arange(1000)

    pieces = lib.scaled.stream(1, source())
    assert next(pieces)[0] == 0
    pieces.close()
    count = len(read)
    time.sleep(0.05)
    assert len(read) == count < 10**6
    assert not [thread for thread in threading.enumerate() if thread.name == "arrc"]


def test_iterators_that_fail(lib):
    def source():
        yield np.arange(10)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        lib.total(source())
    with pytest.raises(OSError, match="the disk is gone"):
        list(lib.scaled.stream(1, source()))
    for wrong in (iter(["a"]), iter([np.zeros(3)]), iter([np.zeros((2, 2), np.int64)]), iter([None]), 5, "abc", None):
        with pytest.raises(arrc.ArgumentError, match="`s` of `total`"):
            lib.total(wrong)
    assert lib.total([1, 2]) == 3


def test_programs_that_fail(compiled):
    lib = compiled("entry f (s: seq i64) : seq i64 = seq.map (\\x -> 10 / x) s")
    with pytest.raises(arrc.RunError, match="ivision by zero"):
        list(lib.f.stream(iter([1, 2, 0])))
