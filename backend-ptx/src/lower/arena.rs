//! Memory for local buffers whose size is not known: each thread has a share of one large buffer, and takes from it as from
//! a stack.
//!
//! If buffers have one name each, the shares of a warp are *interleaved*: slots as large as the largest elements, or a word, slot `i` of all
//! threads side by side, so that threads that do the same at the same time touch neighbours. It does not matter which buffers
//! of which types each has. Otherwise the share of a thread is in one piece, and before each buffer stands the number of its
//! bytes, so that it can be moved.
//!
//! ```text
//! interleaved   slot 0 of threads 0 to 31 | slot 1 of threads 0 to 31 | ..      an element is at  buffer + 32 * slot * index
//! in one piece  share of thread 0 | share of thread 1 | ..                      an element is at  buffer + size * index
//! ```
//!
//! What does not fit is reported with [`EXHAUSTED`], and the launch is made again with larger shares.

use super::{EXHAUSTED, Lower, Value};
use crate::ptx::ops::{Binary, Cache, Cmp};
use crate::ptx::{Address, Inst, Operand, Order, Reg, Space, Ty};
use midend::analysis::kernels::{escaping, statements};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, Exp};
use midend::ir::types::{ScalarType, Type};

/// Bytes before a buffer.
const HEADER: u64 = 16;
/// Bytes of the smallest slots: what a thread writes lies in no word of another one.
const WORD: usize = 4;
/// Threads of a warp.
pub(super) const WARP: u64 = 32;

