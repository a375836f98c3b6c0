//! The vector IR: SSA over uniform integers, vectors and masks, in blocks with parameters. Data only.
//!
//! A function works on [`Function::lanes`] iterations at a time. A value is *uniform*, one integer that all lanes share, in a general
//! register; a *vector*, one element per lane; or a *mask*, one truth value per lane. A float that is the same for all lanes is a vector of
//! equal elements. Integers of fewer than 32 bits are held in 32, extended as their type says.

/// Enumerations whose variants have names in the text form.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// The name in the text form.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// What has this name.
            #[cfg(test)]
            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

/// A value of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Value(pub(crate) u32);

/// A basic block of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Block(pub(crate) u32);

/// A stack slot of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

named! {
    /// The elements of a vector.
    Elem {
        I32 = "i32",
        I64 = "i64",
        F32 = "f32",
        F64 = "f64",
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Type {
    /// A uniform integer of 32 bits.
    I32,
    /// A uniform integer of 64 bits, or an address.
    I64,
    Vector(Elem),
    Mask,
}

named! {
    /// An element in memory: its bytes, and how it fills the 32 bits of an integer if it has fewer.
    Cell {
        I8 = "i8",
        U8 = "u8",
        I16 = "i16",
        U16 = "u16",
        W32 = "w32",
        W64 = "w64",
    }
}

named! {
    /// An operation on two uniform integers of one type. Shifts take the amount modulo the bits.
    IntOp {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        And = "and",
        Or = "or",
        Xor = "xor",
        Shl = "shl",
        /// Arithmetic shift to the right.
        Sar = "sar",
        /// Logical shift to the right.
        Shr = "shr",
        /// Signed quotient rounded to zero. The divisor is not 0, and not -1.
        DivS = "div_s",
        /// The divisor is not 0.
        DivU = "div_u",
        RemU = "rem_u",
    }
}

named! {
    /// A comparison of integers.
    Cond {
        Eq = "eq",
        Ne = "ne",
        LtS = "lt_s",
        LeS = "le_s",
        LtU = "lt_u",
        LeU = "le_u",
    }
}

named! {
    /// A comparison of floats, false of NaNs but for the last two.
    FloatCond {
        Eq = "eq",
        Lt = "lt",
        Le = "le",
        /// Ordered and not equal.
        One = "one",
        /// Unordered or not equal.
        Une = "une",
        /// One is a NaN.
        Unordered = "uno",
    }
}

named! {
    /// An operation on two vectors of one type, lane by lane.
    VecOp {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        /// Of floats.
        Div = "div",
        And = "and",
        Or = "or",
        Xor = "xor",
        /// Of integers, by an amount less than their bits.
        Shl = "shl",
        Sar = "sar",
        Shr = "shr",
        /// Of integers.
        MinS = "min_s",
        MaxS = "max_s",
        MinU = "min_u",
        MaxU = "max_u",
    }
}

named! {
    /// An operation on one vector.
    VecUn {
        Sqrt = "sqrt",
        Floor = "floor",
        Ceil = "ceil",
        /// To the nearest integer, ties to even.
        Nearest = "nearest",
        Trunc = "trunc",
    }
}

named! {
    /// A conversion between vectors.
    Conv {
        /// The same bits as another element of the size.
        Bits = "bitcast",
        /// Between floats, or from a signed integer to a float, rounded once.
        Float = "to_float",
        /// From an unsigned integer to a float.
        Unsigned = "to_float_u",
        /// From a float to a signed integer, truncated; the smallest integer where that does not fit.
        Trunc = "trunc_s",
        /// From a float to an unsigned integer, truncated; all bits where that does not fit.
        TruncU = "trunc_u",
        /// Of integers.
        SignExtend = "sext",
        ZeroExtend = "zext",
        Wrap = "wrap",
    }
}

named! {
    /// An operation on two masks.
    MaskOp {
        And = "and",
        Or = "or",
        Xor = "xor",
        /// The first and the complement of the second.
        AndNot = "andnot",
    }
}

/// An address: a base, a scaled index if there is one, and an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) base: Value,
    pub(crate) index: Option<(Value, u8)>,
    pub(crate) offset: i32,
}

impl Address {
    /// So many bytes from a base.
    pub(crate) const fn at(base: Value, offset: i32) -> Self {
        Self {
            base,
            index: None,
            offset,
        }
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// A uniform constant.
    Const(i64),
    Int(IntOp, Value, Value),
    /// 1 or 0, of 32 bits.
    Compare(Cond, Value, Value),
    /// The second if the first is not 0, else the third.
    Select(Value, Value, Value),
    /// The low bits of an integer, extended: their number, and whether as a signed one.
    Extend(Value, u8, bool),
    /// The low 32 bits of a 64-bit integer.
    Low(Value),
    /// The number of zeros below the lowest one of 32 bits that are not all zeros.
    TrailingZeros(Value),
    Load(Cell, Address),
    Store(Cell, Address, Value),
    /// The address of a stack slot.
    SlotAddress(Slot),
    /// Calls a function by its address under the C calling convention, with up to six 64-bit integers; a result is one as well.
    Call(usize, Vec<Value>),
    /// A vector of equal elements from a uniform integer of the size: its bits.
    Splat(Value),
    /// A vector of equal elements from memory.
    SplatLoad(Cell, Address),
    /// A vector of equal elements of these bits.
    VecConst(u64),
    /// The number of each lane.
    Iota,
    /// The bits of the first element.
    First(Value),
    Vec(VecOp, Value, Value),
    VecUn(VecUn, Value),
    /// a * b + c, rounded once.
    Fma(Value, Value, Value),
    VecCompare(Cond, Value, Value),
    FloatCompare(FloatCond, Value, Value),
    /// The second where the mask holds, else the third.
    Blend(Value, Value, Value),
    Convert(Conv, Value),
    MaskConst(bool),
    /// Whether a uniform integer of 32 bits is 1, for all lanes; it is 0 or 1.
    MaskSplat(Value),
    /// The first so many lanes, a uniform integer of 64 bits that is not negative and not more than the lanes.
    FirstLanes(Value),
    Mask(MaskOp, Value, Value),
    MaskNot(Value),
    /// Whether some lane holds: 1 or 0, of 32 bits.
    Any(Value),
    /// One bit per lane, the first lane lowest, of 32 bits.
    MaskBits(Value),
    /// Consecutive elements, of the lanes of the mask; others are 0.
    VecLoad(Cell, Address, Option<Value>),
    VecStore(Cell, Address, Value, Option<Value>),
    /// Elements at a base, signed indices of 32 or 64 bits and an offset in elements' bytes, of the lanes of the mask; others are 0.
    Gather(Cell, Value, Value, Option<Value>),
    /// Where lanes have the same index the last one stores: base, indices, values.
    Scatter(Cell, Value, Value, Value, Option<Value>),
}

/// An instruction and what it yields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    pub(crate) result: Option<Value>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Terminator {
    Jump(Block, Vec<Value>),
    /// To the first if the value is not 0.
    Branch(Value, (Block, Vec<Value>), (Block, Vec<Value>)),
    /// Returns the low byte of an integer of 32 bits.
    Return(Value),
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BlockData {
    pub(crate) params: Vec<Value>,
    pub(crate) insts: Vec<Inst>,
    /// Nothing while the block is under construction.
    pub(crate) end: Option<Terminator>,
    /// Whether it is seldom executed.
    pub(crate) cold: bool,
}

/// A function. The parameters of its first block are its own, 64-bit integers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) lanes: usize,
    pub(crate) types: Vec<Type>,
    pub(crate) blocks: Vec<BlockData>,
    /// The bytes of each stack slot.
    pub(crate) slots: Vec<u32>,
}

impl Elem {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The integer of the size.
    pub(crate) const fn integer(self) -> Self {
        match self {
            Self::I32 | Self::F32 => Self::I32,
            Self::I64 | Self::F64 => Self::I64,
        }
    }
}

impl Cell {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }
}

