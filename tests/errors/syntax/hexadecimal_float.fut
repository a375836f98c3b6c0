-- A float in base 16 has an exponent.
def shifted (x: f32) : f32 = x + 0x1.8
--                               ^^^^^ error[E0105]: `0x1.8` is no number
-- = a float in base 16 has an exponent, which `p` begins: `0x1.8p0`
