//! Filters, for the tiles in which nothing else happens. Each warp puts its elements into shared memory and counts those that it keeps:
//! later tiles wait for that, so that nothing else is done before. Then it moves what it keeps together, while earlier tiles are being
//! counted. What comes before is known after that, and whole runs go to where they belong.

use super::count::Counted;
use super::{Lower, Tile, items};
use crate::lower::THREADS;
use crate::lower::memory::Place;
use crate::lower::runs::{ACCESS, Runs};
use crate::lower::tuple::near;
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special, Ternary, Unary};
use crate::ptx::{Operand, Reg, Space, Ty};
use midend::analysis::filters;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Program};
use midend::ir::types::ScalarType;

/// Runs of a warp that are under way together.
const TOGETHER: u32 = 4;
/// Elements of a lane that are moved together.
const NEAR: u32 = 8;

/// What is kept of each element: where it goes, and which result of the body it is.
pub(super) struct Keeping {
    stores: Vec<(Var, usize)>,
    pub(super) types: Vec<ScalarType>,
    /// What one access to memory takes, if elements are near enough.
    runs: Option<Runs>,
}

/// What a filter keeps, if it is made of results of the body alone and only the last element does anything else.
pub(super) fn keeping(
    program: &Program<Mem>,
    of: Counted<'_>,
    ops: &[Operator<Mem>],
) -> Option<Keeping> {
    let kept = filters::kept(of.kernel, ops, of.then).filter(|kept| kept.else_at_end)?;
    let param = |(buffer, value): (Var, Atom)| {
        let value = value.as_var()?;
        let k = of.then.params.iter().position(|p| *p == value)?;
        // The first is the place.
        (k > 0).then_some((buffer, k))
    };
    let stores: Vec<(Var, usize)> = kept.stores.into_iter().map(param).collect::<Option<_>>()?;
    let types: Vec<ScalarType> = stores.iter().map(|(_, k)| of.types[*k]).collect();
    let runs = Runs::of(program, of.kernel, true);
    let runs = runs.map(|runs| runs.of_at_most(items(&types)));
    Some(Keeping {
        stores,
        types,
        runs,
    })
}

impl Keeping {
    /// The elements that each thread has of a tile.
    pub(super) fn items(&self) -> u32 {
        items(&self.types)
    }

    /// How many of a lane's elements are neighbours; as many of the next lane follow.
    pub(super) fn run(&self) -> u32 {
        self.runs.as_ref().map_or(1, |runs| runs.length)
    }

    /// How far behind its first one, of so many, each element of a lane is: a warp has a run of the tile.
    fn distances(&self, items: u32) -> impl Iterator<Item = u32> {
        let run = self.run();
        (0..items).map(move |k| k / run * 32 * run + k % run)
    }
}

/// An array that what is kept goes to: the type, and where the first element of a lane goes.
type Column = (ScalarType, Place);

/// The place of an element in shared memory, so many behind an address.
fn shared_place(base: Reg, ty: ScalarType, distance: u32) -> Place {
    Place {
        space: Space::Shared,
        at: near(base, ty, distance),
    }
}

