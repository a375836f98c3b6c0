//! Which instructions have a form for wider registers, and which. Tables; what is not in them is refused.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of a few of all instructions, the others are refused"
)]

mod four;
mod two;

use super::Width;
use iced_x86::Code;

/// What becomes of an instruction that uses vector registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// This form does to each part of its registers and of its memory what the narrow one does to all.
    Twin(Code),
    /// The same, but the result of one number is in all lanes of all parts.
    Spread(Code),
    /// It works on the lowest lane, or on lanes of a single vector.
    Same,
    /// Its constant says what it does: 0x44 puts the lowest lane of 64 bits in all lanes, others stay within parts.
    Shuffle,
    /// The lower two lanes of binary32 of each part to binary64.
    Promote,
    /// Binary64 of each part to binary32 in its lower lanes.
    Demote,
    /// The lanes of the lower half, twice as wide, in all parts.
    Extend(Code),
    /// By as many bits as the lowest lane of its last operand says, which is a single vector.
    Shift(Code),
    /// A comparison: this form sets a mask register, of which the other makes lanes.
    Compare([Code; 2]),
    /// A choice: this form makes a mask register of lanes, by which the other chooses.
    Blend([Code; 2]),
    /// Stands for the lanes of a vector where those of another are set, one after the other, and then zeros, by way of a mask register.
    Compress,
    /// Stands for lanes of 32 bits in an order that another vector says.
    Permute,
    /// Stands for an operation of two vectors: those bytes of one that the lower six bits of bytes of another say, or products of 64 bits.
    Find(Code),
    /// Stands for a function of each lane, of one operand given twice: a number near it, or another type.
    Near(Code),
    /// Stands for the least or the greatest lanes of two vectors, whose distance says of which numbers ([`super::EXTREMES`]).
    Extreme,
    /// Whether all lanes are 0, by way of a mask register.
    Test,
    /// The number 0, of a register and itself.
    Zero,
    /// Stands for another order of lanes of 64 bits.
    Sort(Order),
    /// Stands for putting two vectors side by side.
    Pair,
    /// Stands for the second vector.
    Second,
    /// Stands for putting two pairs side by side.
    Four,
    /// Stands for the upper pair of four vectors.
    Top,
}

/// An order of lanes of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// First the lower ones of all parts, then the upper ones.
    Apart,
    /// The other way round: one of the lower half and one of the upper half by turns.
    Together,
}

/// The form of an instruction that uses vector registers.
pub(super) fn form(code: Code, width: Width) -> Option<Form> {
    let form = match code {
        Code::VEX_Vpshufd_xmm_xmmm128_imm8 => Form::Shuffle,
        Code::VEX_Vcvtps2pd_xmm_xmmm64 => Form::Promote,
        Code::VEX_Vcvtpd2ps_xmm_xmmm128 => Form::Demote,
        Code::VEX_Vpmulhrsw_xmm_xmm_xmmm128 => Form::Pair,
        Code::VEX_Vpmaddubsw_xmm_xmm_xmmm128 => Form::Second,
        Code::VEX_Vpaddsb_xmm_xmm_xmmm128 => Form::Sort(Order::Apart),
        Code::VEX_Vpsubsb_xmm_xmm_xmmm128 => Form::Sort(Order::Together),
        Code::VEX_Vpaddusb_xmm_xmm_xmmm128 if width == Width::Four => Form::Four,
        Code::VEX_Vpsubusb_xmm_xmm_xmmm128 if width == Width::Four => Form::Top,
        Code::VEX_Vpsubsw_xmm_xmm_xmmm128 => match width {
            Width::Two => Form::Permute,
            Width::Four => Form::Compress,
        },
        Code::VEX_Vpaddsw_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Find(Code::EVEX_Vpermb_zmm_k1z_zmm_zmmm512)
        }
        Code::VEX_Vphaddd_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Find(Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64)
        }
        Code::VEX_Vpavgw_xmm_xmm_xmmm128 => Form::Near(match width {
            Width::Two => Code::VEX_Vrsqrtps_ymm_ymmm256,
            Width::Four => Code::EVEX_Vrsqrt14ps_zmm_k1z_zmmm512b32,
        }),
        Code::VEX_Vpavgb_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Near(Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae)
        }
        Code::VEX_Vpaddusw_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Near(Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er)
        }
        Code::VEX_Vphaddw_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Near(Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae)
        }
        Code::VEX_Vpsubusw_xmm_xmm_xmmm128 if width == Width::Four => {
            Form::Near(Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er)
        }
        Code::VEX_Vpalignr_xmm_xmm_xmmm128_imm8 if width == Width::Four => Form::Extreme,
        Code::VEX_Vptest_xmm_xmmm128 if width == Width::Four => Form::Test,
        Code::Xorpd_xmm_xmmm128 => Form::Zero,
        _ if same(code) => Form::Same,
        _ => table(code, width)?,
    };
    Some(form)
}

