//! Kernels on whose points threads work together: a warp or a block for each, a *team*.
//!
//! ```text
//! for a point of the team:
//!   what the body computes                                every thread
//!   launch map (j < m) { .. }                             each thread takes some of 0..m
//!   wait for each other
//!   launch red (j < m) { .. } out (s)                     each thread some of 0..m, then lanes, then warps; one stores
//!   wait for each other
//!   load s[0]                                             every thread
//! ```
//!
//! The buffers that the body allocates lie in shared memory, one after another, of which each team has a part. Threads wait for each
//! other between two accesses to memory of which one is a write: whatever is written may be what another thread reads. At the
//! beginning of a branch or a step of a loop nothing is under way, nor at its end, and all threads of a team go the same way there.
//! What fails in a part that a thread has is found out by all at its end, and then all leave.

mod fold;
mod hist;

use super::{Entry, Lower, Shape, Source, THREADS, Value, entry};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Round, Special, Vote};
use crate::ptx::{Inst, Operand, Reg, Space, Ty};
use midend::analysis::kernels::{kernel_bodies, known_bytes, statements};
use midend::ir::id::Var;
use midend::ir::mem::{BlockNeeds, Extent, Kernel, KernelKind, KernelSpace, Mem, ROUNDING, Region};
use midend::ir::syntax::{Atom, Body, Exp};
use midend::ir::threshold::ROOM;
use midend::ir::types::ScalarType;

/// The widest rows of which a warp has one each.
const WARP_ROW: i64 = 128;
/// Bytes of shared memory for the point of a warp where it is not known how many are needed.
const WARP_ROOM: u32 = 4 << 10;
/// The most bytes that are a variable of the kernel; beyond that, or where the number is not known, a launch gives a block what it needs.
const OWN_ROOM: u32 = 40 << 10;

/// A form of a kernel.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) entry: Entry,
    pub(crate) team: Size,
}

/// A team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Its threads: a warp or a block.
    pub(crate) threads: u32,
    /// The widest rows that it is meant for.
    pub(crate) width: i64,
    /// Bytes of shared memory for its point; as many as a launch says, if nothing.
    pub(crate) room: Option<u32>,
}

impl Size {
    const fn warp(room: u32) -> Self {
        Self {
            threads: 32,
            width: WARP_ROW,
            room: Some(room),
        }
    }
    const fn block(room: Option<u32>) -> Self {
        Self {
            threads: THREADS,
            width: i64::MAX,
            room,
        }
    }
    /// Points that a block works on at a time.
    pub(crate) const fn points(self) -> u32 {
        THREADS / self.threads
    }
}

/// What is known of the threads that work on a point together.
pub(super) struct Team {
    threads: u32,
    /// The number of the thread in its team.
    number: Reg,
    /// The first free byte of the team's shared memory.
    top: Reg,
    /// Whether memory was read, or written, since the threads last waited for each other.
    read: bool,
    wrote: bool,
    /// Whether the code at hand is that of one thread.
    apart: bool,
    /// Whether it stores where it finds that something has its place: several threads may come to one.
    scatters: bool,
}

/// The forms of a kernel whose points need so much, those for the smallest points first.
pub(super) fn forms(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Vec<Form> {
    let Some(needs) = kernel.block else {
        return vec![];
    };
    let mut inner = Vec::new();
    statements(&kernel.body, &mut |stm| {
        if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
            inner.extend(kernel_bodies(kernel));
        }
    });
    let mut forms = Vec::new();
    for team in teams(needs) {
        let room = team.room.map_or("any".to_owned(), |n| n.to_string());
        let what = format!("by{}_{room}", team.threads);
        let mut shape = Shape::of(kernel, args, &what, 1);
        shape.bodies.clone_from(&inner);
        let entry = entry(source, &shape, |lower, extras| {
            lower.by_teams(kernel, team, extras[0]);
        });
        forms.extend(entry.fitting().map(|entry| Form { entry, team }));
    }
    forms
}

