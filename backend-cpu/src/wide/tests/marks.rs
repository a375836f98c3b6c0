//! What stands for something else, and masks that stay where they are.

use super::{ADDRESSES, Machine, X, around, operands, unary, widths};
use crate::wide::{EXTREMES, HELD, PART, PAST, Width, widen};
use iced_x86::{Code, Instruction, MemoryOperand};

/// Numbers near reciprocal roots, whose first digits are those of them.
#[test]
fn near() {
    for width in widths() {
        let code = unary(Code::VEX_Vpavgw_xmm_xmm_xmmm128, [X[1], X[1]]);
        let wide = widen(&code, 0, width, true).expect("it is widened");
        let machine = Machine::new(&[wide]);
        let number = |word: &[u8]| f32::from_le_bytes(word.try_into().expect("it has four bytes"));
        for [a, b, c] in operands() {
            let got = machine.run(0, [&a, &b, &c]);
            for (x, near) in b[..width.bytes()].chunks(4).zip(got.chunks(4)) {
                let (x, near) = (number(x), number(near));
                let exact = 1.0 / x.sqrt();
                let same = near == exact || near.is_nan() && exact.is_nan();
                let is_near = (near - exact).abs() < exact / 2000.0;
                assert!(same || is_near || x.is_subnormal(), "{x}: {near}, {exact}");
            }
        }
    }
}

/// A load of one part leaves the others zero, which a wider one would not.
#[test]
fn loads_of_parts() {
    for width in widths() {
        let from = MemoryOperand::with_base_displ(ADDRESSES[1], i64::from(PART) + 16);
        let load = Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], from);
        let code = around(&[load.expect("it is an instruction")]).expect("it is encoded");
        let machine = Machine::new(&[widen(&code, 0, width, true).expect("it is widened")]);
        for [a, b, c] in operands() {
            let got = machine.run(0, [&a, &b, &c]);
            assert_eq!(got[..16], b[16..32]);
            assert!(got[16..].iter().all(|byte| *byte == 0));
        }
    }
}

/// A marked store of a byte asks for a line of the cache and writes nothing, and any address will do.
#[test]
fn lines_asked_for() {
    for width in widths() {
        for far in [i64::from(PART) + 5, i64::from(i32::MAX) - 7] {
            let line = MemoryOperand::with_base_displ(ADDRESSES[1], far);
            let ask = Instruction::with2(Code::Mov_rm8_imm8, line, 0);
            let load = MemoryOperand::with_base_displ(ADDRESSES[1], 0);
            let load = Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], load);
            let code = [ask, load].map(|made| made.expect("it is an instruction"));
            let code = around(&code).expect("it is encoded");
            let wide = widen(&code, 0, width, true).expect("it is widened");
            let machine = Machine::new(&[wide]);
            for [a, b, c] in operands() {
                let got = machine.run(0, [&a, &b, &c]);
                assert_eq!(got[..width.bytes()], b[..width.bytes()]);
            }
        }
    }
}

/// A store of one part leaves what is behind it.
#[test]
fn stores_of_parts() {
    for width in widths() {
        let to = MemoryOperand::with_base_displ(ADDRESSES[1], i64::from(PART) + 16);
        let store = Instruction::with2(Code::VEX_Vmovdqu_xmmm128_xmm, to, X[1]);
        let again = MemoryOperand::with_base_displ(ADDRESSES[1], 0);
        let load = Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], again);
        let code = [store, load].map(|made| made.expect("it is an instruction"));
        let code = around(&code).expect("it is encoded");
        let machine = Machine::new(&[widen(&code, 0, width, true).expect("it is widened")]);
        for [a, b, c] in operands() {
            let got = machine.run(0, [&a, &b, &c]);
            let behind = 32..width.bytes();
            assert_eq!(got[..16], b[..16]);
            assert_eq!(got[16..32], b[..16]);
            assert_eq!(got[behind.clone()], b[behind]);
        }
    }
}

