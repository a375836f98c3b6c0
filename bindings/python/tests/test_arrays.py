"""Arrays: what is copied and what is not, who may change what, and who owns it."""

import gc
import weakref

import arrc
import numpy as np
import pytest

TEXT = """
entry same (xs: []i32) = xs
entry both (xs: []i32) = (xs, xs)
entry sum (xs: []i32) = i32.sum xs
entry twice [n] (xs: [n]i32) = map (* 2) xs
entry put [n] (xs: *[n]i32) (i: i64) : *[n]i32 = xs with [i] = 7
entry add [n] (xs: *[n]i32) (ys: [n]i32) : *[n]i32 = xs with [0] = ys[n - 1]
entry transposed [n][m] (xss: [n][m]i32) = transpose xss
entry cube [n][m][k] (xsss: [n][m][k]i32) = map (map i32.sum) xsss
"""


@pytest.fixture
def lib(compiled):
    return compiled(TEXT)


def address(array):
    return array.__array_interface__["data"][0]


class Tracked(np.ndarray):
    """An array that can be watched."""


def tracked(count):
    array = np.arange(count, dtype=np.int32).view(Tracked)
    return array, weakref.ref(array)


def test_layouts(lib):
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    for array in (base, base.T, base[::2], base[:, ::-1], base[::-2, 1::3], np.asfortranarray(base), base[1:1], base[:, 1:2]):
        assert (lib.transposed(array).numpy() == array.T).all()
        assert (lib.transposed(array).numpy().shape) == array.T.shape
    spread = np.broadcast_to(np.int32(3), (2, 5))
    assert (lib.transposed(spread).numpy() == 3).all()
    raw = np.zeros(4 * 6 + 1, np.uint8)[1:].view(np.int32)
    raw[:] = 5
    assert lib.sum(raw) == 30
    deep = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for axes in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        assert (lib.cube(deep.transpose(axes)).numpy() == deep.transpose(axes).sum(2)).all()


def test_arguments_never_change(lib):
    array = np.arange(100, dtype=np.int32)
    array.flags.writeable = False
    for entry in ("same", "twice"):
        lib[entry](array)
    assert lib.put(array, 3).numpy()[3] == 7
    assert (array == np.arange(100)).all()
    # A result that is an argument has memory of its own: its owner may change the argument.
    array = np.arange(100, dtype=np.int32)
    first, second = lib.both(array)
    array[:] = 0
    assert first.numpy()[99] == second.numpy()[99] == 99


def test_results_are_not_copied(lib):
    result = lib.twice(np.arange(100, dtype=np.int32))
    array = result.numpy()
    assert address(array) == address(result.numpy()) == address(np.asarray(result)) == address(result)
    assert not array.flags.writeable and array.flags.c_contiguous
    with pytest.raises(ValueError):
        array[0] = 1
    copy = result.numpy(copy=True)
    copy[0] = 5
    assert result.numpy()[0] == 0
    # The elements stay as long as an array of NumPy needs them.
    del result
    gc.collect()
    assert (array == 2 * np.arange(100)).all()


def test_what_is_seen_does_not_change_when_it_is_given_away(lib):
    result = lib.twice(np.arange(100, dtype=np.int32))
    seen, before = result.numpy(), result.numpy(copy=True)
    updated = lib.put(arrc.give(result), 5)
    assert (seen == before).all() and updated.numpy()[5] == 7
    pinned = lib.twice(np.arange(100, dtype=np.int32))
    where = pinned.__array_interface__["data"][0]
    updated = lib.put(arrc.give(pinned), 5)
    assert address(updated) != where


def test_giving_on_the_cpu_updates_in_place():
    lib = arrc.compile(TEXT, target="cpu")
    array = np.arange(10_000, dtype=np.int32)
    result = lib.put(arrc.give(array), 9)
    assert address(result) == address(array) and array[9] == 7
    result = lib.put(arrc.give(lib.twice(array)), 9)
    where = address(result.numpy())
    again = lib.put(arrc.give(result), 10)
    assert address(again.numpy()) == where
    # Not memory that must not be written to, and not what has to be converted.
    array = np.arange(10_000, dtype=np.int32)
    array.flags.writeable = False
    assert address(lib.put(arrc.give(array), 9)) != address(array) and array[9] == 9
    small = np.arange(100, dtype=np.int16)
    assert lib.put(arrc.give(small), 9).numpy()[9] == 7 and small[9] == 9


def test_what_was_given_away_is_gone(lib):
    result = lib.twice([1, 2, 3])
    lib.put(arrc.give(result), 0)
    assert result.is_consumed and "given away" in repr(result)
    for use in (lambda: lib.sum(result), lambda: result.numpy(), lambda: lib.put(arrc.give(result), 0), lambda: result[0]):
        with pytest.raises(arrc.ConsumedError):
            use()
    assert result.shape == (3,)


