//! The interpreter of the vector IR: what functions mean. It has the memory that a test gives it, and calls nothing.

use super::ir::{
    Address, Block, Cell, Cond, Conv, Elem, FloatCond, Function, IntOp, MaskOp, Op, Terminator,
    Type, Value, VecOp, VecUn,
};

/// Where the stack slots of a function begin.
const SLOTS: u64 = 1 << 60;
/// The most instructions that are executed.
const FUEL: usize = 1 << 20;

/// What a value is at run time: bits of an integer, of the elements of a vector, or of a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Int(u64),
    Vector(Vec<u64>),
    Mask(Vec<bool>),
}

struct Machine<'a> {
    f: &'a Function,
    values: Vec<Option<Word>>,
    /// The memory, and the address where it begins.
    memory: &'a mut [u8],
    base: u64,
    slots: Vec<u8>,
    /// Where each stack slot is.
    starts: Vec<u64>,
}

/// Runs a function on arguments and memory that begins at an address; what it returns.
pub(crate) fn run(f: &Function, args: &[u64], base: u64, memory: &mut [u8]) -> Result<u32, String> {
    let mut end = SLOTS;
    let starts = f.slots.iter().map(|bytes| {
        let start = end;
        end += u64::from(*bytes).next_multiple_of(64);
        start
    });
    let starts: Vec<u64> = starts.collect();
    let mut machine = Machine {
        f,
        values: vec![None; f.types.len()],
        memory,
        base,
        slots: vec![0; (end - SLOTS) as usize],
        starts,
    };
    let params = &f.data(Block(0)).params;
    for (param, arg) in params.iter().zip(args) {
        machine.set(*param, Word::Int(*arg));
    }
    let mut at = Block(0);
    let mut fuel = FUEL;
    loop {
        let data = f.data(at);
        for inst in &data.insts {
            fuel = fuel.checked_sub(1).ok_or("out of fuel")?;
            let word = machine
                .op(&inst.op, inst.result)
                .map_err(|why| format!("{}: {why}", inst.op))?;
            if let (Some(result), Some(word)) = (inst.result, word) {
                machine.set(result, word);
            }
        }
        let end = data.end.as_ref().ok_or("a block without an end")?;
        let (next, args) = match end {
            Terminator::Jump(block, args) => (*block, args),
            Terminator::Branch(cond, yes, no) => {
                let (block, args) = if machine.int(*cond)? as u32 != 0 {
                    yes
                } else {
                    no
                };
                (*block, args)
            }
            Terminator::Return(value) => return Ok(machine.int(*value)? as u32 & 0xff),
        };
        let words: Vec<Word> = args
            .iter()
            .map(|a| machine.word(*a).cloned())
            .collect::<Result<_, _>>()?;
        for (param, word) in f.data(next).params.iter().zip(words) {
            machine.set(*param, word);
        }
        at = next;
    }
}

/// The number that bits of an element are, of integers as signed ones.
fn signed(elem: Elem, bits: u64) -> i64 {
    match elem.bytes() {
        4 => i64::from(bits as u32 as i32),
        _ => bits as i64,
    }
}

fn float(elem: Elem, bits: u64) -> f64 {
    match elem {
        Elem::F32 => f64::from(f32::from_bits(bits as u32)),
        Elem::F64 | Elem::I32 | Elem::I64 => f64::from_bits(bits),
    }
}

fn cut(elem: Elem, bits: u64) -> u64 {
    match elem.bytes() {
        4 => u64::from(bits as u32),
        _ => bits,
    }
}

fn compare(cond: Cond, wide: bool, a: u64, b: u64) -> bool {
    let (x, y) = match wide {
        true => (a as i64, b as i64),
        false => (i64::from(a as u32 as i32), i64::from(b as u32 as i32)),
    };
    let (u, v) = match wide {
        true => (a, b),
        false => (u64::from(a as u32), u64::from(b as u32)),
    };
    match cond {
        Cond::Eq => u == v,
        Cond::Ne => u != v,
        Cond::LtS => x < y,
        Cond::LeS => x <= y,
        Cond::LtU => u < v,
        Cond::LeU => u <= v,
    }
}

