-- Long sides of choices in loops that fill arrays of points: they are computed later, for the lanes that take them alone.
def number (i: i64) (t: i64) : i32 = i32.u32 (((u32.i64 i * 2654435761 + u32.i64 t * 2246822519) >> 13) & 127)

def long64 (x: f64) : f64 = f64.log (x + 0.5) / (1 + f64.sqrt x) - f64.exp (-x) * f64.sqrt (x + 2)
def other64 (x: f64) : f64 = f64.sin (x + 1) - f64.exp (f64.cos x)
def long32 (x: f32) : f32 = f32.sin (x + f32.log (x + 2)) * f32.exp (-x) + f32.cos (f32.sqrt x) * x
def round (x: i32) : i32 = let x = (x ^ (x >> 7)) * 1540483477 in x + (x << 3) ^ 5
def long (x: i32) : i32 = round (round (round (round (round (round (round (round (round x))))))))

def folded [n] (xs: [n]f64) : f64 = loop sum = 0 for t < n do 0.75 * sum + xs[t] * xs[n - 1 - t]

-- Of 128 numbers, so many take the long side.
-- ==
-- entry: rare
-- input { 70i64 17i64 5i32 } auto output
-- input { 70i64 16i64 0i32 } auto output
-- input { 70i64 40i64 100i32 } auto output
-- input { 33i64 1i64 50i32 } auto output
-- input { 33i64 5i64 1i32 } auto output
-- input { 20i64 0i64 50i32 } auto output
-- input { 0i64 9i64 50i32 } auto output
-- input { 517i64 35i64 97i32 } auto output
entry rare (points: i64) (steps: i64) (many: i32) : [points]f64 =
  let of i = folded (loop a = replicate steps 0 for t < steps do
                       let n = number i t
                       let x = f64.i32 n * 0.125
                       in a with [t] = if n < many then long64 x else 0.5 * x + 1)
  in tabulate points of

-- The other side is the long one, or as long; what is chosen is computed with, and goes behind other elements.
-- ==
-- entry: otherwise
-- input { 70i64 17i64 5i32 } auto output
-- input { 37i64 33i64 93i32 } auto output
-- input { 37i64 0i64 93i32 } auto output
entry otherwise (points: i64) (steps: i64) (many: i32) : [points](f64, f64) =
  let of i =
    let a = loop a = replicate (steps + 3) 0.5 for t < steps do
              let n = number i t
              let x = f64.i32 n * 0.125 - f64.i64 i
              let y = if n >= many then x - 2 else long64 (f64.abs x)
              in a with [t + 3] = 2 * y + x
    let b = loop b = replicate steps 0.5 for t < steps do
              let n = number i t
              let x = f64.i32 n * 0.125
              in b with [t] = f64.max (if n >= many then long64 x else other64 x) 0.25
    in (folded a, folded b)
  in tabulate points of

-- What differs from step to step, from point to point, or both.
-- ==
-- entry: kept
-- input { 70i64 17i64 5i32 } auto output
-- input { 45i64 20i64 60i32 } auto output
-- input { 100i64 64i64 30i32 } auto output
entry kept (points: i64) (steps: i64) (many: i32) : [points]f64 =
  let scale = map (\t -> f64.sqrt (f64.i64 t)) (iota steps)
  let of i =
    let own = f64.i64 i * 0.25
    in folded (loop a = replicate steps 0 for t < steps do
                 let n = number i t
                 let x = f64.i32 n
                 let s = scale[t]
                 let odd = n % 2 == 1
                 in a with [t] = (if n < many then long64 (x * s + own) + f64.i64 t * (if odd then x else long64 own) else own) - s)
  in tabulate points of

-- Numbers of other types.
-- ==
-- entry: types
-- input { 70i64 17i64 5i32 } auto output
-- input { 133i64 33i64 50i32 } auto output
-- input { 15i64 3i64 99i32 } auto output
entry types (points: i64) (steps: i64) (many: i32) : [points](f32, i32, f64) =
  let of i =
    let a = loop a = replicate steps 0 for t < steps do
              let n = number i t
              let x = f32.i32 n * 0.5
              in a with [t] = if x < f32.i32 many * 0.5 then long32 x else x
    let b = loop b = replicate steps 0 for t < steps do
              let n = number i t
              in b with [t] = if n < many then long n else n
    let c = loop c = replicate steps 0 for t < steps do
              let n = number i t
              in c with [t] = if n < many then long64 (f64.i32 n) else f64.i32 n
    let (x, y) = loop (x, y) = (0, 0) for t < steps do (0.5 * x + a[t] * a[steps - 1 - t], y ^ (b[t] * 3 + b[steps - 1 - t]))
    in (x, y, folded c)
  in tabulate points of

-- A loop that carries something else, in another that does, and two arrays.
-- ==
-- entry: carried
-- input { 70i64 17i64 5i32 } auto output
-- input { 50i64 18i64 50i32 } auto output
entry carried (points: i64) (steps: i64) (many: i32) : [points](f64, i64) =
  let of i =
    loop (sum, count) = (0, 0) for k < 3 do
      let (a, b, count) =
        loop (a, b, count) = (replicate steps 0, replicate steps 0, count) for t < steps do
          let n = number (i + k) t
          let x = f64.i32 n * 0.125
          let y = if n < many then long64 x else x
          in (a with [t] = y, b with [t] = f64.cos (x * f64.i64 t), count + i64.i32 n)
      in (sum + folded a - folded b, count)
  in tabulate points of

-- What is read again in the loop, goes to the same place in every step, or may fail, is not put off.
-- ==
-- entry: at_once
-- input { 70i64 17i64 5i32 } auto output
-- input { 50i64 18i64 50i32 } auto output
entry at_once (points: i64) (steps: i64) (many: i32) : [points](f64, f64, i64) =
  let of i =
    let a = loop a = replicate (steps + 1) 0 for t < steps do
              let n = number i t
              let x = f64.i32 n * 0.125 + 0.5 * a[t]
              in a with [t + 1] = if n < many then long64 (f64.abs x) else x
    let b = loop b = replicate (steps + 1) 0 for t < steps do
              let n = number i t
              let x = f64.i32 n * 0.125
              in b with [t / 2] = if n < many then long64 x else x
    let c = loop c = replicate (steps + 1) 0 for t < steps do
              let n = number i t
              in c with [t] = if n < many then i64.i32 (long n / (n + 1)) else i64.i32 n
    in (folded a, folded b, loop x = 0 for t < steps do x * 3 + c[t] - c[steps - t])
  in tabulate points of

-- ==
-- entry: fails
-- input { 40i64 17i64 5i32 0i32 } auto output
-- input { 40i64 17i64 5i32 3i32 } error: division by zero
entry fails (points: i64) (steps: i64) (many: i32) (at: i32) : [points]i64 =
  let of i =
    let c = loop c = replicate steps 0 for t < steps do
              let n = number i t
              in c with [t] = if n < many then i64.i32 (long n / (n + 1 - at)) else i64.i32 n
    in loop x = 0 for t < steps do x * 3 + c[t] - c[steps - 1 - t]
  in tabulate points of
