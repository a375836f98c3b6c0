//! Forms for 512 bits: those of AVX-512, whose comparisons have their results in mask registers.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of a few of all instructions, the others are refused"
)]

use iced_x86::Code;

/// Forms that do to each part what narrow ones do. Moves become those that ask for no alignment.
pub(super) const fn twin(code: Code) -> Option<Code> {
    let wide = match code {
        Code::Movaps_xmm_xmmm128 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        Code::Movaps_xmmm128_xmm => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
        Code::Movups_xmm_xmmm128 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        Code::Movups_xmmm128_xmm => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
        Code::Movdqa_xmm_xmmm128 => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        Code::Movdqa_xmmm128_xmm => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        Code::Movdqu_xmm_xmmm128 => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        Code::Movdqu_xmmm128_xmm => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        Code::VEX_Vmovaps_xmm_xmmm128 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        Code::VEX_Vmovaps_xmmm128_xmm => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
        Code::VEX_Vmovups_xmm_xmmm128 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
        Code::VEX_Vmovups_xmmm128_xmm => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
        Code::VEX_Vmovapd_xmm_xmmm128 => Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
        Code::VEX_Vmovapd_xmmm128_xmm => Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
        Code::VEX_Vmovupd_xmm_xmmm128 => Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
        Code::VEX_Vmovupd_xmmm128_xmm => Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
        Code::VEX_Vmovdqa_xmm_xmmm128 => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        Code::VEX_Vmovdqa_xmmm128_xmm => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        Code::VEX_Vmovdqu_xmm_xmmm128 => Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512,
        Code::VEX_Vmovdqu_xmmm128_xmm => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
        Code::VEX_Vaddps_xmm_xmm_xmmm128 => Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vaddpd_xmm_xmm_xmmm128 => Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vsubps_xmm_xmm_xmmm128 => Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vsubpd_xmm_xmm_xmmm128 => Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vmulps_xmm_xmm_xmmm128 => Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vmulpd_xmm_xmm_xmmm128 => Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vdivps_xmm_xmm_xmmm128 => Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vdivpd_xmm_xmm_xmmm128 => Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vsqrtps_xmm_xmmm128 => Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
        Code::VEX_Vsqrtpd_xmm_xmmm128 => Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
        Code::VEX_Vminps_xmm_xmm_xmmm128 => Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::VEX_Vminpd_xmm_xmm_xmmm128 => Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
        Code::VEX_Vmaxps_xmm_xmm_xmmm128 => Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
        Code::VEX_Vmaxpd_xmm_xmm_xmmm128 => Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
        Code::VEX_Vroundps_xmm_xmmm128_imm8 => Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
        Code::VEX_Vroundpd_xmm_xmmm128_imm8 => Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
        Code::VEX_Vcvtdq2ps_xmm_xmmm128 => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
        Code::VEX_Vcvttps2dq_xmm_xmmm128 => Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
        Code::VEX_Vfmadd132ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmadd132pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfmadd213ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmadd213pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfmadd231ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmadd231pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfmsub132ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmsub132pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfmsub213ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmsub213pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfmsub231ps_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfmsub231pd_xmm_xmm_xmmm128 => Code::EVEX_Vfmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmadd132ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmadd132pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmadd213ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmadd213pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmadd231ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmadd231pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmsub132ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub132ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmsub132pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub132pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmsub213ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmsub213pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vfnmsub231ps_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub231ps_zmm_k1z_zmm_zmmm512b32_er,
        Code::VEX_Vfnmsub231pd_xmm_xmm_xmmm128 => Code::EVEX_Vfnmsub231pd_zmm_k1z_zmm_zmmm512b64_er,
        Code::VEX_Vandps_xmm_xmm_xmmm128 => Code::EVEX_Vandps_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vandpd_xmm_xmm_xmmm128 => Code::EVEX_Vandpd_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vandnps_xmm_xmm_xmmm128 => Code::EVEX_Vandnps_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vandnpd_xmm_xmm_xmmm128 => Code::EVEX_Vandnpd_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vorps_xmm_xmm_xmmm128 => Code::EVEX_Vorps_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vorpd_xmm_xmm_xmmm128 => Code::EVEX_Vorpd_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vxorps_xmm_xmm_xmmm128 => Code::EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vxorpd_xmm_xmm_xmmm128 => Code::EVEX_Vxorpd_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpand_xmm_xmm_xmmm128 => Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpandn_xmm_xmm_xmmm128 => Code::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpor_xmm_xmm_xmmm128 => Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpxor_xmm_xmm_xmmm128 => Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpaddb_xmm_xmm_xmmm128 => Code::EVEX_Vpaddb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpaddw_xmm_xmm_xmmm128 => Code::EVEX_Vpaddw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpaddd_xmm_xmm_xmmm128 => Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpaddq_xmm_xmm_xmmm128 => Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpsubb_xmm_xmm_xmmm128 => Code::EVEX_Vpsubb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpsubw_xmm_xmm_xmmm128 => Code::EVEX_Vpsubw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpsubd_xmm_xmm_xmmm128 => Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpsubq_xmm_xmm_xmmm128 => Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpmullw_xmm_xmm_xmmm128 => Code::EVEX_Vpmullw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpmulld_xmm_xmm_xmmm128 => Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpmuludq_xmm_xmm_xmmm128 => Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpmuldq_xmm_xmm_xmmm128 => Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpminsb_xmm_xmm_xmmm128 => Code::EVEX_Vpminsb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpminsw_xmm_xmm_xmmm128 => Code::EVEX_Vpminsw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpminsd_xmm_xmm_xmmm128 => Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpminub_xmm_xmm_xmmm128 => Code::EVEX_Vpminub_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpminuw_xmm_xmm_xmmm128 => Code::EVEX_Vpminuw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpminud_xmm_xmm_xmmm128 => Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpmaxsb_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpmaxsw_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpmaxsd_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpmaxub_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpmaxuw_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpmaxud_xmm_xmm_xmmm128 => Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpabsb_xmm_xmmm128 => Code::EVEX_Vpabsb_zmm_k1z_zmmm512,
        Code::VEX_Vpabsw_xmm_xmmm128 => Code::EVEX_Vpabsw_zmm_k1z_zmmm512,
        Code::VEX_Vpabsd_xmm_xmmm128 => Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32,
        Code::VEX_Vpunpckldq_xmm_xmm_xmmm128 => Code::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpunpckhdq_xmm_xmm_xmmm128 => Code::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128 => Code::EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpunpckhqdq_xmm_xmm_xmmm128 => Code::EVEX_Vpunpckhqdq_zmm_k1z_zmm_zmmm512b64,
        Code::VEX_Vpacksswb_xmm_xmm_xmmm128 => Code::EVEX_Vpacksswb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpackssdw_xmm_xmm_xmmm128 => Code::EVEX_Vpackssdw_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vpackuswb_xmm_xmm_xmmm128 => Code::EVEX_Vpackuswb_zmm_k1z_zmm_zmmm512,
        Code::VEX_Vpackusdw_xmm_xmm_xmmm128 => Code::EVEX_Vpackusdw_zmm_k1z_zmm_zmmm512b32,
        Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8 => Code::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8,
        Code::VEX_Vpsllw_xmm_xmm_imm8 => Code::EVEX_Vpsllw_zmm_k1z_zmmm512_imm8,
        Code::VEX_Vpslld_xmm_xmm_imm8 => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
        Code::VEX_Vpsllq_xmm_xmm_imm8 => Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8,
        Code::VEX_Vpsrlw_xmm_xmm_imm8 => Code::EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8,
        Code::VEX_Vpsrld_xmm_xmm_imm8 => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
        Code::VEX_Vpsrlq_xmm_xmm_imm8 => Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
        Code::VEX_Vpsraw_xmm_xmm_imm8 => Code::EVEX_Vpsraw_zmm_k1z_zmmm512_imm8,
        Code::VEX_Vpsrad_xmm_xmm_imm8 => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
        _ => return None,
    };
    Some(wide)
}

