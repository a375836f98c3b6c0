//! What the host waits for, written by the device itself to memory of the host: a kernel of one warp behind the kernels that compute
//! it. Copies that the driver is asked for, and waiting for them, take three times as long.

use crate::ptx::ops::{Binary, Cmp, Round, Special, Unary};
use crate::ptx::{Builder, Inst, Kind, Module, Operand, Order, Reg, Scope, Space, Ty};

/// Threads of the kernel: a warp.
pub(crate) const THREADS: u32 = 32;
/// The name of the kernel.
pub(crate) const NAME: &str = "report";
/// Places that it can report at once.
pub(crate) const PLACES: usize = 2;
/// The bytes of all places, at most.
pub(crate) const BYTES: usize = 256;

/// The slots for a launch: bytes from some places, one after the other, go `to` memory of the host; then a number goes to a flag.
pub(crate) fn slots(to: u64, (flag, number): (u64, u64), places: &[(u64, usize)]) -> Vec<u64> {
    let mut slots = vec![to, flag, number];
    for k in 0..PLACES {
        let (address, bytes) = places.get(k).copied().unwrap_or((0, 0));
        slots.extend([address, bytes as u64]);
    }
    slots
}

/// The kernel.
pub(crate) fn module() -> Module {
    let kind = Kind::Entry {
        threads: THREADS,
        params: 8 * (3 + 2 * PLACES as u32),
        resident: None,
    };
    let mut b = Builder::new(NAME, kind);
    let pointer = |b: &mut Builder, number: u32| {
        let generic = b.param(Ty::U64, 8 * number);
        b.un(Unary::ToGlobal, Ty::U64, generic)
    };
    let mut to = pointer(&mut b, 0);
    let flag = pointer(&mut b, 1);
    let number = b.param(Ty::U64, 16);
    let lane = b.special(Special::Lane);
    let lane = b.convert(Ty::U64, Ty::U32, Round::Exact, lane);
    for place in (3..).step_by(2).take(PLACES) {
        let from = pointer(&mut b, place);
        let bytes = b.param(Ty::U64, 8 * (place + 1));
        copy(&mut b, (to, from), lane, bytes);
        to = b.bin(Binary::Add, Ty::U64, to, bytes);
    }
    b.inst(Inst::WarpSync {
        mask: Operand::Imm(u32::MAX.into()),
    });
    let first = b.cmp(Cmp::Eq, Ty::U64, lane, Operand::Imm(0));
    b.when(first, false, |b| {
        let order = Order::Release(Scope::Sys);
        b.inst(Inst::store(
            Space::Global,
            order,
            Ty::U64,
            flag.into(),
            number.into(),
        ));
    });
    Module {
        funcs: vec![b.finish()],
    }
}

/// Copies bytes, one of which a lane takes at a time.
fn copy(b: &mut Builder, (to, from): (Reg, Reg), lane: Reg, bytes: Reg) {
    let i = b.mov(Ty::B64, lane);
    b.repeat(
        false,
        |b| b.cmp(Cmp::Lt, Ty::U64, i, bytes).into(),
        |b| {
            let at = b.bin(Binary::Add, Ty::U64, from, i);
            let byte = b.load_as(Space::Global, Order::Weak, Ty::U8, at);
            let at = b.bin(Binary::Add, Ty::U64, to, i);
            b.store(Space::Global, Ty::U8, at, byte);
            b.bin_to(i, Binary::Add, Ty::U64, i, Operand::Imm(THREADS.into()));
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, Grid, Machine, Options, Place};
    use midend::device::Stop;
    use midend::ir::types::ScalarType;
    use midend::trap::RunError;
    use midend::value::Data;

    #[test]
    fn places_and_a_number_are_reported() -> Result<(), RunError> {
        let machine = Emulator::new(Options::default());
        let code = machine.load(&module(), NAME)?;
        let place = |data: &Data| -> Result<(u64, usize), RunError> {
            let (elem, len) = (data.elem(), data.len());
            let address = machine.alloc(elem, len)?;
            machine.write(address, data)?;
            Ok((address, elem.bytes() * len))
        };
        let numbers: Vec<u8> = (0..100).collect();
        let places = [
            place(&Data::U64(vec![1 << 40]))?,
            place(&Data::U8(numbers.clone()))?,
        ];
        let to = machine.alloc(ScalarType::U8, BYTES)?;
        machine.zero(to, BYTES)?;
        let flag = machine.alloc(ScalarType::U64, 1)?;
        let mut slots = slots(to, (flag, 7), &places);
        machine.run(&code, Grid::of(1), &mut slots, &Stop::default())?;
        let place = |address, elem, len| Place { address, elem, len };
        let [told, number] = machine.read([
            place(to, ScalarType::U8, 110),
            place(flag, ScalarType::U64, 1),
        ])?;
        let mut expected = (1u64 << 40).to_le_bytes().to_vec();
        expected.extend(&numbers);
        expected.extend([0, 0]);
        assert_eq!(told, Data::U8(expected));
        assert_eq!(number, Data::U64(vec![7]));
        Ok(())
    }
}
