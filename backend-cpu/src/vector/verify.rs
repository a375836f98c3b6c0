//! What holds of a function of the vector IR: operands have the types that operations take, are defined once and before their uses, and
//! blocks get what their parameters are.

use super::ir::{Address, Cell, Conv, Elem, Function, Op, Terminator, Type, Value, VecOp};
use midend::analysis::dominators::{Dominators, reverse_post_order};
use std::collections::HashMap;

/// What is wrong with a function: one line for each fault.
pub(crate) fn verify(f: &Function) -> Result<(), String> {
    let mut verifier = Verifier {
        f,
        faults: Vec::new(),
    };
    verifier.definitions();
    for (k, block) in f.blocks.iter().enumerate() {
        for inst in &block.insts {
            if let Err(why) = verifier.op(&inst.op, inst.result.map(|v| f.ty(v))) {
                verifier.fault(format!("{}: {why}", inst.op));
            }
        }
        match &block.end {
            Some(end) => verifier.end(end),
            None => verifier.fault(format!("b{k} does not end")),
        }
    }
    match verifier.faults.is_empty() {
        true => Ok(()),
        false => Err(verifier.faults.join("\n")),
    }
}

struct Verifier<'a> {
    f: &'a Function,
    faults: Vec<String>,
}

/// Where a value is defined: after so many instructions of a block, whose parameters are defined before all.
struct Point {
    block: usize,
    after: usize,
}

/// The dominators of the blocks of a function.
fn dominators(f: &Function) -> Dominators {
    let targets = |block: usize| {
        let end = f.blocks[block].end.iter();
        end.flat_map(Terminator::targets)
            .map(|(target, _)| target.0 as usize)
    };
    let mut predecessors = vec![Vec::new(); f.blocks.len()];
    for block in 0..f.blocks.len() {
        for target in targets(block) {
            predecessors[target].push(block);
        }
    }
    let successors: Vec<Vec<usize>> = (0..f.blocks.len()).map(|b| targets(b).collect()).collect();
    Dominators::of(&reverse_post_order(&successors, 0), &predecessors)
}

/// Fails unless something holds.
fn ensure(holds: bool, why: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(why.to_owned()),
    }
}

