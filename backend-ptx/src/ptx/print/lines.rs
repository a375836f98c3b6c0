//! The text of each instruction.

use super::{Text, binary, memory_ty, order, scope, space, ty, unary};
use crate::ptx::func::{FuncId, Kind, Reg};
use crate::ptx::inst::{Inst, Operand};
use crate::ptx::ops::{Binary, Ternary};
use crate::ptx::types::{Class, Ty};
use std::fmt::Write;

impl Text<'_> {
    pub(super) fn inst(&self, inst: &Inst) -> String {
        let reg = |r: &Reg| self.reg(*r);
        match inst {
            Inst::Mov { ty: of, dst, src } => {
                format!("mov{} {}, {}", ty(*of), reg(dst), self.value(*src, *of))
            }
            Inst::Special { dst, which } => format!("mov.u32 {}, {}", reg(dst), which.name()),
            Inst::AddressOf { dst, var } => {
                let var = self.func.vars.get(*var as usize);
                let name = var.map_or("?", |v| v.name.as_str());
                format!("mov.u32 {}, {name}", reg(dst))
            }
            Inst::Pack { dst, low, high } => format!(
                "mov.b64 {}, {{{}, {}}}",
                reg(dst),
                self.value(*low, Ty::B32),
                self.value(*high, Ty::B32)
            ),
            Inst::Unpack { low, high, src } => {
                format!("mov.b64 {{{}, {}}}, {}", reg(low), reg(high), reg(src))
            }
            Inst::Select {
                ty: of,
                dst,
                yes,
                no,
                cond,
            } => format!(
                "selp{} {}, {}, {}, {}",
                ty(*of),
                reg(dst),
                self.value(*yes, *of),
                self.value(*no, *of),
                reg(cond)
            ),
            Inst::Unary { op, ty: of, dst, a } => {
                format!("{} {}, {}", unary(*op, *of), reg(dst), self.value(*a, *of))
            }
            Inst::Binary {
                op,
                ty: of,
                dst,
                a,
                b,
            } => {
                let second = if matches!(op, Binary::Shl | Binary::Shr) {
                    Ty::U32
                } else {
                    *of
                };
                let (a, b) = (self.value(*a, *of), self.value(*b, second));
                format!("{} {}, {a}, {b}", binary(*op, *of), reg(dst))
            }
            Inst::Ternary {
                op,
                ty: of,
                dst,
                a,
                b,
                c,
            } => self.ternary(*op, *of, *dst, [*a, *b, *c]),
            Inst::Compare {
                op,
                ty: of,
                dst,
                a,
                b,
            } => {
                let (a, b) = (self.value(*a, *of), self.value(*b, *of));
                format!("setp.{}{} {}, {a}, {b}", op.name(), ty(*of), reg(dst))
            }
            Inst::Convert {
                to,
                from,
                round,
                dst,
                src,
            } => {
                // 16 bits of no type are an unsigned integer to a conversion.
                let name = |of: Ty| if of == Ty::B16 { ".u16" } else { ty(of) };
                let (to, from) = (name(*to), name(*from));
                format!("cvt{}{to}{from} {}, {}", round.name(), reg(dst), reg(src))
            }
            Inst::Param {
                ty: of,
                dst,
                offset,
            } => format!("ld.param{} {}, [env+{offset}]", memory_ty(*of), reg(dst)),
            Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Atom { .. }
            | Inst::Fence(_)
            | Inst::CopyAsync { .. }
            | Inst::Prefetch(_)
            | Inst::CopyCommit
            | Inst::CopyWait(_) => self.memory(inst),
            Inst::Shuffle { .. }
            | Inst::Vote { .. }
            | Inst::Match { .. }
            | Inst::Reduce { .. }
            | Inst::WarpSync { .. }
            | Inst::Barrier
            | Inst::BarrierVote { .. }
            | Inst::Nanosleep(_) => self.together(inst),
            Inst::Call { fun, results, args } => self.call(*fun, results, args),
        }
    }

    fn ternary(&self, op: Ternary, of: Ty, dst: Reg, [a, b, c]: [Operand; 3]) -> String {
        let (second, third) = match op {
            Ternary::Fma | Ternary::Mad => (of, of),
            Ternary::MadWide if of == Ty::S32 => (of, Ty::S64),
            Ternary::MadWide => (of, Ty::U64),
            Ternary::Bfe => (Ty::U32, Ty::U32),
            Ternary::ShfLeft | Ternary::ShfRight | Ternary::Prmt => (of, Ty::U32),
        };
        format!(
            "{}{} {}, {}, {}, {}",
            op.name(),
            ty(of),
            self.reg(dst),
            self.value(a, of),
            self.value(b, second),
            self.value(c, third)
        )
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "called for instructions on memory alone"
    )]
    fn memory(&self, inst: &Inst) -> String {
        let width = |n: usize| {
            if n == 1 {
                String::new()
            } else {
                format!(".v{n}")
            }
        };
        match inst {
            Inst::Load {
                space: place,
                order: o,
                cache,
                ty: of,
                dst,
                at,
                undefined: _,
            } => {
                let all = dst.iter().map(|d| self.reg(*d)).collect();
                format!(
                    "ld{}{}{}{}{} {}, {}",
                    order(*o),
                    space(*place),
                    cache.name(),
                    width(dst.len()),
                    memory_ty(*of),
                    self.vector(all),
                    self.at(at)
                )
            }
            Inst::Store {
                space: place,
                order: o,
                cache,
                ty: of,
                src,
                at,
                any_wins: _,
            } => {
                let all = src.iter().map(|s| self.value(*s, *of)).collect();
                format!(
                    "st{}{}{}{}{} {}, {}",
                    order(*o),
                    space(*place),
                    cache.name(),
                    width(src.len()),
                    memory_ty(*of),
                    self.at(at),
                    self.vector(all)
                )
            }
            Inst::Atom {
                op,
                space: place,
                order: o,
                ty: of,
                dst,
                at,
                a,
                b,
            } => {
                let mut values = self.value(*a, *of);
                if let Some(b) = b {
                    let _ = write!(values, ", {}", self.value(*b, *of));
                }
                let (word, result) = match dst {
                    Some(dst) => ("atom", format!("{}, ", self.reg(*dst))),
                    None => ("red", String::new()),
                };
                format!(
                    "{word}{}{}.{}{} {result}{}, {values}",
                    order(*o),
                    space(*place),
                    op.name(),
                    ty(*of),
                    self.at(at)
                )
            }
            Inst::Fence(s) => format!("fence.acq_rel{}", scope(*s)),
            Inst::CopyAsync { bytes, to, from } => {
                let cache = if *bytes == 16 { "cg" } else { "ca" };
                let (to, from) = (self.at(to), self.at(from));
                format!("cp.async.{cache}.shared.global {to}, {from}, {bytes}")
            }
            Inst::Prefetch(at) => format!("prefetch.global.L2 {}", self.at(at)),
            Inst::CopyWait(n) => format!("cp.async.wait_group {n}"),
            _ => String::from("cp.async.commit_group"),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "called for instructions of several lanes alone"
    )]
    fn together(&self, inst: &Inst) -> String {
        let word = |o: &Operand| self.value(*o, Ty::B32);
        match inst {
            Inst::Shuffle {
                mode,
                dst,
                ok,
                src,
                lane,
                clamp,
                mask,
            } => {
                let ok = ok.map_or(String::new(), |p| format!("|{}", self.reg(p)));
                format!(
                    "shfl.sync.{}.b32 {}{ok}, {}, {}, {}, {}",
                    mode.name(),
                    self.reg(*dst),
                    word(src),
                    word(lane),
                    word(clamp),
                    word(mask)
                )
            }
            Inst::Vote {
                mode,
                dst,
                src,
                mask,
            } => {
                let of = match mode.result() {
                    Class::Pred => "pred",
                    Class::B16 | Class::B32 | Class::B64 => "b32",
                };
                format!(
                    "vote.sync.{}.{of} {}, {}, {}",
                    mode.name(),
                    self.reg(*dst),
                    self.reg(*src),
                    word(mask)
                )
            }
            Inst::Match {
                ty: of,
                dst,
                src,
                mask,
            } => format!(
                "match.any.sync{} {}, {}, {}",
                ty(*of),
                self.reg(*dst),
                self.reg(*src),
                word(mask)
            ),
            Inst::Reduce {
                op,
                ty: of,
                dst,
                src,
                mask,
            } => format!(
                "redux.sync.{}{} {}, {}, {}",
                op.name(),
                ty(*of),
                self.reg(*dst),
                self.reg(*src),
                word(mask)
            ),
            Inst::WarpSync { mask } => format!("bar.warp.sync {}", word(mask)),
            Inst::BarrierVote { op, dst, src } => format!(
                "bar.red.{}.pred {}, 0, {}",
                op.name(),
                self.reg(*dst),
                self.reg(*src)
            ),
            Inst::Nanosleep(time) => format!("nanosleep.u32 {}", self.value(*time, Ty::U32)),
            _ => String::from("bar.sync 0"),
        }
    }

    /// A call, with the slots that its values pass through.
    fn call(&self, fun: FuncId, results: &[Reg], args: &[Operand]) -> String {
        let mut text = String::from("{");
        let callee = self.module.func(fun);
        let name = callee.map_or("?", |f| f.name.as_str());
        let params: &[Class] = match callee.map(|f| &f.kind) {
            Some(Kind::Device { params, .. }) => params,
            Some(Kind::Entry { .. }) | None => &[],
        };
        if !args.is_empty() {
            let _ = write!(text, " .param .align 8 .b8 given[{}];", 8 * args.len());
        }
        for (i, (arg, class)) in args.iter().zip(params).enumerate() {
            let of = Ty::of_class(*class);
            let value = self.value(*arg, of);
            let _ = write!(text, " st.param{} [given+{}], {value};", ty(of), 8 * i);
        }
        let given = if args.is_empty() { "" } else { "given" };
        if results.is_empty() {
            let _ = write!(text, " call {name}, ({given});");
        } else {
            let size = 8 * results.len();
            let _ = write!(
                text,
                " .param .align 8 .b8 back[{size}]; call (back), {name}, ({given});"
            );
        }
        for (i, result) in results.iter().enumerate() {
            let of = Ty::of_class(self.func.class(*result).unwrap_or(Class::B64));
            let result = self.reg(*result);
            let _ = write!(text, " ld.param{} {result}, [back+{}];", ty(of), 8 * i);
        }
        text + " }"
    }
}
