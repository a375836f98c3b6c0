-- A name that is bound is meant to be used.
def area (width: f32) (height: f32) : f32 =
--                     ^^^^^^ warning[W0201]: `height` is never used
-- = call it `_height` if that is meant
  let scale = 2
--    ^^^^^ warning[W0201]: `scale` is never used
-- = call it `_scale` if that is meant
  in width * width
