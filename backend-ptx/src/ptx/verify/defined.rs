//! Registers are written before they are read.

use super::{Checker, Violation};
use crate::ptx::flow::Flow;
use crate::ptx::func::{Func, Reg};
use crate::ptx::inst::Operand;
use crate::ptx::operands::Access;

/// Every register is written on every way to where it is read.
///
/// Of registers that are written once, the place of the write must dominate. For the others, whole sets are passed along
/// the edges; they are few.
pub(super) fn defined(check: &Checker<'_>, flow: &Flow) -> Result<(), Violation> {
    let func = check.func;
    let mut writes = vec![0u32; func.regs.len()];
    let mut place = vec![(0, 0); func.regs.len()];
    for (b, block) in func.blocks.iter().enumerate() {
        for (l, line) in block.lines.iter().enumerate() {
            line.inst.accesses(&mut |access, _| {
                if let Access::Def(reg) = access {
                    writes[reg.0 as usize] += if line.guard.is_some() { 2 } else { 1 };
                    place[reg.0 as usize] = (b, l);
                }
            });
        }
    }
    let several = several(func, flow, &writes);
    for &b in &flow.order {
        let mut here = several.at(b);
        let once = |reg: Reg, at: (usize, usize)| {
            let write = place[reg.0 as usize];
            writes[reg.0 as usize] == 1
                && if write.0 == b {
                    write.1 < at.1
                } else {
                    flow.dominates(write.0, b)
                }
        };
        let read = |here: &Bits, operand: Operand, at: (usize, usize)| match operand {
            Operand::Reg(reg) if !once(reg, at) && !several.has(here, reg) => Err(check.wrong(
                at,
                format!("register {} is read before it is written", reg.0),
            )),
            Operand::Reg(_) | Operand::Imm(_) => Ok(()),
        };
        let block = &func.blocks[b];
        for (l, line) in block.lines.iter().enumerate() {
            let mut all = line
                .guard
                .map_or(Ok(()), |g| read(&here, g.reg.into(), (b, l)));
            line.inst.accesses(&mut |access, _| match access {
                Access::Use(operand) if all.is_ok() => all = read(&here, operand, (b, l)),
                Access::Def(reg) if line.guard.is_none() => several.add(&mut here, reg),
                Access::Use(_) | Access::Def(_) => {}
            });
            all?;
        }
        let mut all = Ok(());
        block.end.uses(&mut |operand| {
            if all.is_ok() {
                all = read(&here, operand, (b, block.lines.len()));
            }
        });
        all?;
    }
    Ok(())
}

/// A set of those registers that are written in several places.
type Bits = Vec<u64>;

/// Which of the registers written in several places are written before each block.
struct Several {
    number: Vec<u32>,
    before: Vec<Option<Bits>>,
    words: usize,
}

impl Several {
    fn has(&self, set: &Bits, reg: Reg) -> bool {
        let n = self.number[reg.0 as usize];
        n != u32::MAX && set[n as usize / 64] >> (n % 64) & 1 == 1
    }
    fn add(&self, set: &mut Bits, reg: Reg) {
        let n = self.number[reg.0 as usize];
        if n != u32::MAX {
            set[n as usize / 64] |= 1 << (n % 64);
        }
    }
    fn at(&self, block: usize) -> Bits {
        self.before[block]
            .clone()
            .unwrap_or_else(|| vec![0; self.words])
    }
}

fn several(func: &Func, flow: &Flow, writes: &[u32]) -> Several {
    let mut number = vec![u32::MAX; writes.len()];
    let mut count = 0;
    for (reg, n) in writes.iter().enumerate() {
        if *n > 1 {
            number[reg] = count;
            count += 1;
        }
    }
    let words = count.div_ceil(64) as usize;
    let mut several = Several {
        number,
        before: vec![None; func.blocks.len()],
        words,
    };
    several.before[0] = Some(vec![0; words]);
    let mut changed = count > 0;
    while changed {
        changed = false;
        for &b in &flow.order {
            let mut after = several.at(b);
            for line in &func.blocks[b].lines {
                line.inst.accesses(&mut |access, _| {
                    if let (Access::Def(reg), None) = (access, line.guard) {
                        several.add(&mut after, reg);
                    }
                });
            }
            for &to in &flow.successors[b] {
                match &mut several.before[to] {
                    Some(known) => {
                        for (word, new) in known.iter_mut().zip(&after) {
                            changed |= *word & !new != 0;
                            *word &= new;
                        }
                    }
                    unknown @ None => {
                        *unknown = Some(after.clone());
                        changed = true;
                    }
                }
            }
        }
    }
    several
}
