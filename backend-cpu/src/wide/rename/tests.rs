//! Code as Cranelift makes it, and what is left of it. That results are the same is for the tests of [`crate::wide`] to say, and for those of programs.

use crate::wide::{Width, text, widen};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Instruction, InstructionBlock, MemoryOperand, Register,
};

use Register::{EAX, RCX, RDI, RSI, RSP, XMM2, XMM3, XMM5, XMM11, XMM12};

fn at(register: Register, displacement: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(register, displacement)
}

/// A loop that adds products of a vector and a number from memory: the vector lies on the stack, and the sum goes to another register
/// and back. The branch goes to the instruction with this number.
fn sum_of_products() -> Vec<u8> {
    const HEAD: u64 = 5;
    let load = Code::Movdqu_xmm_xmmm128;
    let store = Code::Movdqu_xmmm128_xmm;
    let copy = Code::Movdqa_xmm_xmmm128;
    let all = [
        Instruction::with2(Code::Sub_rm64_imm8, RSP, 32),
        Instruction::with2(load, XMM2, at(RDI, 0)),
        Instruction::with2(store, at(RSP, 16), XMM2),
        Instruction::with3(Code::VEX_Vxorps_xmm_xmm_xmmm128, XMM3, XMM3, XMM3),
        Instruction::with2(Code::Mov_r32_imm32, EAX, 4),
        Instruction::with2(Code::VEX_Vmovss_xmm_m32, XMM11, at(RSI, 0)),
        Instruction::with2(Code::VEX_Vbroadcastss_xmm_xmm, XMM11, XMM11),
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
    let mut all = all.map(|i| i.expect("it is an instruction"));
    for (ip, instruction) in all.iter_mut().enumerate() {
        instruction.set_ip(ip as u64);
    }
    let block = InstructionBlock::new(&all, 0);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
    encoded.expect("it is encoded").code_buffer
}

#[test]
fn sums_and_vectors_stay_in_registers() {
    let code = sum_of_products();
    for width in [Width::Two, Width::Four] {
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
        assert_eq!(plain.len(), 8, "{plain:#?}");
        // A number in all lanes, its product and the sum, and how often.
        assert_eq!(renamed.len(), 4, "{renamed:#?}");
        assert!(renamed[0].contains("vbroadcastss") && renamed[0].contains("[rsi]"));
        assert!(renamed[1].contains("vfmadd231ps"), "{renamed:#?}");
        assert!(!renamed.iter().any(|line| line.contains("rsp")));
    }
}