fn table(code: Code, width: Width) -> Option<Form> {
    let (twin, spread, extend, shift) = match width {
        Width::Two => (
            two::twin(code),
            two::spread(code),
            two::extend(code),
            two::shift(code),
        ),
        Width::Four => (
            four::twin(code),
            four::spread(code),
            four::extend(code),
            four::shift(code),
        ),
    };
    let (compare, blend) = match width {
        Width::Two => (None, None),
        Width::Four => (four::compare(code), four::blend(code)),
    };
    let form = twin.map(Form::Twin).or(spread.map(Form::Spread));
    let form = form.or(extend.map(Form::Extend)).or(shift.map(Form::Shift));
    form.or(compare.map(Form::Compare))
        .or(blend.map(Form::Blend))
}

/// Instructions on single numbers, and those that take lanes out of vectors and put them in.
const fn same(code: Code) -> bool {
    matches!(
        code,
        Code::VEX_Vaddss_xmm_xmm_xmmm32
            | Code::VEX_Vaddsd_xmm_xmm_xmmm64
            | Code::VEX_Vsubss_xmm_xmm_xmmm32
            | Code::VEX_Vsubsd_xmm_xmm_xmmm64
            | Code::VEX_Vmulss_xmm_xmm_xmmm32
            | Code::VEX_Vmulsd_xmm_xmm_xmmm64
            | Code::VEX_Vdivss_xmm_xmm_xmmm32
            | Code::VEX_Vdivsd_xmm_xmm_xmmm64
            | Code::VEX_Vsqrtss_xmm_xmm_xmmm32
            | Code::VEX_Vsqrtsd_xmm_xmm_xmmm64
            | Code::VEX_Vminss_xmm_xmm_xmmm32
            | Code::VEX_Vminsd_xmm_xmm_xmmm64
            | Code::VEX_Vmaxss_xmm_xmm_xmmm32
            | Code::VEX_Vmaxsd_xmm_xmm_xmmm64
            | Code::VEX_Vroundss_xmm_xmm_xmmm32_imm8
            | Code::VEX_Vroundsd_xmm_xmm_xmmm64_imm8
            | Code::VEX_Vcmpss_xmm_xmm_xmmm32_imm8
            | Code::VEX_Vcmpsd_xmm_xmm_xmmm64_imm8
            | Code::VEX_Vucomiss_xmm_xmmm32
            | Code::VEX_Vucomisd_xmm_xmmm64
            | Code::VEX_Vcomiss_xmm_xmmm32
            | Code::VEX_Vcomisd_xmm_xmmm64
            | Code::VEX_Vcvtsi2ss_xmm_xmm_rm32
            | Code::VEX_Vcvtsi2ss_xmm_xmm_rm64
            | Code::VEX_Vcvtsi2sd_xmm_xmm_rm32
            | Code::VEX_Vcvtsi2sd_xmm_xmm_rm64
            | Code::VEX_Vcvttss2si_r32_xmmm32
            | Code::VEX_Vcvttss2si_r64_xmmm32
            | Code::VEX_Vcvttsd2si_r32_xmmm64
            | Code::VEX_Vcvttsd2si_r64_xmmm64
            // Cranelift has no other forms of these, and of comparisons that go with them.
            | Code::Addss_xmm_xmmm32
            | Code::Addsd_xmm_xmmm64
            | Code::Cvttss2si_r32_xmmm32
            | Code::Cvttss2si_r64_xmmm32
            | Code::Cvttsd2si_r32_xmmm64
            | Code::Cvttsd2si_r64_xmmm64
            | Code::Cvtsi2ss_xmm_rm64
            | Code::Cvtsi2sd_xmm_rm64
            | Code::Ucomiss_xmm_xmmm32
            | Code::Ucomisd_xmm_xmmm64
            | Code::VEX_Vcvtss2sd_xmm_xmm_xmmm32
            | Code::VEX_Vcvtsd2ss_xmm_xmm_xmmm64
            | Code::VEX_Vmovss_m32_xmm
            | Code::VEX_Vmovss_xmm_m32
            | Code::VEX_Vmovss_xmm_xmm_xmm
            | Code::VEX_Vmovsd_m64_xmm
            | Code::VEX_Vmovsd_xmm_m64
            | Code::VEX_Vmovsd_xmm_xmm_xmm
            | Code::VEX_Vmovd_rm32_xmm
            | Code::VEX_Vmovd_xmm_rm32
            | Code::VEX_Vmovq_rm64_xmm
            | Code::VEX_Vmovq_xmm_rm64
            | Code::VEX_Vmovq_xmm_xmmm64
            | Code::VEX_Vmovq_xmmm64_xmm
            | Code::VEX_Vmovmskps_r32_xmm
            | Code::VEX_Vmovmskpd_r32_xmm
            | Code::VEX_Vpmovmskb_r32_xmm
            | Code::VEX_Vpextrb_r32m8_xmm_imm8
            | Code::VEX_Vpextrb_r64m8_xmm_imm8
            | Code::VEX_Vpextrw_r32_xmm_imm8
            | Code::VEX_Vpextrw_r32m16_xmm_imm8
            | Code::VEX_Vpextrw_r64_xmm_imm8
            | Code::VEX_Vpextrw_r64m16_xmm_imm8
            | Code::VEX_Vpextrd_rm32_xmm_imm8
            | Code::VEX_Vpextrq_rm64_xmm_imm8
            | Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8
            | Code::VEX_Vpinsrb_xmm_xmm_r64m8_imm8
            | Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8
            | Code::VEX_Vpinsrw_xmm_xmm_r64m16_imm8
            | Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8
            | Code::VEX_Vpinsrq_xmm_xmm_rm64_imm8
            | Code::VEX_Vinsertps_xmm_xmm_xmmm32_imm8
            | Code::VEX_Vmovlhps_xmm_xmm_xmm
            | Code::VEX_Vfmadd132ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmadd132sd_xmm_xmm_xmmm64
            | Code::VEX_Vfmadd213ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmadd213sd_xmm_xmm_xmmm64
            | Code::VEX_Vfmadd231ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmadd231sd_xmm_xmm_xmmm64
            | Code::VEX_Vfmsub132ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmsub132sd_xmm_xmm_xmmm64
            | Code::VEX_Vfmsub213ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmsub213sd_xmm_xmm_xmmm64
            | Code::VEX_Vfmsub231ss_xmm_xmm_xmmm32
            | Code::VEX_Vfmsub231sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmadd132ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmadd132sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmadd213ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmadd213sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmadd231ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmadd231sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmsub132ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmsub132sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmsub213ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmsub213sd_xmm_xmm_xmmm64
            | Code::VEX_Vfnmsub231ss_xmm_xmm_xmmm32
            | Code::VEX_Vfnmsub231sd_xmm_xmm_xmmm64
    )
}
