//! What a device does besides running one kernel: copies of boxes, and failures that are reported when somebody waits.

mod common;

use backend_ptx::standing_texts;
use common::plan::{
    Buffer, I64, blank, buffer, compile, device, download, i64s, kernel, load, program, store,
    upload, zeros,
};
use common::ptxas::{self, TARGETS};
use midend::device::{Arg, Device, Stop, Strided};
use midend::ir::mem::KernelKind;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::syntax::{Atom, MessagePart, TrapKind};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;

/// Numbers that look like chance, below a bound.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) % bound.unsigned_abs()) as i64
    }
}

/// Strides of a dense array whose dimensions are laid out in the order of a permutation, some of them backwards; the offset
/// of the first element, and the number of elements.
fn layout(shape: &[i64], chance: &mut Chance) -> (Vec<i64>, i64, i64) {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, chance.below(i as i64 + 1) as usize);
    }
    let (mut strides, mut offset, mut len) = (vec![0; shape.len()], 0, 1 + chance.below(2));
    for dim in order {
        strides[dim] = len;
        len *= shape[dim];
        if chance.below(4) == 0 {
            offset += strides[dim] * (shape[dim] - 1);
            strides[dim] = -strides[dim];
        }
    }
    (strides, offset, len)
}

/// A small number of a type.
fn number(ty: ScalarType, n: usize) -> Const {
    if ty == ScalarType::U8 {
        Const::U8(n as u8)
    } else if ty == ScalarType::I16 {
        Const::I16(n as i16)
    } else if ty == ScalarType::F32 {
        Const::f32(n as f32)
    } else {
        Const::I64(n as i64)
    }
}

/// The elements of an array as numbers.
fn numbers(data: &Data) -> Vec<Const> {
    (0..data.len()).map(|i| data.get(i)).collect()
}

#[test]
fn boxes_are_copied_whatever_their_strides() {
    let device = device(3);
    let mut chance = Chance(7);
    let types = [
        ScalarType::U8,
        ScalarType::I16,
        ScalarType::F32,
        ScalarType::I64,
    ];
    for case in 0..200 {
        let elem = types[case % 4];
        let rank = 1 + chance.below(4) as usize;
        let most = [3000, 70, 40, 20][rank - 1];
        let shape: Vec<i64> = (0..rank).map(|_| 1 + chance.below(most)).collect();
        let (to, to_offset, to_len) = layout(&shape, &mut chance);
        let (from, from_offset, from_len) = layout(&shape, &mut chance);
        let mut source = Data::zeros(elem, from_len as usize);
        for i in 0..from_len as usize {
            source.set(i, number(elem, i % 100));
        }
        let mut expected = Data::zeros(elem, to_len as usize);
        for point in 0..shape.iter().product::<i64>() {
            let (mut rest, mut at, mut there) = (point, to_offset, from_offset);
            for dim in (0..rank).rev() {
                at += rest % shape[dim] * to[dim];
                there += rest % shape[dim] * from[dim];
                rest /= shape[dim];
            }
            expected.set(at as usize, source.get(there as usize));
        }
        let (dst, src) = (
            zeros(&device, elem, to_len as usize),
            upload(&device, source),
        );
        let side = |buffer, offset, strides| Strided {
            buffer,
            offset,
            strides,
        };
        let copied = device.copy(
            &shape,
            side(&dst, to_offset, &to),
            side(&src, from_offset, &from),
        );
        copied.unwrap_or_else(|why| panic!("{why:?} for {shape:?} from {from:?} to {to:?}"));
        let got = download(&device, &dst, to_len as usize);
        assert!(
            numbers(&got) == numbers(&expected),
            "{shape:?} from {from:?} to {to:?}"
        );
    }
}

#[test]
fn a_box_that_leaves_its_buffer_is_refused() {
    let device = device(3);
    let [dst, src] = [6, 5].map(|len| zeros(&device, ScalarType::I32, len));
    let side = |buffer, offset| Strided {
        buffer,
        offset,
        strides: &[3, 1],
    };
    let refused = device.copy(&[2, 3], side(&dst, 0), side(&src, 0));
    assert!(matches!(refused, Err(RunError::Device(_))));
    let refused = device.copy(&[2, 3], side(&dst, 1), side(&dst, 0));
    assert!(matches!(refused, Err(RunError::Device(_))));
}

#[test]
fn kernels_that_copy_are_assembled() {
    for target in TARGETS {
        for (name, text) in standing_texts(4, target) {
            let assembled = ptxas::assemble(&text, target);
            assembled.unwrap_or_else(|log| panic!("{name} for sm_{target}: {log}"));
        }
    }
}

#[test]
fn the_first_failure_is_the_one_that_is_reported() {
    let n = 600;
    let program = program(|b| {
        let (length, bound) = (b.fresh("n", I64), b.fresh("bound", I64));
        let [middle, out] = ["middle", "out"].map(|name| b.fresh(name, buffer(ScalarType::I64)));
        // Every second element is written, unless a check fails.
        kernel(b, "first", &[length.into()], KernelKind::Map, |b, i| {
            let small = b.cmp(CmpOp::Lt, ScalarType::I64, i[0], bound);
            let parts = vec![
                MessagePart::Text("first ".into()),
                MessagePart::Value(i[0].into()),
            ];
            b.assert(small, TrapKind::Bounds, parts);
            store(b, middle, i[0], Atom::from(i[0]));
            vec![]
        });
        // Its inputs are not there if the first one failed.
        kernel(b, "second", &[length.into()], KernelKind::Map, |b, i| {
            let x = load(b, middle, i[0]);
            let same = b.eq(x, Atom::from(i[0]));
            b.assert(
                same,
                TrapKind::Assert,
                vec![MessagePart::Text("second".into())],
            );
            store(b, out, i[0], x);
            vec![]
        });
    });
    let device = device(11);
    let module = compile(&device, &program);
    let whole = |bound: i64| {
        let [middle, out] = [0, 1].map(|_| blank(&device, ScalarType::I64, n as usize));
        let arg = |x: &Buffer| Arg::Buffer(x.clone());
        let stop = Stop::new();
        device.launch(
            &module,
            "first",
            &[i64s(n), i64s(bound), arg(&middle)],
            &stop,
        )?;
        device.launch(
            &module,
            "second",
            &[i64s(n), arg(&middle), arg(&out)],
            &stop,
        )?;
        device.download(&out, n as usize)
    };
    let count = Data::I64((0..n).collect());
    assert_eq!(whole(n), Ok(count.clone()));
    let Err(RunError::Trap(trap)) = whole(n - 1) else {
        panic!("a check fails")
    };
    assert_eq!(
        (trap.kind, trap.message.as_str()),
        (TrapKind::Bounds, "first 599")
    );
    // What failed is over.
    assert_eq!(whole(n), Ok(count));
    assert_eq!(device.synchronise(), Ok(()));
}