/// What may take memory from the arena, with what it binds.
enum Request<'a> {
    /// A buffer of such elements that is not on the stack.
    Buffer(ScalarType, &'a [Var]),
    /// A call: the function may allocate.
    Call(&'a [Var]),
}

impl Lower<'_> {
    /// Finds out whether the shares can be interleaved.
    pub(super) fn interleave(&mut self, bodies: &[&Body<Mem>]) {
        let mut largest = Some(0);
        for body in bodies {
            let escaping = escaping(body);
            self.requests(body, &mut |request| match request {
                Request::Buffer(elem, binds) => {
                    let is_own = !binds.iter().any(|v| escaping.contains(v));
                    let larger = |most: usize| most.max(elem.bytes());
                    largest = largest.filter(|_| is_own).map(larger);
                }
                Request::Call(_) => largest = None,
            });
        }
        self.slot = largest.map(|bytes| bytes.max(WORD) as u64);
    }

    /// Calls `f` with what in a body may take memory from the arena.
    fn requests(&self, body: &Body<Mem>, f: &mut dyn FnMut(Request<'_>)) {
        statements(body, &mut |stm| match &stm.exp {
            Exp::Op(Mem::Alloc { elem, .. }) => {
                if !stm.binds.iter().all(|v| self.on_stack.contains(v)) {
                    f(Request::Buffer(*elem, &stm.binds));
                }
            }
            Exp::Call { .. } => f(Request::Call(&stm.binds)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Op(
                Mem::Free(_)
                | Mem::Apart(_)
                | Mem::Load { .. }
                | Mem::Store { .. }
                | Mem::Copy { .. }
                | Mem::Launch(_)
                | Mem::Trace(_)
                | Mem::Stream(_),
            ) => {}
        });
    }

    /// Sets the share of the thread apart.
    pub(super) fn take_share(&mut self, arena: Reg, share: Reg) {
        let (thread, _) = self.thread();
        if let Some(slot) = self.slot {
            // The share of a warp begins where that of its first thread would.
            let lane = self.b.bin(Binary::And, Ty::B64, thread, Operand::Imm(31));
            let first = self.b.bin(Binary::Sub, Ty::U64, thread, lane);
            let distance = self.b.bin(Binary::Mul, Ty::U64, first, share);
            let ahead = self.b.bin(Binary::Mul, Ty::U64, lane, Operand::Imm(slot));
            let top = self.b.bin(Binary::Add, Ty::U64, arena, distance);
            let top = self.b.bin(Binary::Add, Ty::U64, top, ahead);
            let all = self.b.bin(Binary::Mul, Ty::U64, share, Operand::Imm(WARP));
            let end = self.b.bin(Binary::Add, Ty::U64, top, all);
            let top = self.b.mov(Ty::B64, top);
            self.arena = Some((top, end));
            return;
        }
        let distance = self.b.bin(Binary::Mul, Ty::U64, thread, share);
        let top = self.b.bin(Binary::Add, Ty::U64, arena, distance);
        let end = self.b.bin(Binary::Add, Ty::U64, top, share);
        let top = self.b.mov(Ty::B64, top);
        self.arena = Some((top, end));
    }

    /// Whether executing the body may take memory from the arena.
    pub(super) fn uses_arena(&self, body: &Body<Mem>) -> bool {
        let mut uses = false;
        self.requests(body, &mut |request| {
            uses |= match request {
                Request::Buffer(..) => true,
                Request::Call(binds) => {
                    let mut types = binds.iter().map(|v| self.ty(*v));
                    types.any(|ty| matches!(ty, Type::Buffer(_)))
                }
            };
        });
        uses
    }

    /// Memory for `len` elements.
    pub(super) fn take(&mut self, elem: ScalarType, len: Operand) -> Value {
        let (top, _) = self.arena.expect("code that allocates has an arena");
        let len = self.reg(ScalarType::I64, len);
        if let Some(slot) = self.slot {
            let sane = self.b.cmp(Cmp::Lt, Ty::U64, len, Operand::Imm(1 << 36));
            let bytes = Operand::Imm(slot * WARP);
            let taken = self.b.bin(Binary::Mul, Ty::U64, len, bytes);
            self.fits(taken, sane);
            let start = self.b.mov(Ty::B64, top);
            self.b.bin_to(top, Binary::Add, Ty::U64, top, taken);
            return Value::Interleaved(start);
        }
        let size = Operand::Imm(elem.bytes() as u64);
        let bytes = self.b.bin(Binary::Mul, Ty::U64, len, size);
        let bytes = self.b.bin(Binary::Add, Ty::U64, bytes, Operand::Imm(15));
        let bytes = self.b.bin(Binary::And, Ty::B64, bytes, Operand::Imm(!15));
        let taken = self
            .b
            .bin(Binary::Add, Ty::U64, bytes, Operand::Imm(HEADER));
        let sane = self.b.cmp(Cmp::Lt, Ty::U64, len, Operand::Imm(1 << 36));
        self.fits(taken, sane);
        self.b.store(Space::Global, Ty::U64, top, bytes);
        let start = self.b.bin(Binary::Add, Ty::U64, top, Operand::Imm(HEADER));
        let next = self.b.bin(Binary::Add, Ty::U64, top, taken);
        self.b.set(Ty::B64, top, next);
        Value::Global(start)
    }

    /// Leaves, asking for a larger share, unless there are `bytes` bytes left.
    fn fits(&mut self, bytes: Reg, sane: Reg) {
        let (top, end) = self.arena.expect("code that allocates has an arena");
        let left = self.b.bin(Binary::Sub, Ty::U64, end, top);
        let enough = self.b.cmp(Cmp::Le, Ty::U64, bytes, left);
        let fits = self.b.bin(Binary::And, Ty::Pred, enough, sane);
        let (good, bad) = (self.b.block(), self.b.block());
        self.b.branch(fits, good, bad, false);
        self.b.begin(bad);
        let asked = match self.slot {
            Some(_) => self.b.bin(Binary::Div, Ty::U64, bytes, Operand::Imm(WARP)),
            None => bytes,
        };
        self.claim(EXHAUSTED, &[(ScalarType::U64, asked.into())]);
        self.b.begin(good);
    }

    /// The state of the arena before a body that takes memory from it.
    pub(super) fn mark(&mut self, body: &Body<Mem>) -> Option<Reg> {
        let (top, _) = self.arena.filter(|_| self.uses_arena(body))?;
        Some(self.b.mov(Ty::B64, top))
    }

    /// Gives back what was taken since the mark.
    pub(super) fn give_back(&mut self, mark: Reg) {
        if let Some((top, _)) = self.arena {
            self.b.set(Ty::B64, top, mark);
        }
    }

    /// Emits what `f` emits for a body, and gives back what it took.
    pub(super) fn scoped<R>(&mut self, body: &Body<Mem>, f: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.mark(body);
        let result = f(self);
        if let Some(mark) = mark {
            self.give_back(mark);
        }
        result
    }

    /// Moves buffers together if more than half of what was free at the mark has been taken since: copies to the top first,
    /// then all of them down to the mark. Buffers from before the mark stay.
    pub(super) fn compact(&mut self, mark: Reg, buffers: &[Reg]) {
        let Some((top, end)) = self.arena else { return };
        let used = self.b.bin(Binary::Sub, Ty::U64, top, mark);
        let left = self.b.bin(Binary::Sub, Ty::U64, end, top);
        let much = self.b.cmp(Cmp::Gt, Ty::U64, used, left);
        self.when(much, |this| {
            let old_top = this.b.mov(Ty::B64, top);
            let moves = this.b.bin(Binary::Sub, Ty::U64, old_top, mark);
            for buffer in buffers {
                let inside = this.b.cmp(Cmp::Gt, Ty::U64, *buffer, mark);
                let below = this.b.cmp(Cmp::Lt, Ty::U64, *buffer, old_top);
                let mine = this.b.bin(Binary::And, Ty::Pred, inside, below);
                this.when(mine, |this| {
                    let header = this
                        .b
                        .bin(Binary::Sub, Ty::U64, *buffer, Operand::Imm(HEADER));
                    let bytes = this.b.load(Space::Global, Ty::U64, header);
                    let bytes = this
                        .b
                        .bin(Binary::Add, Ty::U64, bytes, Operand::Imm(HEADER));
                    let sane = this.b.cmp(Cmp::Eq, Ty::U64, bytes, bytes);
                    this.fits(bytes, sane);
                    this.move_words(header, top, bytes);
                    let start = this.b.bin(Binary::Add, Ty::U64, top, Operand::Imm(HEADER));
                    let start = this.b.bin(Binary::Sub, Ty::U64, start, moves);
                    this.b.set(Ty::B64, *buffer, start);
                    this.b.bin_to(top, Binary::Add, Ty::U64, top, bytes);
                });
            }
            let all = this.b.bin(Binary::Sub, Ty::U64, top, old_top);
            this.move_words(old_top, mark, all);
            this.b.bin_to(top, Binary::Add, Ty::U64, mark, all);
        });
    }

    /// Moves bytes, a multiple of 8, upwards in addresses or to where they were not.
    fn move_words(&mut self, from: Reg, to: Reg, bytes: Reg) {
        let range = (Operand::Imm(0), bytes.into(), Operand::Imm(8));
        self.count(Ty::U64, range, false, |this, i| {
            let source = this.b.bin(Binary::Add, Ty::U64, from, i);
            let target = this.b.bin(Binary::Add, Ty::U64, to, i);
            let word = this.b.reg(Ty::U64.class());
            this.b.inst(Inst::Load {
                space: Space::Global,
                order: Order::Weak,
                cache: Cache::Usual,
                ty: Ty::U64,
                dst: vec![word],
                at: Address::from(source),
                undefined: true,
            });
            this.b.store(Space::Global, Ty::U64, target, word);
        });
    }
}
