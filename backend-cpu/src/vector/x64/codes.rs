//! Which instructions of AVX-512 operations become.

use crate::vector::ir::{Cond, Conv, Elem, FloatCond, IntOp, MaskOp, VecOp};
use iced_x86::Code;

/// Of two vectors of these elements, the second of which may be a broadcast element; nothing if there is no such instruction.
pub(super) const fn vector(op: VecOp, elem: Elem) -> Option<Code> {
    use Elem::{F32, F64, I32, I64};
    Some(match (op, elem) {
        (VecOp::Add, F32) => Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        (VecOp::Add, F64) => Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
        (VecOp::Add, I32) => Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Add, I64) => Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Sub, F32) => Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        (VecOp::Sub, F64) => Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
        (VecOp::Sub, I32) => Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Sub, I64) => Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Mul, F32) => Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        (VecOp::Mul, F64) => Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
        (VecOp::Mul, I32) => Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Mul, I64) => Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Div, F32) => Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
        (VecOp::Div, F64) => Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
        (VecOp::And, I32 | F32) => Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::And, I64 | F64) => Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Or, I32 | F32) => Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Or, I64 | F64) => Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Xor, I32 | F32) => Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Xor, I64 | F64) => Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Shl, I32) => Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Shl, I64) => Code::EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Sar, I32) => Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Sar, I64) => Code::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::Shr, I32) => Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::Shr, I64) => Code::EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::MinS, I32) => Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::MinS, I64) => Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::MaxS, I32) => Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        (VecOp::MaxS, I64) => Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::MinU, I32) => Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        (VecOp::MinU, I64) => Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64,
        (VecOp::MaxU, I32) => Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        (VecOp::MaxU, I64) => Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64,
        (
            VecOp::Div
            | VecOp::Shl
            | VecOp::Sar
            | VecOp::Shr
            | VecOp::MinS
            | VecOp::MaxS
            | VecOp::MinU
            | VecOp::MaxU,
            _,
        ) => return None,
    })
}

/// The comparison of integers into a mask, and its predicate.
pub(super) const fn compare(cond: Cond, elem: Elem) -> (Code, i64) {
    let signed = matches!(cond, Cond::LtS | Cond::LeS);
    let code = match (elem.bytes(), signed) {
        (4, true) => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
        (4, false) => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
        (_, true) => Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8,
        (_, false) => Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8,
    };
    let predicate = match cond {
        Cond::Eq => 0,
        Cond::LtS | Cond::LtU => 1,
        Cond::LeS | Cond::LeU => 2,
        Cond::Ne => 4,
    };
    (code, predicate)
}

/// The comparison of floats into a mask, and its predicate, which signals for no quiet NaN.
pub(super) const fn float_compare(cond: FloatCond, elem: Elem) -> (Code, i64) {
    let code = match elem.bytes() {
        4 => Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        _ => Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
    };
    let predicate = match cond {
        FloatCond::Eq => 0x00,
        FloatCond::Unordered => 0x03,
        FloatCond::Une => 0x04,
        FloatCond::One => 0x0c,
        FloatCond::Lt => 0x11,
        FloatCond::Le => 0x12,
    };
    (code, predicate)
}

/// How a conversion is done, register by register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conversion {
    /// The registers stay.
    Same,
    /// One register becomes one.
    Each(Code),
    /// Each half of a register becomes one.
    Widen(Code),
    /// Two registers become the halves of one.
    Narrow(Code),
    /// The first to 64-bit elements, then the second.
    None,
}

pub(super) const fn conversion(conv: Conv, from: Elem, to: Elem) -> Conversion {
    use Elem::{F32, F64, I32, I64};
    match (conv, from, to) {
        (Conv::Bits, ..) => Conversion::Same,
        (Conv::Float, F32, F64) => Conversion::Widen(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae),
        (Conv::Float, F64, F32) => Conversion::Narrow(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er),
        (Conv::Float, I32, F32) => Conversion::Each(Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er),
        (Conv::Float, I32, F64) => Conversion::Widen(Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er),
        (Conv::Float, I64, F32) => Conversion::Narrow(Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er),
        (Conv::Float, I64, F64) => Conversion::Each(Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er),
        (Conv::Unsigned, I32, F32) => Conversion::Each(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er),
        (Conv::Unsigned, I32, F64) => {
            Conversion::Widen(Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er)
        }
        (Conv::Unsigned, I64, F32) => {
            Conversion::Narrow(Code::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er)
        }
        (Conv::Unsigned, I64, F64) => Conversion::Each(Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er),
        (Conv::Trunc, F32, I32) => Conversion::Each(Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae),
        (Conv::Trunc, F32, I64) => Conversion::Widen(Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae),
        (Conv::Trunc, F64, I32) => Conversion::Narrow(Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae),
        (Conv::Trunc, F64, I64) => Conversion::Each(Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae),
        (Conv::TruncU, F32, I32) => Conversion::Each(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae),
        (Conv::TruncU, F32, I64) => {
            Conversion::Widen(Code::EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae)
        }
        (Conv::TruncU, F64, I32) => {
            Conversion::Narrow(Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae)
        }
        (Conv::TruncU, F64, I64) => Conversion::Each(Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae),
        (Conv::SignExtend, I32, I64) => Conversion::Widen(Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256),
        (Conv::ZeroExtend, I32, I64) => Conversion::Widen(Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256),
        (Conv::Wrap, I64, I32) => Conversion::Narrow(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm),
        (
            Conv::Float
            | Conv::Unsigned
            | Conv::Trunc
            | Conv::TruncU
            | Conv::SignExtend
            | Conv::ZeroExtend
            | Conv::Wrap,
            ..,
        ) => Conversion::None,
    }
}

