-- A hole stands for what is still to be written.
def half (x: f64) : f64 = x / ???
--                            ^^^ warning[W0306]: a hole of type `f64`
-- = the program fails when it gets here