def test_a_call_that_is_refused_gives_nothing_away(lib):
    result = lib.twice([1, 2, 3])
    with pytest.raises(arrc.ArgumentError):
        lib.put(arrc.give(result), "x")
    assert not result.is_consumed and result.tolist() == [2, 4, 6]


def test_empty_arrays_of_large_extents():
    lib = arrc.compile(TEXT, target="cpu", threads=2)
    assert lib.transposed(np.zeros((0, 1 << 30), np.int32)).shape == (1 << 30, 0)
    assert lib.transposed(arrc.give(np.zeros((0, 1 << 30), np.int32))).shape == (1 << 30, 0)


def test_memory_of_two_arguments_is_not_given_away():
    lib = arrc.compile(TEXT, target="cpu")
    array = np.arange(100, dtype=np.int32)
    for other in (array, array[50:]):
        with pytest.raises(arrc.ArgumentError, match="belongs to another argument"):
            lib.add(arrc.give(array[: len(other)]), array[:1] if len(other) == 100 else array[: len(other)])
    result = lib.twice(array)
    assert lib.add(arrc.give(result), result).numpy()[0] == 198


def test_owners_are_released(lib):
    array, alive = tracked(1000)
    assert lib.sum(array) == 499500
    result = lib.twice(array)
    del array
    gc.collect()
    assert alive() is None
    assert result.numpy()[999] == 1998
    array, alive = tracked(1000)
    with pytest.raises(arrc.RunError):
        lib.put(arrc.give(array), 1000)
    del array
    gc.collect()
    assert alive() is None


def test_results_that_are_given_arguments_keep_their_owner():
    lib = arrc.compile(TEXT, target="cpu")
    array, alive = tracked(1000)
    result = lib.put(arrc.give(array), 1)
    del array
    gc.collect()
    assert alive() is not None and result.numpy()[1] == 7
    seen = result.numpy()
    del result
    gc.collect()
    assert alive() is not None and seen[999] == 999
    del seen
    gc.collect()
    assert alive() is None


def test_results_are_arguments_of_other_programs_and_targets(lib):
    xs = lib.twice([1, 2, 3])
    same = arrc.compile("entry f (xs: []i32) = i32.sum xs", target="cpu")
    other = arrc.compile("entry f (xs: []i32) = i32.sum xs", target="cpu", threads=1)
    reference = arrc.compile("entry f (xs: []i32) = i32.sum xs", target="interp")
    assert same.f(xs) == other.f(xs) == reference.f(xs) == 12
    with pytest.raises(arrc.ArgumentError, match="an arrc.Array of int32"):
        arrc.compile("entry f (xs: []i64) = xs", target="cpu").f(xs)
    with pytest.raises(arrc.ArgumentError, match="2 dimensions"):
        lib.transposed(xs)


def test_arrays_are_like_those_of_numpy(lib):
    xs = lib.twice([1, 2, 3])
    assert (len(xs), xs.ndim, xs.size, xs.nbytes, xs[1], list(xs)) == (3, 1, 3, 12, 4, [2, 4, 6])
    assert repr(xs) == "arrc.Array([2, 4, 6], dtype=int32)"
    assert np.add(xs, 1).tolist() == [3, 5, 7]
    assert np.asarray(xs, dtype=float).tolist() == [2.0, 4.0, 6.0]
    assert (xs == [2, 4, 7]).tolist() == [True, True, False]
    with pytest.raises(TypeError):
        hash(xs)
    empty = lib.transposed(np.zeros((0, 3), np.int32))
    assert (empty.shape, empty.numpy().shape) == ((3, 0), (3, 0))


def test_other_objects_with_the_interface(lib):
    class Holder:
        def __init__(self, array):
            self.array = array

        @property
        def __array_interface__(self):
            return self.array.__array_interface__

    assert lib.sum(Holder(np.arange(5, dtype=np.int32))) == 10
    assert lib.sum(memoryview(np.arange(5, dtype=np.int32))) == 10
    import array

    assert lib.sum(array.array("i", [1, 2, 3])) == 6


def test_shapes_have_to_agree():
    lib = arrc.compile("entry dot [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)  entry three (xs: [3]i32) = xs", target="cpu")
    with pytest.raises(arrc.ArgumentError, match="parameter `ys` has shape .4., expected .3."):
        lib.dot(np.zeros(3), np.zeros(4))
    with pytest.raises(arrc.ArgumentError, match=r"`xs`.*\[3\]"):
        lib.three([1, 2])