/// Results of a register, and room for them that begins with a line of the cache.
#[repr(align(64))]
struct Line([u8; 64]);

/// A store past the caches stores a register, and one that is none nothing.
#[test]
fn stores_past_the_caches() {
    for width in widths() {
        for (mark, stores) in [(PAST, true), (HELD, false)] {
            let to = MemoryOperand::with_base_displ(ADDRESSES[1], i64::from(mark));
            let store = Instruction::with2(Code::VEX_Vmovdqu_xmmm128_xmm, to, X[2]);
            let again = MemoryOperand::with_base_displ(ADDRESSES[1], 0);
            let load = Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], again);
            let code = [store, load].map(|made| made.expect("it is an instruction"));
            let code = around(&code).expect("it is encoded");
            let machine = Machine::new(&[widen(&code, 0, width, true).expect("it is widened")]);
            for [a, b, c] in operands() {
                let room = Line(b);
                let got = machine.run(0, [&a, &room.0, &c]);
                let there = if stores { c } else { b };
                assert_eq!(got[..width.bytes()], there[..width.bytes()]);
            }
        }
    }
}

/// Choices by what was just compared, in place or not, with lanes as wide and less wide, and by what is in its register since.
#[test]
fn choices_by_comparisons() {
    let compare = Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8;
    let choices = [
        Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
        Code::VEX_Vpblendvb_xmm_xmm_xmmm128_xmm,
        Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm,
    ];
    let moved = Instruction::with2(Code::VEX_Vmovups_xmm_xmmm128, X[3], X[2]);
    let moved = moved.expect("it is an instruction");
    for width in widths() {
        for choice in choices {
            for between in [None, Some(moved)] {
                for to in [X[0], X[3]] {
                    let mut middle = vec![Instruction::with4(compare, X[3], X[1], X[2], 1)];
                    middle.extend(between.map(Ok));
                    middle.push(Instruction::with4(choice, to, X[1], X[2], X[3]));
                    middle.push(Instruction::with4(choice, X[0], to, X[1], X[3]));
                    let middle: Result<Vec<Instruction>, _> = middle.into_iter().collect();
                    agree(&middle.expect("they are instructions"), width);
                }
            }
        }
    }
}

/// Conjunctions with what was just compared, on either side and in place, and with what is in its register since.
#[test]
fn conjunctions_with_comparisons() {
    let compares = [
        Code::VEX_Vpcmpgtb_xmm_xmm_xmmm128,
        Code::VEX_Vpcmpgtw_xmm_xmm_xmmm128,
        Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128,
        Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128,
    ];
    let moved = Instruction::with2(Code::VEX_Vmovups_xmm_xmmm128, X[3], X[2]);
    let moved = moved.expect("it is an instruction");
    for width in widths() {
        for compare in compares {
            for between in [None, Some(moved)] {
                for operands in [[X[3], X[1]], [X[1], X[3]], [X[3], X[3]]] {
                    for to in [X[0], X[3]] {
                        let and = Code::VEX_Vpand_xmm_xmm_xmmm128;
                        let mut middle = vec![Instruction::with3(compare, X[3], X[1], X[2])];
                        middle.extend(between.map(Ok));
                        middle.push(Instruction::with3(and, to, operands[0], operands[1]));
                        middle.push(Instruction::with3(and, X[0], to, X[0]));
                        let middle: Result<Vec<Instruction>, _> = middle.into_iter().collect();
                        agree(&middle.expect("they are instructions"), width);
                    }
                }
            }
        }
    }
}

