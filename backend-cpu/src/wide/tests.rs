//! Every instruction of the tables, executed: for each part of its operands as it is, and once for all as it becomes.

mod marks;

use super::forms::{Form, form};
use super::{Refused, Width, widen};
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::CallConv;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

const X: [Register; 4] = [
    Register::XMM0,
    Register::XMM9,
    Register::XMM2,
    Register::XMM12,
];
/// The registers that hold addresses of operands and of the result.
const ADDRESSES: [Register; 4] = [Register::RDI, Register::RSI, Register::RDX, Register::RCX];

fn at(register: Register) -> MemoryOperand {
    MemoryOperand::with_base(register)
}

/// Code that loads three vectors, does something to them, and stores the first.
fn around(middle: &[Instruction]) -> Option<Vec<u8>> {
    let load = Code::VEX_Vmovdqu_xmm_xmmm128;
    let mut all = Vec::new();
    for (x, address) in X.iter().zip(ADDRESSES).take(3) {
        all.push(Instruction::with2(load, *x, at(address)).ok()?);
    }
    all.push(Instruction::with2(load, X[3], at(ADDRESSES[0])).ok()?);
    all.extend(middle);
    all.push(Instruction::with2(Code::VEX_Vmovdqu_xmmm128_xmm, at(ADDRESSES[3]), X[0]).ok()?);
    all.push(Instruction::with(Code::Retnq));
    let mut encoder = Encoder::new(64);
    for instruction in &all {
        encoder.encode(instruction, 0).ok()?;
    }
    Some(encoder.take_buffer())
}

/// The ways to write an instruction with registers, memory and constants.
fn written(code: Code) -> Vec<Instruction> {
    let memory = at(ADDRESSES[2]);
    let mut operands = Instruction::default();
    operands.set_code(code);
    let (two, three) = (operands.op_count() == 2, operands.op_count() == 3);
    let has_constant = format!("{code:?}").ends_with("imm8");
    let constants: &[i32] = if has_constant {
        &[0x01, 0x44, 0xee]
    } else {
        &[]
    };
    let mut all = Vec::new();
    if two {
        all.push(Instruction::with2(code, X[0], X[1]));
        all.push(Instruction::with2(code, X[0], memory));
    } else if three && !has_constant {
        all.push(Instruction::with3(code, X[0], X[1], X[2]));
        all.push(Instruction::with3(code, X[0], X[1], memory));
    } else if !has_constant {
        all.push(Instruction::with4(code, X[0], X[1], X[2], X[3]));
        all.push(Instruction::with4(code, X[0], X[1], memory, X[3]));
    }
    for constant in constants.iter().copied() {
        if three {
            all.push(Instruction::with3(code, X[0], X[1], constant));
        } else {
            all.push(Instruction::with4(code, X[0], X[1], X[2], constant));
            all.push(Instruction::with4(code, X[0], X[1], memory, constant));
        }
    }
    let fits = |i: &Instruction| Encoder::new(64).encode(i, 0).is_ok();
    all.into_iter().flatten().filter(fits).collect()
}

/// Machine code that can be executed.
struct Machine {
    module: Option<JITModule>,
    codes: Vec<*const u8>,
}

impl Machine {
    fn new(codes: &[Vec<u8>]) -> Self {
        let builder = JITBuilder::new(default_libcall_names()).expect("this machine is supported");
        let mut module = JITModule::new(builder);
        let signature = Signature::new(CallConv::SystemV);
        let ids: Vec<_> = codes
            .iter()
            .enumerate()
            .map(|(i, code)| {
                let name = format!("f{i}");
                let id = module.declare_function(&name, Linkage::Local, &signature);
                let id = id.expect("names differ");
                let defined = module.define_function_bytes(id, 64, code, &[]);
                defined.expect("it is defined once");
                id
            })
            .collect();
        module.finalize_definitions().expect("there is memory");
        let codes = ids.iter().map(|id| module.get_finalized_function(*id));
        Self {
            codes: codes.collect(),
            module: Some(module),
        }
    }

