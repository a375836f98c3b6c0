-- An update of a field keeps its type.
def f (r: {a: i32, b: bool}) = r with a = true
--                                        ^^^^ error[E0301]: new value of the update: expected `i32`, found `bool`
