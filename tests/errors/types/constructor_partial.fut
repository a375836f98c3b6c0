-- A constructor is given its whole payload: it is no function.
type t = #pair i32 i32
def f (x: i32) : t = #pair x
--                   ^^^^^^^ error[E0301]: result of the function: expected `#pair i32 i32`, found `#pair | ...`
-- = the constructor `#pair` is used with payloads of different lengths