    /// What the code makes of three vectors, or wider ones.
    fn run(&self, which: usize, [a, b, c]: [&[u8]; 3]) -> [u8; 64] {
        type Function = extern "sysv64" fn(*const u8, *const u8, *const u8, *mut u8);
        let mut out = [0u8; 64];
        // SAFETY: the code is that of `around`, which reads and writes as much as is there.
        let function: Function = unsafe { std::mem::transmute(self.codes[which]) };
        function(a.as_ptr(), b.as_ptr(), c.as_ptr(), out.as_mut_ptr());
        out
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: nothing of it is executed any more.
            unsafe { module.free_memory() };
        }
    }
}

/// The registers that this machine has.
fn widths() -> Vec<Width> {
    let target = crate::target::Target::new(0).expect("this machine is supported");
    target.widths().collect()
}

/// Four vectors each: any bits, small numbers, and masks.
fn operands() -> Vec<[[u8; 64]; 3]> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (state >> 24) as u32
    };
    let mut all = Vec::new();
    for kind in 0..40 {
        let mut words = || -> [u8; 64] {
            let words: Vec<u8> = (0..8)
                .flat_map(|_| {
                    let (r, s) = (random(), random());
                    let small = |r: u32| (r % 2000) as f32 / 16.0 - 60.0;
                    let (low, high) = (u64::from(r), u64::from(s));
                    let word = match kind % 4 {
                        0 => low | high << 32,
                        1 => u64::from(small(r).to_bits()) | u64::from(small(s).to_bits()) << 32,
                        2 => f64::from(small(r)).to_bits(),
                        _ => (u64::from(r % 2).wrapping_neg() << 32) | (low % 9),
                    };
                    word.to_le_bytes()
                })
                .collect();
            words.try_into().expect("eight words are 64 bytes")
        };
        all.push([words(), words(), words()]);
    }
    all
}

#[test]
fn all_parts_of_every_instruction() {
    for width in widths() {
        all_parts(width);
    }
}

fn all_parts(width: Width) {
    let mut tried = Vec::new();
    let mut codes = Vec::new();
    for code in Code::values() {
        let Some(form) = form(code, width) else {
            continue;
        };
        let single = matches!(
            form,
            Form::Same
                | Form::Pair
                | Form::Second
                | Form::Four
                | Form::Top
                | Form::Compress
                | Form::Permute
                | Form::Find(_)
                | Form::Extreme
                | Form::Near(_)
                | Form::Zero
                | Form::Sort(_)
                | Form::Extend(_)
                | Form::Shift(_)
        );
        if single || code == Code::VEX_Vptest_xmm_xmmm128 {
            continue;
        }
        let written = written(code);
        // Stores have their result elsewhere; they are what all others end with.
        let stores = format!("{code:?}").contains("xmmm128_xmm") && written.is_empty();
        assert!(stores || !written.is_empty(), "{code:?}");
        for instruction in written {
            let Some(narrow) = around(&[instruction]) else {
                continue;
            };
            match widen(&narrow, 0, width, true) {
                Ok(wide) => {
                    tried.push((instruction, form));
                    codes.extend([narrow, wide]);
                }
                // These are not known of memory, and one not of registers.
                Err(why) => {
                    let special = matches!(
                        form,
                        Form::Shuffle | Form::Promote | Form::Demote | Form::Spread(_)
                    );
                    assert!(special, "{code:?}: {why:?}");
                }
            }
        }
    }
    assert!(tried.len() > 200, "only {} are tried", tried.len());
    let machine = Machine::new(&codes);
    for operands in operands() {
        for (i, (instruction, form)) in tried.iter().enumerate() {
            let part = |k: usize| {
                let [a, b, c] = &operands;
                let part = 16 * k..16 * k + 16;
                machine.run(2 * i, [&a[part.clone()], &b[part.clone()], &c[part]])
            };
            let spread = match form {
                Form::Spread(_) => true,
                Form::Shuffle => instruction.immediate8() == 0x44,
                Form::Twin(_)
                | Form::Same
                | Form::Promote
                | Form::Demote
                | Form::Compare(_)
                | Form::Blend(_)
                | Form::Test
                | Form::Pair
                | Form::Second
                | Form::Four
                | Form::Top
                | Form::Compress
                | Form::Permute
                | Form::Find(_)
                | Form::Extreme
                | Form::Near(_)
                | Form::Zero
                | Form::Sort(_)
                | Form::Extend(_)
                | Form::Shift(_) => false,
            };
            let parts = (0..width.parts()).map(|k| part(if spread { 0 } else { k }));
            let expected: Vec<u8> = parts.flat_map(|part| part[..16].to_vec()).collect();
            let [a, b, c] = &operands;
            let got = machine.run(2 * i + 1, [a, b, c]);
            assert_eq!(
                got[..width.bytes()],
                expected[..],
                "{:?}",
                instruction.code()
            );
        }
    }
}

