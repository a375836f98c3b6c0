//! Every instruction of the table, executed: for each half of its operands as it is, and once for both as it becomes.

use super::forms::{Form, form};
use super::{Refused, widen};
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
                let defined = module.define_function_bytes(id, 32, code, &[]);
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

    /// What the code makes of three vectors or pairs.
    fn run(&self, which: usize, [a, b, c]: [&[u8]; 3]) -> [u8; 32] {
        type Function = extern "sysv64" fn(*const u8, *const u8, *const u8, *mut u8);
        let mut out = [0u8; 32];
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

fn able() -> bool {
    #[cfg(target_arch = "x86_64")]
    let able = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let able = false;
    able
}

/// Pairs of vectors: any bits, small numbers, and masks.
fn operands() -> Vec<[[u8; 32]; 3]> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (state >> 24) as u32
    };
    let mut all = Vec::new();
    for kind in 0..40 {
        let mut words = || -> [u8; 32] {
            let words: Vec<u8> = (0..4)
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
            words.try_into().expect("four words are 32 bytes")
        };
        all.push([words(), words(), words()]);
    }
    all
}

#[test]
fn both_halves_of_every_instruction() {
    if !able() {
        return;
    }
    let mut tried = Vec::new();
    let mut codes = Vec::new();
    for code in Code::values() {
        let Some(form) = form(code) else { continue };
        let single = matches!(
            form,
            Form::Same | Form::Pair | Form::Upper | Form::Sort | Form::Extend(_) | Form::Shift(_)
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
            match widen(&narrow, 0) {
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
            let half = |k: usize| {
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
                | Form::Pair
                | Form::Upper
                | Form::Sort
                | Form::Extend(_)
                | Form::Shift(_) => false,
            };
            let (low, high) = (half(0), half(usize::from(!spread)));
            let expected = [&low[..16], &high[..16]].concat();
            let [a, b, c] = &operands;
            let got = machine.run(2 * i + 1, [a, b, c]);
            assert_eq!(got[..], expected[..], "{:?}", instruction.code());
        }
    }
}

#[test]
fn pairs_and_upper_halves() {
    if !able() {
        return;
    }
    let pair = Instruction::with3(Code::VEX_Vpmulhrsw_xmm_xmm_xmmm128, X[0], X[1], X[2]);
    let upper = Instruction::with3(Code::VEX_Vpmaddubsw_xmm_xmm_xmmm128, X[0], X[1], X[1]);
    let codes = [pair, upper].map(|i| {
        let code = around(&[i.expect("it is an instruction")]).expect("it is encoded");
        widen(&code, 0).expect("it is widened")
    });
    let machine = Machine::new(&codes);
    for [a, b, c] in operands() {
        let both = machine.run(0, [&a, &b, &c]);
        assert_eq!((&both[..16], &both[16..]), (&b[..16], &c[..16]));
        assert_eq!(machine.run(1, [&a, &b, &c])[..16], b[16..]);
    }
}

#[test]
fn sorted_extended_and_shifted() {
    if !able() {
        return;
    }
    let three = |code, b| Instruction::with3(code, X[0], X[1], b);
    let extend = [
        (Code::VEX_Vpmovsxbw_xmm_xmmm64, 1, true),
        (Code::VEX_Vpmovsxwd_xmm_xmmm64, 2, true),
        (Code::VEX_Vpmovsxdq_xmm_xmmm64, 4, true),
        (Code::VEX_Vpmovzxbw_xmm_xmmm64, 1, false),
        (Code::VEX_Vpmovzxwd_xmm_xmmm64, 2, false),
        (Code::VEX_Vpmovzxdq_xmm_xmmm64, 4, false),
    ];
    let mut all = vec![
        three(Code::VEX_Vpaddsb_xmm_xmm_xmmm128, X[1]),
        three(Code::VEX_Vpslld_xmm_xmm_xmmm128, X[2]),
        three(Code::VEX_Vpsrlq_xmm_xmm_xmmm128, X[2]),
        three(Code::VEX_Vpsraw_xmm_xmm_xmmm128, X[2]),
    ];
    let memory = at(ADDRESSES[1]);
    for (code, ..) in extend {
        all.push(Instruction::with2(code, X[0], X[1]));
        all.push(Instruction::with2(code, X[0], memory));
    }
    let codes = all.into_iter().map(|i| {
        let code = around(&[i.expect("it is an instruction")]).expect("it is encoded");
        widen(&code, 0).expect("it is widened")
    });
    let machine = Machine::new(&codes.collect::<Vec<_>>());
    for [a, b, mut c] in operands() {
        c[0] %= 12;
        c[1..16].fill(0);
        let sorted = [&b[..8], &b[16..24], &b[8..16], &b[24..]].concat();
        assert_eq!(machine.run(0, [&a, &b, &c])[..], sorted[..]);
        let shifted = |bytes: usize, f: &dyn Fn(u64) -> u64| -> Vec<u8> {
            let lanes = b.chunks(bytes).map(|lane| {
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(lane);
                f(u64::from_le_bytes(word)).to_le_bytes()[..bytes].to_vec()
            });
            lanes.flatten().collect()
        };
        let left = shifted(4, &|word| word << c[0]);
        assert_eq!(machine.run(1, [&a, &b, &c])[..], left[..]);
        let right = shifted(8, &|word| word >> c[0]);
        assert_eq!(machine.run(2, [&a, &b, &c])[..], right[..]);
        let arithmetic = shifted(2, &|word| i64::from(word as i16 >> c[0]) as u64);
        assert_eq!(machine.run(3, [&a, &b, &c])[..], arithmetic[..]);
        for (k, (_, bytes, signed)) in extend.iter().enumerate() {
            let wide = b[..16].chunks(*bytes).flat_map(|lane| {
                let negative = *signed && lane[bytes - 1] >= 0x80;
                let more = [if negative { 0xff } else { 0 }; 4];
                [lane, &more[..*bytes]].concat()
            });
            let wide: Vec<u8> = wide.collect();
            for way in [0, 1] {
                let got = machine.run(4 + 2 * k + way, [&a, &b, &c]);
                assert_eq!(got[..], wide[..], "{:?}", extend[k].0);
            }
        }
    }
}

/// Vectors and numbers on the stack, and a constant of 16 bytes that is one of 32 then.
#[test]
fn frames_grow() {
    if !able() {
        return;
    }
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
    let machine = Machine::new(&[widen(&code, 0).expect("it is widened")]);
    for [a, b, c] in operands() {
        assert_eq!(machine.run(0, [&a, &b, &c]), c);
    }
    // If the number lay in one of the vectors, nothing could be told apart.
    let overlapping = Instruction::with2(Code::Mov_rm64_r64, stack(40), Register::RSI);
    let mut middle = middle.to_vec();
    middle[1] = overlapping.expect("it is an instruction");
    let code = around(&middle).expect("it is encoded");
    assert!(widen(&code, 0).is_err());
    // Unless it is memory of the unit itself, which stays where it is.
    assert!(widen(&code, 64).is_ok());
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
        assert!(widen(&code, 0).is_err(), "{:?}", instruction.code());
    }
    assert_eq!(
        widen(&[0x06], 0),
        Err(Refused("bytes that are no instruction".to_owned()))
    );
}