/// One number in all lanes.
pub(super) const fn spread(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vbroadcastss_xmm_m32 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        Code::VEX_Vbroadcastss_xmm_xmm => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        Code::VEX_Vpbroadcastb_xmm_xmmm8 => Code::EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        Code::VEX_Vpbroadcastw_xmm_xmmm16 => Code::EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        Code::VEX_Vpbroadcastd_xmm_xmmm32 => Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
        Code::VEX_Vpbroadcastq_xmm_xmmm64 => Code::EVEX_Vpbroadcastq_zmm_k1z_xmmm64,
        Code::VEX_Vmovddup_xmm_xmmm64 => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
        _ => return None,
    };
    Some(wide)
}

/// Lanes that become wider.
pub(super) const fn extend(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vpmovsxbw_xmm_xmmm64 => Code::EVEX_Vpmovsxbw_zmm_k1z_ymmm256,
        Code::VEX_Vpmovsxwd_xmm_xmmm64 => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
        Code::VEX_Vpmovsxdq_xmm_xmmm64 => Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
        Code::VEX_Vpmovzxbw_xmm_xmmm64 => Code::EVEX_Vpmovzxbw_zmm_k1z_ymmm256,
        Code::VEX_Vpmovzxwd_xmm_xmmm64 => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
        Code::VEX_Vpmovzxdq_xmm_xmmm64 => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
        Code::VEX_Vcvtdq2pd_xmm_xmmm64 => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
        _ => return None,
    };
    Some(wide)
}

