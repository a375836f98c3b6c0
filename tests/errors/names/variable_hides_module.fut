-- A variable hides a module of its name.
module scale = {
  def factor = 2i32
}

def factor (scale: {factor: f32}) : i32 = scale.factor
--                                        ^^^^^^^^^^^^ error[E0301]: result of the function: expected `i32`, found `f32`
-- = `i32.f32` converts a value of type `f32`
