-- What is local to a module is not seen from outside.
module m = {
  local def hidden = 1i32
  def shown = hidden + 1
}

def x = m.hidden
--      ^^^^^^^^ error[E0201]: unknown name `m.hidden`