/// Code that makes something of a vector.
fn unary(code: Code, operands: [Register; 2]) -> Vec<u8> {
    let instruction = Instruction::with3(code, X[0], operands[0], operands[1]);
    around(&[instruction.expect("it is an instruction")]).expect("it is encoded")
}

#[test]
fn put_together_and_taken_apart() {
    for width in widths() {
        let mut codes = vec![
            unary(Code::VEX_Vpmulhrsw_xmm_xmm_xmmm128, [X[1], X[2]]),
            unary(Code::VEX_Vpmaddubsw_xmm_xmm_xmmm128, [X[1], X[1]]),
            unary(Code::VEX_Vpaddsb_xmm_xmm_xmmm128, [X[1], X[1]]),
            unary(Code::VEX_Vpsubsb_xmm_xmm_xmmm128, [X[1], X[1]]),
        ];
        if width == Width::Two {
            codes.push(unary(Code::VEX_Vpsubsw_xmm_xmm_xmmm128, [X[1], X[2]]));
        }
        if width == Width::Four {
            codes.push(unary(Code::VEX_Vpaddusb_xmm_xmm_xmmm128, [X[1], X[2]]));
            codes.push(unary(Code::VEX_Vpsubusb_xmm_xmm_xmmm128, [X[1], X[1]]));
        }
        let finds = width == Width::Four && std::is_x86_feature_detected!("avx512vbmi");
        if finds {
            codes.push(unary(Code::VEX_Vpaddsw_xmm_xmm_xmmm128, [X[1], X[2]]));
        }
        let codes = codes.iter().map(|code| widen(code, 0, width, true));
        let codes = codes.collect::<Result<Vec<_>, _>>();
        let machine = Machine::new(&codes.expect("they are widened"));
        for [a, b, c] in operands() {
            let run = |which: usize| machine.run(which, [&a, &b, &c]);
            let both = run(0);
            assert_eq!((&both[..16], &both[16..32]), (&b[..16], &c[..16]));
            assert_eq!(run(1)[..16], b[16..32]);
            let count = 2 * width.parts();
            let words: Vec<&[u8]> = b.chunks(8).take(count).collect();
            let apart = (0..count).map(|i| words[2 * (i % (count / 2)) + 2 * i / count]);
            assert_eq!(
                run(2)[..width.bytes()],
                apart.collect::<Vec<_>>().concat()[..]
            );
            let together = (0..count).map(|i| words[i / 2 + i % 2 * count / 2]);
            assert_eq!(
                run(3)[..width.bytes()],
                together.collect::<Vec<_>>().concat()[..]
            );
            if width == Width::Two {
                let lane = |k: usize| b[4 * (c[4 * k] as usize % 8)..][..4].to_vec();
                let lanes: Vec<u8> = (0..8).flat_map(lane).collect();
                assert_eq!(run(4)[..32], lanes[..]);
            }
            if width == Width::Four {
                let four = run(4);
                assert_eq!((&four[..32], &four[32..]), (&b[..32], &c[..32]));
                assert_eq!(run(5)[..32], b[32..]);
            }
            if finds {
                let found: Vec<u8> = b.iter().map(|k| c[*k as usize % 64]).collect();
                assert_eq!(run(6), found[..]);
            }
        }
    }
}

