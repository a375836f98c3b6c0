-- Files of packages are imported from the folder `lib` beside the program; files of a package import each other by paths
-- relative to themselves.
import "lib/github.com/colours/mixing/mix"
module tables = import "lib/github.com/colours/mixing/tables"

-- ==
-- entry: main
-- input { 100u8 200u8 } output { 150u8 255u8 }
entry main (x: u8) (y: u8) = (mix x y, tables.brightest)
