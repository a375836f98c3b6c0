//! Writing functions: instructions are appended to the block at hand, blocks are laid out in the order in which they
//! are begun, and `if` and loops are built whole, so that inner code lies between what comes before and after.

use super::func::{Block, BlockId, Func, Guard, Kind, Line, Origin, Reg, Term, Variable};
use super::inst::{Address, Inst, Operand};
use super::ops::{Binary, Cache, Cmp, Round, Shuffle, Special, Ternary, Unary, Vote};
use super::types::{Class, Order, Space, Ty};

/// All lanes of a warp.
pub const FULL: Operand = Operand::Imm(0xffff_ffff);

/// A function under construction.
#[derive(Debug)]
pub struct Builder {
    func: Func,
    /// Lines and end of every block made so far, by number.
    blocks: Vec<(Vec<Line>, Option<Term>)>,
    /// Blocks in the order of the layout.
    layout: Vec<usize>,
    here: usize,
    origin: u32,
}

impl Builder {
    /// A function without code, ready for its first block.
    pub fn new(name: &str, kind: Kind) -> Self {
        let mut this = Self {
            func: Func {
                name: name.to_owned(),
                kind,
                regs: Vec::new(),
                vars: Vec::new(),
                blocks: Vec::new(),
                origins: vec![Origin::default()],
            },
            blocks: Vec::new(),
            layout: Vec::new(),
            here: 0,
            origin: 0,
        };
        let first = this.block();
        this.begin(first);
        this
    }

    /// A new register.
    pub fn reg(&mut self, class: Class) -> Reg {
        self.func.regs.push(class);
        Reg(self.func.regs.len() as u32 - 1)
    }

    /// The width of a register.
    pub fn class(&self, reg: Reg) -> Class {
        self.func.regs[reg.0 as usize]
    }

    /// A new variable in shared or local memory; its number.
    pub fn variable(&mut self, name: &str, space: Space, elem: u32, len: u32) -> u32 {
        let number = self.func.vars.len() as u32;
        self.func.vars.push(Variable {
            name: format!("{name}_{number}"),
            space,
            elem,
            len: len.max(1),
        });
        number
    }

    /// A new variable in shared memory, as long as a launch says; its number.
    pub fn sized_by_launch(&mut self, name: &str, elem: u32) -> u32 {
        let number = self.func.vars.len() as u32;
        // It is declared outside of the kernel.
        let name = format!("{}_{name}_{number}", self.func.name);
        self.func.vars.push(Variable {
            name,
            space: Space::Shared,
            elem,
            len: 0,
        });
        number
    }

    /// From here on, code comes from this place.
    pub fn origin(&mut self, origin: Origin) {
        if self.func.origins[self.origin as usize] != origin {
            self.func.origins.push(origin);
            self.origin = self.func.origins.len() as u32 - 1;
        }
    }

    /// The place that code comes from at the moment.
    pub fn origin_now(&self) -> Origin {
        self.func.origins[self.origin as usize].clone()
    }

    /// A block to be begun later.
    pub fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Goes on in a block that has no code yet; a block at hand that has no end falls through to it.
    pub fn begin(&mut self, block: BlockId) {
        if !self.layout.is_empty() && !self.is_ended() {
            self.end(Term::Jump(block));
        }
        self.here = block.0 as usize;
        self.layout.push(self.here);
    }

    /// The block at hand.
    pub fn block_now(&self) -> BlockId {
        BlockId(self.here as u32)
    }

    /// Whether the block at hand has an end, so that nothing more can be appended.
    pub fn is_ended(&self) -> bool {
        self.blocks[self.here].1.is_some()
    }

    /// Ends the block at hand. Code that cannot be reached has an end already, which stays.
    pub fn end(&mut self, term: Term) {
        let end = &mut self.blocks[self.here].1;
        if end.is_none() {
            *end = Some(term);
        }
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: BlockId) {
        self.end(Term::Jump(to));
    }

