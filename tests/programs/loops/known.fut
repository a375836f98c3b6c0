-- Choices between numbers and elements of a table whose length is known: elements that are there in each step of a loop, and elements that
-- are not there in steps that no point chooses.

let table : [16]u32 = map (\i -> (u32.i64 i * 2654435761) ^ 0x5bd1e995) (iota 16)

-- ==
-- entry: chosen
-- input { [0u32, 1u32, 2u32, 3u32, 32768u32, 65535u32, 65536u32, 4294967295u32, 12345u32, 43690u32, 21845u32] } auto output
-- random input { [1000]u32 } auto output
entry chosen (xs: []u32) : []u32 =
  map (\x -> loop y = 0u32 for k < 16i64 do
               if (x >> u32.i64 k) & 1 == 1 then y ^ table[k] else y) xs

-- The loop goes on behind the end of the table.
-- ==
-- entry: beyond
-- input { [0u32, 1u32, 2u32, 3u32, 32768u32, 65535u32, 12345u32, 43690u32, 21845u32] } auto output
-- random input { [1000]u32 } auto output
entry beyond (xs: []u32) : []u32 =
  map (\x -> loop y = 7u32 for k < 30i64 do
               if (x >> u32.i64 k) & 1 == 1 then y + table[k] else y) (map (& 0xffff) xs)

-- It does so for a point that fails there.
-- ==
-- entry: outside
-- input { [1u32, 65536u32] } error: bounds
entry outside (xs: []u32) : []u32 =
  map (\x -> loop y = 7u32 for k < 30i64 do
               if (x >> u32.i64 k) & 1 == 1 then y + table[k] else y) xs

-- One element, in floats, where the number decides.
-- ==
-- entry: fixed
-- input { [0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32] } auto output
entry fixed (xs: []f32) : []f32 =
  let weights = map (\i -> f32.i64 i / 3) (iota 5)
  in map (\x -> loop y = x for k < 5i64 do if y > 3 then y - weights[k] else y + weights[4]) xs
