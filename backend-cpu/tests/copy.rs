//! Copies between buffers from the host.

mod common;

use common::{device, download, upload, zeros};
use midend::device::{Device, Strided};
use midend::ir::types::ScalarType;
use midend::value::Data;

fn strides(perm: &[usize], shape: &[i64]) -> Vec<i64> {
    // Row-major strides of the array whose dimensions are those of `shape` in the order of `perm`.
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for &axis in perm.iter().rev() {
        strides[axis] = step;
        step *= shape[axis];
    }
    strides
}

#[test]
fn every_permutation() {
    let device = device(2);
    let permutations: [&[usize]; 6] = [
        &[0, 1, 2],
        &[0, 2, 1],
        &[1, 0, 2],
        &[1, 2, 0],
        &[2, 0, 1],
        &[2, 1, 0],
    ];
    for shape in [[2, 3, 4], [1, 700, 800], [90, 80, 70], [5, 0, 3]] {
        let total: i64 = shape.iter().product();
        let input: Vec<i32> = (0..total as i32).collect();
        let src = upload(&device, Data::I32(input.clone()));
        let from = strides(&[0, 1, 2], &shape);
        for perm in permutations {
            let to = strides(perm, &shape);
            let dst = zeros(&device, ScalarType::I32, total as usize);
            device
                .copy(
                    &shape,
                    Strided {
                        buffer: &dst,
                        offset: 0,
                        strides: &to,
                    },
                    Strided {
                        buffer: &src,
                        offset: 0,
                        strides: &from,
                    },
                )
                .expect("copies");
            let mut expected = vec![0; total as usize];
            for (flat, x) in input.iter().enumerate() {
                let flat = flat as i64;
                let index = [
                    flat / (shape[1] * shape[2]),
                    flat / shape[2] % shape[1],
                    flat % shape[2],
                ];
                let target: i64 = index.iter().zip(&to).map(|(i, s)| i * s).sum();
                expected[target as usize] = *x;
            }
            assert!(
                download(&device, &dst) == Data::I32(expected),
                "{shape:?} {perm:?}"
            );
        }
    }
}

#[test]
fn reversed_and_repeated() {
    let device = device(1);
    let src = upload(&device, Data::U16((0..10).collect()));
    let dst = zeros(&device, ScalarType::U16, 10);
    let copy = |shape: &[i64], to: (i64, &[i64]), from: (i64, &[i64])| {
        device.copy(
            shape,
            Strided {
                buffer: &dst,
                offset: to.0,
                strides: to.1,
            },
            Strided {
                buffer: &src,
                offset: from.0,
                strides: from.1,
            },
        )
    };
    copy(&[10], (0, &[1]), (9, &[-1])).expect("copies");
    assert_eq!(download(&device, &dst), Data::U16((0..10).rev().collect()));
    copy(&[5, 2], (0, &[2, 1]), (3, &[0, 1])).expect("copies");
    assert_eq!(download(&device, &dst), Data::U16([3, 4].repeat(5)));
    assert!(copy(&[11], (0, &[1]), (0, &[1])).is_err());
    assert!(copy(&[2], (0, &[1]), (0, &[-1])).is_err());
}

#[test]
fn a_little_further_than_the_source() {
    let device = device(1);
    for (count, offset) in [(3, 1), (1000, 1), (1003, 7), (5000, 8), (140_000, 3)] {
        let input: Vec<i64> = (0..count).collect();
        let src = upload(&device, Data::I64(input.clone()));
        let dst = zeros(&device, ScalarType::I64, (count + offset) as usize);
        let to = Strided {
            buffer: &dst,
            offset,
            strides: &[1],
        };
        let from = Strided {
            buffer: &src,
            offset: 0,
            strides: &[1],
        };
        device.copy(&[count], to, from).expect("copies");
        let mut expected = vec![0; offset as usize];
        expected.extend(input);
        assert_eq!(download(&device, &dst), Data::I64(expected));
    }
}
