//! Whether a module is well-formed: widths, types that operations have, state spaces, registers written before they are
//! read, jumps and calls that go somewhere, and instructions of all lanes only where all lanes come together.

mod defined;
mod rules;

use super::flow::Flow;
use super::func::{BlockId, Func, FuncId, Kind, Module, Reg, Term};
use super::inst::{Inst, Operand};
use super::operands::Access;
use super::require;
use super::types::{Class, Space, Ty};

/// A violated rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The function.
    pub func: String,
    /// The block and the number of the line in it; the end of a block comes after its lines.
    pub at: (usize, usize),
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (block, line) = self.at;
        write!(
            f,
            "{}: block {block}, line {line}: {}",
            self.func, self.what
        )
    }
}

/// Bytes of shared memory that a block has without asking for more.
pub(crate) const SHARED: u64 = 48 << 10;

type Check = Result<(), String>;

/// Verifies a module for devices of capability `target`.
pub fn verify(module: &Module, target: u32) -> Result<(), Violation> {
    module.funcs.iter().try_for_each(|func| {
        let check = Checker {
            module,
            func,
            target,
        };
        check.shape()?;
        let flow = Flow::of(func);
        defined::defined(&check, &flow)?;
        check.convergence(&flow)
    })
}

struct Checker<'a> {
    module: &'a Module,
    func: &'a Func,
    target: u32,
}

