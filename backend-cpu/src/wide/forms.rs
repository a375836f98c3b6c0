//! Which instructions have a form for twice the width, and which. A table; what is not in it is refused.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of a few of all instructions, the others are refused"
)]

use iced_x86::Code;

/// What becomes of an instruction that uses vector registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// This form does to each half of its registers and of its memory what the narrow one does to all.
    Twin(Code),
    /// The same, but the result of one number is in all lanes of both halves.
    Spread(Code),
    /// It works on the lowest lane, or on lanes of a vector that is no pair.
    Same,
    /// Its constant says what it does: 0x44 puts the lowest lane of 64 bits in all lanes, others stay within halves.
    Shuffle,
    /// The lower two lanes of binary32 of each half to binary64.
    Promote,
    /// Binary64 of each half to binary32 in its lower lanes.
    Demote,
    /// The lanes of the lower half, twice as wide, in both halves.
    Extend(Code),
    /// By as many bits as the lowest lane of its last operand says, which is no pair.
    Shift(Code),
    /// Stands for exchanging the second and the third quarter of a pair.
    Sort,
    /// Stands for putting two vectors side by side.
    Pair,
    /// Stands for the upper half of a pair.
    Upper,
}

/// The form of an instruction that uses vector registers.
pub(super) fn form(code: Code) -> Option<Form> {
    let form = match code {
        Code::VEX_Vpshufd_xmm_xmmm128_imm8 => Form::Shuffle,
        Code::VEX_Vcvtps2pd_xmm_xmmm64 => Form::Promote,
        Code::VEX_Vcvtpd2ps_xmm_xmmm128 => Form::Demote,
        Code::VEX_Vpmulhrsw_xmm_xmm_xmmm128 => Form::Pair,
        Code::VEX_Vpmaddubsw_xmm_xmm_xmmm128 => Form::Upper,
        Code::VEX_Vpaddsb_xmm_xmm_xmmm128 => Form::Sort,
        _ => {
            let spread = || spread(code).map(Form::Spread);
            let twin = twin(code).map(Form::Twin).or_else(spread);
            let extend = || extend(code).map(Form::Extend);
            let shift = || shift(code).map(Form::Shift);
            let same = || same(code).then_some(Form::Same);
            twin.or_else(extend).or_else(shift).or_else(same)?
        }
    };
    Some(form)
}

/// Lanes that become wider.
const fn extend(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vpmovsxbw_xmm_xmmm64 => Code::VEX_Vpmovsxbw_ymm_xmmm128,
        Code::VEX_Vpmovsxwd_xmm_xmmm64 => Code::VEX_Vpmovsxwd_ymm_xmmm128,
        Code::VEX_Vpmovsxdq_xmm_xmmm64 => Code::VEX_Vpmovsxdq_ymm_xmmm128,
        Code::VEX_Vpmovzxbw_xmm_xmmm64 => Code::VEX_Vpmovzxbw_ymm_xmmm128,
        Code::VEX_Vpmovzxwd_xmm_xmmm64 => Code::VEX_Vpmovzxwd_ymm_xmmm128,
        Code::VEX_Vpmovzxdq_xmm_xmmm64 => Code::VEX_Vpmovzxdq_ymm_xmmm128,
        Code::VEX_Vcvtdq2pd_xmm_xmmm64 => Code::VEX_Vcvtdq2pd_ymm_xmmm128,
        _ => return None,
    };
    Some(wide)
}

