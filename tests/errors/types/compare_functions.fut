-- Functions cannot be compared.
def same (f: i64 -> i64) (g: i64 -> i64) : bool = f == g
--                                                  ^^ error[E0305]: values of type `i64 -> i64` cannot be compared
