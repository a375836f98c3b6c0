-- More arrays and more constants in a kernel than are kept in registers.

type wide = {a0: i64, a1: i64, a2: i64, a3: i64, a4: i64, a5: i64, a6: i64, a7: i64, a8: i64, a9: i64, a10: i64, a11:
  i64, a12: i64, a13: i64, a14: i64, a15: i64, a16: i64, a17: i64, a18: i64, a19: i64, a20: i64, a21: i64, a22: i64,
  a23: i64, a24: i64, a25: i64, a26: i64, a27: i64, a28: i64, a29: i64, a30: i64, a31: i64, a32: i64, a33: i64, a34:
  i64, a35: i64, a36: i64, a37: i64, a38: i64, a39: i64, a40: i64, a41: i64, a42: i64, a43: i64, a44: i64, a45: i64,
  a46: i64, a47: i64, a48: i64, a49: i64, a50: i64, a51: i64, a52: i64, a53: i64, a54: i64, a55: i64, a56: i64, a57:
  i64, a58: i64, a59: i64, a60: i64, a61: i64, a62: i64, a63: i64, a64: i64, a65: i64, a66: i64, a67: i64, a68: i64,
  a69: i64, a70: i64, a71: i64}

def make (x: i64) : wide =
  {a0 = x + 0, a1 = x + 1, a2 = x + 2, a3 = x + 3, a4 = x + 4, a5 = x + 5, a6 = x + 6, a7 = x + 7, a8 = x + 8, a9 = x
    + 9, a10 = x + 10, a11 = x + 11, a12 = x + 12, a13 = x + 13, a14 = x + 14, a15 = x + 15, a16 = x + 16, a17 = x +
    17, a18 = x + 18, a19 = x + 19, a20 = x + 20, a21 = x + 21, a22 = x + 22, a23 = x + 23, a24 = x + 24, a25 = x +
    25, a26 = x + 26, a27 = x + 27, a28 = x + 28, a29 = x + 29, a30 = x + 30, a31 = x + 31, a32 = x + 32, a33 = x +
    33, a34 = x + 34, a35 = x + 35, a36 = x + 36, a37 = x + 37, a38 = x + 38, a39 = x + 39, a40 = x + 40, a41 = x +
    41, a42 = x + 42, a43 = x + 43, a44 = x + 44, a45 = x + 45, a46 = x + 46, a47 = x + 47, a48 = x + 48, a49 = x +
    49, a50 = x + 50, a51 = x + 51, a52 = x + 52, a53 = x + 53, a54 = x + 54, a55 = x + 55, a56 = x + 56, a57 = x +
    57, a58 = x + 58, a59 = x + 59, a60 = x + 60, a61 = x + 61, a62 = x + 62, a63 = x + 63, a64 = x + 64, a65 = x +
    65, a66 = x + 66, a67 = x + 67, a68 = x + 68, a69 = x + 69, a70 = x + 70, a71 = x + 71}

def total (r: wide) : i64 =
  r.a0 + r.a1 + r.a2 + r.a3 + r.a4 + r.a5 + r.a6 + r.a7 + r.a8 + r.a9 + r.a10 + r.a11 + r.a12 + r.a13 + r.a14 + r.a15
    + r.a16 + r.a17 + r.a18 + r.a19 + r.a20 + r.a21 + r.a22 + r.a23 + r.a24 + r.a25 + r.a26 + r.a27 + r.a28 + r.a29 +
    r.a30 + r.a31 + r.a32 + r.a33 + r.a34 + r.a35 + r.a36 + r.a37 + r.a38 + r.a39 + r.a40 + r.a41 + r.a42 + r.a43 +
    r.a44 + r.a45 + r.a46 + r.a47 + r.a48 + r.a49 + r.a50 + r.a51 + r.a52 + r.a53 + r.a54 + r.a55 + r.a56 + r.a57 +
    r.a58 + r.a59 + r.a60 + r.a61 + r.a62 + r.a63 + r.a64 + r.a65 + r.a66 + r.a67 + r.a68 + r.a69 + r.a70 + r.a71

