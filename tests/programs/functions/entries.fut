-- Entry points: functions, values, names of parameters, opaque and tuple results; comments that document.

-- | A value: evaluated once.
entry answer : i64 = 6 * 7

-- ==
-- entry: answer
-- input { } output { 42i64 }

-- | `main` is an entry point without being declared as one.
def main (x: i64) : i64 = x + answer

-- ==
-- input { 1i64 } output { 43i64 }

type account = {balance: i64, active: bool}

-- | A record has no value syntax: another entry point takes it apart.
entry new (balance: i64) : account = {balance, active = true}

entry balance (a: account) : i64 = if a.active then a.balance else 0

-- ==
-- entry: balance
-- script input { new 5i64 } output { 5i64 }

-- A tuple is several results.
-- ==
-- entry: both
-- input { 1i32 true } output { true 1i32 }
entry both (x: i32) (y: bool) : (bool, i32) = (y, x)

-- Size parameters are not passed.
-- ==
-- entry: sizes
-- input { [[1, 2, 3], [4, 5, 6]] } output { 2i64 3i64 }
entry sizes [n] [m] (_: [n][m]i32) : (i64, i64) = (n, m)
