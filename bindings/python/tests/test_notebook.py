"""Entry points written where they are used: the decorator, and the cell magic."""

import arrc
import numpy as np
import pytest


def test_functions():
    @arrc.function(target="cpu")
    def scaled(n: "i64", xs: "[n]f64", by: "f64") -> "[n]f64":
        """
        let k = by * f64.i64 n
        in map (* k) xs
        """

    assert scaled(2, [1, 2], by=0.5).tolist() == [1, 2]
    assert str(scaled.__signature__) == "(n: i64, xs: [n]f64, by: f64) -> [n]f64"

    @arrc.function(prelude="def twice x = 2 * x")
    def f(x: "i32"):
        "twice x + 1"

    assert f(4) == 9

    @arrc.function
    def dot(xs: "[n]f64", ys: "[n]f64") -> "f64":
        "f64.sum (map2 (*) xs ys)"

    assert dot(np.arange(3.0), [1, 1, 1]) == 3
    with pytest.raises(arrc.ArgumentError, match="expected .3."):
        dot([1, 2, 3], [1])


def test_functions_that_are_wrong():
    with pytest.raises(arrc.ArgumentError, match="no expression"):

        @arrc.function
        def f(x: "i32"):
            return x

    with pytest.raises(arrc.ArgumentError, match="needs a type"):

        @arrc.function
        def g(x):
            "x"

    with pytest.raises(arrc.CompileError) as caught:

        @arrc.function
        def h(x: "i32"):
            "y"

    assert caught.value.file == "<h>"


def test_cells():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shell.run_line_magic("load_ext", "arrc")
    program = shell.run_cell_magic("arrc", "--target cpu --threads=2", "entry cube (x: i64) = x * x * x\nentry class (x: i64) = x")
    assert shell.user_ns["cube"](3) == 27 and shell.user_ns["class_"](3) == 3
    assert program._options.target == "cpu" and program._options.threads == 2
    assert shell.run_cell_magic("arrc", "", "entry f = nothing") is None
    for wrong in ("--colour 3", "cpu", "--threads"):
        with pytest.raises(arrc.ArgumentError, match="no option"):
            shell.run_cell_magic("arrc", wrong, "entry f = 1i32")
