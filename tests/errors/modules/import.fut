-- An import names a file without its ending, relative to the importing file.
import "no-such-file"
--     ^^^^^^^^^^^^^^ error[E0203]: cannot import "no-such-file": there is no file modules/no-such-file.fut

def f (x: i64) : i64 = x