#[test]
fn extended_and_shifted() {
    for width in widths() {
        extended_and_shifted_to(width);
    }
}

fn extended_and_shifted_to(width: Width) {
    let extend = [
        (Code::VEX_Vpmovsxbw_xmm_xmmm64, 1, true),
        (Code::VEX_Vpmovsxwd_xmm_xmmm64, 2, true),
        (Code::VEX_Vpmovsxdq_xmm_xmmm64, 4, true),
        (Code::VEX_Vpmovzxbw_xmm_xmmm64, 1, false),
        (Code::VEX_Vpmovzxwd_xmm_xmmm64, 2, false),
        (Code::VEX_Vpmovzxdq_xmm_xmmm64, 4, false),
    ];
    let mut all = vec![
        unary(Code::VEX_Vpslld_xmm_xmm_xmmm128, [X[1], X[2]]),
        unary(Code::VEX_Vpsrlq_xmm_xmm_xmmm128, [X[1], X[2]]),
        unary(Code::VEX_Vpsraw_xmm_xmm_xmmm128, [X[1], X[2]]),
    ];
    let memory = at(ADDRESSES[1]);
    for (code, ..) in extend {
        for instruction in [
            Instruction::with2(code, X[0], X[1]),
            Instruction::with2(code, X[0], memory),
        ] {
            let code = around(&[instruction.expect("it is an instruction")]);
            all.push(code.expect("it is encoded"));
        }
    }
    let codes = all.iter().map(|code| widen(code, 0, width, true));
    let codes = codes.collect::<Result<Vec<_>, _>>();
    let machine = Machine::new(&codes.expect("they are widened"));
    let all = width.bytes();
    for [a, b, mut c] in operands() {
        c[0] %= 12;
        c[1..16].fill(0);
        let shifted = |bytes: usize, f: &dyn Fn(u64) -> u64| -> Vec<u8> {
            let lanes = b[..all].chunks(bytes).map(|lane| {
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(lane);
                f(u64::from_le_bytes(word)).to_le_bytes()[..bytes].to_vec()
            });
            lanes.flatten().collect()
        };
        let left = shifted(4, &|word| word << c[0]);
        assert_eq!(machine.run(0, [&a, &b, &c])[..all], left[..]);
        let right = shifted(8, &|word| word >> c[0]);
        assert_eq!(machine.run(1, [&a, &b, &c])[..all], right[..]);
        let arithmetic = shifted(2, &|word| i64::from(word as i16 >> c[0]) as u64);
        assert_eq!(machine.run(2, [&a, &b, &c])[..all], arithmetic[..]);
        for (k, (_, bytes, signed)) in extend.iter().enumerate() {
            let wide = b[..all / 2].chunks(*bytes).flat_map(|lane| {
                let negative = *signed && lane[bytes - 1] >= 0x80;
                let more = [if negative { 0xff } else { 0 }; 4];
                [lane, &more[..*bytes]].concat()
            });
            let wide: Vec<u8> = wide.collect();
            for way in [0, 1] {
                let got = machine.run(3 + 2 * k + way, [&a, &b, &c]);
                assert_eq!(got[..all], wide[..], "{:?}", extend[k].0);
            }
        }
    }
}