/// Shifts of all lanes by one number.
const fn shift(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vpsllw_xmm_xmm_xmmm128 => Code::VEX_Vpsllw_ymm_ymm_xmmm128,
        Code::VEX_Vpslld_xmm_xmm_xmmm128 => Code::VEX_Vpslld_ymm_ymm_xmmm128,
        Code::VEX_Vpsllq_xmm_xmm_xmmm128 => Code::VEX_Vpsllq_ymm_ymm_xmmm128,
        Code::VEX_Vpsrlw_xmm_xmm_xmmm128 => Code::VEX_Vpsrlw_ymm_ymm_xmmm128,
        Code::VEX_Vpsrld_xmm_xmm_xmmm128 => Code::VEX_Vpsrld_ymm_ymm_xmmm128,
        Code::VEX_Vpsrlq_xmm_xmm_xmmm128 => Code::VEX_Vpsrlq_ymm_ymm_xmmm128,
        Code::VEX_Vpsraw_xmm_xmm_xmmm128 => Code::VEX_Vpsraw_ymm_ymm_xmmm128,
        Code::VEX_Vpsrad_xmm_xmm_xmmm128 => Code::VEX_Vpsrad_ymm_ymm_xmmm128,
        _ => return None,
    };
    Some(wide)
}

/// One number in all lanes.
const fn spread(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vbroadcastss_xmm_m32 => Code::VEX_Vbroadcastss_ymm_m32,
        Code::VEX_Vbroadcastss_xmm_xmm => Code::VEX_Vbroadcastss_ymm_xmm,
        Code::VEX_Vpbroadcastb_xmm_xmmm8 => Code::VEX_Vpbroadcastb_ymm_xmmm8,
        Code::VEX_Vpbroadcastw_xmm_xmmm16 => Code::VEX_Vpbroadcastw_ymm_xmmm16,
        Code::VEX_Vpbroadcastd_xmm_xmmm32 => Code::VEX_Vpbroadcastd_ymm_xmmm32,
        Code::VEX_Vpbroadcastq_xmm_xmmm64 => Code::VEX_Vpbroadcastq_ymm_xmmm64,
        // Only a number in memory: of a register it would be a lane of each half.
        Code::VEX_Vmovddup_xmm_xmmm64 => Code::VEX_Vbroadcastsd_ymm_m64,
        _ => return None,
    };
    Some(wide)
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

