"""Irregular arrays of other libraries, and arrays by DLPack."""

import gc
import weakref

import arrc
import numpy as np
import pytest

TEXT = """
entry sums [n] (xss: [n][..]f64) = map f64.sum xss
entry twice [n] (xss: [n][..]f64) : [n][..]f64 = map (map (* 2)) xss
entry deep [n] (xsss: [n][..][..]i32) = map (\\xss -> i32.sum (map i32.sum xss)) xsss
entry rows (n: i64) : [n][..][2]i64 = map (\\i -> map (\\j -> [i, j]) (iota i)) (iota n)
entry product [n] (m: [n][..](i32, f64)) (x: []f64) = map (\\row -> f64.sum (map (\\(i, v) -> v * x[i]) row)) m
entry norm [n] (ps: [n][..]{x: f64, y: f64}) = map (\\row -> f64.sum (map (\\p -> p.x * p.y) row)) ps
entry flags [n] (bss: [n][..]bool) = map (\\bs -> i64.sum (map i64.bool bs)) bss
"""

ROWS = [[1.0, 2.0], [], [3.0]]
DEEP = [[[1, 2], [3]], [], [[]], [[4]]]


@pytest.fixture(scope="module")
def lib():
    return arrc.compile(TEXT, target="cpu", threads=2)


def start(array):
    return array.__array_interface__["data"][0]


class TestAwkward:
    @pytest.fixture(autouse=True)
    def library(self):
        self.ak = pytest.importorskip("awkward")

    def test_in(self, lib):
        ak = self.ak
        assert lib.sums(ak.Array(ROWS)).tolist() == [3, 0, 3]
        assert lib.sums(ak.Array(ROWS)[::-1]).tolist() == [3, 0, 3][::-1]
        assert lib.sums(ak.Array([[9.0]] + ROWS)[1:]).tolist() == [3, 0, 3]
        assert lib.sums(ak.to_regular(ak.Array([[1.0, 2.0], [3.0, 4.0]]))).tolist() == [3, 7]
        assert lib.deep(ak.values_astype(ak.Array(DEEP), "int32")).tolist() == [6, 0, 0, 4]
        points = ak.Array([[{"x": 1.0, "y": 2.0}], [], [{"x": 3.0, "y": 4.0}, {"x": 1.0, "y": 1.0}]])
        assert lib.norm(points).tolist() == [2, 0, 13]
        with pytest.raises(arrc.ArgumentError, match="`xss` of `sums`.*cannot be read"):
            lib.sums(ak.Array([[1.0, None]]))

    def test_out(self, lib):
        assert lib.twice(self.ak.Array(ROWS)).awkward().tolist() == [[2, 4], [], [6]]
        assert lib.rows(3).awkward().tolist() == [[], [[1, 0]], [[2, 0], [2, 1]]]
        points = arrc.Ragged([0, 1, 3], {"x": [1.0, 2, 3], "y": [4.0, 5, 6]}).awkward()
        assert points.tolist() == [[{"x": 1, "y": 4}], [{"x": 2, "y": 5}, {"x": 3, "y": 6}]]

    def test_nothing_is_copied(self):
        data = np.arange(1000.0)
        there = self.ak.Array(self.ak.contents.ListOffsetArray(self.ak.index.Index64(np.array([0, 400, 1000])), self.ak.contents.NumpyArray(data)))
        rows = arrc.Ragged.of(there)
        assert start(rows.data) == start(data)
        assert start(np.asarray(rows.awkward().layout.content.data)) == start(data)


class TestArrow:
    @pytest.fixture(autouse=True)
    def library(self):
        self.pa = pytest.importorskip("pyarrow")

    def test_in(self, lib):
        pa = self.pa
        for kind in (pa.list_(pa.float64()), pa.large_list(pa.float64())):
            rows = pa.array(ROWS, kind)
            assert lib.sums(rows).tolist() == [3, 0, 3]
            assert lib.sums(rows[1:]).tolist() == [0, 3]
            assert lib.sums(rows[:0]).tolist() == []
            assert lib.sums(pa.chunked_array([rows, rows])).tolist() == [3, 0, 3] * 2
        assert lib.sums(pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64(), 2))[1:]).tolist() == [7, 11]
        assert lib.deep(pa.array(DEEP, pa.list_(pa.list_(pa.int32())))).tolist() == [6, 0, 0, 4]
        assert lib.flags(pa.array([[True, False, True], [True]])[0:]).tolist() == [2, 1]
        assert lib.flags(pa.array([[True] * 11, [False, True]])[1:]).tolist() == [1]
        points = pa.array([[{"x": 1.0, "y": 2.0}], [], [{"x": 3.0, "y": 4.0}]])
        assert lib.norm(points).tolist() == [2, 0, 12]

    def test_what_arrc_has_not(self, lib):
        pa = self.pa
        for missing in ([[1.0, None]], [[1.0], None]):
            with pytest.raises(arrc.ArgumentError, match="missing"):
                lib.sums(pa.array(missing))
        with pytest.raises(arrc.ArgumentError, match="missing"):
            arrc.compile("entry f (xs: []f64) = xs").f(pa.array([1.0, None]))
        assert arrc.compile("entry f (xs: []f64) = xs").f(pa.array([1.0, 2.0])).tolist() == [1, 2]
        # What a slice does not show does not matter.
        assert lib.sums(pa.array([None, [1.0]], pa.list_(pa.float64()))[1:]).tolist() == [1]
        with pytest.raises(arrc.ArgumentError, match="cannot be read"):
            lib.sums(pa.array([["a"]]))

    def test_out(self, lib):
        pa = self.pa
        rows = pa.array(lib.twice(ROWS))
        assert rows.type == pa.large_list(pa.float64()) and rows.to_pylist() == [[2, 4], [], [6]]
        rows.validate(full=True)
        deep = pa.array(arrc.Ragged.of(pa.array(DEEP)))
        deep.validate(full=True)
        assert deep.to_pylist() == DEEP
        pairs = pa.array(lib.rows(3))
        pairs.validate(full=True)
        assert pairs.to_pylist() == [[], [[1, 0]], [[2, 0], [2, 1]]]
        flags = pa.array(arrc.Ragged([0, 3, 10], np.arange(10) % 3 == 0))
        assert flags.to_pylist() == [[True, False, False], [True, False, False, True, False, False, True]]

    def test_owners(self, lib):
        class Tracked:
            numbers = np.arange(10.0)
            __array_interface__ = numbers.__array_interface__

        data = Tracked()
        alive = weakref.ref(data)
        rows = self.pa.array(arrc.Ragged([0, 10], np.asarray(data)))
        del data
        gc.collect()
        assert alive() is not None and rows.to_pylist() == [list(range(10))]
        del rows
        # What was released without the interpreter's lock is freed by the next call.
        lib.sums(ROWS)
        gc.collect()
        assert alive() is None
        # Capsules that nobody takes are freed, and what was taken is not freed twice.
        for _ in range(100):
            arrc.Ragged([0, 1], [1.0]).__arrow_c_array__()
            schema, array = arrc.Ragged([0, 1], [1.0]).__arrow_c_array__()
            self.pa.Array._import_from_c_capsule(schema, array)


