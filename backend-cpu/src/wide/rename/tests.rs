//! Code as Cranelift makes it, and what is left of it. That results are the same is for the tests of [`crate::wide`] to say, and for those of programs.

use crate::calls::{EVAL_F32, TRAP};
use crate::wide::{Width, text, widen};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock,
    MemoryOperand, Register,
};

use Register::{EAX, EDX, RCX, RDI, RSI, RSP, XMM0, XMM2, XMM3, XMM4, XMM5, XMM11, XMM12, XMM15};

fn at(register: Register, displacement: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(register, displacement)
}

/// A loop that adds products of a vector and a number from memory: the vector lies on the stack, and the sum goes to another register
/// and back; the number may go to the stack and back, too. The branch goes to the instruction with this number.
fn sum_of_products(spilled: bool) -> Vec<u8> {
    const HEAD: u64 = 5;
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    let copy = Code::Movdqa_xmm_xmmm128;
    let spill = [
        Instruction::with2(store, at(RSP, 0), XMM11),
        Instruction::with2(load, XMM4, at(RSP, 0)),
    ];
    let number = if spilled { XMM4 } else { XMM11 };
    let before = [
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 16), XMM2),
        Instruction::with3(Code::VEX_Vxorps_xmm_xmm_xmmm128, XMM3, XMM3, XMM3),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(Code::VEX_Vmovss_xmm_m32, XMM11, at(RSI, 0)),
    ];
    let after = [
        Instruction::with2(Code::VEX_Vbroadcastss_xmm_xmm, XMM11, number),
        Instruction::with2(load, XMM5, at(RSP, 16)),
        Instruction::with2(copy, XMM12, XMM11),
        Instruction::with3(Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128, XMM12, XMM5, XMM3),
        Instruction::with2(copy, XMM3, XMM12),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Jne_rel8_64, HEAD),
        Instruction::with2(store, at(RCX, 0), XMM3),
        Instruction::with2(Code::Add_rm64_imm8, RSP, 32),
        Ok(Instruction::with(Code::Retnq)),
    ];
    let spill = spill.into_iter().filter(|_| spilled);
    encoded(before.into_iter().chain(spill).chain(after))
}

/// Machine code of instructions, of which branches name others by their numbers.
fn encoded(all: impl IntoIterator<Item = Result<Instruction, IcedError>>) -> Vec<u8> {
    let all = all.into_iter().map(|i| i.expect("it is an instruction"));
    let mut all: Vec<Instruction> = all.collect();
    for (ip, instruction) in all.iter_mut().enumerate() {
        instruction.set_ip(ip as u64);
    }
    let block = InstructionBlock::new(&all, 0);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
    encoded.expect("it is encoded").code_buffer
}

#[test]
fn sums_and_vectors_stay_in_registers() {
    let both = [Width::Two, Width::Four].map(|width| [(width, false), (width, true)]);
    for (width, spilled) in both.into_iter().flatten() {
        let code = sum_of_products(spilled);
        let [plain, renamed] = [false, true].map(|renamed| {
            let code = widen(&code, 0, width, renamed).expect("it is widened");
            let text = text(&code);
            let (_, inside) = text.split_once("at_").expect("there is a loop");
            let (inside, _) = inside.split_once("jne").expect("it has an end");
            inside
                .lines()
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        assert_eq!(plain.len(), if spilled { 10 } else { 8 }, "{plain:#?}");
        // A number in all lanes, its product and the sum, and how often.
        assert_eq!(renamed.len(), 4, "{renamed:#?}");
        assert!(renamed[0].contains("vbroadcastss") && renamed[0].contains("[rsi]"));
        assert!(renamed[1].contains("vfmadd231ps"), "{renamed:#?}");
        assert!(!renamed.iter().any(|line| line.contains("rsp")));
    }
}

/// A loop whose end is a branch around a branch: what is loaded before the store may be loaded where it is used, and what is used
/// behind the store may not.
fn loads_and_a_store() -> Vec<u8> {
    const HEAD: u64 = 2;
    const END: u64 = 10;
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    let (minus, plus) = (
        Code::VEX_Vsubps_xmm_xmm_xmmm128,
        Code::VEX_Vaddps_xmm_xmm_xmmm128,
    );
    let all = [
        Instruction::with3(Code::VEX_Vxorps_xmm_xmm_xmmm128, XMM3, XMM3, XMM3),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(load, XMM5, at(RDI, 0)),
        Instruction::with3(minus, XMM2, XMM3, XMM5),
        Instruction::with2(load, XMM11, at(RSI, 0)),
        Instruction::with2(store, at(RDI, 0), XMM2),
        Instruction::with3(plus, XMM3, XMM11, XMM2),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Je_rel8_64, END),
        Instruction::with_branch(Code::Jmp_rel8_64, HEAD),
        Instruction::with2(store, at(RCX, 0), XMM3),
        Ok(Instruction::with(Code::Retnq)),
    ];
    encoded(all)
}

#[test]
fn loads_go_where_they_are_used() {
    let code = loads_and_a_store();
    for width in [Width::Two, Width::Four] {
        let code = widen(&code, 0, width, true).expect("it is widened");
        let text = text(&code);
        let line = |part: &str| {
            let found = text.lines().find(|line| line.contains(part));
            found.unwrap_or_else(|| panic!("no {part} in {text}"))
        };
        assert!(line("vsubps").ends_with("[rdi]"), "{text}");
        assert!(!line("vaddps").contains("[rsi]"), "{text}");
        assert!(text.contains("jne") && !text.contains("jmp"), "{text}");
    }
}

/// A vector that is put on the stack and taken back, and then a loop in which as many as there are registers change places by way of
/// the stack.
fn changing_places() -> Vec<u8> {
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    let copy = Code::Movdqa_xmm_xmmm128;
    let mut all = vec![
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 16), XMM2),
        Instruction::with2(load, XMM3, at(RSP, 16)),
        Instruction::with2(store, at(RCX, 0), XMM3),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
    ];
    all.extend((0..16).map(|k| Instruction::with2(load, XMM0 + k, at(RDI, i64::from(64 * k)))));
    let head = all.len() as u64;
    all.push(Instruction::with2(store, at(RSP, 0), XMM0));
    all.extend((0..15).map(|k| Instruction::with2(copy, XMM0 + k, XMM0 + (k + 1))));
    all.extend([
        Instruction::with2(load, XMM15, at(RSP, 0)),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Jne_rel8_64, head),
    ]);
    all.extend((0..16).map(|k| Instruction::with2(store, at(RCX, i64::from(64 * k)), XMM0 + k)));
    all.extend([
        Instruction::with2(Code::Add_rm64_imm8, RSP, 32),
        Ok(Instruction::with(Code::Retnq)),
    ]);
    encoded(all)
}

