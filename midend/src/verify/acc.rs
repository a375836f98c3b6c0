//! Types of accumulations and of the updates in them.

use super::{Types, Verify};
use crate::ir::id::Var;
use crate::ir::soac::{Accumulation, UpdateAcc};
use crate::ir::types::{AccType, Type};

impl<'p, D: Verify> Types<'_, 'p, D> {
    /// Checks an accumulation whose body is checked by `body`, which yields the types of its results.
    pub(super) fn accumulation(
        &mut self,
        acc: &'p Accumulation<D>,
        binds: &'p [Var],
        body: impl FnOnce(&mut Self) -> Vec<Type>,
    ) {
        let token = self.var(acc.token);
        self.fits("the token", token, &Type::Cert);
        acc.dests.iter().for_each(|v| self.no_ragged(*v));
        let dests: Vec<Type> = acc.dests.iter().map(|v| self.var(*v).clone()).collect();
        if acc.params.len() != dests.len() {
            self.count("accumulators", acc.params.len(), dests.len());
        }
        for (part, (param, dest)) in acc.params.iter().zip(&dests).enumerate() {
            let Type::Array(array) = dest else {
                return self.fault("a destination is no array");
            };
            let wanted = Type::Acc(AccType {
                token: acc.token,
                part,
                array: array.clone(),
            });
            let found = self.var(*param);
            self.fits("an accumulator", found, &wanted);
        }
        let lengths = dests.iter().filter_map(|ty| ty.shape().first()?.size());
        let lengths: Vec<_> = lengths.collect();
        if lengths.windows(2).any(|n| !self.sizes.equal(n[0], n[1])) {
            self.fault("the destinations differ in length");
        }
        if let Some(op) = &acc.op {
            let rows: Vec<Type> = dests.iter().filter_map(|ty| ty.peel(1)).collect();
            self.operator(op, &rows);
        }
        self.accs.push((acc.token, acc.params.len()));
        let results = body(self);
        self.accs.pop();
        if results.len() != acc.params.len() {
            return self.count("results of the body", results.len(), acc.params.len());
        }
        for (found, param) in results.iter().zip(&acc.params) {
            let wanted = self.var(*param);
            self.fits("a result of the body", found, wanted);
        }
        self.binds(binds, &dests);
    }

    /// Checks an update of all accumulators of an accumulation around it.
    pub(super) fn update_acc(&mut self, update: &'p UpdateAcc, binds: &'p [Var]) {
        self.scalar("the index", update.index, crate::ir::types::ScalarType::I64);
        let mut rows = Vec::new();
        let mut types = Vec::new();
        for (part, v) in update.accs.iter().enumerate() {
            let ty = self.var(*v);
            let Type::Acc(acc) = ty else {
                let name = self.cx.name(*v);
                return self.fault(format!("{name} is updated but no accumulator"));
            };
            let all = (acc.token, update.accs.len());
            if acc.part != part || !self.accs.contains(&all) {
                return self.fault("does not update the accumulators of one accumulation in order");
            }
            rows.extend(Type::Array(acc.array.clone()).peel(1));
            types.push(ty.clone());
        }
        self.atoms("value", &update.values, &rows);
        self.binds(binds, &types);
    }
}