    /// Ends the block with a branch.
    pub fn branch(
        &mut self,
        cond: impl Into<Guard>,
        then: BlockId,
        otherwise: BlockId,
        uniform: bool,
    ) {
        let cond = cond.into();
        self.end(Term::Branch {
            cond,
            then,
            otherwise,
            uniform,
        });
    }

    /// Appends an instruction.
    pub fn inst(&mut self, inst: Inst) {
        self.push(None, inst);
    }

    /// Appends an instruction for the lanes where the guard holds.
    pub fn guarded(&mut self, guard: impl Into<Guard>, inst: Inst) {
        self.push(Some(guard.into()), inst);
    }

    fn push(&mut self, guard: Option<Guard>, inst: Inst) {
        if !self.is_ended() {
            let origin = self.origin;
            self.blocks[self.here].0.push(Line {
                guard,
                inst,
                origin,
            });
        }
    }

    /// The function, its blocks in the order of the layout.
    pub fn finish(mut self) -> Func {
        self.end(Term::Return(vec![]));
        let mut number = vec![0; self.blocks.len()];
        for (i, block) in self.layout.iter().enumerate() {
            number[*block] = i as u32;
        }
        let place = |b: &mut BlockId| b.0 = number[b.0 as usize];
        for block in &self.layout {
            let (lines, end) = std::mem::take(&mut self.blocks[*block]);
            let mut end = end.unwrap_or(Term::Return(vec![]));
            match &mut end {
                Term::Jump(to) => place(to),
                Term::Branch {
                    then, otherwise, ..
                } => {
                    place(then);
                    place(otherwise);
                }
                Term::Return(_) => {}
            }
            self.func.blocks.push(Block { lines, end });
        }
        self.func
    }
}

/// Instructions, each with a new register for its result.
impl Builder {
    /// A copy in a new register.
    pub fn mov(&mut self, ty: Ty, src: impl Into<Operand>) -> Reg {
        let dst = self.reg(ty.class());
        self.set(ty, dst, src);
        dst
    }
    /// Changes a register.
    pub fn set(&mut self, ty: Ty, dst: Reg, src: impl Into<Operand>) {
        let src = src.into();
        if src != Operand::Reg(dst) {
            self.inst(Inst::Mov { ty, dst, src });
        }
    }
    /// What the machine knows.
    pub fn special(&mut self, which: Special) -> Reg {
        let dst = self.reg(Class::B32);
        self.inst(Inst::Special { dst, which });
        dst
    }
    /// The address of a variable.
    pub fn address_of(&mut self, var: u32) -> Reg {
        let dst = self.reg(Class::B32);
        self.inst(Inst::AddressOf { dst, var });
        dst
    }
    /// An operation of one operand.
    pub fn un(&mut self, op: Unary, ty: Ty, a: impl Into<Operand>) -> Reg {
        let dst = self.reg(op.result(ty));
        let a = a.into();
        self.inst(Inst::Unary { op, ty, dst, a });
        dst
    }
    /// An operation of two operands.
    pub fn bin(&mut self, op: Binary, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(op.result(ty));
        self.bin_to(dst, op, ty, a, b);
        dst
    }
    /// An operation of two operands to a register that there is.
    pub fn bin_to(
        &mut self,
        dst: Reg,
        op: Binary,
        ty: Ty,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
    ) {
        let (a, b) = (a.into(), b.into());
        self.inst(Inst::Binary { op, ty, dst, a, b });
    }
    /// An operation of three operands.
    pub fn tern(&mut self, op: Ternary, ty: Ty, [a, b, c]: [Operand; 3]) -> Reg {
        let dst = self.reg(op.result(ty));
        self.inst(Inst::Ternary {
            op,
            ty,
            dst,
            a,
            b,
            c,
        });
        dst
    }
    /// A comparison.
    pub fn cmp(&mut self, op: Cmp, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(Class::Pred);
        let (a, b) = (a.into(), b.into());
        self.inst(Inst::Compare { op, ty, dst, a, b });
        dst
    }
    /// One of two values.
    pub fn select(
        &mut self,
        ty: Ty,
        cond: Reg,
        yes: impl Into<Operand>,
        no: impl Into<Operand>,
    ) -> Reg {
        let dst = self.reg(ty.class());
        let (yes, no) = (yes.into(), no.into());
        self.inst(Inst::Select {
            ty,
            dst,
            yes,
            no,
            cond,
        });
        dst
    }
    /// A conversion.
    pub fn convert(&mut self, to: Ty, from: Ty, round: Round, src: Reg) -> Reg {
        let dst = self.reg(to.class());
        self.inst(Inst::Convert {
            to,
            from,
            round,
            dst,
            src,
        });
        dst
    }
    /// A parameter.
    pub fn param(&mut self, ty: Ty, offset: u32) -> Reg {
        let dst = self.reg(ty.class());
        self.inst(Inst::Param { ty, dst, offset });
        dst
    }
    /// An ordinary load of one element.
    pub fn load(&mut self, space: Space, ty: Ty, at: impl Into<Address>) -> Reg {
        self.load_as(space, Order::Weak, ty, at)
    }
    /// A load of one element.
    pub fn load_as(&mut self, space: Space, order: Order, ty: Ty, at: impl Into<Address>) -> Reg {
        let dst = self.reg(ty.class());
        let at = at.into();
        self.inst(Inst::Load {
            space,
            order,
            cache: Cache::Usual,
            ty,
            dst: vec![dst],
            at,
            undefined: false,
        });
        dst
    }
    /// An ordinary store of one element.
    pub fn store(&mut self, space: Space, ty: Ty, at: impl Into<Address>, src: impl Into<Operand>) {
        let store = Inst::store(space, Order::Weak, ty, at.into(), src.into());
        self.inst(store);
    }
    /// Reads a register of another lane, and says whether that lane is in range.
    pub fn shuffle(
        &mut self,
        mode: Shuffle,
        src: Reg,
        lane: impl Into<Operand>,
        clamp: u64,
    ) -> (Reg, Reg) {
        let (dst, ok) = (self.reg(Class::B32), self.reg(Class::Pred));
        self.inst(Inst::Shuffle {
            mode,
            dst,
            ok: Some(ok),
            src: src.into(),
            lane: lane.into(),
            clamp: Operand::Imm(clamp),
            mask: FULL,
        });
        (dst, ok)
    }
    /// Asks all lanes of the warp.
    pub fn vote(&mut self, mode: Vote, src: Reg) -> Reg {
        let dst = self.reg(mode.result());
        self.inst(Inst::Vote {
            mode,
            dst,
            src,
            mask: FULL,
        });
        dst
    }
}

