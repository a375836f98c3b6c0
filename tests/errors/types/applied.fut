-- What is applied is shown with its size.
def word = "abc" 1
--               ^ error[E0301]: this is applied, but its type is `[3]u8`, which is no function
--         ~~~~~ the function
-- = after 0 arguments the type is `[3]u8`

def numbers : []i32 = [1, 2]

def rows = numbers [1]
--                 ^^^ error[E0301]: this is applied, but its type is `[2]i32`, which is no function
--         ~~~~~~~ the function
-- = after 0 arguments the type is `[2]i32`