/// The teams that points may be worked on by.
fn teams(needs: BlockNeeds) -> Vec<Size> {
    let (width, bytes) = (needs.width.as_i64(), needs.bytes.as_i64());
    let narrow = width.is_none_or(|n| n <= WARP_ROW);
    let wide = width.is_none_or(|n| n > WARP_ROW);
    let Some(bytes) = bytes else {
        let warps = narrow.then(|| Size::warp(WARP_ROOM));
        return warps.into_iter().chain([Size::block(None)]).collect();
    };
    let Some(bytes) = u32::try_from(bytes).ok().filter(|n| *n <= ROOM as u32) else {
        return vec![];
    };
    let warp = Size::warp(bytes);
    let fits = narrow && bytes * warp.points() <= OWN_ROOM;
    let own = Some(bytes).filter(|bytes| *bytes <= OWN_ROOM);
    let mut all = Vec::new();
    all.extend(fits.then_some(warp));
    all.extend((wide || !fits).then_some(Size::block(own)));
    all
}

/// The bytes of the smallest elements of buffers that a body allocates.
fn smallest(body: &Body<Mem>) -> u32 {
    let mut least = ROUNDING as usize;
    statements(body, &mut |stm| {
        if let Exp::Op(Mem::Alloc { elem, .. }) = &stm.exp {
            least = least.min(elem.bytes());
        }
    });
    least as u32
}

/// Whether a point stores something under a condition only, as those of a scatter do.
fn stores_at_times(body: &Body<Mem>) -> bool {
    let mut stores = false;
    for stm in &body.stms {
        if let Exp::If {
            then, otherwise, ..
        } = &stm.exp
        {
            for branch in [then, otherwise] {
                statements(branch, &mut |stm| {
                    stores |= matches!(stm.exp, Exp::Op(Mem::Store { .. }));
                });
            }
        }
    }
    stores
}

