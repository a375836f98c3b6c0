//! Values of the typed functions, and that they round once.

use super::*;
use ::half::f16;

#[test]
fn binary64_to_binary16_rounds_once() {
    // Just above the middle between 1 and the next binary16, by less than binary32 can see.
    let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(f64_to_f16(x).to_bits(), 0x3c01);
    assert_eq!(f64_to_f16(1.0 + 2f64.powi(-11)).to_bits(), 0x3c00);
    assert_eq!(
        f64_to_f16(1.0 + 2f64.powi(-11) - 2f64.powi(-40)).to_bits(),
        0x3c00
    );
    assert_eq!(f64_to_f16(65520.0).to_bits(), 0x7c00);
    assert_eq!(f64_to_f16(65_519.999_999_999).to_bits(), 0x7bff);
    assert_eq!(f64_to_f16(1e300).to_bits(), 0x7c00);
    assert_eq!(f64_to_f16(-1e-300).to_bits(), 0x8000);
    // Subnormal: half of the smallest, and a little more.
    assert_eq!(f64_to_f16(2f64.powi(-25)).to_bits(), 0);
    assert_eq!(f64_to_f16(2f64.powi(-25) + 2f64.powi(-70)).to_bits(), 1);
    assert!(f64_to_f16(f64::NAN).is_nan());
    assert_eq!(i64_to_f16(i64::MAX), f16::INFINITY);
    assert_eq!(u64_to_f16(2049), f16::from_f32(2048.0));
}

#[test]
fn binary16_conversion_agrees_with_exhaustive_neighbours() {
    for bits in 0..0x7c00u16 {
        let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
        assert_eq!(f64_to_f16(low.to_f64()), low);
        if high.is_finite() {
            let middle = (low.to_f64() + high.to_f64()) / 2.0;
            let even = if bits & 1 == 0 { low } else { high };
            assert_eq!(f64_to_f16(middle), even);
            assert_eq!(f64_to_f16(middle * (1.0 + 1e-15)), high);
            assert_eq!(f64_to_f16(middle * (1.0 - 1e-15)), low);
        }
    }
}

#[test]
fn binary16_fma_rounds_once() {
    let h = f16::from_f64;
    // 1 * 1 + a tiny number above the middle of two results that a rounding to nearest would lose.
    let (a, b) = (h(1.0 + 2f64.powi(-10)), h(1.0 + 2f64.powi(-10)));
    // a*b = 1 + 2^-9 + 2^-20
    assert_eq!(f16_fma(a, b, h(0.0)).to_f64(), 1.0 + 2f64.powi(-9));
    // 2048 * 1 + 1 lies in the middle (to even: 2048); a tiny product more goes up.
    assert_eq!(f16_fma(h(2048.0), h(1.0), h(1.0)).to_f64(), 2048.0);
    let tiny = f16::from_bits(1);
    assert_eq!(f16_fma(tiny, tiny, h(1.0)).to_f64(), 1.0);
    assert_eq!(f16_fma(h(3.0), h(683.0), h(0.0)).to_f64(), 2048.0);
    // 3*683 = 2049 is a middle; adding or taking away the smallest number decides.
    assert_eq!(f16_fma(h(3.0), h(683.0), tiny).to_f64(), 2050.0);
    assert_eq!(f16_fma(h(3.0), h(683.0), -tiny).to_f64(), 2048.0);
    assert_eq!(f16_fma(h(-3.0), h(683.0), -tiny).to_f64(), -2050.0);
}

#[test]
fn minima_and_maxima() {
    assert_eq!(f32_min(f32::NAN, 1.0), 1.0);
    assert_eq!(f32_max(1.0, f32::NAN), 1.0);
    assert!(f64_min(f64::NAN, f64::NAN).is_nan());
    assert!(f64_min(0.0, -0.0).is_sign_negative());
    assert!(f64_min(-0.0, 0.0).is_sign_negative());
    assert!(f64_max(-0.0, 0.0).is_sign_positive());
    assert!(f64_max(0.0, -0.0).is_sign_positive());
    assert_eq!(f16_max(f16::ONE, f16::NAN), f16::ONE);
}