/// Forms that do to each half what narrow ones do. Moves become those that ask for no alignment.
const fn twin(code: Code) -> Option<Code> {
    let wide = match code {
        Code::Movaps_xmm_xmmm128 => Code::VEX_Vmovups_ymm_ymmm256,
        Code::Movaps_xmmm128_xmm => Code::VEX_Vmovups_ymmm256_ymm,
        Code::Movups_xmm_xmmm128 => Code::VEX_Vmovups_ymm_ymmm256,
        Code::Movups_xmmm128_xmm => Code::VEX_Vmovups_ymmm256_ymm,
        Code::Movdqa_xmm_xmmm128 => Code::VEX_Vmovdqu_ymm_ymmm256,
        Code::Movdqa_xmmm128_xmm => Code::VEX_Vmovdqu_ymmm256_ymm,
        Code::Movdqu_xmm_xmmm128 => Code::VEX_Vmovdqu_ymm_ymmm256,
        Code::Movdqu_xmmm128_xmm => Code::VEX_Vmovdqu_ymmm256_ymm,
        Code::VEX_Vmovaps_xmm_xmmm128 => Code::VEX_Vmovups_ymm_ymmm256,
        Code::VEX_Vmovaps_xmmm128_xmm => Code::VEX_Vmovups_ymmm256_ymm,
        Code::VEX_Vmovups_xmm_xmmm128 => Code::VEX_Vmovups_ymm_ymmm256,
        Code::VEX_Vmovups_xmmm128_xmm => Code::VEX_Vmovups_ymmm256_ymm,
        Code::VEX_Vmovapd_xmm_xmmm128 => Code::VEX_Vmovupd_ymm_ymmm256,
        Code::VEX_Vmovapd_xmmm128_xmm => Code::VEX_Vmovupd_ymmm256_ymm,
        Code::VEX_Vmovupd_xmm_xmmm128 => Code::VEX_Vmovupd_ymm_ymmm256,
        Code::VEX_Vmovupd_xmmm128_xmm => Code::VEX_Vmovupd_ymmm256_ymm,
        Code::VEX_Vmovdqa_xmm_xmmm128 => Code::VEX_Vmovdqu_ymm_ymmm256,
        Code::VEX_Vmovdqa_xmmm128_xmm => Code::VEX_Vmovdqu_ymmm256_ymm,
        Code::VEX_Vmovdqu_xmm_xmmm128 => Code::VEX_Vmovdqu_ymm_ymmm256,
        Code::VEX_Vmovdqu_xmmm128_xmm => Code::VEX_Vmovdqu_ymmm256_ymm,
        Code::VEX_Vaddps_xmm_xmm_xmmm128 => Code::VEX_Vaddps_ymm_ymm_ymmm256,
        Code::VEX_Vaddpd_xmm_xmm_xmmm128 => Code::VEX_Vaddpd_ymm_ymm_ymmm256,
        Code::VEX_Vsubps_xmm_xmm_xmmm128 => Code::VEX_Vsubps_ymm_ymm_ymmm256,
        Code::VEX_Vsubpd_xmm_xmm_xmmm128 => Code::VEX_Vsubpd_ymm_ymm_ymmm256,
        Code::VEX_Vmulps_xmm_xmm_xmmm128 => Code::VEX_Vmulps_ymm_ymm_ymmm256,
        Code::VEX_Vmulpd_xmm_xmm_xmmm128 => Code::VEX_Vmulpd_ymm_ymm_ymmm256,
        Code::VEX_Vdivps_xmm_xmm_xmmm128 => Code::VEX_Vdivps_ymm_ymm_ymmm256,
        Code::VEX_Vdivpd_xmm_xmm_xmmm128 => Code::VEX_Vdivpd_ymm_ymm_ymmm256,
        Code::VEX_Vsqrtps_xmm_xmmm128 => Code::VEX_Vsqrtps_ymm_ymmm256,
        Code::VEX_Vsqrtpd_xmm_xmmm128 => Code::VEX_Vsqrtpd_ymm_ymmm256,
        Code::VEX_Vminps_xmm_xmm_xmmm128 => Code::VEX_Vminps_ymm_ymm_ymmm256,
        Code::VEX_Vminpd_xmm_xmm_xmmm128 => Code::VEX_Vminpd_ymm_ymm_ymmm256,
        Code::VEX_Vmaxps_xmm_xmm_xmmm128 => Code::VEX_Vmaxps_ymm_ymm_ymmm256,
        Code::VEX_Vmaxpd_xmm_xmm_xmmm128 => Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
        Code::VEX_Vroundps_xmm_xmmm128_imm8 => Code::VEX_Vroundps_ymm_ymmm256_imm8,
        Code::VEX_Vroundpd_xmm_xmmm128_imm8 => Code::VEX_Vroundpd_ymm_ymmm256_imm8,
        Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8 => Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8 => Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vcvtdq2ps_xmm_xmmm128 => Code::VEX_Vcvtdq2ps_ymm_ymmm256,
        Code::VEX_Vcvttps2dq_xmm_xmmm128 => Code::VEX_Vcvttps2dq_ymm_ymmm256,
        Code::VEX_Vfmadd132ps_xmm_xmm_xmmm128 => Code::VEX_Vfmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd132pd_xmm_xmm_xmmm128 => Code::VEX_Vfmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128 => Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd213pd_xmm_xmm_xmmm128 => Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128 => Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmadd231pd_xmm_xmm_xmmm128 => Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub132ps_xmm_xmm_xmmm128 => Code::VEX_Vfmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub132pd_xmm_xmm_xmmm128 => Code::VEX_Vfmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213ps_xmm_xmm_xmmm128 => Code::VEX_Vfmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub213pd_xmm_xmm_xmmm128 => Code::VEX_Vfmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231ps_xmm_xmm_xmmm128 => Code::VEX_Vfmsub231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfmsub231pd_xmm_xmm_xmmm128 => Code::VEX_Vfmsub231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd132ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd132pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd213pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmadd231pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub132ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub132ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub132pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub132pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub213ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub213pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub213pd_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231ps_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub231ps_ymm_ymm_ymmm256,
        Code::VEX_Vfnmsub231pd_xmm_xmm_xmmm128 => Code::VEX_Vfnmsub231pd_ymm_ymm_ymmm256,
        Code::VEX_Vandps_xmm_xmm_xmmm128 => Code::VEX_Vandps_ymm_ymm_ymmm256,
        Code::VEX_Vandpd_xmm_xmm_xmmm128 => Code::VEX_Vandpd_ymm_ymm_ymmm256,
        Code::VEX_Vandnps_xmm_xmm_xmmm128 => Code::VEX_Vandnps_ymm_ymm_ymmm256,
        Code::VEX_Vandnpd_xmm_xmm_xmmm128 => Code::VEX_Vandnpd_ymm_ymm_ymmm256,
        Code::VEX_Vorps_xmm_xmm_xmmm128 => Code::VEX_Vorps_ymm_ymm_ymmm256,
        Code::VEX_Vorpd_xmm_xmm_xmmm128 => Code::VEX_Vorpd_ymm_ymm_ymmm256,
        Code::VEX_Vxorps_xmm_xmm_xmmm128 => Code::VEX_Vxorps_ymm_ymm_ymmm256,
        Code::VEX_Vxorpd_xmm_xmm_xmmm128 => Code::VEX_Vxorpd_ymm_ymm_ymmm256,
        Code::VEX_Vpand_xmm_xmm_xmmm128 => Code::VEX_Vpand_ymm_ymm_ymmm256,
        Code::VEX_Vpandn_xmm_xmm_xmmm128 => Code::VEX_Vpandn_ymm_ymm_ymmm256,
        Code::VEX_Vpor_xmm_xmm_xmmm128 => Code::VEX_Vpor_ymm_ymm_ymmm256,
        Code::VEX_Vpxor_xmm_xmm_xmmm128 => Code::VEX_Vpxor_ymm_ymm_ymmm256,
        Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm => Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm => Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
        Code::VEX_Vpblendvb_xmm_xmm_xmmm128_xmm => Code::VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
        Code::VEX_Vpaddb_xmm_xmm_xmmm128 => Code::VEX_Vpaddb_ymm_ymm_ymmm256,
        Code::VEX_Vpaddw_xmm_xmm_xmmm128 => Code::VEX_Vpaddw_ymm_ymm_ymmm256,
        Code::VEX_Vpaddd_xmm_xmm_xmmm128 => Code::VEX_Vpaddd_ymm_ymm_ymmm256,
        Code::VEX_Vpaddq_xmm_xmm_xmmm128 => Code::VEX_Vpaddq_ymm_ymm_ymmm256,
        Code::VEX_Vpsubb_xmm_xmm_xmmm128 => Code::VEX_Vpsubb_ymm_ymm_ymmm256,
        Code::VEX_Vpsubw_xmm_xmm_xmmm128 => Code::VEX_Vpsubw_ymm_ymm_ymmm256,
        Code::VEX_Vpsubd_xmm_xmm_xmmm128 => Code::VEX_Vpsubd_ymm_ymm_ymmm256,
        Code::VEX_Vpsubq_xmm_xmm_xmmm128 => Code::VEX_Vpsubq_ymm_ymm_ymmm256,
        Code::VEX_Vpmullw_xmm_xmm_xmmm128 => Code::VEX_Vpmullw_ymm_ymm_ymmm256,
        Code::VEX_Vpmulld_xmm_xmm_xmmm128 => Code::VEX_Vpmulld_ymm_ymm_ymmm256,
        Code::VEX_Vpmuludq_xmm_xmm_xmmm128 => Code::VEX_Vpmuludq_ymm_ymm_ymmm256,
        Code::VEX_Vpmuldq_xmm_xmm_xmmm128 => Code::VEX_Vpmuldq_ymm_ymm_ymmm256,
        Code::VEX_Vpminsb_xmm_xmm_xmmm128 => Code::VEX_Vpminsb_ymm_ymm_ymmm256,
        Code::VEX_Vpminsw_xmm_xmm_xmmm128 => Code::VEX_Vpminsw_ymm_ymm_ymmm256,
        Code::VEX_Vpminsd_xmm_xmm_xmmm128 => Code::VEX_Vpminsd_ymm_ymm_ymmm256,
        Code::VEX_Vpminub_xmm_xmm_xmmm128 => Code::VEX_Vpminub_ymm_ymm_ymmm256,
        Code::VEX_Vpminuw_xmm_xmm_xmmm128 => Code::VEX_Vpminuw_ymm_ymm_ymmm256,
        Code::VEX_Vpminud_xmm_xmm_xmmm128 => Code::VEX_Vpminud_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxsb_xmm_xmm_xmmm128 => Code::VEX_Vpmaxsb_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxsw_xmm_xmm_xmmm128 => Code::VEX_Vpmaxsw_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxsd_xmm_xmm_xmmm128 => Code::VEX_Vpmaxsd_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxub_xmm_xmm_xmmm128 => Code::VEX_Vpmaxub_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxuw_xmm_xmm_xmmm128 => Code::VEX_Vpmaxuw_ymm_ymm_ymmm256,
        Code::VEX_Vpmaxud_xmm_xmm_xmmm128 => Code::VEX_Vpmaxud_ymm_ymm_ymmm256,
        Code::VEX_Vpabsb_xmm_xmmm128 => Code::VEX_Vpabsb_ymm_ymmm256,
        Code::VEX_Vpabsw_xmm_xmmm128 => Code::VEX_Vpabsw_ymm_ymmm256,
        Code::VEX_Vpabsd_xmm_xmmm128 => Code::VEX_Vpabsd_ymm_ymmm256,
        Code::VEX_Vpcmpeqb_xmm_xmm_xmmm128 => Code::VEX_Vpcmpeqb_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpeqw_xmm_xmm_xmmm128 => Code::VEX_Vpcmpeqw_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128 => Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128 => Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtb_xmm_xmm_xmmm128 => Code::VEX_Vpcmpgtb_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtw_xmm_xmm_xmmm128 => Code::VEX_Vpcmpgtw_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128 => Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
        Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128 => Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
        Code::VEX_Vpsllw_xmm_xmm_imm8 => Code::VEX_Vpsllw_ymm_ymm_imm8,
        Code::VEX_Vpslld_xmm_xmm_imm8 => Code::VEX_Vpslld_ymm_ymm_imm8,
        Code::VEX_Vpsllq_xmm_xmm_imm8 => Code::VEX_Vpsllq_ymm_ymm_imm8,
        Code::VEX_Vpsrlw_xmm_xmm_imm8 => Code::VEX_Vpsrlw_ymm_ymm_imm8,
        Code::VEX_Vpsrld_xmm_xmm_imm8 => Code::VEX_Vpsrld_ymm_ymm_imm8,
        Code::VEX_Vpsrlq_xmm_xmm_imm8 => Code::VEX_Vpsrlq_ymm_ymm_imm8,
        Code::VEX_Vpsraw_xmm_xmm_imm8 => Code::VEX_Vpsraw_ymm_ymm_imm8,
        Code::VEX_Vpsrad_xmm_xmm_imm8 => Code::VEX_Vpsrad_ymm_ymm_imm8,
        Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128 => Code::VEX_Vpunpcklqdq_ymm_ymm_ymmm256,
        Code::VEX_Vpunpckhqdq_xmm_xmm_xmmm128 => Code::VEX_Vpunpckhqdq_ymm_ymm_ymmm256,
        Code::VEX_Vpacksswb_xmm_xmm_xmmm128 => Code::VEX_Vpacksswb_ymm_ymm_ymmm256,
        Code::VEX_Vpackssdw_xmm_xmm_xmmm128 => Code::VEX_Vpackssdw_ymm_ymm_ymmm256,
        Code::VEX_Vpackuswb_xmm_xmm_xmmm128 => Code::VEX_Vpackuswb_ymm_ymm_ymmm256,
        Code::VEX_Vpackusdw_xmm_xmm_xmmm128 => Code::VEX_Vpackusdw_ymm_ymm_ymmm256,
        Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8 => Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8,
        Code::VEX_Vptest_xmm_xmmm128 => Code::VEX_Vptest_ymm_ymmm256,
        _ => return None,
    };
    Some(wide)
}
