//! Truth values of lanes as masks: in vectors as wide as those of the numbers that were compared, all bits of a lane or none.
//!
//! ```text
//! le.f32(x, 4.0)        i32x4 per vector of x
//! and.bool(p, q)        and of the vectors; one that has lanes of another width is made to fit
//! an assertion, a store the lanes apart, each 0 or 1
//! ```

use super::{Group, Lanes, Plan, Shape};
use crate::emit::Emit;
use crate::emit::library::RAW;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Opcode, Type, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;

/// The type of masks with so many lanes in a vector.
pub(super) fn mask_type(per: usize) -> Type {
    let lane = Type::int(128 / per as u16).expect("vectors have 2, 4, 8 or 16 lanes");
    lane.by(per as u32).expect("vectors have 128 bits")
}

impl Emit<'_, '_> {
    /// A truth value of lanes as a mask, if it is the comparison of numbers in vectors or made of masks.
    pub(super) fn packed_truth(
        &mut self,
        group: &mut Group<'_>,
        op: ScalarOp,
        args: &[Atom],
    ) -> Option<Lanes> {
        match op {
            ScalarOp::Cmp(op, ty) => self.packed_compare(group, op, ty, args),
            ScalarOp::Un(UnOp::IsNan, ty) => {
                group.plan.per_vector(ty)?;
                let numbers = self.packed(group, args[0]).into_iter();
                let masks = numbers.map(|a| self.b.ins().fcmp(FloatCC::Unordered, a, a));
                Some(Lanes::Mask(masks.collect()))
            }
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => {
                let per = group.masked(args)?;
                let mask = self.mask(group, args[0], per);
                let not = mask.into_iter().map(|mask| self.b.ins().bnot(mask));
                Some(Lanes::Mask(not.collect()))
            }
            ScalarOp::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor), ScalarType::Bool) => {
                let per = group.masked(args)?;
                let left = self.mask(group, args[0], per);
                let right = self.mask(group, args[1], per);
                let pairs = left.into_iter().zip(right);
                let both = pairs.map(|(a, b)| {
                    if op == BinOp::And {
                        self.b.ins().band(a, b)
                    } else if op == BinOp::Or {
                        self.b.ins().bor(a, b)
                    } else {
                        self.b.ins().bxor(a, b)
                    }
                });
                Some(Lanes::Mask(both.collect()))
            }
            ScalarOp::Convert(from, ScalarType::Bool) if from != ScalarType::Bool => {
                self.packed_convert(group, (from, ScalarType::Bool), args[0])
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => None,
        }
    }

    /// The comparison of numbers that are put in vectors. Indices that grow from lane to lane are not.
    fn packed_compare(
        &mut self,
        group: &mut Group<'_>,
        mut op: CmpOp,
        ty: ScalarType,
        args: &[Atom],
    ) -> Option<Lanes> {
        group.plan.per_vector(ty)?;
        if !group.plan.by_vectors && args.iter().any(|arg| group.is_linear(*arg)) {
            return None;
        }
        let is_narrow = ty == ScalarType::I64 && args.iter().all(|arg| group.is_narrow(*arg));
        let (ty, left, right) = if is_narrow {
            let [left, right] = [args[0], args[1]].map(|arg| self.narrow_lanes(group, arg));
            (ScalarType::I32, left, right)
        } else {
            let (less, [left, right]) = strictly(op, [args[0], args[1]]);
            op = less;
            let left = self.packed(group, left);
            (ty, left, self.packed(group, right))
        };
        let pairs = left.into_iter().zip(right);
        let masks = pairs.map(|(a, b)| match self.lowest_bit(op, ty, (a, b)) {
            Some(mask) => mask,
            None => self.compare(op, ty, a, b),
        });
        Some(Lanes::Mask(masks.collect()))
    }

    /// Whether the lowest bit of integers is set, or not, in wider registers: 0 and 1 less from 0 or from 1 is a mask, for which registers of 512
    /// bits need no mask register.
    fn lowest_bit(&mut self, op: CmpOp, ty: ScalarType, (a, b): (Value, Value)) -> Option<Value> {
        let wanted = self.in_all_lanes(b)?;
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(a).inst()?;
        let is_bit = dfg.insts[inst].opcode() == Opcode::Band
            && dfg
                .inst_args(inst)
                .iter()
                .any(|of| self.in_all_lanes(*of) == Some(1));
        let is_known = op == CmpOp::Eq && matches!(wanted, 0 | 1);
        if self.parts == 1 || !ty.is_integer() || !is_bit || !is_known {
            return None;
        }
        let lanes = dfg.value_type(a);
        Some(if wanted == 1 {
            self.b.ins().ineg(a)
        } else {
            let one = self.b.ins().iconst(lanes.lane_type(), 1);
            let one = self.b.ins().splat(lanes, one);
            self.b.ins().isub(a, one)
        })
    }

    /// The constant integer that is in all lanes of a vector, if it is one.
    fn in_all_lanes(&self, all: Value) -> Option<i64> {
        self.known(self.operand_of(Opcode::Splat, all)?)
    }

    /// A truth value as masks with so many lanes in a vector.
    pub(super) fn mask(&mut self, group: &mut Group<'_>, atom: Atom, per: usize) -> Vec<Value> {
        let ty = mask_type(per);
        let Some(var) = atom.as_var().filter(|v| group.plan.varies(*v)) else {
            let truth = self.atom(atom);
            let lane = self.b.ins().bmask(ty.lane_type(), truth);
            let all = self.b.ins().splat(ty, lane);
            return vec![all; group.plan.filled(per)];
        };
        if let Some(Lanes::Mask(masks)) = group.lanes.get(&var) {
            let masks = masks.clone();
            return self.with_lanes(masks, per, group.plan.parts);
        }
        let numbers: Vec<Value> = (0..group.plan.width)
            .map(|lane| {
                let truth = self.lane(group, var, lane);
                self.resize(truth, types::I8, ty.lane_type(), false)
            })
            .collect();
        let parts = numbers.chunks(per * group.plan.parts);
        parts
            .map(|part| {
                let ones = self.in_vector(ty, part, group.plan.parts);
                self.b.ins().ineg(ones)
            })
            .collect()
    }

    /// Masks made to have so many lanes in a vector.
    fn with_lanes(&mut self, mut masks: Vec<Value>, per: usize, parts: usize) -> Vec<Value> {
        loop {
            let have = self.b.func.dfg.value_type(masks[0]).lane_count() as usize;
            if have == per {
                return masks;
            }
            if have > per {
                let wider = |mask| self.extended(mask, true, parts);
                masks = masks.into_iter().flat_map(wider).collect();
            } else {
                let pairs = masks.chunks(2);
                let narrow = pairs.map(|pair| self.narrowed(pair[0], pair[1])).collect();
                masks = self.ordered(narrow, parts, Emit::apart);
            }
        }
    }

    /// Two masks in one with lanes half as wide; of wider ones, part by part.
    fn narrowed(&mut self, low: Value, high: Value) -> Value {
        if self.b.func.dfg.value_type(low) != types::I64X2 {
            return self.b.ins().snarrow(low, high);
        }
        let lower = std::array::from_fn(|i| (8 * (i / 4) + i % 4) as u8);
        self.bytes(low, high, lower, types::I32X4)
    }

    /// The lanes of masks apart, each 0 or 1.
    pub(super) fn truths(&mut self, masks: &[Value], parts: usize) -> Vec<Value> {
        let mut truths = Vec::new();
        for mask in masks {
            for part in self.parts_of(*mask, parts) {
                let lanes = self.b.func.dfg.value_type(part).lane_count();
                let bits = self.b.ins().vhigh_bits(types::I32, part);
                for i in 0..lanes {
                    let bit = self.b.ins().ushr_imm_u(bits, i64::from(i));
                    let bit = self.b.ins().ireduce(types::I8, bit);
                    truths.push(self.b.ins().band_imm_u(bit, 1));
                }
            }
        }
        truths
    }

    /// Whether a truth value holds in any lane.
    pub(super) fn any_lane(&mut self, group: &mut Group<'_>, cond: Atom) -> Value {
        self.any_lane_is(group, cond, true)
    }

    /// Whether a truth value is `wanted` in any lane.
    pub(super) fn any_lane_is(&mut self, group: &mut Group<'_>, cond: Atom, wanted: bool) -> Value {
        match cond.as_var().and_then(|v| group.lanes.get(&v)) {
            Some(Lanes::Mask(masks)) => {
                let mut any = masks.clone();
                if !wanted {
                    any = any.into_iter().map(|a| self.b.ins().bnot(a)).collect();
                }
                self.any_mask(any)
            }
            Some(Lanes::Many(_) | Lanes::Linear(..) | Lanes::Packed(_) | Lanes::Narrow(_))
            | None => {
                let mut any = self.in_shape(group, Shape::Many, cond);
                if !wanted {
                    any = any
                        .into_iter()
                        .map(|a| self.b.ins().bxor_imm_u(a, 1))
                        .collect();
                }
                let any = any.into_iter().reduce(|a, b| self.b.ins().bor(a, b));
                any.expect("groups have lanes")
            }
        }
    }

    /// Truth values of a group of points, whose first has the inner index `first`, put together with operators that are connectives:
    /// whether they hold in any lane or in all of them, which is one look at their masks. Nothing if there are other operators.
    pub(in crate::emit) fn group_truths(
        &mut self,
        plan: &Plan,
        kernel: &Kernel,
        ops: &[Operator<Mem>],
        first: Value,
    ) -> Option<Vec<Value>> {
        let connectives: Option<Vec<BinOp>> = ops.iter().map(connective).collect();
        let connectives = connectives?;
        let (index, _) = *kernel.space.last()?;
        let mut group = Group::new(plan, index, first);
        self.lanes_body(&mut group, &kernel.body);
        let truths = connectives.iter().zip(&kernel.body.result);
        let truths = truths.map(|(op, result)| {
            if *op == BinOp::Or {
                return self.any_lane_is(&mut group, *result, true);
            }
            let fails = self.any_lane_is(&mut group, *result, false);
            self.b.ins().bxor_imm_u(fails, 1)
        });
        Some(truths.collect())
    }

    /// Whether one of the masks holds in any lane.
    pub(super) fn any_mask(&mut self, masks: Vec<Value>) -> Value {
        let any = masks.into_iter().reduce(|a, b| self.b.ins().bor(a, b));
        self.b.ins().vany_true(any.expect("groups have lanes"))
    }

    /// The one or the other of vectors, lane by lane.
    pub(in crate::emit) fn blended(
        &mut self,
        masks: &[Value],
        yes: &[Value],
        no: &[Value],
    ) -> Vec<Value> {
        let mut chosen = Vec::new();
        for ((mask, yes), no) in masks.iter().zip(yes).zip(no) {
            let ty = self.b.func.dfg.value_type(*yes);
            if self.parts > 1 && !self.is_comparison(*mask) {
                chosen.push(self.blended_lanes(*mask, *yes, *no));
                continue;
            }
            let mask = if self.b.func.dfg.value_type(*mask) == ty {
                *mask
            } else {
                self.b.ins().bitcast(ty, RAW, *mask)
            };
            chosen.push(self.b.ins().bitselect(mask, *yes, *no));
        }
        chosen
    }

    /// Whether Cranelift sees of itself that all bits of a lane are set, or none.
    fn is_comparison(&self, mask: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(mask).inst();
        let opcode = inst.map(|inst| dfg.insts[inst].opcode());
        matches!(opcode, Some(Opcode::Icmp | Opcode::Fcmp))
    }

    /// The one or the other of vectors by masks that were computed with.
    fn blended_lanes(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        let ty = self.b.func.dfg.value_type(yes);
        let lanes = match self.b.func.dfg.value_type(mask).lane_bits() {
            32 => types::I32X4,
            64 => types::I64X2,
            _ => types::I8X16,
        };
        let [mask, yes, no] = [mask, yes, no].map(|v| {
            if self.b.func.dfg.value_type(v) == lanes {
                return v;
            }
            self.b.ins().bitcast(lanes, RAW, v)
        });
        let chosen = self.b.ins().blendv(mask, yes, no);
        if lanes == ty {
            return chosen;
        }
        self.b.ins().bitcast(ty, RAW, chosen)
    }
}

