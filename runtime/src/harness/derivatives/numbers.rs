//! Arithmetic on lists of values that are floats, and central differences with bounds of their errors.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "floats are changed and compared, and nothing else"
)]

use crate::spec::{SplitMix, shaped};
use half::f16;
use midend::value::{Data, Value};

/// A slope by central differences.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Slope {
    /// How far the points are away.
    pub(super) h: f64,
    /// The slope, without the part of the error that is known.
    pub(super) value: f64,
    /// How much it may be wrong.
    error: f64,
    /// By how much the slopes to both sides differ.
    jump: f64,
}

/// What differences tell of a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    Agrees,
    Differs,
    Nothing,
}

/// Floats as `f64`.
fn floats(values: &[Value]) -> Vec<f64> {
    let mut out = Vec::new();
    for value in values {
        match data(value) {
            Data::F16(v) => out.extend(v.iter().map(|x| x.to_f64())),
            Data::F32(v) => out.extend(v.iter().map(|x| f64::from(*x))),
            Data::F64(v) => out.extend(v),
            // Others are no floats.
            _ => {}
        }
    }
    out
}

fn data(value: &Value) -> Data {
    match value {
        Value::Array(array) => array.data.clone(),
        Value::Scalar(constant) => {
            let mut data = Data::zeros(constant.ty(), 1);
            data.set(0, *constant);
            data
        }
    }
}

/// Values of the same types and shapes.
fn like(values: &[Value], mut next: impl FnMut() -> f64) -> Vec<Value> {
    let one = |value: &Value| {
        let data = match data(value) {
            Data::F16(v) => Data::F16(v.iter().map(|_| f16::from_f64(next())).collect()),
            Data::F32(v) => Data::F32(v.iter().map(|_| next() as f32).collect()),
            Data::F64(v) => Data::F64(v.iter().map(|_| next()).collect()),
            others => others,
        };
        shaped(value.shape(), data)
    };
    values.iter().map(one).collect()
}

/// Random numbers in [-1, 1], none of them small, all of them exact in all types.
pub(super) fn random_like(values: &[Value], random: &mut SplitMix) -> Vec<Value> {
    like(values, || {
        let bits = random.next() >> 58;
        let number = (bits % 32 + 32) as f64 / 64.0;
        if bits < 32 { number } else { -number }
    })
}

/// Values some way along a direction.
pub(super) fn moved(values: &[Value], direction: &[Value], h: f64) -> Vec<Value> {
    let numbers = floats(values).into_iter().zip(floats(direction));
    let mut numbers = numbers.map(|(x, d)| h.mul_add(d, x));
    like(values, || numbers.next().unwrap_or(0.0))
}

/// The scalar product.
pub(super) fn dot(a: &[Value], b: &[Value]) -> f64 {
    floats(a).iter().zip(floats(b)).map(|(a, b)| a * b).sum()
}

/// The same of absolute values.
pub(super) fn sum_of_products(a: &[Value], b: &[Value]) -> f64 {
    let products = floats(a).into_iter().zip(floats(b));
    products.map(|(a, b)| (a * b).abs()).sum()
}

pub(super) fn is_finite(values: &[Value]) -> bool {
    floats(values).iter().all(|x| x.is_finite())
}

/// The quadratic mean, but neither very small nor very large.
pub(super) fn size(values: &[Value]) -> f64 {
    let all = floats(values);
    let squares: f64 = all.iter().map(|x| x * x).sum();
    (squares / all.len().max(1) as f64).sqrt().clamp(1e-2, 1e6)
}

