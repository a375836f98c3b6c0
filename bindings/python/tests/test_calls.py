"""Calls of entry points: numbers, arrays, names of parameters."""

import inspect

import arrc
import numpy as np
import pytest
from arrc._arrays import DTYPES

INTEGERS = {name: np.iinfo(dtype) for name, dtype in DTYPES.items() if name[0] in "iu"}


@pytest.mark.parametrize("elem", DTYPES)
def test_numbers_of_every_type(compiled, elem):
    lib = compiled(f"entry same (x: {elem}) = x  entry both (x: {elem}) (xs: []{elem}) = (xs, x)")
    one = True if elem == "bool" else 1
    assert lib.same(one) == one
    assert type(lib.same(one)) is (bool if elem == "bool" else float if elem[0] == "f" else int)
    assert lib.same(np.dtype(DTYPES[elem]).type(one)) == one
    array = np.array([0, 1, 1], DTYPES[elem])
    xs, x = lib.both(one, array)
    assert (xs.dtype, xs.shape, x) == (array.dtype, (3,), one)
    assert (xs.numpy() == array).all()
    if elem in INTEGERS:
        limits = INTEGERS[elem]
        for extreme in (int(limits.min), int(limits.max)):
            assert lib.same(extreme) == extreme
            assert lib.both(0, [extreme])[0].tolist() == [extreme]
        for beyond in (int(limits.min) - 1, int(limits.max) + 1):
            with pytest.raises(arrc.ArgumentError, match=rf"`x` of `same` must have type {elem}, which cannot hold"):
                lib.same(beyond)
            with pytest.raises(arrc.ArgumentError, match="`xs` of `both`"):
                lib.both(0, [beyond])


def test_floats_keep_their_bits(compiled):
    lib = compiled("entry f (x: f32) = x  entry d (x: f64) = x  entry h (x: f16) = x")
    assert lib.f(0.1) == float(np.float32(0.1))
    assert lib.d(0.1) == 0.1
    assert lib.h(0.1) == float(np.float16(0.1))
    assert lib.d(float("inf")) == float("inf") and np.isnan(lib.d(float("nan")))
    assert str(lib.d(-0.0)) == "-0.0"
    assert lib.d(3) == 3.0


@pytest.mark.parametrize("value", [1.5, "1", None, [1], 1j, np.float32(1)])
def test_what_is_no_integer(value):
    lib = arrc.compile("entry f (x: i32) = x", target="cpu")
    with pytest.raises(arrc.ArgumentError, match="`x` of `f` must have type i32, got"):
        lib.f(value)


@pytest.mark.parametrize("value", [1, 0, "x", None, 1.0])
def test_what_is_no_truth_value(value):
    lib = arrc.compile("entry f (x: bool) = x", target="cpu")
    with pytest.raises(arrc.ArgumentError):
        lib.f(value)


def test_nested_lists(compiled):
    lib = compiled("entry f [n][m] (xss: [n][m]f32) = map f32.sum xss  entry c [n] (xs: [n]i64) = n")
    assert lib.f([[1, 2.5], [3, 4]]).tolist() == [3.5, 7]
    assert lib.f(((1, 2), (3, 4))).tolist() == [3, 7]
    assert lib.f([np.array([1.0, 2.0]), np.array([3.0, 4.0])]).tolist() == [3, 7]
    assert lib.f([[], []]).tolist() == [0, 0]
    assert lib.f([]).tolist() == []
    assert lib.c([]) == 0
    assert lib.c(range(5)) == 5
    with pytest.raises(arrc.ArgumentError, match="rows of different lengths"):
        lib.f([[1, 2], [3]])
    with pytest.raises(arrc.ArgumentError, match="2 dimensions"):
        lib.f([1, 2])
    with pytest.raises(arrc.ArgumentError):
        lib.f([["a"]])
    with pytest.raises(arrc.ArgumentError):
        lib.c([1.5])


def test_values_that_a_wider_type_holds_are_converted(compiled):
    lib = compiled("entry f (xs: []f64) = f64.sum xs  entry i (xs: []i32) = i32.sum xs")
    for dtype in ("int8", "uint8", "int32", "float16", "float32", "bool"):
        assert lib.f(np.ones(3, dtype)) == 3
    assert lib.f(np.ones(3, ">f8")) == 3
    assert lib.i(np.ones(3, "int16")) == 3
    for dtype in ("int64", "uint32", "float32"):
        with pytest.raises(arrc.ArgumentError, match=r"of \[\]i32|type \[\]i32, got an array .*hint: `.astype\('int32'\)`"):
            lib.i(np.ones(3, dtype))
    for array in (np.array(["a"]), np.array([None]), np.zeros(2, "complex128"), np.zeros(2, "datetime64[s]")):
        with pytest.raises(arrc.ArgumentError, match="`xs` of `f`"):
            lib.f(array)


