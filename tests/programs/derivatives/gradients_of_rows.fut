-- Elements of a row that is read by index before a branch or a loop belong to the array.

def chosen [k] (cs: [k][2]f64) (j: i64) =
  let c = cs[j] in if c[0] > 1 then c[0] * c[1] else 0

def walked [k] (cs: [k][2]f64) (j: i64) =
  let c = cs[j] in loop x = 0 for i < 2 do x + c[i] * c[i]

def both [k] (cs: [k][2]f64) (j: i64) =
  let c = cs[j] in if c[0] > 1 then (loop x = 0 for i < 2 do x + c[i] * c[i]) else f64.sum c

def deep [k] (css: [k][k][2]f64) (j: i64) =
  let cs = css[j] in loop x = 0 for i < k do let c = cs[i] in if x > 100 then x else x + c[0] * c[1]

-- ==
-- entry: gradients
-- input { [[2.0, 3.0], [0.5, 4.0]] }
-- output { [[3.0, 2.0], [0.0, 0.0]] [[4.0, 6.0], [0.0, 0.0]] [[4.0, 6.0], [1.0, 1.0]] [[[3.0, 2.0], [4.0, 0.5]], [[0.0, 0.0], [0.0, 0.0]]] [[7.0, 8.0], [0.0, 0.0]] }
entry gradients (cs: [2][2]f64) =
  ( vjp (\cs -> chosen cs 0 + chosen cs 1) cs 1
  , vjp (\cs -> walked cs 0) cs 1
  , vjp (\cs -> both cs 0 + both cs 1) cs 1
  , vjp (\css -> deep css 0) (replicate 2 cs) 1
  , vjp (\cs -> f64.sum (map (chosen cs) [0, 0, 1]) + f64.minimum (map (walked cs) [0, 1]) * 0 + f64.minimum cs[0] * 1 + f64.maximum cs[0] * 4) cs 1 )
