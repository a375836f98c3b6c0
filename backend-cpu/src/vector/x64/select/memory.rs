//! Selection of loads, stores, gathers and scatters of vectors.

use super::Select;
use crate::vector::ir::{Address, Cell, Value};
use crate::vector::x64::mach::{Location, LocationBase, MASK, Machine, Part, VECTOR};
use iced_x86::Code;
use regalloc2::VReg;

impl Select<'_> {
    pub(super) fn vec_load(
        &mut self,
        cell: Cell,
        address: &Address,
        mask: Option<Value>,
        defs: &[VReg],
    ) {
        let location = self.location(address);
        let masks = self.optional_masks(mask, defs.len());
        let code = match cell {
            Cell::I8 => Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128,
            Cell::U8 => Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128,
            Cell::I16 => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
            Cell::U16 => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
            Cell::W32 => Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512,
            Cell::W64 => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        };
        for (k, def) in defs.iter().enumerate() {
            let machine = Machine::code(code).def(*def, Part::Bits512);
            let machine = machine.memory(&location.plus(64 * k as i32));
            self.push(machine.masked(masks[k], true));
        }
    }

    pub(super) fn vec_store(
        &mut self,
        cell: Cell,
        address: &Address,
        value: Value,
        mask: Option<Value>,
    ) {
        let location = self.location(address);
        let regs = self.regs(value);
        let masks = self.optional_masks(mask, regs.len());
        let code = match cell {
            Cell::I8 | Cell::U8 => Code::EVEX_Vpmovdb_xmmm128_k1z_zmm,
            Cell::I16 | Cell::U16 => Code::EVEX_Vpmovdw_ymmm256_k1z_zmm,
            Cell::W32 => Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm,
            Cell::W64 => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        };
        for (k, reg) in regs.into_iter().enumerate() {
            let machine = Machine::code(code).memory(&location.plus(64 * k as i32));
            let machine = machine.uses(reg, Part::Bits512);
            self.push(machine.masked(masks[k], false));
        }
    }

    /// A mask that an instruction may clear.
    fn own_mask(&mut self, mask: Option<VReg>) -> VReg {
        let own = self.fresh(MASK);
        let machine = match mask {
            Some(mask) => Machine::code(Code::VEX_Kmovw_kr_km16)
                .def(own, Part::Mask)
                .uses(mask, Part::Mask),
            None => {
                let location = Location::pool(self.constant(vec![0xff, 0xff]));
                Machine::code(Code::VEX_Kmovw_kr_km16)
                    .def(own, Part::Mask)
                    .memory(&location)
            }
        };
        self.push(machine);
        own
    }

    /// The indices of gathers and scatters of 64-bit elements or by 64-bit indices: one register, or half of one, for each of two.
    fn index_halves(&mut self, index: Value) -> ([VReg; 2], Part) {
        let regs = self.regs(index);
        match self.f.elem(index).bytes() {
            4 => ([regs[0], self.upper(regs[0])], Part::Bits256),
            _ => ([regs[0], regs[1]], Part::Bits512),
        }
    }

    pub(super) fn gather(
        &mut self,
        cell: Cell,
        (base, index): (Value, Value),
        mask: Option<Value>,
        defs: &[VReg],
    ) {
        let scale = cell.bytes() as u32;
        let base = self.reg(base);
        let at = |index: VReg, part: Part| Location {
            base: LocationBase::Register(base),
            index: Some((index, part, scale)),
            disp: 0,
        };
        let narrow = self.f.elem(index).bytes() == 4;
        let one =
            |this: &mut Self, code: Code, (def, part): (VReg, Part), location: Location, mask| {
                let (own, zero, after) = (this.own_mask(mask), this.zero(), this.fresh(MASK));
                let machine = Machine::code(code).updates(zero, def, part);
                let machine = machine.memory_late(&location);
                this.push(machine.mask_cleared(own, after));
            };
        match (cell.bytes(), narrow) {
            (4, true) => {
                let index = self.reg(index);
                let mask = mask.map(|m| self.reg(m));
                let location = at(index, Part::Bits512);
                let def = (defs[0], Part::Bits512);
                one(
                    self,
                    Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
                    def,
                    location,
                    mask,
                );
            }
            (4, false) => {
                let (indices, part) = self.index_halves(index);
                let masks = self.optional_masks(mask, 2);
                let halves = [0, 1].map(|k| {
                    let half = self.fresh(VECTOR);
                    let location = at(indices[k], part);
                    let def = (half, Part::Bits256);
                    one(
                        self,
                        Code::EVEX_Vpgatherqd_ymm_k1_vm64z,
                        def,
                        location,
                        masks[k],
                    );
                    half
                });
                self.joined(halves[0], halves[1], defs[0]);
            }
            (_, _) => {
                let (indices, part) = self.index_halves(index);
                let masks = self.optional_masks(mask, 2);
                let code = match narrow {
                    true => Code::EVEX_Vpgatherdq_zmm_k1_vm32y,
                    false => Code::EVEX_Vpgatherqq_zmm_k1_vm64z,
                };
                for k in 0..2 {
                    let location = at(indices[k], part);
                    one(self, code, (defs[k], Part::Bits512), location, masks[k]);
                }
            }
        }
    }

    pub(super) fn scatter(
        &mut self,
        cell: Cell,
        (base, index): (Value, Value),
        value: Value,
        mask: Option<Value>,
    ) {
        let scale = cell.bytes() as u32;
        let base = self.reg(base);
        let at = |index: VReg, part: Part| Location {
            base: LocationBase::Register(base),
            index: Some((index, part, scale)),
            disp: 0,
        };
        let narrow = self.f.elem(index).bytes() == 4;
        let values = self.regs(value);
        let one =
            |this: &mut Self, code: Code, (reg, part): (VReg, Part), location: Location, mask| {
                let (own, after) = (this.own_mask(mask), this.fresh(MASK));
                let machine = Machine::code(code).memory(&location).uses(reg, part);
                this.push(machine.mask_cleared(own, after));
            };
        match (cell.bytes(), narrow) {
            (4, true) => {
                let index = self.reg(index);
                let mask = mask.map(|m| self.reg(m));
                let value = (values[0], Part::Bits512);
                let location = at(index, Part::Bits512);
                one(
                    self,
                    Code::EVEX_Vpscatterdd_vm32z_k1_zmm,
                    value,
                    location,
                    mask,
                );
            }
            (4, false) => {
                let (indices, part) = self.index_halves(index);
                let masks = self.optional_masks(mask, 2);
                let halves = [values[0], self.upper(values[0])];
                for k in 0..2 {
                    let value = (halves[k], Part::Bits256);
                    let location = at(indices[k], part);
                    one(
                        self,
                        Code::EVEX_Vpscatterqd_vm64z_k1_ymm,
                        value,
                        location,
                        masks[k],
                    );
                }
            }
            (_, _) => {
                let (indices, part) = self.index_halves(index);
                let masks = self.optional_masks(mask, 2);
                let code = match narrow {
                    true => Code::EVEX_Vpscatterdq_vm32y_k1_zmm,
                    false => Code::EVEX_Vpscatterqq_vm64z_k1_zmm,
                };
                for k in 0..2 {
                    let location = at(indices[k], part);
                    one(self, code, (values[k], Part::Bits512), location, masks[k]);
                }
            }
        }
    }
}