#[test]
fn what_finds_no_register_stays_on_the_stack_alone() {
    let code = changing_places();
    let code = widen(&code, 0, Width::Two, true).expect("it is widened");
    let text = text(&code);
    let (before, inside) = text.split_once("at_").expect("there is a loop");
    assert!(!before.contains("[rsp"), "{text}");
    assert_eq!(inside.matches("[rsp").count(), 2, "{text}");
}

/// A loop whose value goes from turn to turn by way of the stack, since it is there when other code is called behind the loop.
fn on_the_stack_for_a_call() -> Vec<u8> {
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    encoded([
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 0), XMM2),
        Instruction::with2(load, XMM3, at(RSP, 0)),
        Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM3, XMM3, XMM3),
        Instruction::with2(store, at(RSP, 0), XMM3),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Jne_rel8_64, 4),
        Instruction::with1(Code::Call_rm64, RSI),
        Instruction::with2(load, XMM5, at(RSP, 0)),
        Instruction::with2(store, at(RCX, 0), XMM5),
        Instruction::with2(Code::Add_rm64_imm8, RSP, 32),
        Ok(Instruction::with(Code::Retnq)),
    ])
}

#[test]
fn what_is_on_the_stack_for_a_call_is_in_a_register_before() {
    let code = on_the_stack_for_a_call();
    for width in [Width::Two, Width::Four] {
        let code = widen(&code, 0, width, true).expect("it is widened");
        let text = text(&code);
        let (_, inside) = text.split_once("at_").expect("there is a loop");
        let (inside, behind) = inside.split_once("jne").expect("it goes round");
        // It is stored, and not loaded before the call.
        assert_eq!(inside.matches("[rsp").count(), 1, "{text}");
        assert_eq!(behind.matches("[rsp").count(), 1, "{text}");
    }
}

/// A loop that takes a vector from the stack, where it is for a call behind the loop, adds it to a sum and puts it back; or the sum.
fn put_back(sum: bool) -> Vec<u8> {
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    encoded([
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 0), XMM2),
        Instruction::with2(load, XMM3, at(RDI, 64)),
        Instruction::with2(load, XMM5, at(RSP, 0)),
        Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM3, XMM3, XMM5),
        Instruction::with2(store, at(RSP, 0), if sum { XMM3 } else { XMM5 }),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Jne_rel8_64, 5),
        Instruction::with2(store, at(RCX, 64), XMM3),
        Instruction::with1(Code::Call_rm64, RSI),
        Instruction::with2(load, XMM5, at(RSP, 0)),
        Instruction::with2(store, at(RCX, 0), XMM5),
        Instruction::with2(Code::Add_rm64_imm8, RSP, 32),
        Ok(Instruction::with(Code::Retnq)),
    ])
}

#[test]
fn what_is_on_the_stack_already_is_not_stored_again() {
    for width in [Width::Two, Width::Four] {
        for sum in [false, true] {
            let code = widen(&put_back(sum), 0, width, true).expect("it is widened");
            let text = text(&code);
            let (_, inside) = text.split_once("at_").expect("there is a loop");
            let (inside, behind) = inside.split_once("jne").expect("it goes round");
            assert_eq!(inside.contains("[rsp], "), sum, "{text}");
            assert!(behind.contains("[rsp]"), "{text}");
        }
    }
}

