//! Float constants in memory: Cranelift would build an immediate anew at every use, also in the innermost loop, while it moves loads of what
//! never changes out of loops.

use super::{Emit, fixed};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Type as ClifType, Value, types};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most constants in memory. What is moved out of a loop is live all along it, and the time of register allocation grows with the
/// product of what is live and the blocks of the loop.
const MOST: usize = 64;

/// The constants of a unit.
#[derive(Default)]
pub(super) struct Constants {
    /// By their bits.
    slots: BTreeMap<u64, Arc<u64>>,
    /// Their bits by their addresses.
    known: BTreeMap<i64, u64>,
}

impl Constants {
    /// Where these bits are, unless there are too many constants.
    fn address(&mut self, bits: u64) -> Option<i64> {
        if self.slots.len() >= MOST && !self.slots.contains_key(&bits) {
            return None;
        }
        let slot = self.slots.entry(bits).or_insert_with(|| Arc::new(bits));
        let address = Arc::as_ptr(slot) as i64;
        self.known.insert(address, bits);
        Some(address)
    }

    /// What code holds addresses of.
    pub(super) fn into_slots(self) -> Vec<Arc<u64>> {
        self.slots.into_values().collect()
    }
}

impl Emit<'_, '_> {
    /// A float with these bits.
    pub(super) fn float_constant(&mut self, ty: ClifType, bits: u64) -> Value {
        if bits == 0 {
            return self.zero(ty);
        }
        let Some(address) = self.constants.address(bits) else {
            return match ty == types::F32 {
                true => self.b.ins().f32const(Ieee32::with_bits(bits as u32)),
                false => self.b.ins().f64const(Ieee64::with_bits(bits)),
            };
        };
        let address = self.i64(address);
        self.b.ins().load(ty, fixed(), address, 0)
    }

    /// A float that is a constant.
    pub(super) fn float_of(&self, value: Value) -> Option<f64> {
        let dfg = &self.b.func.dfg;
        let definition = dfg.insts[dfg.value_def(value).inst()?];
        let bits = if let InstructionData::UnaryIeee32 { imm, .. } = definition {
            u64::from(imm.bits())
        } else if let InstructionData::UnaryIeee64 { imm, .. } = definition {
            imm.bits()
        } else if let InstructionData::Load { arg, .. } = definition {
            *self.constants.known.get(&self.known(arg)?)?
        } else {
            return None;
        };
        Some(match dfg.value_type(value) == types::F32 {
            true => f64::from(f32::from_bits(bits as u32)),
            false => f64::from_bits(bits),
        })
    }
}