impl Machine<'_> {
    fn set(&mut self, value: Value, word: Word) {
        self.values[value.0 as usize] = Some(word);
    }

    fn word(&self, value: Value) -> Result<&Word, String> {
        self.values[value.0 as usize]
            .as_ref()
            .ok_or_else(|| format!("{value} has no value"))
    }

    fn int(&self, value: Value) -> Result<u64, String> {
        match self.word(value)? {
            Word::Int(n) => Ok(*n),
            Word::Vector(_) | Word::Mask(_) => Err(format!("{value} is no integer")),
        }
    }

    fn vector(&self, value: Value) -> Result<Vec<u64>, String> {
        match self.word(value)? {
            Word::Vector(elements) => Ok(elements.clone()),
            Word::Int(_) | Word::Mask(_) => Err(format!("{value} is no vector")),
        }
    }

    fn mask(&self, value: Value) -> Result<Vec<bool>, String> {
        match self.word(value)? {
            Word::Mask(lanes) => Ok(lanes.clone()),
            Word::Int(_) | Word::Vector(_) => Err(format!("{value} is no mask")),
        }
    }

    fn active(&self, mask: Option<Value>) -> Result<Vec<bool>, String> {
        match mask {
            Some(mask) => self.mask(mask),
            None => Ok(vec![true; self.f.lanes]),
        }
    }

    fn address(&self, at: &Address) -> Result<u64, String> {
        let index = match at.index {
            Some((index, scale)) => self.int(index)?.wrapping_mul(u64::from(scale)),
            None => 0,
        };
        let base = self.int(at.base)?.wrapping_add(index);
        Ok(base.wrapping_add_signed(i64::from(at.offset)))
    }

    fn bytes(&mut self, at: u64, count: usize) -> Result<&mut [u8], String> {
        let (memory, start) = match at.checked_sub(SLOTS) {
            Some(start) => (&mut self.slots[..], start),
            None => (&mut self.memory[..], at.wrapping_sub(self.base)),
        };
        let start = usize::try_from(start).map_err(|_| "outside of memory")?;
        let end = start.checked_add(count).ok_or("outside of memory")?;
        memory
            .get_mut(start..end)
            .ok_or_else(|| "outside of memory".to_owned())
    }

    fn load(&mut self, cell: Cell, at: u64) -> Result<u64, String> {
        let bytes = self.bytes(at, cell.bytes())?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        Ok(match cell {
            Cell::I8 => u64::from(bits as i8 as u32),
            Cell::I16 => u64::from(bits as i16 as u32),
            Cell::U8 | Cell::U16 | Cell::W32 | Cell::W64 => bits,
        })
    }

    fn store(&mut self, cell: Cell, at: u64, bits: u64) -> Result<(), String> {
        let count = cell.bytes();
        let bytes = self.bytes(at, count)?;
        bytes.copy_from_slice(&bits.to_le_bytes()[..count]);
        Ok(())
    }

    fn map2(
        &self,
        (a, b): (Value, Value),
        f: impl Fn(Elem, u64, u64) -> u64,
    ) -> Result<Option<Word>, String> {
        let elem = self.f.elem(a);
        let pairs = self.vector(a)?.into_iter().zip(self.vector(b)?);
        Ok(Some(Word::Vector(
            pairs.map(|(x, y)| cut(elem, f(elem, x, y))).collect(),
        )))
    }

    fn test2(
        &self,
        (a, b): (Value, Value),
        f: impl Fn(Elem, u64, u64) -> bool,
    ) -> Result<Option<Word>, String> {
        let elem = self.f.elem(a);
        let pairs = self.vector(a)?.into_iter().zip(self.vector(b)?);
        Ok(Some(Word::Mask(
            pairs.map(|(x, y)| f(elem, x, y)).collect(),
        )))
    }

    fn op(&mut self, op: &Op, result: Option<Value>) -> Result<Option<Word>, String> {
        let f = self.f;
        let lanes = f.lanes;
        let ty = result.map(|v| f.ty(v));
        let int = |n: u64| -> Result<Option<Word>, String> {
            Ok(Some(Word::Int(match ty {
                Some(Type::I32) => u64::from(n as u32),
                Some(Type::I64 | Type::Vector(_) | Type::Mask) | None => n,
            })))
        };
        match op {
            Op::Const(n) => int(*n as u64),
            Op::Int(op, a, b) => {
                let wide = f.ty(*a) == Type::I64;
                int(integer(*op, wide, self.int(*a)?, self.int(*b)?)?)
            }
            Op::Compare(cond, a, b) => {
                let wide = f.ty(*a) == Type::I64;
                int(u64::from(compare(
                    *cond,
                    wide,
                    self.int(*a)?,
                    self.int(*b)?,
                )))
            }
            Op::Select(cond, a, b) => {
                let chosen = if self.int(*cond)? as u32 != 0 { a } else { b };
                int(self.int(*chosen)?)
            }
            Op::Extend(a, bits, is_signed) => {
                let a = self.int(*a)?;
                let shift = 64 - u32::from(*bits);
                int(match is_signed {
                    true => ((a << shift) as i64 >> shift) as u64,
                    false => a << shift >> shift,
                })
            }
            Op::Low(a) => int(self.int(*a)?),
            Op::TrailingZeros(a) => int(u64::from((self.int(*a)? as u32).trailing_zeros())),
            Op::Load(cell, at) => {
                let at = self.address(at)?;
                int(self.load(*cell, at)?)
            }
            Op::Store(cell, at, value) => {
                let (at, value) = (self.address(at)?, self.int(*value)?);
                self.store(*cell, at, value).map(|()| None)
            }
            Op::SlotAddress(slot) => int(self.starts[slot.0 as usize]),
            Op::Call(..) => Err("calls are not interpreted".to_owned()),
            Op::Splat(a) => Ok(Some(Word::Vector(vec![self.int(*a)?; lanes]))),
            Op::SplatLoad(cell, at) => {
                let at = self.address(at)?;
                Ok(Some(Word::Vector(vec![self.load(*cell, at)?; lanes])))
            }
            Op::VecConst(bits) => Ok(Some(Word::Vector(vec![*bits; lanes]))),
            Op::Iota => Ok(Some(Word::Vector((0..lanes as u64).collect()))),
            Op::First(a) => int(self.vector(*a)?[0]),
            Op::Vec(op, a, b) => self.map2((*a, *b), |elem, x, y| binary(*op, elem, x, y)),
            Op::VecUn(op, a) => self.map2((*a, *a), |elem, x, _| unary(*op, elem, x)),
            Op::Fma(a, b, c) => {
                let elem = f.elem(*a);
                let (a, b, c) = (self.vector(*a)?, self.vector(*b)?, self.vector(*c)?);
                let sums = (0..lanes).map(|k| fused(elem, a[k], b[k], c[k]));
                Ok(Some(Word::Vector(sums.collect())))
            }
            Op::VecCompare(cond, a, b) => self.test2((*a, *b), |elem, x, y| {
                compare(*cond, elem.bytes() == 8, x, y)
            }),
            Op::FloatCompare(cond, a, b) => self.test2((*a, *b), |elem, x, y| {
                let (x, y) = (float(elem, x), float(elem, y));
                let unordered = x.is_nan() || y.is_nan();
                match cond {
                    FloatCond::Eq => x == y,
                    FloatCond::Lt => x < y,
                    FloatCond::Le => x <= y,
                    FloatCond::One => !unordered && x != y,
                    FloatCond::Une => unordered || x != y,
                    FloatCond::Unordered => unordered,
                }
            }),
            Op::Blend(mask, a, b) => {
                let (mask, a, b) = (self.mask(*mask)?, self.vector(*a)?, self.vector(*b)?);
                let chosen = (0..lanes).map(|k| if mask[k] { a[k] } else { b[k] });
                Ok(Some(Word::Vector(chosen.collect())))
            }
            Op::Convert(conv, a) => {
                let from = f.elem(*a);
                let to = result.map_or(from, |v| f.elem(v));
                let all = self.vector(*a)?.into_iter();
                let all = all.map(|x| cut(to, convert(*conv, from, to, x)));
                Ok(Some(Word::Vector(all.collect())))
            }
            Op::MaskConst(all) => Ok(Some(Word::Mask(vec![*all; lanes]))),
            Op::MaskSplat(a) => Ok(Some(Word::Mask(vec![self.int(*a)? & 1 == 1; lanes]))),
            Op::FirstLanes(n) => {
                let n = self.int(*n)? as usize;
                Ok(Some(Word::Mask((0..lanes).map(|k| k < n).collect())))
            }
            Op::Mask(op, a, b) => {
                let pairs = self.mask(*a)?.into_iter().zip(self.mask(*b)?);
                let all = pairs.map(|(x, y)| match op {
                    MaskOp::And => x && y,
                    MaskOp::Or => x || y,
                    MaskOp::Xor => x != y,
                    MaskOp::AndNot => x && !y,
                });
                Ok(Some(Word::Mask(all.collect())))
            }
            Op::MaskNot(a) => {
                let all = self.mask(*a)?.into_iter().map(|x| !x);
                Ok(Some(Word::Mask(all.collect())))
            }
            Op::Any(a) => int(u64::from(self.mask(*a)?.contains(&true))),
            Op::MaskBits(a) => {
                let lanes = self.mask(*a)?.into_iter().enumerate();
                int(lanes.map(|(k, x)| u64::from(x) << k).sum())
            }
            Op::VecLoad(cell, at, mask) => {
                let (at, mask) = (self.address(at)?, self.active(*mask)?);
                let mut all = vec![0; lanes];
                for k in (0..lanes).filter(|k| mask[*k]) {
                    all[k] = self.load(*cell, at + (k * cell.bytes()) as u64)?;
                }
                Ok(Some(Word::Vector(all)))
            }
            Op::VecStore(cell, at, value, mask) => {
                let (at, mask) = (self.address(at)?, self.active(*mask)?);
                let value = self.vector(*value)?;
                for k in (0..lanes).filter(|k| mask[*k]) {
                    self.store(*cell, at + (k * cell.bytes()) as u64, value[k])?;
                }
                Ok(None)
            }
            Op::Gather(cell, base, index, mask) => {
                let (addresses, mask) = self.addresses(*cell, *base, *index, *mask)?;
                let mut all = vec![0; lanes];
                for k in (0..lanes).filter(|k| mask[*k]) {
                    all[k] = self.load(*cell, addresses[k])?;
                }
                Ok(Some(Word::Vector(all)))
            }
            Op::Scatter(cell, base, index, value, mask) => {
                let (addresses, mask) = self.addresses(*cell, *base, *index, *mask)?;
                let value = self.vector(*value)?;
                for k in (0..lanes).filter(|k| mask[*k]) {
                    self.store(*cell, addresses[k], value[k])?;
                }
                Ok(None)
            }
        }
    }

    /// The addresses of elements at indices, and which lanes are active.
    fn addresses(
        &self,
        cell: Cell,
        base: Value,
        index: Value,
        mask: Option<Value>,
    ) -> Result<(Vec<u64>, Vec<bool>), String> {
        let elem = self.f.elem(index);
        let base = self.int(base)?;
        let all = self.vector(index)?.into_iter().map(|n| {
            let offset = signed(elem, n).wrapping_mul(cell.bytes() as i64);
            base.wrapping_add_signed(offset)
        });
        Ok((all.collect(), self.active(mask)?))
    }
}

