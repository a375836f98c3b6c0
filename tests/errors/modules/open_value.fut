-- Only modules can be opened.
def settings = {width = 640i64, height = 480i64}
open settings
--   ^^^^^^^^ error[E0201]: unknown module `settings`
def pixels = width * height