impl Function {
    pub(crate) const fn new(lanes: usize) -> Self {
        Self {
            lanes,
            types: Vec::new(),
            blocks: Vec::new(),
            slots: Vec::new(),
        }
    }

    pub(crate) fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// The elements of a vector.
    pub(crate) fn elem(&self, value: Value) -> Elem {
        match self.ty(value) {
            Type::Vector(elem) => elem,
            Type::I32 | Type::I64 | Type::Mask => unreachable!("the value is a vector"),
        }
    }

    pub(crate) fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    pub(crate) fn block(&mut self, params: &[Type]) -> Block {
        let params = params.iter().map(|ty| self.value(*ty)).collect();
        self.blocks.push(BlockData {
            params,
            ..BlockData::default()
        });
        Block(self.blocks.len() as u32 - 1)
    }

    pub(crate) fn slot(&mut self, bytes: u32) -> Slot {
        self.slots.push(bytes);
        Slot(self.slots.len() as u32 - 1)
    }

    pub(crate) fn data(&self, block: Block) -> &BlockData {
        &self.blocks[block.0 as usize]
    }

    pub(crate) fn data_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block.0 as usize]
    }
}

impl Op {
    /// Calls `f` with each operand.
    pub(crate) fn operands(&self, f: &mut dyn FnMut(Value)) {
        let address = |address: &Address, f: &mut dyn FnMut(Value)| {
            f(address.base);
            if let Some((index, _)) = address.index {
                f(index);
            }
        };
        match self {
            Self::Const(_)
            | Self::SlotAddress(_)
            | Self::VecConst(_)
            | Self::Iota
            | Self::MaskConst(_) => {}
            Self::Int(_, a, b)
            | Self::Compare(_, a, b)
            | Self::Vec(_, a, b)
            | Self::VecCompare(_, a, b)
            | Self::FloatCompare(_, a, b)
            | Self::Mask(_, a, b) => {
                f(*a);
                f(*b);
            }
            Self::Select(a, b, c) | Self::Fma(a, b, c) | Self::Blend(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Self::Extend(a, ..)
            | Self::Low(a)
            | Self::TrailingZeros(a)
            | Self::Splat(a)
            | Self::First(a)
            | Self::VecUn(_, a)
            | Self::Convert(_, a)
            | Self::MaskSplat(a)
            | Self::FirstLanes(a)
            | Self::MaskNot(a)
            | Self::Any(a)
            | Self::MaskBits(a) => f(*a),
            Self::Load(_, at) | Self::SplatLoad(_, at) => address(at, f),
            Self::Store(_, at, value) => {
                address(at, f);
                f(*value);
            }
            Self::Call(_, args) => args.iter().for_each(|a| f(*a)),
            Self::VecLoad(_, at, mask) => {
                address(at, f);
                mask.iter().for_each(|m| f(*m));
            }
            Self::VecStore(_, at, value, mask) => {
                address(at, f);
                f(*value);
                mask.iter().for_each(|m| f(*m));
            }
            Self::Gather(_, base, index, mask) => {
                f(*base);
                f(*index);
                mask.iter().for_each(|m| f(*m));
            }
            Self::Scatter(_, base, index, value, mask) => {
                f(*base);
                f(*index);
                f(*value);
                mask.iter().for_each(|m| f(*m));
            }
        }
    }

    /// Whether it does anything but yield a value.
    pub(crate) const fn has_effect(&self) -> bool {
        matches!(
            self,
            Self::Store(..) | Self::Call(..) | Self::VecStore(..) | Self::Scatter(..)
        )
    }
}

impl Terminator {
    /// Calls `f` with each operand.
    pub(crate) fn operands(&self, f: &mut dyn FnMut(Value)) {
        match self {
            Self::Jump(_, args) => args.iter().for_each(|a| f(*a)),
            Self::Branch(cond, (_, yes), (_, no)) => {
                f(*cond);
                yes.iter().chain(no).for_each(|a| f(*a));
            }
            Self::Return(value) => f(*value),
        }
    }

    /// The blocks that follow, with what they are given.
    pub(crate) fn targets(&self) -> Vec<(Block, &[Value])> {
        match self {
            Self::Jump(block, args) => vec![(*block, args)],
            Self::Branch(_, (yes, a), (no, b)) => vec![(*yes, a), (*no, b)],
            Self::Return(_) => Vec::new(),
        }
    }
}
