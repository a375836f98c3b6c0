-- A module has no more members than its module type says.
module counter : {
  val start : i64
} = {
  def start = 0i64
  def step = 1i64
}

def next : i64 = counter.start + counter.step
--                               ^^^^^^^^^^^^ error[E0201]: unknown name `counter.step`