-- ==
-- entry: rows
-- input { [1i64, -2, 3] [2i64, 0, 0, 1] } output { [2772i64, 2628i64, 2628i64, 2412i64] }
-- input { empty([0]i64) [0i64] } error: Index
entry rows (xs: []i64) (is: []i64) = let rs = map make xs in map (\i -> total rs[i]) is

-- ==
-- entry: sums
-- input { [1i64, -2, 3] [3i64, 0] } output { [7812i64, 0] }
entry sums (xs: []i64) (ns: []i64) =
  let rs = map make xs
  in map (\n -> loop s = 0 for i < n do s + total rs[i]) ns

-- ==
-- entry: updated
-- input { [1i64, -2, 3] } output { [2628i64, 2772, 2772] }
entry updated (xs: []i64) =
  let rs = map make xs
  in map total (rs with [1] = rs[2])

def horner (x: f64) : f64 =
  let y = 1.0
  let y = y * x + 0.25
  let y = y * x + 1.25
  let y = y * x + 2.25
  let y = y * x + 3.25
  let y = y * x + 4.25
  let y = y * x + 5.25
  let y = y * x + 6.25
  let y = y * x + 7.25
  let y = y * x + 8.25
  let y = y * x + 9.25
  let y = y * x + 10.25
  let y = y * x + 11.25
  let y = y * x + 12.25
  let y = y * x + 13.25
  let y = y * x + 14.25
  let y = y * x + 15.25
  let y = y * x + 16.25
  let y = y * x + 17.25
  let y = y * x + 18.25
  let y = y * x + 19.25
  let y = y * x + 20.25
  let y = y * x + 21.25
  let y = y * x + 22.25
  let y = y * x + 23.25
  let y = y * x + 24.25
  let y = y * x + 25.25
  let y = y * x + 26.25
  let y = y * x + 27.25
  let y = y * x + 28.25
  let y = y * x + 29.25
  let y = y * x + 30.25
  let y = y * x + 31.25
  let y = y * x + 32.25
  let y = y * x + 33.25
  let y = y * x + 34.25
  let y = y * x + 35.25
  let y = y * x + 36.25
  let y = y * x + 37.25
  let y = y * x + 38.25
  let y = y * x + 39.25
  let y = y * x + 40.25
  let y = y * x + 41.25
  let y = y * x + 42.25
  let y = y * x + 43.25
  let y = y * x + 44.25
  let y = y * x + 45.25
  let y = y * x + 46.25
  let y = y * x + 47.25
  let y = y * x + 48.25
  let y = y * x + 49.25
  let y = y * x + 50.25
  let y = y * x + 51.25
  let y = y * x + 52.25
  let y = y * x + 53.25
  let y = y * x + 54.25
  let y = y * x + 55.25
  let y = y * x + 56.25
  let y = y * x + 57.25
  let y = y * x + 58.25
  let y = y * x + 59.25
  let y = y * x + 60.25
  let y = y * x + 61.25
  let y = y * x + 62.25
  let y = y * x + 63.25
  let y = y * x + 64.25
  let y = y * x + 65.25
  let y = y * x + 66.25
  let y = y * x + 67.25
  let y = y * x + 68.25
  let y = y * x + 69.25
  let y = y * x + 70.25
  let y = y * x + 71.25
  in y

-- ==
-- entry: polynomials
-- input { [1f64, 0, -1, 0.5] } output { [2575.0f64, 71.25, 37.0, 140.5] }
entry polynomials (xs: []f64) = map horner xs

-- ==
-- entry: iterated
-- input { [1f64, 0.5] [0i64, 2] } output { [1f64, 7.125987149220162e-05] }
entry iterated (xs: []f64) (ns: []i64) = map2 (\x n -> loop y = x for _ in iota n do horner y / 1e6) xs ns