/// Shifts of all lanes by one number.
pub(super) const fn shift(code: Code) -> Option<Code> {
    let wide = match code {
        Code::VEX_Vpsllw_xmm_xmm_xmmm128 => Code::EVEX_Vpsllw_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpslld_xmm_xmm_xmmm128 => Code::EVEX_Vpslld_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsllq_xmm_xmm_xmmm128 => Code::EVEX_Vpsllq_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsrlw_xmm_xmm_xmmm128 => Code::EVEX_Vpsrlw_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsrld_xmm_xmm_xmmm128 => Code::EVEX_Vpsrld_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsrlq_xmm_xmm_xmmm128 => Code::EVEX_Vpsrlq_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsraw_xmm_xmm_xmmm128 => Code::EVEX_Vpsraw_zmm_k1z_zmm_xmmm128,
        Code::VEX_Vpsrad_xmm_xmm_xmmm128 => Code::EVEX_Vpsrad_zmm_k1z_zmm_xmmm128,
        _ => return None,
    };
    Some(wide)
}

/// Comparisons: the form that sets a mask register, and the one that makes lanes of it.
pub(super) const fn compare(code: Code) -> Option<[Code; 2]> {
    let both = match code {
        Code::VEX_Vcmpps_xmm_xmm_xmmm128_imm8 => [
            Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
            Code::EVEX_Vpmovm2d_zmm_kr,
        ],
        Code::VEX_Vcmppd_xmm_xmm_xmmm128_imm8 => [
            Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
            Code::EVEX_Vpmovm2q_zmm_kr,
        ],
        Code::VEX_Vpcmpeqb_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpeqb_kr_k1_zmm_zmmm512,
            Code::EVEX_Vpmovm2b_zmm_kr,
        ],
        Code::VEX_Vpcmpeqw_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpeqw_kr_k1_zmm_zmmm512,
            Code::EVEX_Vpmovm2w_zmm_kr,
        ],
        Code::VEX_Vpcmpeqd_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32,
            Code::EVEX_Vpmovm2d_zmm_kr,
        ],
        Code::VEX_Vpcmpeqq_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpeqq_kr_k1_zmm_zmmm512b64,
            Code::EVEX_Vpmovm2q_zmm_kr,
        ],
        Code::VEX_Vpcmpgtb_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpgtb_kr_k1_zmm_zmmm512,
            Code::EVEX_Vpmovm2b_zmm_kr,
        ],
        Code::VEX_Vpcmpgtw_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpgtw_kr_k1_zmm_zmmm512,
            Code::EVEX_Vpmovm2w_zmm_kr,
        ],
        Code::VEX_Vpcmpgtd_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32,
            Code::EVEX_Vpmovm2d_zmm_kr,
        ],
        Code::VEX_Vpcmpgtq_xmm_xmm_xmmm128 => [
            Code::EVEX_Vpcmpgtq_kr_k1_zmm_zmmm512b64,
            Code::EVEX_Vpmovm2q_zmm_kr,
        ],
        _ => return None,
    };
    Some(both)
}

/// Choices between lanes: the form that makes a mask register of lanes, and the one that chooses by it.
pub(super) const fn blend(code: Code) -> Option<[Code; 2]> {
    let both = match code {
        Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm => [
            Code::EVEX_Vpmovd2m_kr_zmm,
            Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
        ],
        Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm => [
            Code::EVEX_Vpmovq2m_kr_zmm,
            Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
        ],
        Code::VEX_Vpblendvb_xmm_xmm_xmmm128_xmm => [
            Code::EVEX_Vpmovb2m_kr_zmm,
            Code::EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
        ],
        _ => return None,
    };
    Some(both)
}
