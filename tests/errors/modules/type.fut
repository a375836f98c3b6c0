-- What a module defines has the type that its module type says.
module type counter = { val next : i64 -> i64 }

module down : counter = { def next (x: i32) : i32 = x - 1 }
--            ^^^^^^^ error[E0204]: the value `next` of the module has another type than its module type says
-- = the module has `(x: i32) -> i32`
-- = the module type says `i64 -> i64`
-- = the types differ
