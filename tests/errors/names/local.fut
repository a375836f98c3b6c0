-- What is declared `local` is not seen from outside.
module m = {
  local def secret = 1i64
  def open_secret = secret
}

def leak : i64 = m.secret
--               ^^^^^^^^ error[E0201]: unknown name `m.secret`
