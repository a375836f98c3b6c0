-- A string ends on its line.
def greeting : []u8 = "hello
--                    ^^^^^^ error[E0105]: this string does not end on its line
-- = close it with `"`; a line break is written `\n`