/// Masks of lanes of 64 bits of two registers become one of lanes of 32, for a conjunction and a choice, whether all know of it or not.
#[test]
fn masks_of_two_registers() {
    let compare = |to, a, b| Instruction::with4(Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8, to, a, b, 1);
    let three = Instruction::with3;
    let halves = Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8;
    for width in widths() {
        for chosen in [false, true] {
            let middle = [
                compare(X[3], X[1], X[2]),
                compare(X[2], X[2], X[1]),
                Instruction::with4(halves, X[3], X[3], X[2], 0x88),
                three(Code::VEX_Vpaddsb_xmm_xmm_xmmm128, X[3], X[3], X[3]),
                match chosen {
                    true => {
                        let choice = Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm;
                        Instruction::with4(choice, X[0], X[0], X[1], X[3])
                    }
                    false => three(Code::VEX_Vpand_xmm_xmm_xmmm128, X[0], X[3], X[1]),
                },
            ];
            let middle: Result<Vec<Instruction>, _> = middle.into_iter().collect();
            let code = around(&middle.expect("they are instructions")).expect("it is encoded");
            let wide = widen(&code, 0, width, true).expect("it is widened");
            if width == Width::Four {
                let text = crate::wide::text(&wide);
                assert!(
                    text.contains("kunpckbw") && !text.contains("shufps"),
                    "{text}"
                );
            }
            let machine = Machine::new(&[wide]);
            for [a, b, c] in operands() {
                let got = machine.run(0, [&a, &b, &c]);
                let count = width.bytes() / 8;
                let number = |of: &[u8; 64], k: usize| {
                    f64::from_le_bytes(of[8 * k..][..8].try_into().expect("it has eight bytes"))
                };
                for k in 0..2 * count {
                    let (x, y) = (number(&b, k % count), number(&c, k % count));
                    let holds = if k < count { x < y } else { y < x };
                    let not = if chosen { &a[4 * k..][..4] } else { &[0; 4] };
                    let expected = if holds { &b[4 * k..][..4] } else { not };
                    assert_eq!(&got[4 * k..][..4], expected, "{k}: {x}, {y}");
                }
            }
        }
    }
}

/// What an instruction makes of vectors in registers of 512 bits, where there are some.
fn of_four(middle: &[Instruction], mut f: impl FnMut([&[u8; 64]; 3], [u8; 64])) {
    if !widths().contains(&Width::Four) {
        return;
    }
    let code = around(middle).expect("it is encoded");
    let wide = widen(&code, 0, Width::Four, true).expect("it is widened");
    let machine = Machine::new(&[wide]);
    for [a, b, c] in operands() {
        f([&a, &b, &c], machine.run(0, [&a, &b, &c]));
    }
}

fn words(bytes: &[u8; 64]) -> impl Iterator<Item = u32> + '_ {
    let words = bytes.chunks(4);
    words.map(|word| u32::from_le_bytes(word.try_into().expect("it has four bytes")))
}

fn longs(bytes: &[u8; 64]) -> impl Iterator<Item = u64> + '_ {
    let longs = bytes.chunks(8);
    longs.map(|long| u64::from_le_bytes(long.try_into().expect("it has eight bytes")))
}

/// Integers of 64 bits become floats and floats these, and have products.
#[test]
fn integers_of_64_bits() {
    let with = |code, other| {
        let made = Instruction::with3(code, X[0], X[1], other);
        [made.expect("it is an instruction")]
    };
    of_four(
        &with(Code::VEX_Vpavgb_xmm_xmm_xmmm128, X[1]),
        |[_, b, _], got| {
            for (x, n) in longs(b).map(f64::from_bits).zip(longs(&got)) {
                let fits = x.abs() < 9e18;
                assert_eq!(n as i64, if fits { x as i64 } else { i64::MIN }, "{x}");
            }
        },
    );
    of_four(
        &with(Code::VEX_Vphaddw_xmm_xmm_xmmm128, X[1]),
        |[_, b, _], got| {
            for (x, n) in words(b).map(f32::from_bits).zip(longs(&got)) {
                let fits = x.abs() < 9e18;
                assert_eq!(n as i64, if fits { x as i64 } else { i64::MIN }, "{x}");
            }
        },
    );
    of_four(
        &with(Code::VEX_Vpaddusw_xmm_xmm_xmmm128, X[1]),
        |[_, b, _], got| {
            for (n, x) in longs(b).zip(longs(&got)) {
                assert_eq!(f64::from_bits(x), n as i64 as f64);
            }
        },
    );
    of_four(
        &with(Code::VEX_Vpsubusw_xmm_xmm_xmmm128, X[1]),
        |[_, b, _], got| {
            for (n, x) in longs(b).zip(words(&got)) {
                assert_eq!(f32::from_bits(x), n as i64 as f32);
            }
        },
    );
    of_four(
        &with(Code::VEX_Vphaddd_xmm_xmm_xmmm128, X[2]),
        |[_, b, c], got| {
            let products = longs(b).zip(longs(c)).map(|(x, y)| x.wrapping_mul(y));
            assert!(products.eq(longs(&got)));
        },
    );
}

