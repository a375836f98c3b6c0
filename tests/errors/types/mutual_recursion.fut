-- A function sees itself, but none that follows.
def even (n: i32) : bool = n == 0 || odd (n - 1)
--                                   ^^^ error[E0201]: unknown name `odd`
def odd (n: i32) : bool = n != 0 && even (n - 1)