fn integer(op: IntOp, wide: bool, a: u64, b: u64) -> Result<u64, String> {
    let elem = if wide { Elem::I64 } else { Elem::I32 };
    let bits = 8 * elem.bytes() as u32;
    let (x, y) = (signed(elem, a), signed(elem, b));
    let (u, v) = (cut(elem, a), cut(elem, b));
    let amount = (b as u32) % bits;
    Ok(match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::Mul => a.wrapping_mul(b),
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::Shl => a << amount,
        IntOp::Sar => (x >> amount) as u64,
        IntOp::Shr => u >> amount,
        IntOp::DivS => x.checked_div(y).ok_or("a divisor of 0 or -1")? as u64,
        IntOp::DivU => u.checked_div(v).ok_or("a divisor of 0")?,
        IntOp::RemU => u.checked_rem(v).ok_or("a divisor of 0")?,
    })
}

fn binary(op: VecOp, elem: Elem, a: u64, b: u64) -> u64 {
    if elem.is_float() && !matches!(op, VecOp::And | VecOp::Or | VecOp::Xor) {
        return match elem {
            Elem::F32 => {
                let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                u64::from(of_floats(op, x, [x + y, x - y, x * y, x / y]).to_bits())
            }
            Elem::F64 | Elem::I32 | Elem::I64 => {
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                of_floats(op, x, [x + y, x - y, x * y, x / y]).to_bits()
            }
        };
    }
    let (x, y) = (signed(elem, a), signed(elem, b));
    let (u, v) = (cut(elem, a), cut(elem, b));
    match op {
        VecOp::Add => a.wrapping_add(b),
        VecOp::Sub => a.wrapping_sub(b),
        VecOp::Mul => a.wrapping_mul(b),
        VecOp::Div => 0,
        VecOp::And => a & b,
        VecOp::Or => a | b,
        VecOp::Xor => a ^ b,
        VecOp::Shl => a.checked_shl(b as u32).unwrap_or(0),
        VecOp::Sar => x.checked_shr(b as u32).unwrap_or(x >> 63) as u64,
        VecOp::Shr => u.checked_shr(b as u32).unwrap_or(0),
        VecOp::MinS => x.min(y) as u64,
        VecOp::MaxS => x.max(y) as u64,
        VecOp::MinU => u.min(v),
        VecOp::MaxU => u.max(v),
    }
}

