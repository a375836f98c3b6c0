//! Rows of points turned into columns. Where the elements of a row lie side by side, a vector of each row has several steps of a panel, and
//! a few exchanges among vectors make columns of them, so that nothing is put into lanes one by one:
//!
//! ```text
//! rows          a0 a1 a2 a3     b0 b1 b2 b3     c0 c1 c2 c3     d0 d1 d2 d3
//! pairs         a0 b0 a1 b1     a2 b2 a3 b3     c0 d0 c1 d1     c2 d2 c3 d3
//! columns       a0 b0 c0 d0     a1 b1 c1 d1     a2 b2 c2 d2     a3 b3 c3 d3
//! ```
//!
//! A wider register has rows of other points in its other parts. The same exchanges make rows of columns.

use super::Group;
use super::vector::vector;
use crate::emit::{Emit, plain};
use crate::wide::PART;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;
use std::collections::BTreeMap;

/// Steps between two looks at whether to stop.
const STRIP: i64 = 1024;

/// Which bytes of two vectors: their lower and their upper lanes of 32 bits by turns, and of 64 bits.
const BY_TURNS: [[u8; 16]; 4] = [
    [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23],
    [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31],
    [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23],
    [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31],
];

/// How a number grows from a step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    None,
    One,
    /// By this, which is the same in all steps.
    By(Atom),
}

/// How what statements compute, one after the other, grows with a counter; nothing of what grows in another way.
pub(super) type Growths = BTreeMap<Var, Option<Growth>>;

pub(super) fn growths(stms: &[&Stm<Mem>], counter: Var) -> Growths {
    let mut growths = BTreeMap::from([(counter, Some(Growth::One))]);
    for stm in stms {
        let grows = growth_of(&stm.exp, &growths);
        growths.extend(stm.binds.iter().map(|v| (*v, grows)));
    }
    growths
}

/// What nothing is known of comes from outside, and stays as it is.
pub(super) fn growth(growths: &Growths, atom: Atom) -> Option<Growth> {
    let known = atom.as_var().and_then(|v| growths.get(&v));
    known.copied().unwrap_or(Some(Growth::None))
}

fn growth_of(exp: &Exp<Mem>, growths: &Growths) -> Option<Growth> {
    let of = |atom: Atom| growth(growths, atom);
    let mut stays = true;
    exp.operands(&mut |atom| stays &= of(atom) == Some(Growth::None));
    if stays {
        return Some(Growth::None);
    }
    match exp {
        Exp::Atom(atom) => of(*atom),
        Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args) => {
            match (op, of(args[0])?, of(args[1])?) {
                (BinOp::Add, Growth::None, by) | (BinOp::Add | BinOp::Sub, by, Growth::None) => {
                    Some(by)
                }
                (BinOp::Mul, Growth::One, Growth::None) => Some(Growth::By(args[1])),
                (BinOp::Mul, Growth::None, Growth::One) => Some(Growth::By(args[0])),
                _ => None,
            }
        }
        Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

/// What finds and reads an element of a row in each step, from a first one on.
pub(super) struct Reads<'s> {
    pub(super) slice: Vec<&'s Stm<Mem>>,
    pub(super) counter: Var,
    pub(super) first: Value,
    pub(super) elem: ScalarType,
    /// Whether the rows of the next group are asked for, before which much is done.
    pub(super) asks_next: bool,
}

/// What says how far apart elements are that are read in two steps; nothing if they are known to lie side by side.
pub(super) struct Apart(Option<Atom>);

impl Apart {
    /// Whether it is asked when the program runs.
    pub(super) const fn is_asked(&self) -> bool {
        self.0.is_some()
    }
}

impl Reads<'_> {
    /// How far apart the elements are, if that is the same for all steps and they are not one.
    pub(super) fn apart(&self) -> Option<Apart> {
        let (load, find) = self.slice.split_last()?;
        let Exp::Op(Mem::Load { index, .. }) = &load.exp else {
            return None;
        };
        match growth(&growths(find, self.counter), *index)? {
            Growth::None => None,
            Growth::One => Some(Apart(None)),
            Growth::By(by) => Some(Apart(Some(by))),
        }
    }
}

impl Emit<'_, '_> {
    /// Goes to a block if what is read in steps lies side by side, else to the other.
    pub(super) fn side_by_side(
        &mut self,
        apart: &Apart,
        (side, rest): (Block, Block),
        otherwise: &[BlockArg],
    ) {
        match apart.0 {
            Some(by) => {
                let by = self.atom(by);
                let is_one = self.b.ins().icmp_imm_s(IntCC::Equal, by, 1);
                self.b.ins().brif(is_one, side, &[], rest, otherwise);
            }
            None => {
                self.b.ins().jump(side, &[]);
            }
        }
    }

    /// Whether rows of elements of this type become columns of lanes by exchanges.
    pub(super) fn turns(&self, group: &Group<'_>, elem: ScalarType) -> bool {
        group.plan.per_vector(elem).is_some() && matches!(elem.bytes(), 4 | 8)
    }