/// The least and the greatest lanes; of a NaN that is not signaling and a number the number.
#[test]
fn extremes() {
    let of = |distance: u8| {
        let code = Code::VEX_Vpalignr_xmm_xmm_xmmm128_imm8;
        let made = Instruction::with4(code, X[0], X[1], X[2], u32::from(distance));
        [made.expect("it is an instruction")]
    };
    for (k, distance) in EXTREMES.into_iter().enumerate() {
        let least = k % 2 == 0;
        of_four(&of(distance), |[_, b, c], got| {
            if k < 2 {
                let all = longs(b).zip(longs(c)).map(|(x, y)| (x as i64, y as i64));
                let all = all.map(|(x, y)| if least { x.min(y) } else { x.max(y) });
                assert!(all.eq(longs(&got).map(|n| n as i64)));
            } else if k < 4 {
                for ((x, y), got) in words(b).zip(words(c)).zip(words(&got)) {
                    let numbers = [x, y, got].map(f32::from_bits);
                    extreme(numbers.map(f64::from), least);
                }
            } else {
                for ((x, y), got) in longs(b).zip(longs(c)).zip(longs(&got)) {
                    extreme([x, y, got].map(f64::from_bits), least);
                }
            }
        });
    }
}

fn extreme([x, y, got]: [f64; 3], least: bool) {
    if !x.is_nan() && !y.is_nan() {
        assert_eq!(got, if least { x.min(y) } else { x.max(y) });
        let negative = [x, y].map(f64::is_sign_negative);
        if x == 0.0 && y == 0.0 {
            assert_eq!(
                got.is_sign_negative(),
                negative.contains(&true) && (least || negative == [true; 2])
            );
        }
    }
}

/// Loads from the addresses in a vector, which are counted in elements.
#[test]
fn gathers() {
    if !widths().contains(&Width::Four) {
        return;
    }
    let table: Vec<u64> = (0..40).map(|k| k * 0x0101_0203_0507 + 9).collect();
    for (code, bytes) in [
        (Code::VEX_Vpmovzxwd_xmm_xmmm64, 4),
        (Code::VEX_Vpmovzxdq_xmm_xmmm64, 8),
    ] {
        let stored = MemoryOperand::with_base(ADDRESSES[3]);
        let marked = MemoryOperand::with_base_displ(ADDRESSES[3], i64::from(PART));
        let middle = [
            Instruction::with2(Code::VEX_Vmovdqu_xmmm128_xmm, stored, X[0]),
            Instruction::with2(code, X[0], marked),
        ];
        let middle = middle.map(|made| made.expect("it is an instruction"));
        let code = around(&middle).expect("it is encoded");
        let machine = Machine::new(&[widen(&code, 0, Width::Four, true).expect("it is widened")]);
        let places = [7u64, 0, 3, 3, 31, 12, 1, 30];
        let first = table.as_ptr() as u64 / bytes;
        let addresses: Vec<u8> = places
            .iter()
            .flat_map(|k| (first + k).to_le_bytes())
            .collect();
        let got = machine.run(0, [&addresses, &[0; 64], &[0; 64]]);
        let all: Vec<u8> = table.iter().flat_map(|long| long.to_le_bytes()).collect();
        for (k, found) in places.iter().zip(got.chunks(bytes as usize)) {
            let at = (k * bytes) as usize;
            assert_eq!(found, &all[at..at + bytes as usize]);
        }
    }
}

