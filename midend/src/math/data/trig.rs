//! For circular functions and their inverses.

/// pi/2 in three binary64.
pub const HALF_PI: [f64; 3] = [
    std::f64::consts::FRAC_PI_2,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
];
/// pi/2 in three binary32, each but the last rounded down, so that none is negative.
pub const HALF_PI_F32: [f64; 3] = [
    1.570796251296997,
    7.549789415861596e-08,
    5.390302529957765e-15,
];
/// pi/2 in two binary64.
pub const QUARTER_TURN: [f64; 2] = [HALF_PI[0], HALF_PI[1]];
/// pi/4 in two binary64.
pub const QUARTER_PI: [f64; 2] = [std::f64::consts::FRAC_PI_4, 3.061616997868383e-17];
/// pi in two binary64.
pub const PI: [f64; 2] = [std::f64::consts::PI, 1.2246467991473532e-16];
/// 1/pi in two binary64.
pub const INVERSE_PI: [f64; 2] = [std::f64::consts::FRAC_1_PI, -1.9678676675182486e-17];
/// 2/pi.
pub const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
/// atan(1/2) in two binary64.
pub const ATAN_HALF: [f64; 2] = [0.4636476090008061, 2.2698777452961687e-17];

/// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 4.
pub const SIN_F64: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322432,
    -0.00019841269829819815,
    2.7557313695536494e-06,
    -2.5050758618276608e-08,
    1.5896821891379404e-10,
];

/// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 4, for binary32.
pub const SIN_SHORT: [f64; 4] = [
    -0.16666666641649985,
    0.008333329387377415,
    -0.00019839334994996638,
    2.718310848868439e-06,
];

/// (sin(r) - r) / r^3 by r^2 for |r| <= pi / 2, interpolated where a Chebyshev polynomial is zero.
pub const SIN_NEAR_F64: [f64; 8] = [
    -0.16666666666666666,
    0.008333333333333316,
    -0.00019841269841254974,
    2.755731921916323e-06,
    -2.5052107616995795e-08,
    1.6058977312438853e-10,
    -7.643970295992892e-13,
    2.7314447569404633e-15,
];

/// The same for binary32.
pub const SIN_NEAR_F32: [f64; 4] = [
    -0.1666666594949029,
    0.008333240747478642,
    -0.00019822552729087593,
    2.6341528864648785e-06,
];

/// pi in three numbers of binary64.
pub const PI_F64: [f64; 3] = [
    std::f64::consts::PI,
    1.2246467991473532e-16,
    -2.9947698097183397e-33,
];
/// pi in three numbers of binary32.
pub const PI_F32: [f64; 3] = [
    3.1415927410125732,
    -8.742277657347586e-08,
    -3.4302490200117637e-15,
];

/// (cos(r) - 1 + r^2/2) / r^4 by r^2 for |r| <= pi / 4.
pub const COS_F64: [f64; 6] = [
    0.0416666666666666,
    -0.0013888888888874246,
    2.4801587289548128e-05,
    -2.7557314369181463e-07,
    2.087572533556367e-09,
    -1.1359745270750123e-11,
];

/// (cos(r) - 1 + r^2/2) / r^4 by r^2 for |r| <= pi / 4, for binary32.
pub const COS_SHORT: [f64; 4] = [
    0.04166666662293753,
    -0.001388888376026264,
    2.4799521360983985e-05,
    -2.7210322550851047e-07,
];

/// (atan(t) - t) / t^3 by t^2 for |t| <= 1/4.
pub const ATAN_F64: [f64; 11] = [
    -0.3333333333333333,
    0.19999999999999996,
    -0.14285714285713216,
    0.11111111110936779,
    -0.0909090907442634,
    0.07692306712724462,
    -0.06666628486404767,
    0.05881360445022493,
    -0.05246050971651105,
    0.04572802825440973,
    -0.031090992174635793,
];

/// (atan(t) - t) / t^3 by t^2 for |t| <= 1/4, for binary32.
pub const ATAN_SHORT: [f64; 6] = [
    -0.33333333330695736,
    0.1999999916647719,
    -0.14285626766859674,
    0.11106878884859335,
    -0.089867570352559,
    0.06407844646362701,
];

/// 2/pi in digits of 24 bits after the binary point.
pub const TWO_OVER_PI_DIGITS: [u32; 56] = [
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163,
    0xabdebb, 0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129,
    0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c,
    0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf,
    0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292,
    0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b, 0x6babf0, 0xcfbc20, 0x9af436, 0x1da9e3,
    0x91615e, 0xe61b08,
];
