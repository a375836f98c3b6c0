-- A closing bracket needs one that was opened.
def f (x: i64) : i64 = x + 1]
--                          ^ error[E0104]: `]` closes nothing
