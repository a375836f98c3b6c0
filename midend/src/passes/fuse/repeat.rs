//! Maps that do nothing but widen numbers become part of each operator that reads what they make and could not keep it: to widen a number
//! again costs less than to read the wider one from memory.
//!
//! ```text
//! let js = map n (is) \(i) { let j = convert.i32.i64(i); yield j }
//! let a = hist n (js, xs) \(j, x) { yield j, x } into ..
//! let b = hist n (js, ys) \(j, y) { yield j, y } into ..
//! ──►
//! let a = hist n (is, xs) \(i, x) { let j = convert.i32.i64(i); yield j, x } into ..
//! let b = hist n (is, ys) \(i, y) { let j = convert.i32.i64(i); yield j, y } into ..
//! ```

use super::Fuse;
use super::parts::{Consumer, Screma};
use super::uses::Uses;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::ScalarOp;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Body, Exp, Lambda, Stm};

impl Fuse<'_> {
    /// Whether all that read what statement `from` makes traverse it and can have a map of their own, which only widens numbers.
    pub(super) fn repeats(&self, body: &Body<Soac>, uses: &Uses, from: usize) -> bool {
        let stm = &body.stms[from];
        let ([made], Some(map)) = (&stm.binds[..], Screma::of(stm)) else {
            return false;
        };
        let mut readers = uses.readers(*made).peekable();
        map.is_map()
            && widens(map.lam)
            && !uses.is_result(*made)
            && readers.peek().is_some()
            && readers.all(|at| {
                Consumer::of(&body.stms[at]).is_some_and(|reader| {
                    reader.width == map.width
                        && reader.arrays.contains(made)
                        && !reader.other_reads(self.vars).contains(made)
                        && self.can_sink(uses, (from, at))
                })
            })
    }

    /// A copy of a map whose code has variables of its own.
    pub(super) fn again(&mut self, stm: &Stm<Soac>) -> Stm<Soac> {
        let mut copy = stm.clone();
        if let Exp::Op(Soac::Screma { lam, .. }) = &mut copy.exp {
            *lam = rename::lambda(self.vars, &mut Subst::new(), lam);
        }
        copy
    }
}

/// Whether a lambda makes of one number the same one in more bytes.
fn widens(lam: &Lambda<Soac>) -> bool {
    let ([param], [stm], [result]) = (&lam.params[..], &lam.body.stms[..], &lam.body.result[..])
    else {
        return false;
    };
    let Exp::Scalar(ScalarOp::Convert(from, to), args) = &stm.exp else {
        return false;
    };
    let is_made = stm.binds.iter().any(|v| result.as_var() == Some(*v));
    is_made && args[..] == [(*param).into()] && from.bytes() < to.bytes()
}