/// One of four results; the first operand for what floats do not have.
fn of_floats<T: Copy>(op: VecOp, x: T, [sum, difference, product, quotient]: [T; 4]) -> T {
    match op {
        VecOp::Add => sum,
        VecOp::Sub => difference,
        VecOp::Mul => product,
        VecOp::Div => quotient,
        VecOp::And
        | VecOp::Or
        | VecOp::Xor
        | VecOp::Shl
        | VecOp::Sar
        | VecOp::Shr
        | VecOp::MinS
        | VecOp::MaxS
        | VecOp::MinU
        | VecOp::MaxU => x,
    }
}

fn unary(op: VecUn, elem: Elem, a: u64) -> u64 {
    match elem {
        Elem::F32 => {
            let x = f32::from_bits(a as u32);
            u64::from(
                match op {
                    VecUn::Sqrt => x.sqrt(),
                    VecUn::Floor => x.floor(),
                    VecUn::Ceil => x.ceil(),
                    VecUn::Nearest => x.round_ties_even(),
                    VecUn::Trunc => x.trunc(),
                }
                .to_bits(),
            )
        }
        Elem::F64 | Elem::I32 | Elem::I64 => {
            let x = f64::from_bits(a);
            match op {
                VecUn::Sqrt => x.sqrt(),
                VecUn::Floor => x.floor(),
                VecUn::Ceil => x.ceil(),
                VecUn::Nearest => x.round_ties_even(),
                VecUn::Trunc => x.trunc(),
            }
            .to_bits()
        }
    }
}