    /// Fills the first steps of a panel with rows whose elements lie side by side, if they do: the first step that is left, if any may be there.
    pub(super) fn turned(
        &mut self,
        group: &mut Group<'_>,
        row: &Reads<'_>,
        (panel, length): (Value, Value),
    ) -> Option<Value> {
        let apart = row.apart()?;
        let (load, find) = row.slice.split_last()?;
        let Exp::Op(Mem::Load { buffer, index }) = &load.exp else {
            return None;
        };
        let varies = |atom: Atom| atom.as_var().is_some_and(|v| group.plan.varies(v));
        let index = index.as_var().filter(|v| group.plan.varies(*v))?;
        let per = 16 / row.elem.bytes();
        if !matches!(per, 2 | 4) || group.plan.varies(*buffer) || apart.0.is_some_and(varies) {
            return None;
        }
        let (some, side, rest) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let left = self.b.append_block_param(rest, types::I64);
        let zero = self.i64(0);
        let less = IntCC::SignedLessThan;
        let few = self.b.ins().icmp_imm_s(less, length, per as i64);
        self.b.ins().brif(few, rest, &[zero.into()], some, &[]);

        // Where the rows begin.
        self.b.switch_to_block(some);
        let outside = group.lanes.clone();
        self.bind(row.counter, row.first);
        let body = Body {
            stms: find.iter().map(|stm| (*stm).clone()).collect(),
            result: vec![],
        };
        self.lanes_body(group, &body);
        self.side_by_side(&apart, (side, rest), &[zero.into()]);
        self.b.switch_to_block(side);
        self.unpack(group, index);
        let buffer = self.var(*buffer);
        let starts: Vec<Value> = (0..group.plan.width)
            .map(|lane| {
                let index = self.lane(group, index, lane);
                self.element(buffer, row.elem, index)
            })
            .collect();
        group.lanes = outside;
        if row.asks_next {
            self.next_rows(&starts);
        }
        let whole = self.turned_copy(group, row.elem, (panel, &starts), (length, false));
        self.b.ins().jump(rest, &[whole.into()]);
        self.b.switch_to_block(rest);
        Some(left)
    }

    /// Copies between columns, in a panel or an array that each lane has for itself, and rows that begin at these places, so many elements of
    /// this type, as many as vectors have lanes at a time: how many of them.
    pub(super) fn turned_copy(
        &mut self,
        group: &Group<'_>,
        elem: ScalarType,
        (columns, rows): (Value, &[Value]),
        (length, to_rows): (Value, bool),
    ) -> Value {
        let (parts, bytes) = (group.plan.parts, elem.bytes());
        let per = 16 / bytes;
        let mark = if parts == 1 { 0 } else { PART };
        let whole = self.b.ins().band_imm_s(length, -(per as i64));
        let zero = self.i64(0);
        let range = (ScalarType::I64, (zero, whole));
        self.range_by(per as i64, range, STRIP, &[], |emit, step, _| {
            let ahead = i64::from(bytes.trailing_zeros());
            let ahead = emit.b.ins().ishl_imm_u(step, ahead);
            let there = emit.panel_step(group, elem, (columns, step));
            for (i, lanes) in rows.chunks(per * parts).enumerate() {
                let offset =
                    |k: usize| (k * group.plan.width * bytes) as i32 + group.plan.step() * i as i32;
                // A register has the rows of lanes that are as many apart as a vector has.
                let of_row = |k: usize| lanes.iter().skip(k).step_by(per);
                if to_rows {
                    let columns = (0..per).map(|k| {
                        let load = emit.b.ins();
                        load.load(vector(elem), plain(), there, offset(k))
                    });
                    let columns: Vec<Value> = columns.collect();
                    for (k, row) in emit.columns(&columns).into_iter().enumerate() {
                        for (start, part) in of_row(k).zip(emit.parts_of(row, parts)) {
                            let at = emit.b.ins().iadd(*start, ahead);
                            emit.b.ins().store(plain(), part, at, mark);
                        }
                    }
                } else {
                    let rows = (0..per).map(|k| {
                        let own = of_row(k).map(|start| {
                            let at = emit.b.ins().iadd(*start, ahead);
                            emit.b.ins().load(vector(elem), plain(), at, mark)
                        });
                        let own: Vec<Value> = own.collect();
                        emit.joined(&own)
                    });
                    let rows: Vec<Value> = rows.collect();
                    for (k, column) in emit.columns(&rows).into_iter().enumerate() {
                        emit.b.ins().store(plain(), column, there, offset(k));
                    }
                }
            }
            vec![]
        });
        whole
    }

    fn columns(&mut self, rows: &[Value]) -> Vec<Value> {
        let ty = self.b.func.dfg.value_type(rows[0]);
        let [low, high, lower, upper] = BY_TURNS;
        match *rows {
            [a, b, c, d] => {
                let mut columns = Vec::new();
                for mask in [low, high] {
                    let first = self.bytes(a, b, mask, ty);
                    let second = self.bytes(c, d, mask, ty);
                    columns.push(self.bytes(first, second, lower, ty));
                    columns.push(self.bytes(first, second, upper, ty));
                }
                columns
            }
            [a, b] => vec![self.bytes(a, b, lower, ty), self.bytes(a, b, upper, ty)],
            _ => unreachable!("vectors of words have two lanes or four"),
        }
    }
}