impl Checker<'_> {
    fn wrong(&self, at: (usize, usize), what: impl Into<String>) -> Violation {
        Violation {
            func: self.func.name.clone(),
            at,
            what: what.into(),
        }
    }

    /// Every instruction by itself, and where blocks lead.
    fn shape(&self) -> Result<(), Violation> {
        if self.func.blocks.is_empty() {
            return Err(self.wrong((0, 0), "there is no block"));
        }
        self.variables().map_err(|what| self.wrong((0, 0), what))?;
        for (b, block) in self.func.blocks.iter().enumerate() {
            for (l, line) in block.lines.iter().enumerate() {
                let guard = line.guard.map(|g| g.reg);
                self.inst(&line.inst, guard)
                    .map_err(|what| self.wrong((b, l), what))?;
            }
            self.term(&block.end)
                .map_err(|what| self.wrong((b, block.lines.len()), what))?;
        }
        Ok(())
    }

    fn variables(&self) -> Check {
        if let Some(threads) = self.func.threads()
            && (threads == 0 || threads > 1024 || threads % 32 != 0)
        {
            return Err(format!("a block of {threads} threads"));
        }
        for var in &self.func.vars {
            match var.space {
                Space::Global => return Err(format!("{} is in global memory", var.name)),
                Space::Shared if self.func.threads().is_none() => {
                    return Err(format!("{} is shared, in a function", var.name));
                }
                Space::Shared | Space::Local => {}
            }
            if !matches!(var.elem, 1 | 2 | 4 | 8 | 16) {
                return Err(format!("{} has elements of {} bytes", var.name, var.elem));
            }
        }
        let sized = self.func.vars.iter().filter(|var| var.is_sized_by_launch());
        if sized.count() > 1 {
            return Err("two variables whose length a launch says".to_owned());
        }
        let shared = self.func.shared();
        if shared > SHARED {
            return Err(format!("{shared} bytes of shared memory"));
        }
        Ok(())
    }

    fn is(&self, reg: Reg, class: Class) -> Check {
        match self.func.class(reg) {
            Some(found) if found == class => Ok(()),
            Some(found) => Err(format!("register {} is {found:?}, not {class:?}", reg.0)),
            None => Err(format!("register {} does not exist", reg.0)),
        }
    }

    fn operand(&self, operand: Operand, class: Class) -> Check {
        match operand {
            Operand::Reg(reg) => self.is(reg, class),
            Operand::Imm(_) => Ok(()),
        }
    }

    fn inst(&self, inst: &Inst, guard: Option<Reg>) -> Check {
        guard.map_or(Ok(()), |reg| self.is(reg, Class::Pred))?;
        if guard.is_some() && (inst.is_collective() || matches!(inst, Inst::Call { .. })) {
            return Err("an instruction of all lanes is guarded".to_owned());
        }
        let needs = require::of_inst(inst).target;
        if needs > self.target {
            return Err(format!("needs sm_{needs}"));
        }
        rules::rules(inst)?;
        if let Inst::Call { fun, results, args } = inst {
            return self.call(*fun, results, args);
        }
        if let Inst::AddressOf { var, .. } = inst
            && *var as usize >= self.func.vars.len()
        {
            return Err(format!("there is no variable {var}"));
        }
        if let Inst::Param { ty, offset, .. } = inst {
            self.param(*ty, *offset)?;
        }
        let mut all = Ok(());
        inst.accesses(&mut |access, class| {
            let class = class.unwrap_or(Class::B32);
            let one = match access {
                Access::Def(reg) => self.is(reg, class),
                Access::Use(operand) => self.operand(operand, class),
            };
            if all.is_ok() {
                all = one;
            }
        });
        all
    }

    fn param(&self, ty: Ty, offset: u32) -> Check {
        let size = match &self.func.kind {
            Kind::Entry { params, .. } => *params,
            Kind::Device { params, .. } => 8 * params.len() as u32,
        };
        if ty.bytes() == 0 || !offset.is_multiple_of(ty.bytes()) || offset + ty.bytes() > size {
            return Err(format!("no parameter of {ty:?} is at {offset}"));
        }
        Ok(())
    }

    fn call(&self, fun: FuncId, results: &[Reg], args: &[Operand]) -> Check {
        let callee = self.module.func(fun).ok_or("there is no such function")?;
        let Kind::Device {
            params,
            results: formals,
        } = &callee.kind
        else {
            return Err("a kernel is called".to_owned());
        };
        if params.len() != args.len() || formals.len() != results.len() {
            return Err(format!(
                "{} is called with a wrong number of values",
                callee.name
            ));
        }
        for (arg, class) in args.iter().zip(params) {
            self.operand(*arg, *class)?;
        }
        for (result, class) in results.iter().zip(formals) {
            self.is(*result, *class)?;
        }
        Ok(())
    }

    fn term(&self, end: &Term) -> Check {
        let mut all = Ok(());
        end.successors(&mut |BlockId(to)| {
            if to as usize >= self.func.blocks.len() {
                all = Err(format!("there is no block {to}"));
            }
        });
        all?;
        match end {
            Term::Jump(_) => Ok(()),
            Term::Branch { cond, .. } => self.is(cond.reg, Class::Pred),
            Term::Return(values) => {
                let formals = match &self.func.kind {
                    Kind::Entry { .. } => &[],
                    Kind::Device { results, .. } => results.as_slice(),
                };
                if values.len() != formals.len() {
                    return Err("a wrong number of results".to_owned());
                }
                values
                    .iter()
                    .zip(formals)
                    .try_for_each(|(value, class)| self.operand(*value, *class))
            }
        }
    }

    /// No instruction of all lanes stands between a branch on which lanes may part and the place where they meet again.
    fn convergence(&self, flow: &Flow) -> Result<(), Violation> {
        let blocks = &self.func.blocks;
        let first = |b: usize| blocks[b].lines.iter().position(|l| l.inst.is_collective());
        if (0..blocks.len()).all(|b| first(b).is_none()) {
            return Ok(());
        }
        let mut seen = vec![usize::MAX; blocks.len()];
        for (b, block) in blocks.iter().enumerate() {
            if !flow.is_reachable(b) || !matches!(block.end, Term::Branch { uniform: false, .. }) {
                continue;
            }
            let join = flow.join(b);
            let mut open = flow.successors[b].clone();
            while let Some(inside) = open.pop() {
                if Some(inside) == join || seen[inside] == b {
                    continue;
                }
                seen[inside] = b;
                if let Some(line) = first(inside) {
                    let what = format!("lanes that part in block {b} have not met again");
                    return Err(self.wrong((inside, line), what));
                }
                open.extend(&flow.successors[inside]);
            }
        }
        Ok(())
    }
}