impl Lower<'_> {
    /// All points, a team taking every so many. The parameter is the number of points.
    fn by_teams(&mut self, kernel: &Kernel, size: Size, points: Reg) {
        let elem = smallest(&kernel.body);
        let rounded = |room: u32| {
            let room = room.next_multiple_of(ROUNDING as u32);
            room.max(ROUNDING as u32)
        };
        let pool = match size.room.map(rounded) {
            Some(room) => {
                let all = room * size.points();
                self.b.variable("room", Space::Shared, elem, all / elem)
            }
            None => self.b.sized_by_launch("room", elem),
        };
        let pool = self.b.address_of(pool);
        let (thread, all) = self.thread();
        let shift = Operand::Imm(size.threads.trailing_zeros().into());
        let [team, teams] = [thread, all].map(|n| self.b.bin(Binary::Shr, Ty::U64, n, shift));
        let tid = self.b.special(Special::Tid);
        let (number, start) = if size.points() == 1 {
            (tid, pool)
        } else {
            let within = self.b.bin(Binary::Shr, Ty::U32, tid, shift);
            let before = Operand::Imm(size.room.map_or(0, rounded).into());
            let before = self.b.bin(Binary::Mul, Ty::U32, within, before);
            let start = self.b.bin(Binary::Add, Ty::U32, pool, before);
            (self.b.special(Special::Lane), start)
        };
        let top = self.b.mov(Ty::B32, start);
        self.team = Some(Team {
            threads: size.threads,
            number,
            top,
            read: false,
            wrote: false,
            apart: false,
            scatters: false,
        });
        let range = (team.into(), points.into(), Operand::Reg(teams));
        self.count(Ty::U64, range, true, |lower, point| {
            lower.b.set(Ty::B32, top, start);
            lower.indices(&kernel.space, point);
            lower.body(&kernel.body);
        });
        self.team = None;
    }

    /// Whether the code at hand is executed by the threads of a team together.
    pub(super) fn is_together(&self) -> bool {
        self.team.as_ref().is_some_and(|team| !team.apart)
    }

    /// Whether the code at hand may store to places of shared memory that other threads store to, too.
    pub(super) fn is_scattering(&self) -> bool {
        self.team.as_ref().is_some_and(|team| team.scatters)
    }

    /// Lets what is under way come to its end, before code goes several ways.
    pub(super) fn settle(&mut self) {
        if let Some(team) = self.team.as_ref().filter(|team| !team.apart)
            && (team.read || team.wrote)
        {
            self.meet();
        }
    }

    /// The threads of the team wait for each other.
    fn meet(&mut self) {
        let Some(team) = &mut self.team else { return };
        (team.read, team.wrote) = (false, false);
        let inst = match team.threads {
            THREADS => Inst::Barrier,
            _ => Inst::WarpSync { mask: FULL },
        };
        self.b.inst(inst);
    }

    /// Before an access to memory.
    fn before(&mut self, writes: bool) {
        let Some(team) = &self.team else { return };
        if team.wrote || writes && team.read {
            self.meet();
        }
        if let Some(team) = &mut self.team {
            team.read |= !writes;
            team.wrote |= writes;
        }
    }

    /// The number of the thread in its team, and how many there are.
    fn member(&self) -> (Reg, u32) {
        let team = self.team.as_ref().expect("code of a team has one");
        (team.number, team.threads)
    }

    /// Code for the first thread of the team.
    fn first(&mut self, f: impl FnOnce(&mut Self)) {
        let (number, _) = self.member();
        let first = self.b.cmp(Cmp::Eq, Ty::U32, number, Operand::Imm(0));
        self.when(first, f);
    }

    /// Numbers of `0..count`, which the threads share out.
    fn shared(&mut self, count: Operand, f: impl FnOnce(&mut Self, Reg)) {
        let (number, threads) = self.member();
        let number = self.wide(number);
        if let Operand::Imm(n) = count
            && n <= threads.into()
        {
            if n == u64::from(threads) {
                return f(self, number);
            }
            let has = self.b.cmp(Cmp::Lt, Ty::U64, number, count);
            return self.when(has, |lower| f(lower, number));
        }
        let range = (number.into(), count, Operand::Imm(threads.into()));
        self.count(Ty::S64, range, false, f);
    }

    /// An operation that the threads of a team do together.
    pub(super) fn together_op(&mut self, op: &Mem, bind: Option<Var>) -> Vec<Value> {
        match op {
            Mem::Alloc { elem, len, .. } => vec![self.shared_room(*elem, *len)],
            Mem::Load { .. } => {
                self.before(false);
                self.memory(op, bind)
            }
            Mem::Store { .. } => {
                self.before(true);
                self.first(|lower| {
                    lower.memory(op, bind);
                });
                vec![]
            }
            Mem::Copy { shape, dst, src } => {
                self.before(true);
                self.shared_copy(shape, dst, src);
                vec![]
            }
            Mem::Launch(kernel) => {
                self.before(true);
                self.share_out(kernel);
                vec![]
            }
            Mem::Free(_) | Mem::Apart(_) | Mem::Trace(_) | Mem::Stream(_) => self.memory(op, bind),
        }
    }

    /// Shared memory for some elements. The host saw to it that there is enough.
    fn shared_room(&mut self, elem: ScalarType, len: Atom) -> Value {
        let top = self.team.as_ref().expect("code of a team has one").top;
        let start = self.b.mov(Ty::B32, top);
        let up = (ROUNDING - 1) as u64;
        let bytes = match known_bytes(elem, len) {
            Some(bytes) => Operand::Imm((u64::from(bytes) + up) & !up),
            None => {
                let len = self.atom(len);
                let len = self.reg(ScalarType::I64, len);
                let len = self.b.convert(Ty::U32, Ty::U64, Round::Exact, len);
                let size = Operand::Imm(elem.bytes() as u64);
                let bytes = self.b.bin(Binary::Mul, Ty::U32, len, size);
                let bytes = self.b.bin(Binary::Add, Ty::U32, bytes, Operand::Imm(up));
                let whole = Operand::Imm(u64::from(!(up as u32)));
                self.b.bin(Binary::And, Ty::B32, bytes, whole).into()
            }
        };
        self.b.bin_to(top, Binary::Add, Ty::U32, top, bytes);
        Value::Shared(start)
    }

    /// A strided copy, of which each thread has some elements.
    fn shared_copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) {
        let elem = self.elem(dst.buffer);
        let extents: Vec<Operand> = shape.iter().map(|n| self.atom(*n)).collect();
        let count = self.product(&extents);
        let sides = [dst, src].map(|side| {
            let strides: Vec<Operand> = side.strides.iter().map(|s| self.atom(*s)).collect();
            (self.value(side.buffer), self.atom(side.offset), strides)
        });
        self.shared(count, |lower, number| {
            let mut at = sides.each_ref().map(|(_, offset, _)| *offset);
            let mut rest = number;
            for (k, extent) in extents.iter().enumerate().rev() {
                let index = if k == 0 {
                    rest
                } else {
                    let (row, index) = lower.divide(rest, *extent);
                    rest = row;
                    index
                };
                for (at, (_, _, strides)) in at.iter_mut().zip(&sides) {
                    let far = lower.b.bin(Binary::Mul, Ty::S64, index, strides[k]);
                    *at = lower.b.bin(Binary::Add, Ty::S64, far, *at).into();
                }
            }
            let from = lower.place(sides[1].0, elem, at[1]);
            let value = lower.load(elem, from, true);
            let to = lower.place(sides[0].0, elem, at[0]);
            lower.store(elem, to, value.into());
        });
    }

    fn product(&mut self, factors: &[Operand]) -> Operand {
        let mut product = Operand::Imm(1);
        for factor in factors {
            product = match (product, *factor) {
                (Operand::Imm(a), Operand::Imm(b)) => Operand::Imm(a.wrapping_mul(b)),
                (a, b) => self.b.bin(Binary::Mul, Ty::S64, b, a).into(),
            };
        }
        product
    }

    /// The number of points of a kernel inside of a point.
    fn points_of(&mut self, space: &KernelSpace) -> Operand {
        let extents = space.iter().map(|(_, extent)| match *extent {
            Extent::Regular(n) => self.atom(n),
            Extent::Ragged { .. } => unreachable!("threads share out regular spaces only"),
        });
        let extents: Vec<Operand> = extents.collect();
        self.product(&extents)
    }

    /// A kernel inside of a point: the threads share out its points.
    fn share_out(&mut self, kernel: &Kernel) {
        let bodies = kernel_bodies(kernel);
        let failed = self
            .may_fail(&bodies)
            .then(|| self.b.mov(Ty::B32, Operand::Imm(0)));
        self.set_apart(true);
        match &kernel.kind {
            KernelKind::Map => {
                self.set_scatters(stores_at_times(&kernel.body));
                let count = self.points_of(&kernel.space);
                self.shared(count, |lower, point| {
                    lower.indices(&kernel.space, point);
                    lower.watched(failed, |lower| {
                        lower.scoped(&kernel.body, |lower| lower.body(&kernel.body));
                    });
                });
                self.set_scatters(false);
            }
            KernelKind::Red { ops, outs } => self.share_reduction(kernel, (ops, outs), failed),
            KernelKind::Scan { ops, outs, .. } => self.share_scan(kernel, (ops, outs), failed),
            KernelKind::Hist(hists) => self.share_histogram(kernel, hists, failed),
            KernelKind::Seq => unreachable!("the verifier lets no thread share out a loop"),
        }
        self.set_apart(false);
        if let Some(failed) = failed {
            self.leave_if(failed);
        }
    }

    fn set_apart(&mut self, apart: bool) {
        if let Some(team) = &mut self.team {
            team.apart = apart;
        }
    }

    fn set_scatters(&mut self, scatters: bool) {
        if let Some(team) = &mut self.team {
            team.scatters = scatters;
        }
    }

    /// Whether something may fail in bodies of which each thread has a part.
    fn may_fail(&self, bodies: &[&Body<Mem>]) -> bool {
        let mut may = false;
        for body in bodies {
            may |= self.uses_arena(body);
            statements(body, &mut |stm| {
                may |= matches!(stm.exp, Exp::Assert { .. } | Exp::Call { .. });
            });
        }
        may
    }

    /// Code that, if it fails, sets a register and goes on behind.
    fn watched(&mut self, failed: Option<Reg>, f: impl FnOnce(&mut Self)) {
        let Some(failed) = failed else { return f(self) };
        let (bad, join) = (self.b.block(), self.b.block());
        let outer = std::mem::replace(&mut self.fail, bad);
        f(self);
        self.b.jump(join);
        self.b.begin(bad);
        self.b.set(Ty::B32, failed, Operand::Imm(1));
        self.b.jump(join);
        self.b.begin(join);
        self.fail = outer;
    }

    /// All threads leave if the register of one is set.
    fn leave_if(&mut self, failed: Reg) {
        let failed = self.b.cmp(Cmp::Ne, Ty::U32, failed, Operand::Imm(0));
        let (_, threads) = self.member();
        let any = if threads == THREADS {
            let dst = self.b.reg(crate::ptx::Class::Pred);
            let (op, src) = (Binary::Or, failed);
            self.b.inst(Inst::BarrierVote { op, dst, src });
            // That was a barrier, too.
            if let Some(team) = &mut self.team {
                (team.read, team.wrote) = (false, false);
            }
            dst
        } else {
            self.b.vote(Vote::Any, failed)
        };
        let (go_on, fail) = (self.b.block(), self.fail);
        self.b.branch(any, fail, go_on, true);
        self.b.begin(go_on);
    }
}