impl Verifier<'_> {
    fn fault(&mut self, why: String) {
        self.faults.push(why);
    }

    /// Each value is defined once, and its definition dominates its uses. What cannot be reached uses anything.
    fn definitions(&mut self) {
        let f = self.f;
        let mut defined: HashMap<Value, Point> = HashMap::new();
        for (block, data) in f.blocks.iter().enumerate() {
            let params = data.params.iter().map(|value| (*value, 0));
            let insts = data.insts.iter().enumerate();
            let results = insts.filter_map(|(k, inst)| Some((inst.result?, k + 1)));
            for (value, after) in params.chain(results) {
                if defined.insert(value, Point { block, after }).is_some() {
                    self.fault(format!("{value} is defined twice"));
                }
            }
        }
        let dominators = dominators(f);
        for (block, data) in f.blocks.iter().enumerate() {
            if !dominators.is_reachable(block) {
                continue;
            }
            let mut undefined = Vec::new();
            let mut uses = |value: Value, before: usize| {
                let is_defined = defined
                    .get(&value)
                    .is_some_and(|at| match at.block == block {
                        true => at.after <= before,
                        false => dominators.dominates(at.block, block),
                    });
                if !is_defined {
                    undefined.push(value);
                }
            };
            for (k, inst) in data.insts.iter().enumerate() {
                inst.op.operands(&mut |value| uses(value, k));
            }
            if let Some(end) = &data.end {
                end.operands(&mut |value| uses(value, data.insts.len()));
            }
            for value in undefined {
                self.fault(format!(
                    "b{block} uses {value}, which is not defined on every way there"
                ));
            }
        }
    }

    fn end(&mut self, end: &Terminator) {
        for (block, args) in end.targets() {
            let params = &self.f.data(block).params;
            let types =
                |values: &[Value]| -> Vec<Type> { values.iter().map(|v| self.f.ty(*v)).collect() };
            if types(params) != types(args) {
                self.fault(format!("{end}: not what the parameters of {block} are"));
            }
        }
        let cond = match end {
            Terminator::Branch(value, ..) | Terminator::Return(value) => *value,
            Terminator::Jump(..) => return,
        };
        if self.f.ty(cond) != Type::I32 {
            self.fault(format!("{end}: {cond} has not 32 bits"));
        }
    }

    fn is_int(&self, value: Value) -> Result<(), String> {
        let int = matches!(self.f.ty(value), Type::I32 | Type::I64);
        ensure(int, "an operand is no uniform integer")
    }

    fn is(&self, value: Value, ty: Type) -> Result<(), String> {
        ensure(self.f.ty(value) == ty, &format!("{value} is not {ty}"))
    }

    fn vector(&self, value: Value) -> Result<Elem, String> {
        match self.f.ty(value) {
            Type::Vector(elem) => Ok(elem),
            Type::I32 | Type::I64 | Type::Mask => Err(format!("{value} is no vector")),
        }
    }

    fn address(&self, at: &Address) -> Result<(), String> {
        self.is(at.base, Type::I64)?;
        match at.index {
            Some((index, scale)) => {
                self.is(index, Type::I64)?;
                ensure(matches!(scale, 1 | 2 | 4 | 8), "a scale that there is not")
            }
            None => Ok(()),
        }
    }

    fn mask(&self, mask: Option<Value>) -> Result<(), String> {
        mask.map_or(Ok(()), |mask| self.is(mask, Type::Mask))
    }

    /// Whether elements of vectors are those in memory.
    fn cell(&self, cell: Cell, elem: Elem) -> Result<(), String> {
        let fits = match cell {
            Cell::I8 | Cell::U8 | Cell::I16 | Cell::U16 => elem == Elem::I32,
            Cell::W32 => elem.bytes() == 4,
            Cell::W64 => elem.bytes() == 8,
        };
        ensure(fits, "elements of another size than in memory")
    }

    /// An operation, which yields something of a type.
    fn op(&self, op: &Op, result: Option<Type>) -> Result<(), String> {
        let yields = |ty: Type| ensure(result == Some(ty), &format!("yields {ty}"));
        let f = self.f;
        match op {
            Op::Const(_) => ensure(
                matches!(result, Some(Type::I32 | Type::I64)),
                "yields an integer",
            ),
            Op::Int(_, a, b) => {
                self.is_int(*a)?;
                self.is(*b, f.ty(*a))?;
                yields(f.ty(*a))
            }
            Op::Compare(_, a, b) => {
                self.is_int(*a)?;
                self.is(*b, f.ty(*a))?;
                yields(Type::I32)
            }
            Op::Select(cond, a, b) => {
                self.is(*cond, Type::I32)?;
                self.is_int(*a)?;
                self.is(*b, f.ty(*a))?;
                yields(f.ty(*a))
            }
            Op::Extend(a, bits, _) => {
                self.is(*a, Type::I32)?;
                ensure(matches!(bits, 8 | 16 | 32), "so many bits are not extended")?;
                self.is_int_type(result)
            }
            Op::Low(a) => {
                self.is(*a, Type::I64)?;
                yields(Type::I32)
            }
            Op::TrailingZeros(a) => {
                self.is(*a, Type::I32)?;
                yields(Type::I32)
            }
            Op::Load(cell, at) => {
                self.address(at)?;
                match cell {
                    Cell::W64 => yields(Type::I64),
                    Cell::I8 | Cell::U8 | Cell::I16 | Cell::U16 | Cell::W32 => yields(Type::I32),
                }
            }
            Op::Store(cell, at, value) => {
                self.address(at)?;
                match cell {
                    Cell::W64 => self.is(*value, Type::I64),
                    Cell::I8 | Cell::U8 | Cell::I16 | Cell::U16 | Cell::W32 => {
                        self.is(*value, Type::I32)
                    }
                }
            }
            Op::SlotAddress(slot) => {
                ensure((slot.0 as usize) < f.slots.len(), "no such slot")?;
                yields(Type::I64)
            }
            Op::Call(_, args) => {
                ensure(args.len() <= 6, "many arguments")?;
                args.iter().try_for_each(|a| self.is(*a, Type::I64))?;
                ensure(
                    matches!(result, None | Some(Type::I64)),
                    "yields 64 bits or nothing",
                )
            }
            Op::Splat(a) => match f.ty(*a) {
                Type::I32 => yields(Type::Vector(Elem::I32)),
                Type::I64 => yields(Type::Vector(Elem::I64)),
                Type::Vector(_) | Type::Mask => Err("the operand is no uniform integer".to_owned()),
            },
            Op::SplatLoad(cell, at) => {
                self.address(at)?;
                let elem = self.yields_vector(result)?;
                self.cell(*cell, elem)?;
                ensure(cell.bytes() >= 4, "narrow elements")
            }
            Op::VecConst(_) => self.yields_vector(result).map(|_| ()),
            Op::Iota => {
                let elem = self.yields_vector(result)?;
                ensure(!elem.is_float(), "yields integers")
            }
            Op::First(a) => match self.vector(*a)?.bytes() {
                4 => yields(Type::I32),
                _ => yields(Type::I64),
            },
            Op::Vec(op, a, b) => {
                let elem = self.vector(*a)?;
                self.is(*b, f.ty(*a))?;
                let fits = match op {
                    VecOp::Div => elem.is_float(),
                    VecOp::Shl
                    | VecOp::Sar
                    | VecOp::Shr
                    | VecOp::MinS
                    | VecOp::MaxS
                    | VecOp::MinU
                    | VecOp::MaxU => !elem.is_float(),
                    VecOp::Add | VecOp::Sub | VecOp::Mul | VecOp::And | VecOp::Or | VecOp::Xor => {
                        true
                    }
                };
                ensure(fits, "not of such elements")?;
                yields(f.ty(*a))
            }
            Op::VecUn(_, a) => {
                ensure(self.vector(*a)?.is_float(), "not of floats")?;
                yields(f.ty(*a))
            }
            Op::Fma(a, b, c) => {
                ensure(self.vector(*a)?.is_float(), "not of floats")?;
                self.is(*b, f.ty(*a))?;
                self.is(*c, f.ty(*a))?;
                yields(f.ty(*a))
            }
            Op::VecCompare(_, a, b) => {
                ensure(!self.vector(*a)?.is_float(), "not of integers")?;
                self.is(*b, f.ty(*a))?;
                yields(Type::Mask)
            }
            Op::FloatCompare(_, a, b) => {
                ensure(self.vector(*a)?.is_float(), "not of floats")?;
                self.is(*b, f.ty(*a))?;
                yields(Type::Mask)
            }
            Op::Blend(mask, a, b) => {
                self.is(*mask, Type::Mask)?;
                self.vector(*a)?;
                self.is(*b, f.ty(*a))?;
                yields(f.ty(*a))
            }
            Op::Convert(conv, a) => {
                let (from, to) = (self.vector(*a)?, self.yields_vector(result)?);
                let fits = match conv {
                    Conv::Bits => from.bytes() == to.bytes(),
                    Conv::Float => to.is_float() && from != to,
                    Conv::Unsigned => to.is_float() && !from.is_float(),
                    Conv::Trunc | Conv::TruncU => from.is_float() && !to.is_float(),
                    Conv::SignExtend | Conv::ZeroExtend => (from, to) == (Elem::I32, Elem::I64),
                    Conv::Wrap => (from, to) == (Elem::I64, Elem::I32),
                };
                ensure(fits, "there is no such conversion")
            }
            Op::MaskConst(_) => yields(Type::Mask),
            Op::MaskSplat(a) => {
                self.is(*a, Type::I32)?;
                yields(Type::Mask)
            }
            Op::FirstLanes(n) => {
                self.is(*n, Type::I64)?;
                yields(Type::Mask)
            }
            Op::Mask(_, a, b) => {
                self.is(*a, Type::Mask)?;
                self.is(*b, Type::Mask)?;
                yields(Type::Mask)
            }
            Op::MaskNot(a) => {
                self.is(*a, Type::Mask)?;
                yields(Type::Mask)
            }
            Op::Any(a) | Op::MaskBits(a) => {
                self.is(*a, Type::Mask)?;
                yields(Type::I32)
            }
            Op::VecLoad(cell, at, mask) => {
                self.address(at)?;
                self.mask(*mask)?;
                let elem = self.yields_vector(result)?;
                self.cell(*cell, elem)
            }
            Op::VecStore(cell, at, value, mask) => {
                self.address(at)?;
                self.mask(*mask)?;
                let elem = self.vector(*value)?;
                self.cell(*cell, elem)
            }
            Op::Gather(cell, base, index, mask) => {
                self.scattered(*base, *index, *mask)?;
                let elem = self.yields_vector(result)?;
                ensure(cell.bytes() >= 4, "narrow elements")?;
                self.cell(*cell, elem)
            }
            Op::Scatter(cell, base, index, value, mask) => {
                self.scattered(*base, *index, *mask)?;
                let elem = self.vector(*value)?;
                ensure(cell.bytes() >= 4, "narrow elements")?;
                self.cell(*cell, elem)
            }
        }
    }

    fn scattered(&self, base: Value, index: Value, mask: Option<Value>) -> Result<(), String> {
        self.is(base, Type::I64)?;
        ensure(!self.vector(index)?.is_float(), "indices that are floats")?;
        self.mask(mask)
    }

    fn is_int_type(&self, result: Option<Type>) -> Result<(), String> {
        let int = matches!(result, Some(Type::I32 | Type::I64));
        ensure(int, "yields an integer")
    }

    fn yields_vector(&self, result: Option<Type>) -> Result<Elem, String> {
        match result {
            Some(Type::Vector(elem)) => Ok(elem),
            Some(Type::I32 | Type::I64 | Type::Mask) | None => Err("yields a vector".to_owned()),
        }
    }
}
