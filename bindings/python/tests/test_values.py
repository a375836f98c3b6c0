"""Tuples, records, sums and irregular arrays."""

from dataclasses import dataclass

import arrc
import numpy as np
import pytest


def test_tuples(compiled):
    lib = compiled("entry swap (p: (i32, f64)) (q: i64) = ((p.1, p.0), q)  entry zip [n] (ps: [n](i32, f64)) = map (\\(a, b) -> (b, a)) ps")
    assert lib.swap((1, 2.5), 3) == ((2.5, 1), 3)
    assert lib.swap([1, 2.5], 3) == ((2.5, 1), 3)
    b, a = lib.zip(([1, 2], [0.5, 1.5]))
    assert (b.tolist(), a.tolist()) == ([0.5, 1.5], [1, 2])
    for wrong in ((1,), (1, 2, 3), 5, "ab"):
        with pytest.raises(arrc.ArgumentError, match="tuple of 2"):
            lib.swap(wrong, 3)
    with pytest.raises(arrc.ArgumentError, match="`p` of `swap`"):
        lib.swap(("a", 1), 3)


@dataclass
class Point:
    x: float
    y: float


def test_records(compiled):
    lib = compiled(
        "type point = {x: f64, y: f64}\n"
        "entry move (p: point) (by: f64) : point = {x = p.x + by, y = p.y + by}\n"
        "entry all [n] (ps: [n]point) : [n]point = map (\\p -> {x = p.y, y = p.x}) ps\n"
        "entry odd (r: {x': i32, def': i32}) = r.x' - r.def'"
    )
    moved = lib.move({"y": 2, "x": 1}, 1)
    assert (moved.x, moved.y) == (2, 3) and type(moved).__name__ == "point"
    for same in (moved, Point(2, 3), (2, 3)):
        assert lib.move(same, 1) == (3, 4)
    columns = lib.all({"x": [1, 2], "y": [3, 4]})
    assert (columns.x.tolist(), columns.y.tolist()) == ([3, 4], [1, 2])
    assert lib.all(columns).x.tolist() == [1, 2]
    table = np.array([(1, 3), (2, 4)], dtype=[("x", "f8"), ("y", "f8")])
    assert lib.all(table).x.tolist() == [3, 4]
    for wrong in ({"x": 1}, {"x": 1, "y": 2, "z": 3}, Ellipsis):
        with pytest.raises(arrc.ArgumentError, match="fields x, y"):
            lib.move(wrong, 1)
    assert lib.odd({"x'": 3, "def'": 1}) == 2


def test_given_parts(compiled):
    lib = compiled("entry f [n] ((xs, x): *([n]i32, i32)) = (xs with [0] = x, x)")
    xs = np.arange(3, dtype=np.int32)
    ys, _ = lib.f((xs, 9))
    assert (ys.tolist(), xs[0]) == ([9, 1, 2], 0)
    zs, _ = lib.f(arrc.give((ys, 8)))
    assert zs.tolist() == [8, 1, 2] and ys.is_consumed


def test_sums(compiled):
    lib = compiled(
        "type~ t = #none | #one i32 | #many ([]f64) bool\n"
        "entry next (x: t) : t = match x case #none -> #one 1 case #one i -> #many [f64.i32 i] true case #many _ _ -> #none\n"
        "entry build (n: i64) : [n](#a i64 | #b) = tabulate n (\\i -> if i % 2 == 0 then #a i else #b)\n"
        "entry count [n] (xs: [n](#a i64 | #b)) = map (\\x -> match x case #a i -> i case #b -> -1) xs\n"
    )
    one = lib.next("none")
    assert one == arrc.Variant("one", 1) and repr(one) == "Variant('one', 1)"
    many = lib.next(one)
    assert many.name == "many" and many.payload[0].tolist() == [1.0] and many.payload[1] is True
    assert lib.next(many) == lib.next(arrc.Variant("#many", [], False)) == arrc.Variant("none")
    xs = lib.build(4)
    assert isinstance(xs, arrc.Opaque) and xs.shape == (4,) and len(xs) == 4
    assert lib.count(xs).tolist() == [0, -1, 2, -1]
    for wrong, why in (("two", "constructors are none, one, many|constructors are"), (arrc.Variant("one"), "has 1 values"), (3, "an arrc.Variant")):
        with pytest.raises(arrc.ArgumentError, match=why):
            lib.next(wrong)
    with pytest.raises(arrc.ArgumentError, match="arrc.Opaque"):
        lib.count([1, 2])


def test_irregular_arrays(compiled):
    lib = compiled(
        "entry sums [n] (xss: [n][..]f64) = map f64.sum xss\n"
        "entry rows (n: i64) = map (\\i -> iota i) (iota n)\n"
        "entry deep [n] (xsss: [n][..][..]i32) = map (\\xss -> i32.sum (map i32.sum xss)) xsss\n"
    )
    for rows in ([[1.0, 2], [], [3]], arrc.Ragged([0, 2, 2, 3], [1.0, 2, 3]), [np.array([1.0, 2]), np.zeros(0), np.array([3.0])]):
        assert lib.sums(rows).tolist() == [3, 0, 3]
    assert lib.sums(np.ones((2, 3))).tolist() == [3, 3]
    assert lib.sums([]).tolist() == [] and lib.sums([[], []]).tolist() == [0, 0]
    rows = lib.rows(4)
    assert isinstance(rows, arrc.Ragged)
    assert rows.tolist() == [[], [0], [0, 1], [0, 1, 2]] and rows.offsets.tolist() == [0, 0, 1, 3, 6]
    assert (len(rows), rows[3].tolist(), rows[-2].tolist(), [len(row) for row in rows]) == (4, [0, 1, 2], [0, 1], [0, 1, 2, 3])
    assert rows[1:3].tolist() == [[0], [0, 1]] and rows[3:1].tolist() == []
    with pytest.raises(IndexError):
        rows[4]
    assert lib.deep([[[1, 2], [3]], [], [[]]]).tolist() == [6, 0, 0]
    ragged = arrc.Ragged([0, 2, 2, 3], arrc.Ragged([0, 2, 3, 3], np.array([1, 2, 3], np.int32)))
    assert lib.deep(ragged).tolist() == [6, 0, 0] and ragged.tolist() == [[[1, 2], [3]], [], [[]]]
    for wrong in (5, "ab", [1.0, 2.0], [["a"]], None):
        with pytest.raises(arrc.ArgumentError, match="`xss` of `sums`"):
            lib.sums(wrong)


def test_offsets_have_to_be_right():
    for offsets in ([], [0, 2, 1], [-1, 2], [0, 4], [0.5], [[0]]):
        with pytest.raises(ValueError):
            arrc.Ragged(offsets, np.zeros(3))
    part = arrc.Ragged([1, 2], np.array([5, 6, 7]))
    assert part.tolist() == [[6]] and part.offsets.tolist() == [0, 1]


def test_lengths_that_do_not_fit_are_refused(compiled):
    lib = compiled("entry sums [n] (xss: [n][..]f64) = map f64.sum xss")
    for lengths in ([1, 1], [5, -1], [2**62, 2**62]):
        wrong = arrc.Ragged._of_lengths(np.array(lengths), np.zeros(4))
        with pytest.raises(arrc.RunError, match="lengths of rows"):
            lib.sums(wrong)
