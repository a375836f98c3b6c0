"""What goes wrong, and what the exceptions know of it."""

import pickle

import arrc
import numpy as np
import pytest


def test_programs_that_are_wrong(tmp_path):
    with pytest.raises(arrc.CompileError) as caught:
        arrc.compile("def f = 1i32\nentry main = f + nothing", target="cpu")
    error = caught.value
    assert (error.file, error.line, error.column) == ("<string>", 2, 18)
    assert error.diagnostics[0].code == "E0201" and "nothing" in error.diagnostics[0].message
    assert "entry main = f + nothing" in str(error)
    file = tmp_path / "wrong.fut"
    file.write_text("entry main = lenght [1]")
    with pytest.raises(arrc.CompileError) as caught:
        arrc.compile(file)
    assert caught.value.file.endswith("wrong.fut") and "length" in caught.value.hint
    with pytest.raises(arrc.CompileError):
        arrc.compile("entry main = (")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.line, copy.diagnostics) == (str(error), 2, error.diagnostics)


def test_warnings_are_there_to_ask_for():
    program = arrc.compile("entry main (x: i32) = let y = 2 in x", target="cpu")
    warning = arrc.warnings(program)[0]
    assert (warning.severity, warning.code, warning.line) == ("warning", "W0201", 1)
    assert str(warning).startswith("<string>:1:27: warning[W0201]")


def test_programs_that_fail(compiled):
    lib = compiled("def at (xs: []i32) (i: i64) = xs[i]\nentry f xs i = at xs i\nentry g (x: i32) =\n  assert (x > 0) (10 / x)")
    with pytest.raises(arrc.RunError, match="out of bounds") as caught:
        lib.f([1, 2], 2)
    error = caught.value
    assert (error.file, error.line, error.column) == ("<string>", 1, 31)
    assert [place[1] for place in error.trail] == [1, 2]
    with pytest.raises(arrc.RunError) as caught:
        lib.g(0)
    assert caught.value.line == 4
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.trail) == (str(error), error.trail)
    assert lib.g(5) == 2


def test_memory_that_is_not_there():
    lib = arrc.compile("entry f (n: i64) = map (* 2) (iota n)", target="cpu", mem_limit=1 << 20)
    with pytest.raises(arrc.OutOfMemoryError) as caught:
        lib.f(1 << 20)
    assert caught.value.limit == 1 << 20 and caught.value.bytes >= 1 << 20
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, arrc.RunError)
    assert len(lib.f(100)) == 100
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.bytes, copy.limit) == (caught.value.bytes, caught.value.limit)
    with pytest.raises(arrc.OutOfMemoryError):
        arrc.compile("entry f (n: i64) = map (* 2) (iota n)", target="cpu").f(1 << 62)


def test_options_that_are_wrong():
    for options in ({"target": "gpu"}, {"threads": 0}, {"threads": -1}, {"threads": "2"}, {"mem_limit": 0}, {"vector_bits": 100}):
        with pytest.raises(arrc.ArgumentError):
            arrc.compile("entry f (x: i32) = x", **options)
    with pytest.raises(arrc.ArgumentError, match="there is no option `colour`"):
        with arrc.device("cpu", colour=3):
            pass
    with pytest.raises(TypeError):
        arrc.compile(5)


def test_a_gpu_that_is_not_there():
    with pytest.raises(arrc.DeviceError):
        arrc.compile("entry f (x: i32) = x", target="ptx", device=1000)


def test_a_limit_of_steps():
    lib = arrc.compile("entry f (n: i64) = i64.sum (map (\\i -> loop x = i for _j < n do x * 3) (iota 100))", target="ptx-emu", cap=1000)
    with pytest.raises(arrc.RunError, match="more steps"):
        lib.f(1000)


def test_every_exception_is_an_error():
    for name in arrc.__all__:
        thing = getattr(arrc, name)
        if isinstance(thing, type) and issubclass(thing, BaseException):
            assert issubclass(thing, arrc.Error) and thing.__doc__


def test_devices_for_a_while():
    text = "entry f (x: i32) = x"
    with arrc.device("interp"):
        assert arrc.device_name(arrc.compile(text)) == "interp"
        with arrc.device("ptx-emu", threads=1):
            assert arrc.device_name(arrc.compile(text)) == "ptx-emu"
            assert arrc.device_name(arrc.compile(text, target="interp")) == "interp"
        assert arrc.device_name(arrc.compile(text)) == "interp"
    assert "threads" in arrc.device_name(arrc.compile(text, target="cpu"))


def test_arguments_that_fail_themselves():
    class Wrong:
        @property
        def __array_interface__(self):
            raise KeyError("wrong")

    lib = arrc.compile("entry f (xs: []i32) = xs", target="cpu")
    with pytest.raises((KeyError, arrc.ArgumentError)):
        lib.f(Wrong())

    class Strange:
        __array_interface__ = {"typestr": "<i4", "shape": (-1,), "data": (8, True)}

    with pytest.raises(arrc.ArgumentError):
        lib.f(Strange())
    np.testing.assert_array_equal(lib.f([1]), [1])
