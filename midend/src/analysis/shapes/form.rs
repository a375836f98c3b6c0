//! Canonical sizes: linear forms over products of terms, interned, so that equal sizes have equal numbers.
//!
//! ```text
//! form    ::=  c0 + c1 * term * .. * term + ..            integers mod 2^64, as `i64` arithmetic is
//! term    ::=  v                                          a fixed unknown size α: the value of a variable
//!           |  ι                                          the index of a parallel operation
//!           |  a[form, ..]                                a dependent size φ(α): an element of an array
//!           |  sum(ι < form) form                         a sum of dependent sizes
//!           |  op(form, ..)                               what integer operation gives it, of which nothing else is known
//! family  ::=  form  |  λι. family  |  a[form, ..]        the elements of an array as a function of indices
//! ```
//!
//! (*Shapes and Flattening*, section 3.1.) Arithmetic in `i64` wraps, so that polynomials modulo 2^64 are exact: forms that are
//! equal are equal in every run. Forms of more than [`MOST`] terms are not made; who wants one gets nothing, and treats the
//! value as unknown. That keeps every operation here in constant time.

use crate::hash::HashMap;
use crate::ir::id::{IdMap, Var};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use crate::ir::types::ScalarType;
use std::hash::Hash;

/// The most terms in a form, those inside of terms among them.
const MOST: u32 = 48;
/// The most factors of a product.
const FACTORS: usize = 4;
/// The most products of a sum.
const PRODUCTS: usize = 8;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    };
}

number!(
    /// A term, a row of the table.
    Term
);
number!(
    /// A form, a row of the table. Equal numbers, equal values.
    Form
);
number!(
    /// The elements of an array, a row of the table.
    Family
);
number!(
    /// A parallel operation: the first variable that its statement binds, by number.
    Nest
);

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// The value of a variable.
    Var(Var),
    /// The index of a parallel operation around.
    Index(Nest),
    /// The index that a family or sum around abstracts from.
    Bound(u32),
    /// An element of an array whose elements are unknown.
    Elem {
        /// The array.
        array: Var,
        /// One index per dimension.
        at: Vec<Form>,
    },
    /// The sum of a family over 0, 1, .. below a width.
    Sum {
        /// How many.
        width: Form,
        /// A function of one index.
        of: Family,
    },
    /// The result of an operation on integers or truth values.
    Op(ScalarOp, Vec<Form>),
    /// A constant of another type than `i64`.
    Const(Const),
}

/// Terms multiplied with one another, in order, and by a number other than zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// The number.
    pub times: i64,
    /// At least one.
    pub terms: Vec<Term>,
}

/// What a form is: a constant and products, which are in order of their terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    /// The constant.
    pub constant: i64,
    /// The products, of different terms.
    pub products: Vec<Product>,
}

/// What a family is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FamilyKind {
    /// No indices are left.
    Scalar(Form),
    /// A function of the index with this number.
    Abs(u32, Family),
    /// The elements of an array of which nothing is known, after some indices.
    Rows {
        /// The array.
        array: Var,
        /// Indices given.
        at: Vec<Form>,
        /// Indices to come.
        left: usize,
    },
}

/// What is known of a variable: the value of a scalar, or the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar.
    Scalar(Form),
    /// An array.
    Array(Family),
}

/// What is said of a term, form or family as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// When the last of its variables was bound.
    pub born: u32,
    /// The number of terms in it.
    pub size: u32,
    /// Above all numbers of bound indices in it.
    pub height: u32,
}

impl Info {
    fn and(self, other: Self) -> Self {
        Self {
            born: self.born.max(other.born),
            size: self.size.saturating_add(other.size),
            height: self.height.max(other.height),
        }
    }
}

/// Rows that are there once each.
#[derive(Clone, Debug)]
struct Interned<K> {
    rows: Vec<(K, Info)>,
    numbers: HashMap<K, u32>,
}

impl<K: Clone + Eq + Hash> Interned<K> {
    fn new() -> Self {
        Self {
            rows: Vec::new(),
            numbers: HashMap::default(),
        }
    }
    fn add(&mut self, key: K, info: Info) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.rows.len() as u32;
        self.rows.push((key.clone(), info));
        self.numbers.insert(key, number);
        number
    }
}

