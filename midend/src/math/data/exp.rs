//! For the exponential function.

/// log2(e).
pub const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln(2) in two binary64.
pub const LN2_F64: [f64; 2] = [std::f64::consts::LN_2, 2.3190468138462996e-17];
/// What these lack of ln(2).
pub const LN2_REST: f64 = 5.707708438416212e-34;
/// ln(2) in two binary32.
pub const LN2_F32: [f64; 2] = [0.6931471824645996, -1.904654323148236e-9];

/// ln(2) in two binary32, of which the first has 15 digits, so that its product with an exponent is exact.
pub const LN2_SHORT: [f64; 2] = [0.693145751953125, 1.428606820309417e-6];

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, for binary64.
pub const EXP_F64: [f64; 11] = [
    0.5,
    0.16666666666666682,
    0.04166666666666673,
    0.00833333333331678,
    0.0013888888888857942,
    0.00019841269896971763,
    2.480158737450924e-05,
    2.7557234312392484e-06,
    2.755723280966948e-07,
    2.5112216688541376e-08,
    2.0927091388294764e-09,
];

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, for binary32.
pub const EXP_F32: [f64; 5] = [
    0.5,
    0.1666651964187622,
    0.04166620224714279,
    0.008368879556655884,
    0.0013950561406090856,
];

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, for binary32.
pub const EXP_SHORT: [f64; 6] = [
    0.5000000077666414,
    0.16666666860411122,
    0.04166627051337457,
    0.008333264295040855,
    0.0013946041802096341,
    0.00019918455064495952,
];