/// A vector shifted by a number, to which another is added in all lanes; that one is used as it is, too, if it is `shared`.
fn numbers_in_lanes(shared: bool) -> Vec<u8> {
    let moves = Code::VEX_Vmovd_xmm_rm32;
    let mut all = vec![
        Instruction::with2(Code::Movdqu_xmm_xmmm128, XMM2, at(RDI, 0)),
        Instruction::with2(moves, XMM3, EDX),
        Instruction::with3(Code::VEX_Vpsrld_xmm_xmm_xmmm128, XMM2, XMM2, XMM3),
        Instruction::with2(moves, XMM11, EAX),
        Instruction::with2(Code::VEX_Vpbroadcastd_xmm_xmmm32, XMM5, XMM11),
        Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM2, XMM2, XMM5),
    ];
    if shared {
        let code = Code::VEX_Vpaddd_xmm_xmm_xmmm128;
        all.push(Instruction::with3(code, XMM2, XMM2, XMM11));
        all.push(Instruction::with3(code, XMM2, XMM2, XMM3));
    }
    all.extend([
        Instruction::with2(Code::Movdqu_xmmm128_xmm, at(RCX, 0), XMM2),
        Ok(Instruction::with(Code::Retnq)),
    ]);
    encoded(all)
}

#[test]
fn numbers_of_general_registers_go_to_all_lanes() {
    let code = |width, shared| {
        let code = widen(&numbers_in_lanes(shared), 0, width, true);
        text(&code.expect("it is widened"))
    };
    let four = code(Width::Four, false);
    assert!(!four.contains("vmovd "), "{four}");
    assert!(four.contains("vpsrlvd"), "{four}");
    assert_eq!(four.matches("vpbroadcastd").count(), 2, "{four}");
    for other in [code(Width::Four, true), code(Width::Two, false)] {
        assert_eq!(other.matches("vmovd ").count(), 2, "{other}");
        assert!(!other.contains("vpsrlvd"), "{other}");
    }
}

/// A difference that is chosen by a comparison, and is used for nothing else or stored, too.
fn chosen_difference(stored: bool) -> Vec<u8> {
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    let compare = Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8;
    let choose = Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm;
    let mut all = vec![
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(load, XMM3, at(RSI, 0)),
        Instruction::with4(compare, XMM5, XMM3, XMM2, 1),
        Instruction::with3(Code::VEX_Vsubps_xmm_xmm_xmmm128, XMM11, XMM2, XMM3),
        Instruction::with4(choose, XMM2, XMM2, XMM11, XMM5),
        Instruction::with2(store, at(RDI, 0), XMM2),
    ];
    if stored {
        all.push(Instruction::with2(store, at(RCX, 0), XMM11));
    }
    all.push(Ok(Instruction::with(Code::Retnq)));
    encoded(all)
}

#[test]
fn operations_are_done_by_masks() {
    for stored in [false, true] {
        let code = chosen_difference(stored);
        let code = widen(&code, 0, Width::Four, true).expect("it is widened");
        let text = text(&code);
        let line = text.lines().find(|line| line.contains("vsubps"));
        let masked = line.is_some_and(|line| line.contains("{k1}"));
        assert_eq!(masked, !stored, "{text}");
        assert_eq!(text.contains("blend"), stored, "{text}");
    }
}

/// A loop that takes a vector from the stack, where it is for a call of a function at an address that is seldom come to.
fn on_the_stack_for_rare_values(address: u64) -> Vec<u8> {
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    encoded([
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 0), XMM2),
        Instruction::with2(load, XMM3, at(RSP, 0)),
        Instruction::with3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM3, XMM3, at(RDI, 64)),
        Instruction::with2(store, at(RCX, 0), XMM3),
        Instruction::with2(Code::VEX_Vptest_xmm_xmmm128, XMM3, XMM3),
        Instruction::with_branch(Code::Jne_rel8_64, 13),
        Instruction::with2(Code::Sub_rm32_imm8, EAX, 1),
        Instruction::with_branch(Code::Jne_rel8_64, 4),
        Instruction::with2(Code::Add_rm64_imm8, RSP, 32),
        Ok(Instruction::with(Code::Retnq)),
        Instruction::with2(Code::Mov_r64_imm64, RSI, address),
        Instruction::with1(Code::Call_rm64, RSI),
        Instruction::with_branch(Code::Jmp_rel8_64, 9),
    ])
}

#[test]
fn what_is_on_the_stack_for_rare_values_is_in_a_register_too() {
    let (rare, other) = (EVAL_F32.address() as u64, TRAP.address() as u64);
    for width in [Width::Two, Width::Four] {
        for (address, behind) in [(rare, 1), (other, 0)] {
            let code = on_the_stack_for_rare_values(address);
            let code = widen(&code, 0, width, true).expect("it is widened");
            let text = text(&code);
            let (_, inside) = text.split_once("at_").expect("there is a loop");
            let (inside, called) = inside.split_once("ret").expect("it has an end");
            // It is loaded before it is used, or behind the call alone.
            assert_eq!(inside.matches("[rsp").count(), 1 - behind, "{text}");
            let (_, called) = called.split_once("call").expect("others are called");
            assert_eq!(called.matches("[rsp").count(), behind, "{text}");
        }
    }
}