class TestTorch:
    """PyTorch's package for Linux brings 3 GB of libraries for GPUs, so the tests run where it is installed."""

    @pytest.fixture(autouse=True)
    def library(self):
        self.torch = pytest.importorskip("torch")

    def test_tensors(self, lib):
        torch = self.torch
        mean = arrc.compile("entry f [n] (xs: [n]f32) = map (+ 1) xs", target="cpu").f
        xs = mean(torch.arange(3, dtype=torch.float32))
        assert torch.from_dlpack(xs).tolist() == [1, 2, 3]
        assert torch.from_dlpack(xs).data_ptr() == start(xs)
        for wrong in (torch.zeros(3, dtype=torch.bfloat16), torch.zeros(3, requires_grad=True), torch.zeros(3, dtype=torch.float64)):
            with pytest.raises(arrc.ArgumentError, match="`xs` of `f`"):
                mean(wrong)

    def test_jagged(self, lib):
        torch = self.torch
        rows = torch.nested.nested_tensor([torch.tensor(row, dtype=torch.float64) for row in ROWS], layout=torch.jagged)
        assert lib.sums(rows).tolist() == [3, 0, 3]
        assert [row.tolist() for row in lib.twice(rows).torch().unbind()] == [[2, 4], [], [6]]


class TestScipy:
    @pytest.fixture(autouse=True)
    def library(self):
        self.sparse = pytest.importorskip("scipy.sparse")

    def test_rows(self, lib):
        dense = np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]])
        x = np.array([1.0, 10, 100])
        for kind in (self.sparse.csr_array, self.sparse.csr_matrix, self.sparse.csc_array):
            assert lib.product(kind(dense), x).tolist() == [201, 0, 30]
        rows = arrc.Ragged.of(self.sparse.csr_array(dense))
        assert (rows.scipy(3).toarray() == dense).all()


class TestJax:
    @pytest.fixture(autouse=True)
    def library(self):
        self.jax = pytest.importorskip("jax")

    def test_arrays(self):
        f = arrc.compile("entry f [n] (xs: [n]f32) = map (+ 1) xs", target="cpu").f
        xs = self.jax.numpy.arange(3, dtype="float32")
        assert f(xs).tolist() == [1, 2, 3]
        assert self.jax.numpy.from_dlpack(f(xs)).tolist() == [1, 2, 3]
        assert self.jax.numpy.asarray(f(xs)).tolist() == [1, 2, 3]


def test_dlpack():
    f = arrc.compile("entry f [n][m] (xs: [n][m]f32) = map (map (+ 1)) xs", target="cpu").f
    result = f(np.zeros((2, 3), np.float32))
    shared = np.from_dlpack(result)
    assert start(shared) == start(result.numpy()) and not shared.flags.writeable
    assert result.__dlpack_device__() == (1, 0)
    del result
    gc.collect()
    assert (shared == 1).all()

    class Only:
        """Something that speaks nothing but DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    assert f(Only(np.zeros((2, 3), np.float32))).tolist() == [[1] * 3] * 2
    # Whoever knows only the first version of DLPack may write.
    old = np.from_dlpack(Only(np.zeros(3, np.float32)))
    assert old.shape == (3,)
    assert f(np.zeros((2, 3), np.float32)).__dlpack__() is not None


def test_results_are_rows_for_the_next_call(lib):
    rows = lib.twice(ROWS)
    assert lib.sums(rows).tolist() == [6, 0, 6]
    assert lib.sums(lib.twice(rows)[1:]).tolist() == [0, 12]
    assert arrc.Ragged.of(rows) is rows
    for wrong in (5, [1], np.zeros(3)):
        with pytest.raises(ValueError, match="wanted"):
            arrc.Ragged.of(wrong)