/// Whether instructions do to each part what they do to one.
fn agree(middle: &[Instruction], width: Width) {
    let narrow = around(middle).expect("it is encoded");
    let wide = widen(&narrow, 0, width, true).expect("it is widened");
    let machine = Machine::new(&[narrow, wide]);
    for operands in operands() {
        let [a, b, c] = &operands;
        let parts = (0..width.parts()).flat_map(|k| {
            let part = 16 * k..16 * k + 16;
            let part = [&a[part.clone()], &b[part.clone()], &c[part]];
            machine.run(0, part)[..16].to_vec()
        });
        let expected: Vec<u8> = parts.collect();
        let got = machine.run(1, [a, b, c]);
        assert_eq!(got[..width.bytes()], expected[..], "{middle:?}");
    }
}

/// What depends on whether a comparison holds in any lane, with another one since, or with something else in its register.
#[test]
fn branches_by_comparisons() {
    let compares = [
        (Code::VEX_Vpcmpgtb_xmm_xmm_xmmm128, 1),
        (Code::VEX_Vpcmpgtw_xmm_xmm_xmmm128, 2),
        (Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128, 4),
        (Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128, 8),
    ];
    let moved = || Instruction::with2(Code::VEX_Vmovups_xmm_xmmm128, X[3], X[2]);
    let from = MemoryOperand::with_base_displ(ADDRESSES[1], 0);
    for width in widths() {
        for (compare, bytes) in compares {
            for kept in [true, false] {
                let between = match kept {
                    true => Instruction::with3(compare, X[0], X[2], X[1]),
                    false => moved(),
                };
                let middle = [
                    Instruction::with3(compare, X[3], X[1], X[2]),
                    between,
                    Instruction::with2(Code::VEX_Vptest_xmm_xmmm128, X[3], X[3]),
                    Instruction::with2(Code::Cmovne_r64_rm64, ADDRESSES[1], ADDRESSES[2]),
                    Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], from),
                ];
                let middle: Result<Vec<Instruction>, _> = middle.into_iter().collect();
                let code = around(&middle.expect("they are instructions")).expect("it is encoded");
                let wide = widen(&code, 0, width, true).expect("it is widened");
                let text = crate::wide::text(&wide);
                let tested = width == Width::Two || !kept;
                assert_eq!(text.contains("ptest"), tested, "{text}");
                let machine = Machine::new(&[wide]);
                let others = operands()
                    .into_iter()
                    .flat_map(|[a, b, c]| [[a, b, c], [a, b, b]]);
                // In the last lane alone.
                let mut last = [0; 64];
                last[width.bytes() - 1] = 1;
                for [a, b, c] in others.chain([[last, last, [0; 64]], [[0; 64]; 3]]) {
                    let lane = |of: &[u8]| {
                        let sign = if of[bytes - 1] & 0x80 == 0 { 0 } else { 0xff };
                        let mut all = [sign; 8];
                        all[..bytes].copy_from_slice(of);
                        i64::from_le_bytes(all)
                    };
                    let all = width.bytes();
                    let mut lanes = b[..all].chunks(bytes).zip(c[..all].chunks(bytes));
                    let any = match kept {
                        true => lanes.any(|(b, c)| lane(b) > lane(c)),
                        false => c[..all].iter().any(|byte| *byte != 0),
                    };
                    let got = machine.run(0, [&a, &b, &c]);
                    let expected = if any { c } else { b };
                    assert_eq!(got[..all], expected[..all], "{text}");
                }
            }
        }
    }
}
