//! What forms of kernels need that small arrays never take: matrices that are copied and multiplied by tiles, vectors that blocks share out.

use super::Gen;
use super::bulk::map;
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::syntax::Exp;
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
const I32: ScalarType = ScalarType::I32;
const F32: ScalarType = ScalarType::F32;

/// Lengths of vectors: more than a thread folds alone, than a block has threads, and than a few blocks share.
const LENGTHS: [i64; 4] = [260, 520, 1030, 2100];

impl Gen<'_> {
    /// Something that is large, and takes nothing from elsewhere but scalars.
    pub(super) fn large(&mut self) -> Option<()> {
        match self.rng.below(10) {
            0 | 1 => {
                self.turned();
                Some(())
            }
            2 => {
                let [n, k] = [(); 2].map(|()| *self.rng.pick(&[20, 33, 36]));
                let m = *self.rng.pick(&[8, 9, 17]);
                let elem = *self.rng.pick(&[I64, I32, F32]);
                let rows = self.numbers(elem, &[n, m]);
                let others = self.numbers(elem, &[k, m]);
                self.products((rows, others), elem, [n, m, k].map(Size::Const))
            }
            3 => {
                let (n, m) = (*self.rng.pick(&[129, 140]), *self.rng.pick(&[8, 9, 17]));
                let elem = *self.rng.pick(&[I64, I32, F32]);
                let arrays = [n, m].map(|n| self.numbers(elem, &[n]));
                self.pairs(arrays, elem, [n, m].map(Size::Const))
            }
            4 | 5 => {
                let length = Size::Const(*self.rng.pick(&LENGTHS[2..]));
                let buckets = *self.rng.pick(&[1, 3, 8, 30]);
                self.counted_at_once(length, Size::Const(buckets))
            }
            _ => {
                let length = *self.rng.pick(&LENGTHS);
                self.chain_of(Size::Const(length))
            }
        }
    }

    /// A new array of numbers. It does not come into scope.
    fn numbers(&mut self, elem: ScalarType, shape: &[i64]) -> Var {
        let len = Size::Const(shape.iter().product());
        let here = self.b.iota(len);
        let lam = self.elementwise(elem, I64, len);
        let flat = Type::array_of(&Type::Scalar(elem), &[len]);
        let soac = map(len, vec![here], lam);
        let array = self.b.let_("flat", flat, Exp::Op(soac));
        match shape {
            [_] => array,
            _ => {
                let shape = shape.iter().map(|n| Size::Const(*n).into()).collect();
                self.b.array("rows", ArrayOp::Reshape { shape, array })
            }
        }
    }

    /// A matrix, or two, in another order in memory, as large as they must be to be copied by tiles.
    fn turned(&mut self) {
        let elem = match self.rng.chance(50) {
            true => *self.rng.pick(&[I32, F32]),
            false => self.scalar_type(),
        };
        let extents = [[32, 32], [64, 33], [16, 48], [33, 20], [64, 64], [64, 68]];
        let [n, m] = *self.rng.pick(&extents);
        let (shape, perm) = match n * m > 4000 || self.rng.chance(60) {
            true => (vec![n, m], vec![1, 0]),
            false => (vec![2, n, m], vec![0, 2, 1]),
        };
        let array = self.numbers(elem, &shape);
        let turned = self.b.array("turned", ArrayOp::Manifest { perm, array });
        for v in [array, turned] {
            let ty = self.b.ty(v);
            self.add(v, ty, true);
        }
    }
}
