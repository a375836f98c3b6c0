//! Points of one dimension that divide their number by another, for its row and its column: they are gone through row by row, so that
//! the division is done once for each piece.
//!
//! ```text
//! hist (k < n) {                         for each row i, for each column j < m of it, k = i * m + j:
//!   i = div k m; j = mod k m       ──►     ..
//!   ..
//! ```

use super::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;

/// What points find of themselves by dividing.
pub(super) struct Divided {
    /// The number of the point.
    pub(super) number: Var,
    pub(super) row: Var,
    pub(super) column: Var,
    /// The length of a row, from outside.
    pub(super) length: Atom,
    /// The rest.
    pub(super) body: Body<Mem>,
}

/// What the points of a kernel find of themselves by dividing, if they do.
pub(super) fn divided(kernel: &Kernel) -> Option<Divided> {
    let &[(number, Extent::Regular(_))] = &kernel.space[..] else {
        return None;
    };
    let stms = &kernel.body.stms;
    let by = |stm: &Stm<Mem>, wanted: [BinOp; 2]| match &stm.exp {
        Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args)
            if wanted.contains(op) && args[0] == Atom::Var(number) =>
        {
            Some(args[1])
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    };
    let inside = |atom: Atom| {
        stms.iter()
            .any(|stm| stm.binds.iter().any(|v| atom == Atom::Var(*v)))
    };
    let (row, length) = stms
        .iter()
        .find_map(|stm| Some((stm, by(stm, [BinOp::Div, BinOp::Quot])?)))?;
    let column = stms
        .iter()
        .find(|stm| by(stm, [BinOp::Mod, BinOp::Rem]) == Some(length))?;
    if inside(length) || length == Atom::Var(number) {
        return None;
    }
    let rest = stms.iter().filter(|stm| ![row, column].contains(stm));
    Some(Divided {
        number,
        row: row.binds[0],
        column: column.binds[0],
        length,
        body: Body {
            stms: rest.cloned().collect(),
            result: kernel.body.result.clone(),
        },
    })
}

/// The same of points of several dimensions, of which the innermost has their columns: these are their numbers, too.
pub(super) fn of_rows(kernel: &Kernel) -> Option<Divided> {
    let [
        ..,
        (row, Extent::Regular(_)),
        (column, Extent::Regular(length)),
    ] = kernel.space[..]
    else {
        return None;
    };
    let body = kernel.body.clone();
    (!kernel.is_ragged()).then_some(Divided {
        number: column,
        row,
        column,
        length,
        body,
    })
}

impl Emit<'_, '_> {
    /// Emits `body` for every point that the parameters of a unit say, in order: the body of the kernel, or what is left of it for points
    /// that are gone through row by row. Of these as many as `together` says at a time are left to it, as long as there are enough in
    /// a row: it gets the number and the column of the first. What is left of a row may be left to `rest`, which gets its columns and
    /// what makes numbers of them when added.
    pub(super) fn divided_points(
        &mut self,
        (kernel, rows): (&Kernel, Option<&Divided>),
        p: &[Value],
        strip: i64,
        body: impl Fn(&mut Self, &Body<Mem>),
        (together, rest): (
            Option<(i64, impl Fn(&mut Self, Value, Value))>,
            Option<impl Fn(&mut Self, (Value, Value), Value)>,
        ),
    ) {
        let Some(rows) = rows else {
            return self.all_points(kernel, p, strip, |emit| body(emit, &kernel.body));
        };
        let points = |emit: &mut Self, space: &[(Var, Value)]| {
            emit.rows(space, (p[0], p[1]), |emit, first, last, base| {
                let base = match rows.number == rows.column {
                    true => emit.i64(0),
                    false => base,
                };
                let left = emit.columns_together((first, last), base, strip, together);
                if let Some(rest) = rest {
                    return rest(emit, (left, last), base);
                }
                emit.range(ScalarType::I64, (left, last), strip, &[], |emit, i, _| {
                    emit.divided_point((rows, base), i, &body);
                    vec![]
                });
            });
        };
        if rows.number == rows.column {
            if let Some(space) = self.extents(&kernel.space) {
                points(self, &space);
            }
            return;
        }
        let length = self.atom(rows.length);
        let [by_row, one_by_one, done] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(one_by_one);
        let some = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, length, 0);
        self.b.ins().brif(some, by_row, &[], one_by_one, &[]);
        self.b.switch_to_block(by_row);
        let all = self.i64(i64::MAX);
        let space = [(rows.row, all), (rows.column, length)];
        points(self, &space);
        self.b.ins().jump(done, &[]);
        // Without a row there is a check that fails.
        self.b.switch_to_block(one_by_one);
        self.all_points(kernel, p, strip, |emit| body(emit, &kernel.body));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Leaves columns of a row to `together`, as many at a time as it says, as long as there are enough. Yields the first that is left.
    fn columns_together(
        &mut self,
        (first, last): (Value, Value),
        base: Value,
        strip: i64,
        together: Option<(i64, impl Fn(&mut Self, Value, Value))>,
    ) -> Value {
        let Some((width, together)) = together else {
            return first;
        };
        let points = self.b.ins().isub(last, first);
        let shift = i64::from(width.trailing_zeros());
        let count = self.b.ins().sshr_imm_u(points, shift);
        self.counted(ScalarType::I64, count, strip, &[], |emit, group, _| {
            let ahead = emit.b.ins().imul_imm_s(group, width);
            let column = emit.b.ins().iadd(first, ahead);
            let number = emit.b.ins().iadd(base, column);
            together(emit, number, column);
            vec![]
        });
        let covered = self.b.ins().imul_imm_s(count, width);
        self.b.ins().iadd(first, covered)
    }

    /// A point of a row: its column, and what makes a number of it when added.
    pub(super) fn divided_point(
        &mut self,
        (rows, base): (&Divided, Value),
        column: Value,
        body: &impl Fn(&mut Self, &Body<Mem>),
    ) {
        self.bind(rows.column, column);
        let number = self.b.ins().iadd(base, column);
        self.bind(rows.number, number);
        body(self, &rows.body);
    }
}
