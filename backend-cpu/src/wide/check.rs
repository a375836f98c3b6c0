//! Whether code is made to be widened: every operation on vectors keeps to the lanes of its half, and what has a value in one
//! half alone goes nowhere where both are wanted.

use super::Refused;
use cranelift_codegen::ir::{Function, Inst, Opcode, Value};
use std::collections::HashSet;

/// The operations that make a vector which is no pair.
const fn makes_half(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::ScalarToVector | Opcode::Insertlane | Opcode::X86Pmaddubsw
    )
}

/// The operations on vectors that are known to compute each half from the same half of their operands, or to read the lower
/// half alone (`Extractlane`, `VhighBits`), which is meant wherever they are emitted.
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
            | Opcode::SwidenLow
            | Opcode::UwidenLow
            | Opcode::Snarrow
            | Opcode::Unarrow
            | Opcode::SaddSat
            | Opcode::Sshr
    )
}

/// The operations that make pairs of halves.
const fn makes_pair(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::X86Pmulhrsw | Opcode::SwidenLow | Opcode::UwidenLow
    )
}

/// Looks at a function before it is compiled.
pub(crate) fn check(func: &Function) -> Result<(), Refused> {
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
        if !(makes_half(opcode) || keeps_to_lanes(opcode)) {
            return Err(Refused(format!("{opcode} of vectors")));
        }
    }
    // Arguments of a call take registers alone, or its place on the stack would move.
    for signature in dfg.signatures.values() {
        if signature.params.len() > 6 || signature.returns.len() > 2 {
            return Err(Refused("a call with many arguments".to_owned()));
        }
    }
    let halves = halves(func, &vectors);
    for inst in vectors {
        let opcode = dfg.insts[inst].opcode();
        let wants_both = matches!(opcode, Opcode::Store | Opcode::VanyTrue);
        if wants_both && dfg.inst_args(inst).iter().any(|v| halves.contains(v)) {
            return Err(Refused(format!("{opcode} of half a pair")));
        }
    }
    Ok(())
}

/// The vectors that have a value in the lower half alone.
fn halves(func: &Function, vectors: &[Inst]) -> HashSet<Value> {
    let dfg = &func.dfg;
    let mut halves = HashSet::new();
    loop {
        let before = halves.len();
        for inst in vectors {
            let opcode = dfg.insts[*inst].opcode();
            let of_half = dfg.inst_args(*inst).iter().any(|v| halves.contains(v));
            let half = makes_half(opcode) || (of_half && !makes_pair(opcode));
            if half {
                let results = dfg.inst_results(*inst).iter();
                halves.extend(results.filter(|v| dfg.value_type(**v).is_vector()));
            }
            let targets =
                dfg.insts[*inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            for target in targets {
                let params = dfg.block_params(target.block(&dfg.value_lists));
                for (param, arg) in params.iter().zip(target.args(&dfg.value_lists)) {
                    if arg.as_value().is_some_and(|v| halves.contains(&v)) {
                        halves.insert(*param);
                    }
                }
            }
        }
        if halves.len() == before {
            return halves;
        }
    }
}
