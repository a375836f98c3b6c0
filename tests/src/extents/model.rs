//! What programs compute, with extents that are unbounded numbers: nothing overflows, and no array takes memory.

use super::program::{Array, Op, Program, Size};
use super::sizes::Arguments;

/// More elements than these are not gone through.
const FEW: i128 = 5000;

/// What a program must come to.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// These results, unless there is too little memory; nothing where the model does not know one.
    Values(Vec<Option<i64>>),
    /// An error.
    Failure,
    /// The model does not say.
    Anything,
}

/// Why there is no array.
enum Stop {
    /// The program fails.
    Failure,
    /// The model does not say.
    Unknown,
}

type Shape = Vec<i128>;

struct Model<'a> {
    program: &'a Program,
    args: &'a Arguments,
    shapes: Vec<Shape>,
    /// What filters keep.
    kept: Vec<Vec<i128>>,
}

/// What a program computes for arguments.
pub(super) fn run(program: &Program, args: &Arguments) -> Expected {
    let mut model = Model {
        program,
        args,
        shapes: Vec::new(),
        kept: Vec::new(),
    };
    for &op in &program.ops {
        model.kept.push(Vec::new());
        match model.shape(op) {
            Ok(shape) if shape.iter().any(|n| *n > i128::from(i64::MAX)) => {
                return Expected::Failure;
            }
            Ok(shape) => model.shapes.push(shape),
            Err(Stop::Failure) => return Expected::Failure,
            Err(Stop::Unknown) => return Expected::Anything,
        }
    }
    let mut values = Vec::new();
    for shape in &model.shapes {
        let shown = if shape.len() == 2 { 2 } else { 1 };
        values.extend(shape[..shown].iter().map(|n| Some(*n as i64)));
    }
    if let Some(at) = program.read {
        let last = model.shapes.len() - 1;
        let at = at.map(|n| model.size(n));
        let at = &at[..model.shapes[last].len()];
        if !(at.iter().zip(&model.shapes[last])).all(|(i, n)| (0..*n).contains(i)) {
            return Expected::Failure;
        }
        values.push(model.at(last, at));
    }
    Expected::Values(values)
}

/// A size that an array has.
fn extent(n: i128) -> Result<i128, Stop> {
    match n < 0 {
        true => Err(Stop::Failure),
        false => Ok(n),
    }
}

