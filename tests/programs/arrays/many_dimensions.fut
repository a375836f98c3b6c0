-- Spaces of many dimensions.
-- ==
-- input { 1i64 3 }
-- output { 7 }

def deep (n: i64) (x: i32) = replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate n (replicate 2 x)))))))))))))))))

entry main (n: i64) (x: i32) : i32 =
  let a = map (map (map (map (map (map (map (map (map (map (map (map (map (map (map (map (map (map (\v -> 2 * v + 1)))))))))))))))))) (deep n x)
  in a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][1]
