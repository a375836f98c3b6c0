//! Arrays without data, as `[n]()`: all that they are is their size. Where they cross an entry point, as a part of an
//! opaque value for example, an array of `bool` takes the place of their elements, so that the size crosses too
//! ([`midend::value::leaf::leaves`] says the same of types).

use super::Lower;
use super::value::{Leaf, Value};
use midend::ir::array::ArrayOp;
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size, Type};

/// What the outside gets of a value, in order.
pub(super) enum Outside {
    /// A leaf.
    Data(Leaf),
    /// An array of this shape that has no leaves.
    Units(Vec<Size>),
}

/// The parts of a value that cross an entry point.
pub(super) fn outside(v: &Value<'_>) -> Vec<Outside> {
    let mut out = Vec::new();
    collect(v, &mut Vec::new(), &mut out);
    out
}

fn collect(v: &Value<'_>, shape: &mut Vec<Size>, out: &mut Vec<Outside>) {
    match v {
        Value::Leaf(leaf) => out.push(Outside::Data(*leaf)),
        Value::Array { dims, elem } => {
            let (rank, before) = (shape.len(), out.len());
            shape.extend(dims.iter());
            collect(elem, shape, out);
            if out.len() == before {
                out.push(Outside::Units(shape.clone()));
            }
            shape.truncate(rank);
        }
        Value::Tuple(vs) => vs.iter().for_each(|v| collect(v, shape, out)),
        Value::Record(vs) => vs.iter().for_each(|(_, v)| collect(v, shape, out)),
        Value::Sum(sum) => {
            out.push(Outside::Data(sum.tag));
            for v in sum.cons.iter().flat_map(|(_, vs)| vs) {
                collect(v, shape, out);
            }
        }
        Value::Rows(rows) => {
            out.push(Outside::Data(rows.begin));
            collect(&rows.pool, &mut Vec::new(), out);
        }
        Value::Fun(_) => {}
    }
}

/// The type of the array that stands for units.
pub(super) fn type_of_units(shape: &[Size]) -> Type {
    Type::array_of(&Type::Scalar(ScalarType::Bool), shape)
}

impl Lower<'_> {
    /// An array that stands for units.
    pub(super) fn units(&mut self, shape: &[Size]) -> Atom {
        let op = ArrayOp::Replicate {
            shape: shape.iter().map(|n| (*n).into()).collect(),
            value: Const::Bool(false).into(),
        };
        self.array_op("units", type_of_units(shape), op).into()
    }
}
