-- Each field is defined once.
def origin = {x = 0f32, y = 0f32, x = 1f32}
--                                ^ error[E0202]: the field `x` is given twice
