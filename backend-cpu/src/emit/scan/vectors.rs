//! Scans in registers of 512 bits, of what may be combined in any grouping: each vector of neighbours is combined with itself moved by one lane, by two,
//! and so on, and then with what comes before:
//!
//! ```text
//! v             a   b       c         d             before
//! moved by 1    a   a b     b c       c d
//! moved by 2    a   a b     a b c     a b c d       before a b c d is before the next
//! ```
//!
//! (G. E. Blelloch, "Prefix sums and their applications", 1990, section 1.2; W. D. Hillis and G. L. Steele, "Data parallel algorithms", 1986.)

use super::may_regroup;
use crate::emit::lanes::{Plan, plan_reduction, vector};
use crate::emit::library::RAW;
use crate::emit::{Emit, fixed, plain};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::summed;
use midend::fired::fired;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::Vars;
use midend::ir::types::ScalarType;

/// Bytes of a register, and its parts.
const REGISTER: usize = crate::emit::memory::REGISTER as usize;
const PARTS: usize = 4;
/// By how many bytes lanes are moved: 4 times a power of two.
const MOVES: usize = 4;

/// For each move, where the bytes of a register come from, and which of them come from anywhere; and where the bytes of the last lane are, of four bytes
/// and of eight.
#[repr(C, align(64))]
struct Moves {
    from: [[u8; REGISTER]; MOVES],
    inside: [[u8; REGISTER]; MOVES],
    last: [[u8; REGISTER]; 2],
}

static TABLES: Moves = moves();

const fn moves() -> Moves {
    let mut all = Moves {
        from: [[0; REGISTER]; MOVES],
        inside: [[0; REGISTER]; MOVES],
        last: [[0; REGISTER]; 2],
    };
    let mut byte = 0;
    while byte < REGISTER {
        let mut k = 0;
        while k < MOVES {
            let by = 4 << k;
            if byte >= by {
                all.from[k][byte] = (byte - by) as u8;
                all.inside[k][byte] = 0xff;
            }
            k += 1;
        }
        all.last[0][byte] = (REGISTER - 4 + byte % 4) as u8;
        all.last[1][byte] = (REGISTER - 8 + byte % 8) as u8;
        byte += 1;
    }
    all
}

/// How a scan is done in vectors.
pub(super) struct InVectors {
    /// What the points of a group yield, and one register of that.
    kernel: Kernel,
    plan: Plan,
    one: Plan,
    elem: ScalarType,
}

/// The plan for a scan in vectors, if it is one of integers that may be combined in any grouping.
pub(super) fn in_vectors(
    vars: &Vars,
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    (asked, looks_up): (usize, bool),
) -> Option<InVectors> {
    let tys = crate::emit::kernel::components(vars, ops);
    let &[elem] = &tys[..] else { return None };
    let is_word = elem.is_integer() && matches!(elem.bytes(), 4 | 8);
    if !(looks_up && is_word && may_regroup(kernel, ops, &tys)) {
        return None;
    }
    let kernel = summed(vars, kernel, ops);
    let plan = plan_reduction(&kernel, ops, vars, asked)?;
    let lanes = REGISTER / elem.bytes();
    let fits =
        plan.own_sums && plan.parts == PARTS && plan.width % lanes == 0 && !plan.has_arrays();
    let one = plan.of_width(lanes);
    fits.then_some(InVectors {
        kernel,
        plan,
        one,
        elem,
    })
}

impl InVectors {
    /// Of how many parts registers are.
    pub(super) const fn parts(&self) -> usize {
        self.plan.parts
    }
}

impl Emit<'_, '_> {
    /// Scans whole groups of points from a start, as many as there are: the sums behind them and the first point that is left.
    pub(super) fn scan_vectors(
        &mut self,
        job: &InVectors,
        ops: &[Operator<Mem>],
        (place, base): (Value, Value),
        (start, range): (Value, (Value, Value)),
    ) -> (Value, Value) {
        fired("cpu/scan-in-vectors");
        let width = job.plan.width as i64;
        let tables = self.i64(std::ptr::from_ref(&TABLES) as i64);
        let length = self.b.ins().isub(range.1, range.0);
        let shift = i64::from(width.trailing_zeros());
        let groups = self.b.ins().sshr_imm_u(length, shift);
        let before = self.b.ins().splat(vector(job.elem), start);
        let strip = crate::emit::control::strip(&job.kernel.body);
        let next = self.next_points();
        let sums = self.counted(
            ScalarType::I64,
            groups,
            strip,
            &[before],
            |emit, g, sums| {
                let ahead = emit.b.ins().imul_imm_s(g, width);
                let first = emit.b.ins().iadd(range.0, ahead);
                emit.ask_for_next(&job.kernel, (first, next), job.plan.width);
                let mut before = sums[0];
                let mut made = Vec::new();
                for values in emit.group_vectors(&job.plan, &job.kernel, first).1 {
                    let sums = emit.scanned(job, ops, tables, values);
                    made.push(emit.operate_one(job, ops, before, sums));
                    let last = emit.bytes_of(
                        sums,
                        (tables, 2 * MOVES + usize::from(job.elem.bytes() == 8)),
                    );
                    before = emit.operate_one(job, ops, before, last);
                }
                let number = emit.b.ins().iadd(base, first);
                let to = emit.element(place, job.elem, number);
                for (k, sums) in made.into_iter().enumerate() {
                    emit.b.ins().store(plain(), sums, to, (k * REGISTER) as i32);
                }
                vec![before]
            },
        );
        let sum = self.b.ins().extractlane(sums[0], 0);
        let done = self.b.ins().ishl_imm_u(groups, shift);
        (sum, self.b.ins().iadd(range.0, done))
    }

    /// A vector scanned on its own.
    fn scanned(
        &mut self,
        job: &InVectors,
        ops: &[Operator<Mem>],
        tables: Value,
        mut sums: Value,
    ) -> Value {
        let first = job.elem.bytes().ilog2() as usize - 2;
        for k in first..MOVES {
            let moved = self.bytes_of(sums, (tables, k));
            let offset = ((MOVES + k) * REGISTER) as i32;
            let lanes = self.b.func.dfg.value_type(sums);
            let inside = self.b.ins().load(lanes, fixed(), tables, offset);
            let both = self.operate_one(job, ops, moved, sums);
            sums = self.blended(&[inside], &[both], &[sums])[0];
        }
        sums
    }

    /// The bytes of a vector that a table says.
    fn bytes_of(&mut self, all: Value, (tables, table): (Value, usize)) -> Value {
        let ty = self.b.func.dfg.value_type(all);
        let from = self
            .b
            .ins()
            .load(types::I16X8, fixed(), tables, (table * REGISTER) as i32);
        let bytes = self.b.ins().bitcast(types::I16X8, RAW, all);
        // Marks what Cranelift has not: see `wide`.
        let found = self.b.ins().sadd_sat(from, bytes);
        self.b.ins().bitcast(ty, RAW, found)
    }

    /// The operator applied to two vectors.
    fn operate_one(
        &mut self,
        job: &InVectors,
        ops: &[Operator<Mem>],
        left: Value,
        right: Value,
    ) -> Value {
        self.operated(&job.one, ops, (&[left], &[right]))[0]
    }
}