/// What is not more than a constant, or not less, is less than the next one, or more than the one before: one comparison of vectors, and not the
/// opposite of one.
fn strictly(op: CmpOp, [left, right]: [Atom; 2]) -> (CmpOp, [Atom; 2]) {
    let next = |atom: Atom, step: i64| {
        Some(Atom::Const(match atom {
            Atom::Const(Const::I64(n)) => Const::I64(n.checked_add(step)?),
            Atom::Const(Const::I32(n)) => Const::I32(n.checked_add(step as i32)?),
            Atom::Const(_) | Atom::Var(_) => return None,
        }))
    };
    if op == CmpOp::Le {
        if let Some(before) = next(left, -1) {
            return (CmpOp::Lt, [before, right]);
        }
        if let Some(behind) = next(right, 1) {
            return (CmpOp::Lt, [left, behind]);
        }
    }
    (op, [left, right])
}

/// Whether an operator is the conjunction or the disjunction of its operands, and which.
fn connective(op: &Operator<Mem>) -> Option<BinOp> {
    let [stm] = &op.lam.body.stms[..] else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(connective @ (BinOp::And | BinOp::Or), ScalarType::Bool), args) =
        &stm.exp
    else {
        return None;
    };
    let of = |v: &Var| args.contains(&Atom::Var(*v));
    let result = [Atom::Var(stm.binds[0])];
    let is_it = op.lam.params.len() == 2 && op.lam.params.iter().all(of);
    (is_it && op.lam.body.result == result).then_some(*connective)
}

impl Group<'_> {
    /// How many lanes the masks of the first of these truth values have in a vector, if one of them is a mask.
    pub(super) fn masked(&self, atoms: &[Atom]) -> Option<usize> {
        let mut vars = atoms.iter().filter_map(|atom| atom.as_var());
        vars.find_map(|v| match self.lanes.get(&v) {
            Some(Lanes::Mask(masks)) => Some(self.plan.filled(masks.len())),
            Some(Lanes::Many(_) | Lanes::Linear(..) | Lanes::Packed(_) | Lanes::Narrow(_))
            | None => None,
        })
    }

    /// Whether a number grows by a constant from lane to lane.
    pub(super) fn is_linear(&self, atom: Atom) -> bool {
        let lanes = atom.as_var().and_then(|v| self.lanes.get(&v));
        matches!(lanes, Some(Lanes::Linear(..)))
    }
}
