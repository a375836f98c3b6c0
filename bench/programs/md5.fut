-- The word of a dictionary with an MD5 digest: all words at once, and as a sequence (Streaming Irregular Arrays, section 7.3).
import "../../tests/programs/papers/streams"
import "random"

-- Words of three to ten letters, and the digest of the last one.
-- ==
-- entry: generate
-- input { 1i64 } auto output
entry generate (n: i64) : ([4]u32, [n]i64, []u8) =
  let ls = map (\i -> 3 + i64.u32 (number 1 i % 8)) (iota n)
  let letters = map (\i -> 97 + u8.u32 (number 2 i % 26)) (iota (i64.sum ls))
  in (if n == 0 then rep 0 else md5 letters[length letters - ls[n - 1]:], ls, letters)

-- ==
-- entry: whole streamed
-- input { [2555380112u32, 2958021180u32, 2101319382u32, 1920983336u32] [1i64, 3i64, 2i64, 3i64] [97u8, 97u8, 98u8, 99u8, 97u8, 98u8, 97u8, 98u8, 99u8] } output { 1i64 }
-- input { [0u32, 0u32, 0u32, 0u32] [1i64] [97u8] } output { -1i64 }
-- compiled script input { generate 300000i64 }
entry whole [n] [m] (wanted: [4]u32) (ls: [n]i64) (letters: [m]u8) : i64 =
  let found = map2 (\i word -> if and (map2 (==) (md5 word) wanted) then i else i64.highest) (iota n) (segment ls letters)
  let first = i64.minimum found
  in if first == i64.highest then -1 else first

entry streamed [n] [m] (wanted: [4]u32) (ls: [n]i64) (letters: [m]u8) : i64 =
  find wanted (seq.from_array (segment ls letters))