impl Model<'_> {
    fn size(&self, n: Size) -> i128 {
        let param = |i: usize| self.args.sizes[i];
        i128::from(match n {
            Size::Param(i) => param(i),
            Size::Few(n) => n,
            Size::Product(i, j) => param(i).wrapping_mul(param(j)),
            Size::Sum(i, j) => param(i).wrapping_add(param(j)),
            Size::Difference(i, j) => param(i).wrapping_sub(param(j)),
        })
    }

    fn shape(&mut self, op: Op) -> Result<Shape, Stop> {
        let size = |n| self.size(n);
        Ok(match op {
            Op::Iota(n) | Op::Constant(n) | Op::Count(n) | Op::Scatter(n) => vec![extent(size(n))?],
            Op::Grid(n, m) | Op::Count2(n, m) => self.nested(size(n), size(m))?,
            Op::Repeat(n, a) => {
                let mut shape = vec![extent(size(n))?];
                shape.extend(&self.shapes[a]);
                shape
            }
            Op::Add(a) | Op::Reverse(a) | Op::Rotate(_, a) | Op::Scan(a) => self.shapes[a].clone(),
            Op::Concat(a, b) => {
                let mut shape = self.shapes[a].clone();
                shape[0] += self.shapes[b][0];
                shape
            }
            Op::Flatten(a) => {
                let shape = &self.shapes[a];
                let mut flat = vec![shape[0] * shape[1]];
                flat.extend(&shape[2..]);
                flat
            }
            Op::Unflatten(n, m, a) => {
                let (n, m) = (size(n), size(m));
                if n < 0 || m < 0 || n * m != self.shapes[a][0] {
                    return Err(Stop::Failure);
                }
                vec![n, m]
            }
            Op::Transpose(a) => self.shapes[a].iter().rev().copied().collect(),
            Op::Take(n, a) => {
                let n = size(n);
                if !(0..=self.shapes[a][0]).contains(&n) {
                    return Err(Stop::Failure);
                }
                vec![n]
            }
            Op::Strided(a, [from, to, step]) => {
                vec![self.strided(a, [from, to, step].map(size))?]
            }
            Op::Column(a, k) => {
                let (n, m) = (self.shapes[a][0], self.shapes[a][1]);
                if n > 0 && !(0..m).contains(&size(k)) {
                    return Err(Stop::Failure);
                }
                vec![n]
            }
            Op::Spread(a, n) => self.nested(self.shapes[a][0], size(n))?,
            Op::Rows => vec![self.lengths()?.into_iter().sum()],
            Op::Filter(a) => {
                let count = self.shapes[a][0];
                if count > FEW {
                    return Err(Stop::Unknown);
                }
                let mut kept = Vec::new();
                for i in 0..count {
                    match self.at(a, &[i]) {
                        Some(x) if x % 2 == 0 => kept.push(i),
                        Some(_) => {}
                        None => return Err(Stop::Unknown),
                    }
                }
                let count = kept.len() as i128;
                *self.kept.last_mut().expect("pushed before") = kept;
                vec![count]
            }
            Op::InnerProduct(n, m) => {
                let (n, m) = (extent(size(n))?, extent(size(m))?);
                countable(n * m)?;
                vec![3]
            }
            Op::InnerSum(n, m) => {
                countable(extent(size(n))? + extent(size(m))?)?;
                vec![3]
            }
            Op::InnerScan(n, at) => {
                if !(0..extent(size(n))?).contains(&size(at)) {
                    return Err(Stop::Failure);
                }
                vec![3]
            }
            Op::InnerRows => {
                for n in self.lengths()? {
                    countable(2 * n)?;
                }
                vec![self.args.list.len() as i128]
            }
        })
    }

    /// Rows of a length; where there are none, it is not said what their length is if it is negative.
    fn nested(&self, n: i128, m: i128) -> Result<Shape, Stop> {
        match extent(n)? {
            0 if m < 0 => Err(Stop::Unknown),
            n => Ok(vec![n, extent(m)?]),
        }
    }

    fn lengths(&self) -> Result<Vec<i128>, Stop> {
        let lengths = self.args.list.iter().map(|n| extent((*n).into()));
        lengths.collect()
    }

    fn strided(&self, a: Array, [from, to, step]: [i128; 3]) -> Result<i128, Stop> {
        if step == 0 {
            return Err(Stop::Failure);
        }
        let distance = to - from;
        if i64::try_from(distance).is_err() {
            return Err(Stop::Unknown);
        }
        let len = (distance + step - step.signum()) / step;
        let inside = |i: i128| (0..self.shapes[a][0]).contains(&i);
        match len {
            0 => Ok(0),
            1.. if inside(from) && inside(from + (len - 1) * step) => Ok(len),
            _ => Err(Stop::Failure),
        }
    }

    /// An element, by indices in range.
    fn at(&self, k: Array, at: &[i128]) -> Option<i64> {
        let wrap = |n: i64| Some(self.program.elem.wrap(n));
        match self.program.ops[k] {
            Op::Iota(_) => wrap(at[0] as i64),
            Op::Constant(_) => wrap(7),
            Op::Grid(..) => wrap((at[0] as i64).wrapping_mul(31).wrapping_add(at[1] as i64)),
            Op::Repeat(_, a) => self.at(a, &at[1..]),
            Op::Add(a) => wrap(self.at(a, at)?.wrapping_add(3)),
            Op::Concat(a, b) => {
                let n = self.shapes[a][0];
                let mut inside = at.to_vec();
                if at[0] < n {
                    return self.at(a, at);
                }
                inside[0] -= n;
                self.at(b, &inside)
            }
            Op::Flatten(a) => {
                let m = self.shapes[a][1];
                let mut inside = vec![at[0] / m, at[0] % m];
                inside.extend(&at[1..]);
                self.at(a, &inside)
            }
            Op::Unflatten(_, m, a) => self.at(a, &[at[0] * self.size(m) + at[1]]),
            Op::Transpose(a) => self.at(a, &[at[1], at[0]]),
            Op::Reverse(a) => self.at(a, &[self.shapes[a][0] - 1 - at[0]]),
            Op::Rotate(n, a) => {
                let len = self.shapes[a][0];
                self.at(a, &[(at[0] + self.size(n)).rem_euclid(len)])
            }
            Op::Take(_, a) => self.at(a, at),
            Op::Strided(a, [from, _, step]) => {
                self.at(a, &[self.size(from) + at[0] * self.size(step)])
            }
            Op::Column(a, n) => self.at(a, &[at[0], self.size(n)]),
            Op::Spread(a, _) => self.at(a, &at[..1]),
            Op::Rows => {
                let mut left = at[0];
                for n in &self.args.list {
                    if left < i128::from(*n) {
                        return wrap(left as i64);
                    }
                    left -= i128::from(*n);
                }
                None
            }
            Op::Scan(a) => {
                if at[0] > FEW {
                    return None;
                }
                let mut sum = 0i64;
                for i in 0..=at[0] {
                    sum = sum.wrapping_add(self.at(a, &[i])?);
                }
                wrap(sum)
            }
            Op::Filter(a) => self.at(a, &[*self.kept[k].get(at[0] as usize)?]),
            Op::Count(_) => wrap(self.in_list(at[0])),
            Op::Scatter(_) => wrap(self.in_list(at[0]).min(1)),
            Op::Count2(..) => wrap(match at[0] == at[1] {
                true => self.in_list(at[0]),
                false => 0,
            }),
            Op::InnerProduct(n, m) => wrap((self.size(n) * self.size(m)) as i64),
            Op::InnerSum(n, m) => wrap((self.size(n) + self.size(m)) as i64),
            Op::InnerScan(_, i) => wrap((at[0] as i64).wrapping_mul(self.size(i) as i64 + 1)),
            Op::InnerRows => wrap(2 * self.args.list[at[0] as usize]),
        }
    }

    /// How often a number is in the list.
    fn in_list(&self, n: i128) -> i64 {
        let all = self.args.list.iter();
        all.filter(|x| i128::from(**x) == n).count() as i64
    }
}

/// A count that a program is told.
fn countable(n: i128) -> Result<(), Stop> {
    match i64::try_from(n) {
        Ok(_) => Ok(()),
        Err(_) => Err(Stop::Failure),
    }
}
