-- Values and modules share their names.
module scale = {
--     ~~~~~ first defined here
  def factor = 2i32
}

def scale (x: i32) : i32 = 2 * x
--  ^^^^^ error[E0202]: `scale` is defined twice
