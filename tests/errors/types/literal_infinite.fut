-- Nor may an integer be more than its float type has numbers.
def x : f32 = 340282366920938463463374607431768211456
--            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0308]: the literal is out of bounds for `f32`
