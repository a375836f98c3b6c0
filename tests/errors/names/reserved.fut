-- Words of the language are no names.
def loop (x: i32) : i32 = x
--  ^^^^ error[E0102]: expected a name, found the keyword `loop`
-- = `loop` is a keyword and cannot be a name