#[test]
fn remainders() {
    assert_eq!(f64_mod(-7.0, 3.0), 2.0);
    assert_eq!(f64_mod(7.0, -3.0), -2.0);
    assert_eq!(f64_rem(-7.0, 3.0), -1.0);
    assert_eq!(f32_mod(6.0, -3.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(f32_mod(1.0, f32::INFINITY), 1.0);
    assert!(f32_mod(1.0, 0.0).is_nan());
    assert_eq!(
        f16_mod(f16::from_f32(-1.0), f16::from_f32(3.0)),
        f16::from_f32(2.0)
    );
}

#[test]
fn half_turns_are_exact() {
    assert_eq!(f64_sinpi(1.0).to_bits(), 0.0f64.to_bits());
    assert_eq!(f64_sinpi(-1.0).to_bits(), (-0.0f64).to_bits());
    assert_eq!(f64_sinpi(0.5), 1.0);
    assert_eq!(f64_sinpi(1.5), -1.0);
    assert_eq!(f64_sinpi(-0.5), -1.0);
    assert_eq!(f64_sinpi(1e300), 0.0);
    assert_eq!(f64_cospi(0.5).to_bits(), 0.0f64.to_bits());
    assert_eq!(f64_cospi(1.0), -1.0);
    assert_eq!(f64_cospi(1e300), 1.0);
    assert_eq!(f64_tanpi(0.25), 1.0);
    assert_eq!(f64_tanpi(0.5), f64::INFINITY);
    assert_eq!(f64_tanpi(-0.5), f64::NEG_INFINITY);
    assert_eq!(f64_tanpi(0.75), -1.0);
    assert!(f64_sinpi(f64::INFINITY).is_nan());
    assert_eq!(f64_asinpi(1.0), 0.5);
    assert_eq!(f64_acospi(-1.0), 1.0);
    assert_eq!(f64_atanpi(1.0), 0.25);
    assert_eq!(f64_atan2pi(1.0, -1.0), 0.75);
    assert_eq!(f32_sinpi(1.0 / 6.0), 0.5);
}

#[test]
fn half_turns_agree_with_the_circular_functions() {
    for i in -400..400 {
        let x = f64::from(i) / 128.0;
        assert!(
            (f64_sinpi(x) - (x * std::f64::consts::PI).sin()).abs() < 1e-14,
            "sinpi {x}"
        );
        assert!(
            (f64_cospi(x) - (x * std::f64::consts::PI).cos()).abs() < 1e-14,
            "cospi {x}"
        );
    }
}

#[test]
fn scaling_and_stepping() {
    let h = f16::from_f64;
    assert_eq!(f16_ldexp(h(1.0), h(-24.0)).to_bits(), 1);
    assert_eq!(f16_ldexp(h(1.5), h(-25.0)).to_bits(), 1);
    assert_eq!(f16_ldexp(h(1.0), h(16.0)), f16::INFINITY);
    assert_eq!(f64_ldexp(1.0, 3.0), 8.0);
    assert_eq!(f32_ldexp(3.0, -1.0), 1.5);
    assert_eq!(f16_nextafter(h(0.0), h(-1.0)).to_bits(), 0x8001);
    assert_eq!(f16_nextafter(h(1.0), h(2.0)).to_bits(), 0x3c01);
    assert_eq!(f16_nextafter(h(-1.0), h(2.0)).to_bits(), 0xbbff);
    assert_eq!(f16_nextafter(h(1.0), h(1.0)), h(1.0));
    assert_eq!(f64_nextafter(1.0, 2.0), 1.0 + f64::EPSILON);
}

#[test]
fn elementary_functions_at_known_points() {
    assert_eq!(f64_exp(0.0), 1.0);
    assert_eq!(f32_log2(8.0), 3.0);
    assert_eq!(f64_log10(1000.0), 3.0);
    assert_eq!(f64_cbrt(27.0), 3.0);
    assert_eq!(f64_gamma(5.0), 24.0);
    assert!((f64_lgamma(10.0) - 362_880f64.ln()).abs() < 1e-13);
    assert!((f64_erf(0.5) - 0.520_499_877_813_046_5).abs() < 1e-15);
    assert!((f64_erfc(3.0) - 2.209_049_699_858_544e-5).abs() < 1e-19);
    assert_eq!(f64_hypot(3.0, 4.0), 5.0);
    assert_eq!(f32_pow(2.0, 10.0), 1024.0);
    assert_eq!(
        f16_pow(f16::from_f32(2.0), f16::from_f32(-1.0)),
        f16::from_f32(0.5)
    );
    assert!(f64_log(-1.0).is_nan());
}