pub(super) const fn mask(op: MaskOp) -> Code {
    match op {
        MaskOp::And => Code::VEX_Kandw_kr_kr_kr,
        MaskOp::Or => Code::VEX_Korw_kr_kr_kr,
        MaskOp::Xor => Code::VEX_Kxorw_kr_kr_kr,
        MaskOp::AndNot => Code::VEX_Kandnw_kr_kr_kr,
    }
}

/// Of a register that is changed and another operand; nothing for shifts and divisions.
pub(super) const fn integer(op: IntOp, wide: bool) -> Option<Code> {
    Some(match (op, wide) {
        (IntOp::Add, false) => Code::Add_r32_rm32,
        (IntOp::Add, true) => Code::Add_r64_rm64,
        (IntOp::Sub, false) => Code::Sub_r32_rm32,
        (IntOp::Sub, true) => Code::Sub_r64_rm64,
        (IntOp::Mul, false) => Code::Imul_r32_rm32,
        (IntOp::Mul, true) => Code::Imul_r64_rm64,
        (IntOp::And, false) => Code::And_r32_rm32,
        (IntOp::And, true) => Code::And_r64_rm64,
        (IntOp::Or, false) => Code::Or_r32_rm32,
        (IntOp::Or, true) => Code::Or_r64_rm64,
        (IntOp::Xor, false) => Code::Xor_r32_rm32,
        (IntOp::Xor, true) => Code::Xor_r64_rm64,
        (IntOp::Shl | IntOp::Sar | IntOp::Shr | IntOp::DivS | IntOp::DivU | IntOp::RemU, _) => {
            return None;
        }
    })
}

/// Of a register that is changed and an immediate of 32 bits.
pub(super) const fn integer_immediate(op: IntOp, wide: bool) -> Option<Code> {
    Some(match (op, wide) {
        (IntOp::Add, false) => Code::Add_rm32_imm32,
        (IntOp::Add, true) => Code::Add_rm64_imm32,
        (IntOp::Sub, false) => Code::Sub_rm32_imm32,
        (IntOp::Sub, true) => Code::Sub_rm64_imm32,
        (IntOp::And, false) => Code::And_rm32_imm32,
        (IntOp::And, true) => Code::And_rm64_imm32,
        (IntOp::Or, false) => Code::Or_rm32_imm32,
        (IntOp::Or, true) => Code::Or_rm64_imm32,
        (IntOp::Xor, false) => Code::Xor_rm32_imm32,
        (IntOp::Xor, true) => Code::Xor_rm64_imm32,
        (
            IntOp::Mul
            | IntOp::Shl
            | IntOp::Sar
            | IntOp::Shr
            | IntOp::DivS
            | IntOp::DivU
            | IntOp::RemU,
            _,
        ) => return None,
    })
}

/// The branch, the condition as a byte and the conditional move of a comparison.
pub(super) const fn condition(cond: Cond) -> (Code, Code, [Code; 2]) {
    match cond {
        Cond::Eq => (
            Code::Je_rel32_64,
            Code::Sete_rm8,
            [Code::Cmove_r32_rm32, Code::Cmove_r64_rm64],
        ),
        Cond::Ne => (
            Code::Jne_rel32_64,
            Code::Setne_rm8,
            [Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64],
        ),
        Cond::LtS => (
            Code::Jl_rel32_64,
            Code::Setl_rm8,
            [Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64],
        ),
        Cond::LeS => (
            Code::Jle_rel32_64,
            Code::Setle_rm8,
            [Code::Cmovle_r32_rm32, Code::Cmovle_r64_rm64],
        ),
        Cond::LtU => (
            Code::Jb_rel32_64,
            Code::Setb_rm8,
            [Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64],
        ),
        Cond::LeU => (
            Code::Jbe_rel32_64,
            Code::Setbe_rm8,
            [Code::Cmovbe_r32_rm32, Code::Cmovbe_r64_rm64],
        ),
    }
}