def test_bytes_that_are_no_truth_values():
    lib = arrc.compile("entry f (xs: []bool) = map (\\x -> !x) xs", target="cpu")
    wrong = np.array([0, 2, 1], np.uint8).view(bool)
    for array in (wrong, wrong[::-1]):
        with pytest.raises(arrc.ArgumentError, match="0 or 1"):
            lib.f(array)
    assert lib.f(np.array([True, False, True])[::2]).tolist() == [False, False]


def test_names_of_parameters():
    lib = arrc.compile(
        "-- | Halves.\n-- Both of them.\nentry f (x': i64) (lambda: i64) (_: i64) ((a, b): (i64, i64)) = x' - lambda + a + b\n"
        "entry class (x: i64) = x",
        target="cpu",
    )
    assert str(lib.f.__signature__) == "(x_: i64, lambda_: i64, arg2: i64, arg3: (i64, i64)) -> i64"
    assert lib.f(lambda_=1, x_=5, arg3=(1, 2), arg2=0) == 7
    assert lib.f(5, 1, arg3=(1, 2), arg2=0) == 7
    assert lib.f.__doc__.startswith("Halves.\nBoth of them.\n\nParameters:\n    x_: i64")
    assert lib.class_(3) == lib["class"](3) == 3
    assert list(lib) == ["f", "class"] and "class_" in dir(lib) and len(lib) == 2
    for wrong in ({}, {"x_": 1}, {"nothing": 1}):
        with pytest.raises(arrc.ArgumentError, match="`class`|`f`"):
            lib.f(**wrong)
    with pytest.raises(arrc.ArgumentError, match="too many"):
        lib.class_(1, 2)
    with pytest.raises(AttributeError, match="there is no entry point `g`; there are f, class"):
        lib.g
    with pytest.raises(KeyError, match="there is no entry point"):
        lib["class_"]


def test_signatures_have_the_types_of_the_source():
    lib = arrc.compile(
        "entry step [n][d] (xs: *[n][d]f64) (k: i64) : [n][d]f64 = map (map (* f64.i64 k)) xs\nentry guess x = x + 1i32",
        target="cpu",
    )
    assert str(inspect.signature(lib.step)) == "(xs: *[n][d]f64, k: i64) -> [n][d]f64"
    assert str(inspect.signature(lib.guess)) == "(x: i32) -> i32"
    assert inspect.signature(lib.guess).parameters["x"].annotation == "i32"


def test_files_and_texts(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "two.fut").write_text("def two = 2i64")
    file = tmp_path / "prog.fut"
    file.write_text('import "lib/two"\nentry f (x: i64) = x * two')
    for source in (file, str(file)):
        assert arrc.compile(source, target="cpu").f(4) == 8
    assert arrc.compile(file.read_text(), name=str(file), target="cpu").f(4) == 8
    for missing in (tmp_path / "none.fut", "none.fut"):
        with pytest.raises(FileNotFoundError):
            arrc.compile(missing)


def test_results_without_values(compiled):
    lib = compiled("entry nothing (x: i32) : () = ()  entry units [n] (xs: [n]()) = n  entry none [n] (xs: [n]i32) = map (\\_ -> ()) xs")
    assert lib.nothing(1) == ()
    assert lib.none([1, 2]).shape == (2,)
    assert lib.units(lib.none([1, 2])) == 2


def test_constants_are_functions_without_parameters(compiled):
    lib = compiled("entry answer : i64 = 42  entry numbers = iota 3")
    assert lib.answer() == 42
    assert lib.numbers().tolist() == [0, 1, 2]


def test_sequences_are_arrays(compiled):
    lib = compiled("entry total (s: seq i64) : i64 = seq.reduce (+) 0 s  entry twice (s: seq i64) : seq i64 = seq.map (* 2) s")
    assert lib.total(np.arange(1000)) == 499500
    assert lib.twice([1, 2, 3]).tolist() == [2, 4, 6]