/// All terms, forms and families of a program.
#[derive(Clone, Debug)]
pub struct Table {
    terms: Interned<TermKind>,
    forms: Interned<Linear>,
    families: Interned<FamilyKind>,
    /// When variables were bound, and when parallel operations began.
    births: IdMap<Var, u32>,
    starts: HashMap<Nest, u32>,
    /// How many families and sums are being taken apart.
    pub(super) opened: u32,
}

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            terms: Interned::new(),
            forms: Interned::new(),
            families: Interned::new(),
            births: IdMap::new(),
            starts: HashMap::default(),
            opened: 0,
        }
    }

    /// What the term is.
    pub fn term(&self, t: Term) -> &TermKind {
        &self.terms.rows[t.0 as usize].0
    }
    /// What the form is.
    pub fn form(&self, f: Form) -> &Linear {
        &self.forms.rows[f.0 as usize].0
    }
    /// What the family is.
    pub fn family(&self, f: Family) -> &FamilyKind {
        &self.families.rows[f.0 as usize].0
    }
    /// How many terms, forms and families there are.
    pub fn counts(&self) -> [usize; 3] {
        [
            self.terms.rows.len(),
            self.forms.rows.len(),
            self.families.rows.len(),
        ]
    }
    /// What is said of the term.
    pub fn term_info(&self, t: Term) -> Info {
        self.terms.rows[t.0 as usize].1
    }
    /// What is said of the form.
    pub fn form_info(&self, f: Form) -> Info {
        self.forms.rows[f.0 as usize].1
    }
    /// What is said of the family.
    pub fn family_info(&self, f: Family) -> Info {
        self.families.rows[f.0 as usize].1
    }
    /// What is said of the value.
    pub fn info(&self, v: Value) -> Info {
        match v {
            Value::Scalar(f) => self.form_info(f),
            Value::Array(f) => self.family_info(f),
        }
    }

    /// Says when a variable is bound, before forms name it.
    pub fn birth(&mut self, v: Var, now: u32) {
        self.births.set(v, now);
    }

    /// Says when a parallel operation begins, before forms name its index.
    pub fn start(&mut self, nest: Nest, now: u32) {
        self.starts.insert(nest, now);
    }

    /// The form that is this one term.
    pub fn of_term(&mut self, kind: TermKind) -> Option<Form> {
        let mut info = Info {
            born: 0,
            size: 1,
            height: 0,
        };
        match &kind {
            TermKind::Const(_) => {}
            TermKind::Var(v) => info.born = self.births[*v],
            TermKind::Index(nest) => info.born = self.starts.get(nest).copied().unwrap_or(0),
            TermKind::Bound(b) => info.height = b + 1,
            TermKind::Elem { array, at } => {
                info.born = self.births[*array];
                info = at.iter().fold(info, |i, f| i.and(self.form_info(*f)));
            }
            TermKind::Op(_, args) => {
                info = args.iter().fold(info, |i, f| i.and(self.form_info(*f)));
            }
            TermKind::Sum { width, of } => {
                info = info.and(self.form_info(*width)).and(self.family_info(*of));
            }
        }
        if info.size > MOST {
            return None;
        }
        let t = Term(self.terms.add(kind, info));
        self.of_products(0, vec![(vec![t], 1)])
    }

    /// The value of a variable of which nothing else is known.
    pub fn var(&mut self, v: Var) -> Form {
        self.of_term(TermKind::Var(v)).expect("one term")
    }

    /// The index of a parallel operation.
    pub fn at_index(&mut self, nest: Nest) -> Form {
        self.of_term(TermKind::Index(nest)).expect("one term")
    }

    /// A constant.
    pub fn constant(&mut self, n: i64) -> Form {
        let linear = Linear {
            constant: n,
            products: Vec::new(),
        };
        Form(self.forms.add(linear, Info::default()))
    }

    /// A constant of any type.
    pub fn scalar_constant(&mut self, c: Const) -> Form {
        match c.as_i64() {
            Some(n) => self.constant(n),
            None => self.of_term(TermKind::Const(c)).expect("one term"),
        }
    }

    /// The value of a form without variables.
    pub fn as_constant(&self, f: Form) -> Option<i64> {
        let linear = self.form(f);
        linear.products.is_empty().then_some(linear.constant)
    }

    /// The only term of a form that is nothing else.
    pub fn as_term(&self, f: Form) -> Option<Term> {
        let linear = self.form(f);
        match &linear.products[..] {
            [Product { times: 1, terms }] if linear.constant == 0 && terms.len() == 1 => {
                Some(terms[0])
            }
            _ => None,
        }
    }

    /// The form of a constant and products in any order, equal ones not yet added up.
    pub fn of_products(
        &mut self,
        constant: i64,
        mut products: Vec<(Vec<Term>, i64)>,
    ) -> Option<Form> {
        products.iter_mut().for_each(|p| p.0.sort_unstable());
        products.sort_unstable();
        let mut linear = Linear {
            constant,
            products: Vec::new(),
        };
        for (terms, times) in products {
            match linear.products.last_mut() {
                Some(last) if last.terms == terms => last.times = last.times.wrapping_add(times),
                Some(_) | None => linear.products.push(Product { times, terms }),
            }
        }
        linear.products.retain(|p| p.times != 0);
        let too_many = |p: &Product| p.terms.len() > FACTORS;
        if linear.products.len() > PRODUCTS || linear.products.iter().any(too_many) {
            return None;
        }
        let terms = linear.products.iter().flat_map(|p| &p.terms);
        let info = terms.fold(Info::default(), |info, t| info.and(self.term_info(*t)));
        (info.size <= MOST).then(|| Form(self.forms.add(linear, info)))
    }

    /// A family.
    pub fn of_family(&mut self, kind: FamilyKind) -> Family {
        let mut info = Info::default();
        match &kind {
            FamilyKind::Scalar(f) => info = self.form_info(*f),
            FamilyKind::Abs(b, body) => {
                info = self.family_info(*body);
                info.height = info.height.max(b + 1);
            }
            FamilyKind::Rows { array, at, .. } => {
                info.born = self.births[*array];
                info = at.iter().fold(info, |i, f| i.and(self.form_info(*f)));
            }
        }
        Family(self.families.add(kind, info))
    }

    /// `a + times * b`.
    pub fn add(&mut self, a: Form, times: i64, b: Form) -> Option<Form> {
        let (left, right) = (self.form(a), self.form(b));
        let constant = left
            .constant
            .wrapping_add(right.constant.wrapping_mul(times));
        let left = left.products.iter().map(|p| (p.terms.clone(), p.times));
        let right = right.products.iter();
        let right = right.map(|p| (p.terms.clone(), p.times.wrapping_mul(times)));
        let products = left.chain(right).collect();
        self.of_products(constant, products)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Form, b: Form) -> Option<Form> {
        let (a, b) = (self.form(a).clone(), self.form(b).clone());
        let mut products = Vec::new();
        for p in &a.products {
            products.push((p.terms.clone(), p.times.wrapping_mul(b.constant)));
            for q in &b.products {
                let terms = p.terms.iter().chain(&q.terms).copied().collect();
                products.push((terms, p.times.wrapping_mul(q.times)));
            }
        }
        for q in &b.products {
            products.push((q.terms.clone(), q.times.wrapping_mul(a.constant)));
        }
        self.of_products(a.constant.wrapping_mul(b.constant), products)
    }

    /// The result of an operation; nothing if its values are none that forms stand for.
    pub fn op(&mut self, op: ScalarOp, args: Vec<Form>) -> Option<Form> {
        let exact = |ty: ScalarType| !ty.is_float();
        if !exact(op.result()) || !(0..op.arity()).all(|i| exact(op.operand(i))) {
            return None;
        }
        match (op, &args[..]) {
            (ScalarOp::Bin(BinOp::Add, ScalarType::I64), &[a, b]) => self.add(a, 1, b),
            (ScalarOp::Bin(BinOp::Sub, ScalarType::I64), &[a, b]) => self.add(a, -1, b),
            (ScalarOp::Bin(BinOp::Mul, ScalarType::I64), &[a, b]) => self.mul(a, b),
            (ScalarOp::Un(UnOp::Neg, ScalarType::I64), &[a]) => {
                let zero = self.constant(0);
                self.add(zero, -1, a)
            }
            (ScalarOp::Bin(BinOp::Min | BinOp::Max | BinOp::And | BinOp::Or, _), &[a, b])
                if a == b =>
            {
                Some(a)
            }
            (ScalarOp::Select(_), &[_, a, b]) if a == b => Some(a),
            (ScalarOp::Cmp(CmpOp::Eq, ty), &[a, b]) => self.equality(ty, a, b),
            (ScalarOp::Bin(BinOp::And, ScalarType::Bool), &[a, b]) => self.both(op, a, b),
            (
                ScalarOp::Bin(BinOp::Min | BinOp::Max | BinOp::And | BinOp::Or | BinOp::Xor, _),
                &[a, b],
            ) => self.of_term(TermKind::Op(op, vec![a.min(b), a.max(b)])),
            (
                ScalarOp::Un(..)
                | ScalarOp::Bin(..)
                | ScalarOp::Cmp(..)
                | ScalarOp::Tern(..)
                | ScalarOp::Convert(..)
                | ScalarOp::ToBits(_)
                | ScalarOp::FromBits(_)
                | ScalarOp::Select(_),
                _,
            ) => self.of_term(TermKind::Op(op, args)),
        }
    }

    fn equality(&mut self, ty: ScalarType, a: Form, b: Form) -> Option<Form> {
        let difference = self.add(a, -1, b).and_then(|d| self.as_constant(d));
        match difference {
            Some(0) => Some(self.scalar_constant(Const::Bool(true))),
            Some(_) if ty == ScalarType::I64 => Some(self.scalar_constant(Const::Bool(false))),
            Some(_) | None => {
                let op = ScalarOp::Cmp(CmpOp::Eq, ty);
                self.of_term(TermKind::Op(op, vec![a.min(b), a.max(b)]))
            }
        }
    }

    fn both(&mut self, op: ScalarOp, a: Form, b: Form) -> Option<Form> {
        let is = |table: &Self, f, wanted| {
            let term = table.as_term(f).map(|t| table.term(t));
            term == Some(&TermKind::Const(Const::Bool(wanted)))
        };
        if is(self, a, true) || is(self, b, false) {
            return Some(b);
        }
        if is(self, b, true) || is(self, a, false) {
            return Some(a);
        }
        self.of_term(TermKind::Op(op, vec![a.min(b), a.max(b)]))
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}
