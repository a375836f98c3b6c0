//! Whether code is made to be widened: every operation on vectors keeps to the lanes of its part, and what has a value in some
//! parts alone goes nowhere where all are wanted.

use super::{PART, PAST, Refused, Width};
use cranelift_codegen::ir::{Function, Inst, InstructionData, Opcode, Value, types};
use std::collections::HashMap;

/// Bytes or elements that are few beside the distance that marks loads of parts.
const FAR: u64 = 1 << 24;

/// How many parts of its result an operation fills, by how many are filled of its least filled operand.
const fn fills(opcode: Opcode, least: usize, width: Width) -> usize {
    let all = width.parts();
    let one = matches!(
        opcode,
        Opcode::ScalarToVector | Opcode::Insertlane | Opcode::X86Pmaddubsw
    );
    let two = matches!(opcode, Opcode::X86Pmulhrsw | Opcode::UsubSat);
    // Of two halves, or from the lower one.
    let of_half = matches!(
        opcode,
        Opcode::UaddSat | Opcode::SwidenLow | Opcode::UwidenLow
    );
    if one {
        1
    } else if two {
        2
    } else if of_half && 2 * least >= all {
        all
    } else {
        least
    }
}

/// The operations on vectors that are known to compute each part from the same part of their operands, or to read the first
/// part alone (`Extractlane`, `VhighBits`), which is meant wherever they are emitted, or to stand for something else.
fn is_known(opcode: Opcode, width: Width) -> bool {
    let of_four = matches!(
        opcode,
        Opcode::UsubSat
            | Opcode::UaddSat
            | Opcode::Uload16x4
            | Opcode::Uload32x2
            | Opcode::IaddPairwise
    );
    of_four && width == Width::Four || keeps_to_lanes(opcode)
}

const fn keeps_to_lanes(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Fadd
            | Opcode::Fsub
            | Opcode::Fmul
            | Opcode::Fdiv
            | Opcode::Sqrt
            | Opcode::Fma
            | Opcode::Fneg
            | Opcode::Fabs
            | Opcode::Nearest
            | Opcode::Floor
            | Opcode::Ceil
            | Opcode::FcvtFromSint
            | Opcode::FcvtToSintSat
            | Opcode::VhighBits
            | Opcode::Trunc
            | Opcode::Fcmp
            | Opcode::Icmp
            | Opcode::Iadd
            | Opcode::Isub
            | Opcode::Ineg
            | Opcode::Imul
            | Opcode::Smin
            | Opcode::Smax
            | Opcode::Umin
            | Opcode::Umax
            | Opcode::Ishl
            | Opcode::Ushr
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Bnot
            | Opcode::Bitselect
            | Opcode::Blendv
            | Opcode::Bitcast
            | Opcode::Splat
            | Opcode::Vconst
            | Opcode::VanyTrue
            | Opcode::Extractlane
            | Opcode::FvpromoteLow
            | Opcode::Fvdemote
            | Opcode::Shuffle
            | Opcode::Load
            | Opcode::Store
            | Opcode::Jump
            | Opcode::Brif
            | Opcode::X86Pmulhrsw
            | Opcode::X86Pmaddubsw
            | Opcode::ScalarToVector
            | Opcode::Insertlane
            | Opcode::SwidenLow
            | Opcode::UwidenLow
            | Opcode::Snarrow
            | Opcode::Unarrow
            | Opcode::SaddSat
            | Opcode::SsubSat
            | Opcode::AvgRound
            | Opcode::Sshr
    )
}

/// Looks at a function before it is compiled.
pub(crate) fn check(func: &Function, width: Width) -> Result<(), Refused> {
    let dfg = &func.dfg;
    let is_vector = |v: Value| dfg.value_type(v).is_vector();
    let vectors: Vec<Inst> = func
        .layout
        .blocks()
        .flat_map(|block| func.layout.block_insts(block))
        .filter(|inst| {
            let mut values = dfg.inst_values(*inst);
            values.any(is_vector) || dfg.inst_results(*inst).iter().any(|v| is_vector(*v))
        })
        .collect();
    for inst in &vectors {
        let opcode = dfg.insts[*inst].opcode();
        if !is_known(opcode, width) {
            return Err(Refused(format!("{opcode} of vectors")));
        }
    }
    if vectors.iter().any(|inst| of_wider(func, *inst)) {
        return Err(Refused(
            "a product of numbers that were made wider".to_owned(),
        ));
    }
    // Arguments of a call take registers alone, or its place on the stack would move.
    for signature in dfg.signatures.values() {
        if signature.params.len() > 6 || signature.returns.len() > 2 {
            return Err(Refused("a call with many arguments".to_owned()));
        }
    }
    if func_insts(func).any(|inst| mark(func, inst).is_some())
        && func_insts(func).any(|inst| is_far(func, inst))
    {
        return Err(Refused(
            "a far address beside marks in addresses".to_owned(),
        ));
    }
    let filled = filled(func, &vectors, width);
    for inst in vectors {
        let opcode = dfg.insts[inst].opcode();
        let wants_all = matches!(opcode, Opcode::Store | Opcode::VanyTrue) && !of_part(func, inst);
        if wants_all && dfg.inst_args(inst).iter().any(|v| filled.contains_key(v)) {
            return Err(Refused(format!("{opcode} of a part")));
        }
    }
    Ok(())
}

