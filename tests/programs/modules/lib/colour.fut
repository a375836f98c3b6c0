-- Imported by `imports.fut`.
module grey : {
  type grey
  val shade : u8 -> grey
  val level : grey -> u8
} = {
  type grey = u8
  def shade (x: u8) : grey = x
  def level (x: grey) : u8 = x
}

open grey

local def half (x: i32) : i32 = x / 2

def blend (x: u8) (y: u8) : u8 = u8.i32 (half (i32.u8 x + i32.u8 y))

-- No entry point of the program: only those of the main file are.
entry unseen (x: i32) : i32 = x