/// Control flow.
impl Builder {
    /// Code for the threads where the condition holds.
    pub fn when(&mut self, cond: impl Into<Guard>, uniform: bool, then: impl FnOnce(&mut Self)) {
        let (yes, join) = (self.block(), self.block());
        self.branch(cond, yes, join, uniform);
        self.begin(yes);
        then(self);
        self.jump(join);
        self.begin(join);
    }

    /// Code for both outcomes.
    pub fn either(
        &mut self,
        cond: impl Into<Guard>,
        uniform: bool,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (yes, no, join) = (self.block(), self.block(), self.block());
        self.branch(cond, yes, no, uniform);
        self.begin(yes);
        then(self);
        self.jump(join);
        self.begin(no);
        otherwise(self);
        self.jump(join);
        self.begin(join);
    }

    /// Repeats `step` as long as what `test` computes, before each step, holds.
    pub fn repeat(
        &mut self,
        uniform: bool,
        test: impl FnOnce(&mut Self) -> Guard,
        step: impl FnOnce(&mut Self),
    ) {
        let (head, inside, exit) = (self.block(), self.block(), self.block());
        self.begin(head);
        let go_on = test(self);
        self.branch(go_on, inside, exit, uniform);
        self.begin(inside);
        step(self);
        self.jump(head);
        self.begin(exit);
    }
}

impl Inst {
    /// A store of one element.
    pub fn store(space: Space, order: Order, ty: Ty, at: Address, src: Operand) -> Self {
        Self::Store {
            space,
            order,
            cache: Cache::Usual,
            ty,
            src: vec![src],
            at,
            any_wins: false,
        }
    }
}