impl Lower<'_> {
    /// Code for tiles with all their elements that others follow, and for others.
    pub(super) fn if_inner(
        &mut self,
        tile: &Tile,
        f: impl FnOnce(&mut Self),
        g: impl FnOnce(&mut Self),
    ) {
        let size = Operand::Imm(u64::from(THREADS * tile.items));
        let end = self.b.bin(Binary::Add, Ty::U64, tile.start, size);
        let is_inner = self.b.cmp(Cmp::Lt, Ty::U64, end, tile.end);
        self.if_else(is_inner, f, g);
    }

    /// Counts the elements of a warp, and puts what might be kept of them into the tile's arrays, element by element. Of each element
    /// that counts, `bits` of its lane has one.
    pub(super) fn keep(
        &mut self,
        (of, keeping): (Counted<'_>, &Keeping),
        tile: &Tile,
        (bits, count): (Reg, Reg),
    ) {
        let at = self.first_of_run(keeping, tile);
        let distances: Vec<u32> = keeping.distances(tile.items).collect();
        let elements = self.elements_of_runs(keeping, tile);
        let each = keeping.runs.as_ref().map_or(1, |runs| runs.each);
        let mut k = 0;
        for elements in elements.chunks(each as usize) {
            let runs = keeping.runs.as_ref();
            let tuples = self.elements(of.kernel, of.types, elements, runs);
            for values in &tuples {
                let counts = self.b.cmp(Cmp::Ne, Ty::U64, values[0], Operand::Imm(0));
                let bit = Operand::Imm(1 << k);
                let bit = self.b.select(Ty::B32, counts, bit, Operand::Imm(0));
                self.b.bin_to(bits, Binary::Or, Ty::B32, bits, bit);
                k += 1;
            }
            let first = k as usize - tuples.len();
            let runs = tuples.chunks(keeping.run() as usize);
            let first_of_run = distances[first..].iter().step_by(keeping.run() as usize);
            for (values, distance) in runs.zip(first_of_run) {
                for (n, (_, result)) in keeping.stores.iter().enumerate() {
                    let kept: Vec<Operand> = values.iter().map(|values| values[*result]).collect();
                    self.store_run(at[n], keeping.types[n], *distance, &kept);
                }
            }
        }
        self.gather_warp();
        let own = self.b.un(Unary::Popc, Ty::B32, bits);
        self.b.set(Ty::B32, count, own);
        for distance in [16, 8, 4, 2, 1] {
            let distance = Operand::Imm(distance);
            let (other, _) =
                self.other_lane(Shuffle::Butterfly, ScalarType::I32, count, distance, 31);
            self.b.bin_to(count, Binary::Add, Ty::U32, count, other);
        }
    }

    /// Moves what a warp keeps together, to the begin of its elements. What is stored comes after what is read together, and takes no
    /// more room than that and what was before.
    pub(super) fn move_together(&mut self, keeping: &Keeping, tile: &Tile, bits: Reg) {
        let run = keeping.run();
        let places = self.places((tile.items, run), bits);
        let at = self.first_of_run(keeping, tile);
        let warp = self.run_of_warp(tile);
        let distances: Vec<u32> = keeping.distances(tile.items).collect();
        let firsts: Vec<u32> = (0..tile.items).step_by(run as usize).collect();
        for (firsts, places) in firsts
            .chunks(NEAR.div_ceil(run) as usize)
            .zip(places.chunks(NEAR.div_ceil(run) as usize))
        {
            let load = |lower: &mut Self, first: &u32| {
                let both = at.iter().zip(&keeping.types);
                both.map(|(at, ty)| lower.load_run(*at, *ty, distances[*first as usize], run))
                    .collect()
            };
            let found: Vec<Vec<Vec<Operand>>> = firsts.iter().map(|k| load(self, k)).collect();
            self.gather_warp();
            for ((first, place), columns) in firsts.iter().zip(places).zip(found) {
                let place = self.b.bin(Binary::Add, Ty::U32, warp, *place);
                let to = self.shared_at(&tile.tables, &keeping.types, place);
                for k in 0..run {
                    let bit = Operand::Imm(1 << (first + k));
                    let bit = self.b.bin(Binary::And, Ty::B32, bits, bit);
                    let counts = self.b.cmp(Cmp::Ne, Ty::U32, bit, Operand::Imm(0));
                    let values: Vec<Operand> =
                        columns.iter().map(|column| column[k as usize]).collect();
                    self.when(counts, |lower| {
                        lower.store_near(&to, &keeping.types, 0, &values);
                        if k + 1 < run {
                            for (to, ty) in to.iter().zip(&keeping.types) {
                                let bytes = Operand::Imm(ty.bytes() as u64);
                                lower.b.bin_to(*to, Binary::Add, Ty::U32, *to, bytes);
                            }
                        }
                    });
                }
            }
            self.gather_warp();
        }
    }

    /// The first element of a lane, of those that lie in runs: where it is in the tile.
    fn first_in_runs(&mut self, keeping: &Keeping, tile: &Tile) -> Reg {
        let first = self.run_of_warp(tile);
        let lane = self.b.special(Special::Lane);
        let run = Operand::Imm(keeping.run().into());
        let mad = [lane.into(), run, first.into()];
        self.b.tern(Ternary::Mad, Ty::U32, mad)
    }

    /// Its addresses in the tile's arrays.
    fn first_of_run(&mut self, keeping: &Keeping, tile: &Tile) -> Vec<Reg> {
        let first = self.first_in_runs(keeping, tile);
        self.shared_at(&tile.tables, &keeping.types, first)
    }

    /// The elements of a lane, which lie in runs.
    fn elements_of_runs(&mut self, keeping: &Keeping, tile: &Tile) -> Vec<Reg> {
        let first = self.first_in_runs(keeping, tile);
        let first = self.wide(first);
        let first = self.b.bin(Binary::Add, Ty::U64, tile.start, first);
        self.distant(first, keeping.distances(tile.items))
    }

    /// Neighbours to shared memory, so many elements behind an address.
    fn store_run(&mut self, at: Reg, ty: ScalarType, distance: u32, values: &[Operand]) {
        let each = (ACCESS / ty.bytes() as u32).clamp(1, values.len() as u32);
        for (n, values) in (0..).zip(values.chunks(each as usize)) {
            self.store_row(ty, shared_place(at, ty, distance + n * each), values);
        }
    }

    /// Neighbours from there.
    fn load_run(&mut self, at: Reg, ty: ScalarType, distance: u32, count: u32) -> Vec<Operand> {
        let each = (ACCESS / ty.bytes() as u32).clamp(1, count);
        let parts = (0..count / each).flat_map(|n| {
            let place = shared_place(at, ty, distance + n * each);
            self.load_row(ty, place, each, false)
        });
        parts.map(Operand::Reg).collect()
    }

    /// The addresses of the first element of a lane.
    fn elements_of_warp(&mut self, keeping: &Keeping, tile: &Tile) -> Vec<Reg> {
        let run = self.run_of_warp(tile);
        let lane = self.b.special(Special::Lane);
        let first = self.b.bin(Binary::Add, Ty::U32, run, lane);
        self.shared_at(&tile.tables, &keeping.types, first)
    }

    /// Hands on what a warp keeps: `count` elements, with so many before them.
    pub(super) fn hand_on_kept(
        &mut self,
        keeping: &Keeping,
        tile: &Tile,
        (count, before): (Reg, Reg),
    ) {
        let lane = self.b.special(Special::Lane);
        let from = self.elements_of_warp(keeping, tile);
        let ahead = self.wide(lane);
        let first = self.b.bin(Binary::Add, Ty::U64, before, ahead);
        let columns: Vec<Column> = keeping
            .stores
            .iter()
            .zip(&keeping.types)
            .map(|((buffer, _), ty)| (*ty, self.place(self.value(*buffer), *ty, first.into())))
            .collect();
        // Of the elements of a lane, the 32nd, 64th and so on follow.
        let left = self.b.bin(Binary::Sub, Ty::S32, count, lane);
        let steps: Vec<u32> = (0..tile.items).collect();
        for steps in steps.chunks(TOGETHER as usize) {
            let some = Operand::Imm(u64::from(32 * steps[0]));
            let some = self.b.cmp(Cmp::Gt, Ty::U32, count, some);
            self.if_warp(some, |lower| {
                for step in steps.iter().map(|step| 32 * step) {
                    let ahead = Operand::Imm(step.into());
                    let exists = lower.b.cmp(Cmp::Gt, Ty::S32, left, ahead);
                    lower.when(exists, |lower| {
                        let values = lower.load_near(&from, &keeping.types, step);
                        for ((ty, place), value) in columns.iter().zip(values) {
                            lower.store(*ty, place.behind(step * ty.bytes() as u32), value);
                        }
                    });
                }
            });
        }
    }

    /// Where the run of a warp begins in the tile's arrays.
    fn run_of_warp(&mut self, tile: &Tile) -> Reg {
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let run = Operand::Imm(u64::from(32 * tile.items));
        self.b.bin(Binary::Mul, Ty::U32, warp, run)
    }
}