/// Whether any lane is not 0.
#[test]
fn tested() {
    for width in widths() {
        let test = Instruction::with2(Code::VEX_Vptest_xmm_xmmm128, X[1], X[1]);
        let set = Instruction::with1(Code::Setne_rm8, at(ADDRESSES[3]));
        let middle = [
            test.expect("it is an instruction"),
            set.expect("it is an instruction"),
            Instruction::with2(Code::VEX_Vmovdqu_xmm_xmmm128, X[0], at(ADDRESSES[3]))
                .expect("it is an instruction"),
        ];
        let code = around(&middle).expect("it is encoded");
        let machine = Machine::new(&[widen(&code, 0, width, true).expect("it is widened")]);
        let mut b = [0; 64];
        for place in 0..width.bytes() {
            assert_eq!(machine.run(0, [&b, &b, &b])[0], 0);
            b[place] = 1;
            assert_eq!(machine.run(0, [&b, &b, &b])[0], 1, "{place}");
            b[place] = 0;
        }
    }
}

/// Vectors and numbers on the stack, and a constant of 16 bytes that is one of 32 then.
#[test]
fn frames_grow() {
    for width in widths() {
        for renamed in [false, true] {
            frame_grows(width, renamed);
        }
    }
}

fn frame_grows(width: Width, renamed: bool) {
    let stack = |at: i64| MemoryOperand::with_base_displ(Register::RSP, at);
    let save = |at: i64, x: Register| Instruction::with2(Code::Movdqu_xmmm128_xmm, stack(at), x);
    let load = |x: Register, at: i64| Instruction::with2(Code::Movdqu_xmm_xmmm128, x, stack(at));
    let middle = [
        Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 64),
        Instruction::with2(Code::Mov_rm64_r64, stack(16), Register::RSI),
        save(32, X[1]),
        save(48, X[2]),
        save(0, X[0]),
        load(X[0], 32),
        load(X[1], 48),
        Instruction::with3(Code::VEX_Vpxor_xmm_xmm_xmmm128, X[0], X[0], X[1]),
        Instruction::with2(Code::Mov_r64_rm64, Register::RSI, stack(16)),
        Instruction::with3(
            Code::VEX_Vpxor_xmm_xmm_xmmm128,
            X[0],
            X[0],
            at(Register::RSI),
        ),
        Instruction::with2(Code::Add_rm64_imm8, Register::RSP, 64),
    ];
    let middle = middle.map(|i| i.expect("it is an instruction"));
    let code = around(&middle).expect("it is encoded");
    let machine = Machine::new(&[widen(&code, 0, width, renamed).expect("it is widened")]);
    for [a, b, c] in operands() {
        let all = width.bytes();
        assert_eq!(machine.run(0, [&a, &b, &c])[..all], c[..all]);
    }
    // If the number lay in one of the vectors, nothing could be told apart.
    let overlapping = Instruction::with2(Code::Mov_rm64_r64, stack(40), Register::RSI);
    let mut middle = middle.to_vec();
    middle[1] = overlapping.expect("it is an instruction");
    let code = around(&middle).expect("it is encoded");
    assert!(widen(&code, 0, Width::Two, true).is_err());
    // Unless it is memory of the unit itself, which stays where it is.
    assert!(widen(&code, 64, width, true).is_ok());
}

#[test]
fn what_is_not_known_is_refused() {
    let unknown = [
        Instruction::with3(Code::VEX_Vhaddps_xmm_xmm_xmmm128, X[0], X[1], X[2]),
        Instruction::with3(Code::VEX_Vhsubps_xmm_xmm_xmmm128, X[0], X[1], X[2]),
        Instruction::with2(Code::Addps_xmm_xmmm128, X[0], X[1]),
        Instruction::with1(Code::Jmp_rm64, Register::RAX),
        Instruction::with2(Code::Lea_r64_m, Register::RAX, at(Register::RSP)),
        Instruction::with2(Code::Mov_rm64_r64, Register::RSP, Register::RAX),
    ];
    for instruction in unknown {
        let instruction = instruction.expect("it is an instruction");
        let code = around(&[instruction]).expect("it is encoded");
        assert!(
            widen(&code, 0, Width::Two, true).is_err(),
            "{:?}",
            instruction.code()
        );
    }
    assert_eq!(
        widen(&[0x06], 0, Width::Two, true),
        Err(Refused("bytes that are no instruction".to_owned()))
    );
}
