-- Imports: opened, as modules, from below, and re-exported. A file that is imported twice is one module.
import "lib/colour"
module colour = import "lib/colour"
module deep = import "lib/deep/palette"

-- ==
-- entry: mix
-- input { 10u8 20u8 } output { 15u8 15u8 15u8 }
entry mix (x: u8) (y: u8) = (blend x y, colour.blend x y, deep.blend x y)

-- The abstract type of the file is the same through both imports.
-- ==
-- entry: through
-- input { 7u8 } output { 7u8 }
entry through (x: u8) : u8 = deep.level (colour.shade x)