/// Whether Cranelift computes a product from what its operands were made of, and not lane by lane.
fn of_wider(func: &Function, inst: Inst) -> bool {
    let dfg = &func.dfg;
    let wider = |v: &Value| {
        let of = dfg.value_def(dfg.resolve_aliases(*v)).inst();
        let of = of.map(|inst| dfg.insts[inst].opcode());
        matches!(of, Some(Opcode::SwidenLow | Opcode::UwidenLow))
    };
    dfg.insts[inst].opcode() == Opcode::Imul && dfg.inst_args(inst).iter().all(wider)
}

fn func_insts(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    let blocks = func.layout.blocks();
    blocks.flat_map(|block| func.layout.block_insts(block))
}

/// The mark of an instruction, and what is meant beside it.
fn mark(func: &Function, inst: Inst) -> Option<i32> {
    func.dfg.insts[inst]
        .load_store_offset()
        .filter(|distance| *distance >= PART)
}

/// Whether an instruction has the mark of a load or a store of one part.
fn of_part(func: &Function, inst: Inst) -> bool {
    mark(func, inst).is_some_and(|distance| distance < PAST)
}

/// Whether an instruction may make a distance that is taken for that mark: what is so far in bytes or elements, and no address by itself.
fn is_far(func: &Function, inst: Inst) -> bool {
    let far = |n: i64| (FAR..1 << 33).contains(&n.unsigned_abs());
    let dfg = &func.dfg;
    let distance = dfg.insts[inst].load_store_offset().unwrap_or_default();
    let added = |v: &Value| {
        let constant = dfg.value_def(*v).inst().map(|inst| dfg.insts[inst]);
        let unused = 64_u32.saturating_sub(dfg.value_type(*v).bits());
        matches!(constant, Some(InstructionData::UnaryImm { imm, .. }) if far(imm.bits() << unused >> unused))
    };
    let adds = matches!(dfg.insts[inst].opcode(), Opcode::Iadd | Opcode::Isub);
    far(i64::from(distance)) && mark(func, inst).is_none()
        || adds && dfg.inst_args(inst).iter().any(added)
}

/// The vectors of which not all parts have a value, with how many have.
fn filled(func: &Function, vectors: &[Inst], width: Width) -> HashMap<Value, usize> {
    let dfg = &func.dfg;
    let all = width.parts();
    let mut filled: HashMap<Value, usize> = HashMap::new();
    loop {
        let mut changed = false;
        let mut note = |filled: &mut HashMap<Value, usize>, v: Value, parts: usize| {
            let known = filled.get(&v).copied().unwrap_or(all);
            if parts < known {
                filled.insert(v, parts);
                changed = true;
            }
        };
        for inst in vectors {
            let opcode = dfg.insts[*inst].opcode();
            let args = dfg.inst_args(*inst).iter();
            let least = args.filter_map(|v| filled.get(v)).min().copied();
            // Stands for lanes of the lower half made wider.
            let whole = opcode == Opcode::IaddPairwise
                && dfg.value_type(dfg.first_result(*inst)) == types::I16X8
                && 2 * least.unwrap_or(all) >= all;
            let parts = if opcode == Opcode::Uload32x2 || whole {
                all
            } else if opcode == Opcode::Uload16x4 {
                2
            } else if of_part(func, *inst) {
                1
            } else {
                fills(opcode, least.unwrap_or(all), width)
            };
            for result in dfg.inst_results(*inst) {
                if dfg.value_type(*result).is_vector() {
                    note(&mut filled, *result, parts);
                }
            }
            let targets =
                dfg.insts[*inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            for target in targets {
                let params = dfg.block_params(target.block(&dfg.value_lists));
                for (param, arg) in params.iter().zip(target.args(&dfg.value_lists)) {
                    let parts = arg.as_value().and_then(|v| filled.get(&v).copied());
                    if let Some(parts) = parts {
                        note(&mut filled, *param, parts);
                    }
                }
            }
        }
        if !changed {
            return filled;
        }
    }
}
