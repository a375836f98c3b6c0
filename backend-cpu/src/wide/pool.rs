//! The constants behind the code.

use super::{BASE, Refused};
use iced_x86::Instruction;
use std::collections::HashMap;

/// The constants, and who uses them.
pub(super) struct Pool<'c> {
    code: &'c [u8],
    pub(super) bytes: Vec<u8>,
    places: HashMap<Vec<u8>, usize>,
    /// For each instruction with a constant, by its address, where in the pool that is.
    pub(super) uses: HashMap<u64, usize>,
}

impl<'c> Pool<'c> {
    pub(super) fn new(code: &'c [u8]) -> Self {
        Self {
            code,
            bytes: Vec::new(),
            places: HashMap::new(),
            uses: HashMap::new(),
        }
    }

    /// Takes note of the constant of an instruction, which has it so many times over.
    pub(super) fn take(&mut self, instruction: &Instruction, copies: usize) -> Result<(), Refused> {
        let at = (instruction.memory_displacement64() - BASE) as usize;
        let size = instruction.memory_size().size();
        let constant = self.code.get(at..at + size);
        let constant = constant.ok_or_else(|| Refused("a constant elsewhere".to_owned()))?;
        if size == 0 || (copies > 1 && size != 16) {
            return Err(Refused(format!("a constant of {size} bytes")));
        }
        let place = self.put(constant.repeat(copies));
        self.uses.insert(instruction.ip(), place);
        Ok(())
    }

    /// The place of a constant.
    pub(super) fn put(&mut self, constant: Vec<u8>) -> usize {
        let bytes = &mut self.bytes;
        *self.places.entry(constant).or_insert_with_key(|constant| {
            bytes.resize(bytes.len().next_multiple_of(constant.len()), 0);
            bytes.extend(constant);
            bytes.len() - constant.len()
        })
    }

    /// An instruction uses the constant of another one.
    pub(super) fn also(&mut self, instruction: u64, other: u64) {
        if let Some(place) = self.uses.get(&other) {
            self.uses.insert(instruction, *place);
        }
    }

    /// Lets the instructions find their constants, which are to stand at this address.
    pub(super) fn place(&self, instructions: &mut [Instruction], start: u64) {
        for instruction in instructions {
            if instruction.is_ip_rel_memory_operand()
                && let Some(place) = self.uses.get(&instruction.ip())
            {
                instruction.set_memory_displacement64(start + *place as u64);
            }
        }
    }
}