fn fused(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    match elem {
        Elem::F32 => {
            let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        Elem::F64 | Elem::I32 | Elem::I64 => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }
    }
}

fn convert(conv: Conv, from: Elem, to: Elem, a: u64) -> u64 {
    let x = float(from, a);
    match conv {
        Conv::Bits | Conv::Wrap | Conv::ZeroExtend => cut(from, a),
        Conv::SignExtend => signed(from, a) as u64,
        Conv::Float => match (from, to) {
            (Elem::I32 | Elem::I64, Elem::F32) => u64::from((signed(from, a) as f32).to_bits()),
            (Elem::I32 | Elem::I64, _) => (signed(from, a) as f64).to_bits(),
            (Elem::F32 | Elem::F64, Elem::F32) => u64::from((x as f32).to_bits()),
            (Elem::F32 | Elem::F64, _) => x.to_bits(),
        },
        Conv::Unsigned => match to {
            Elem::F32 => u64::from((cut(from, a) as f32).to_bits()),
            Elem::F64 | Elem::I32 | Elem::I64 => (cut(from, a) as f64).to_bits(),
        },
        Conv::Trunc => {
            let limit = 2f64.powi(8 * to.bytes() as i32 - 1);
            match x.trunc() >= -limit && x.trunc() < limit {
                true => x as i64 as u64,
                false => 1 << (8 * to.bytes() - 1),
            }
        }
        Conv::TruncU => {
            let limit = 2f64.powi(8 * to.bytes() as i32);
            match x.trunc() >= 0.0 && x.trunc() < limit {
                true => x as u64,
                false => u64::MAX,
            }
        }
    }
}
