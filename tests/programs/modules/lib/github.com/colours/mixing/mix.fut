-- Mixing of levels.
local import "tables"

def mix (x: u8) (y: u8) : u8 = u8.min brightest (u8.i32 ((i32.u8 x + i32.u8 y) / 2))