/// The distance of one and the next number of the least precise type among these.
pub(super) fn rounding(values: &[Value]) -> f64 {
    let of_type = |value: &Value| match data(value) {
        Data::F16(_) => f64::from(f16::EPSILON),
        Data::F32(_) => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    values.iter().map(of_type).fold(0.0, f64::max)
}

/// How far the shares of derivatives that are added in another order may differ, in terms of the sum of their absolute values.
pub(super) fn tolerance(eps: f64) -> f64 {
    eps.powf(0.42)
}

/// The slopes of the sum of what a function gives, with weights; at `x`, where it gives `y`. None of numbers of 16 bits, which tell too little.
pub(super) fn slopes(
    f: &dyn Fn(f64) -> Option<Vec<Value>>,
    (x, y, weights): (&[Value], &[Value], &[Value]),
    eps: f64,
) -> Vec<Slope> {
    let shapes = |values: &[Value]| -> Vec<Vec<i64>> {
        values.iter().map(|value| value.shape().to_vec()).collect()
    };
    let at = |h: f64| f(h).filter(|ys| shapes(ys) == shapes(y) && is_finite(ys));
    let difference = |a: &[Value], b: &[Value]| -> f64 {
        let all = floats(a).into_iter().zip(floats(b)).zip(floats(weights));
        all.map(|((a, b), w)| (a - b) * w).sum()
    };
    let mut out = Vec::new();
    if eps > 1e-4 {
        return out;
    }
    for factor in [8.0, 1.0, 0.125] {
        let h = eps.cbrt() * factor * size(x);
        let points = [h, -h, h / 2.0, -h / 2.0].map(at);
        let [Some(far), Some(back), Some(inner), Some(inner_back)] = points else {
            continue;
        };
        let wide = difference(&far, &back) / (2.0 * h);
        let narrow = difference(&inner, &inner_back) / h;
        let forth = difference(&inner, y) / (h / 2.0);
        let sizes = sum_of_products(weights, &far) + sum_of_products(weights, &back);
        out.push(Slope {
            h,
            value: (4.0 * narrow - wide) / 3.0,
            error: 2.0 * (narrow - wide).abs() + 4.0 * eps * sizes / h,
            jump: (forth - difference(y, &inner_back) / (h / 2.0)).abs(),
        });
    }
    out
}

/// What slopes tell of a derivative, the shares of which have absolute values whose sum is `scale`.
pub(super) fn told(slopes: &[Slope], derivative: f64, scale: f64, eps: f64) -> Told {
    let (mut decided, mut agrees) = (Vec::new(), false);
    let relative = if eps > 1e-12 { 0.02 } else { 1e-4 };
    for slope in slopes {
        let most = slope.value.abs().max(derivative.abs());
        let is_equal = (slope.value - derivative).abs() <= 3.0 * slope.error + relative * scale;
        if most == 0.0 || slope.error <= 0.03 * most && is_equal {
            agrees = true;
        } else if slope.error <= 0.03 * most && slope.jump <= 0.1 * most {
            decided.push(slope.value);
        }
    }
    // Where small differences grow without bound, each `h` tells something else.
    let least = decided.iter().copied().fold(f64::INFINITY, f64::min);
    let most = decided.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_one = most - least <= 0.1 * (most.abs() + least.abs());
    match agrees {
        true => Told::Agrees,
        false if decided.len() > 1 && is_one => Told::Differs,
        false => Told::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midend::ir::scalar::Const;

    /// What differences at 1 along 1 tell of a derivative.
    fn told_of(f: fn(f64) -> f64, derivative: f64) -> Told {
        let number = |x: f64| vec![Value::Scalar(Const::f64(x))];
        let at = |h: f64| Some(number(f(1.0 + h)));
        let (x, y, one) = (number(1.0), number(f(1.0)), number(1.0));
        let eps = rounding(&x);
        let slopes = slopes(&at, (&x, &y, &one), eps);
        told(&slopes, derivative, derivative.abs(), eps)
    }

    #[test]
    fn a_wrong_derivative_is_told_from_a_right_one() {
        assert_eq!(told_of(|x| x * x, 2.0), Told::Agrees);
        assert_eq!(told_of(|x| x * x, 2.1), Told::Differs);
        assert_eq!(told_of(|x| x * x, 0.0), Told::Differs);
        assert_eq!(told_of(|_| 3.0, 0.0), Told::Agrees);
        assert_eq!(told_of(|_| 3.0, 1.0), Told::Differs);
        assert_eq!(told_of(f64::exp, 1f64.exp()), Told::Agrees);
    }

    #[test]
    fn nothing_is_concluded_where_a_function_is_not_smooth() {
        for derivative in [0.0, 1.0, 3.0] {
            assert_eq!(told_of(|x| (x - 1.0).max(0.0), derivative), Told::Nothing);
            assert_eq!(told_of(|x| x.floor(), derivative), Told::Nothing);
        }
    }
}
