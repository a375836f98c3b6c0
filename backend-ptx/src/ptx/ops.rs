//! The names of operations, comparisons, roundings and modes.

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $(#[doc = $vdoc:literal] $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $vdoc] $variant,)*
        }
        impl $name {
            /// Every variant.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// What PTX calls it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

named! {
    /// Registers that the machine fills, all of 32 bits.
    Special {
        /// The number of the thread in its block.
        Tid = "%tid.x",
        /// The number of threads in a block.
        Ntid = "%ntid.x",
        /// The number of the block.
        Ctaid = "%ctaid.x",
        /// The number of blocks.
        Nctaid = "%nctaid.x",
        /// The number of the thread in its warp.
        Lane = "%laneid",
        /// The lanes before this one.
        LanesBelow = "%lanemask_lt",
        /// The lanes up to this one.
        LanesUpTo = "%lanemask_le",
    }
}

named! {
    /// Operations of one operand.
    Unary {
        /// Negation; of integers wrapping.
        Neg = "neg",
        /// Magnitude; of integers wrapping.
        Abs = "abs",
        /// Complement of bits or of a truth value.
        Not = "not",
        /// Number of set bits, in 32 bits.
        Popc = "popc",
        /// Number of leading zero bits, in 32 bits.
        Clz = "clz",
        /// Bits in reverse.
        Brev = "brev",
        /// Place of the highest set bit, in 32 bits; all ones if there is none.
        Bfind = "bfind",
        /// Square root, correctly rounded.
        Sqrt = "sqrt.rn",
        /// Reciprocal, correctly rounded.
        Rcp = "rcp.rn",
        /// Square root, off by a unit in the last place.
        SqrtNear = "sqrt.approx",
        /// Power of two, off by two units in the last place; what is subnormal is zero.
        Ex2 = "ex2.approx.ftz",
        /// Logarithm to base two, approximate.
        Lg2 = "lg2.approx",
        /// Sine, approximate.
        Sin = "sin.approx",
        /// Cosine, approximate.
        Cos = "cos.approx",
        /// Reciprocal of the square root, approximate.
        Rsqrt = "rsqrt.approx",
        /// Hyperbolic tangent, approximate.
        Tanh = "tanh.approx",
        /// The global address that a generic one is.
        ToGlobal = "cvta.to.global",
    }
}

named! {
    /// Operations of two operands of one type.
    Binary {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Product: of integers its lower half, of floats rounded.
        Mul = "mul",
        /// Upper half of the product of integers.
        MulHi = "mul.hi",
        /// The whole product of 32-bit integers, in 64 bits.
        MulWide = "mul.wide",
        /// Quotient: of integers rounded to zero, of floats to nearest.
        Div = "div",
        /// Quotient of floats, off by two units in the last place.
        DivNear = "div.full",
        /// What the quotient of integers leaves.
        Rem = "rem",
        /// Smaller one; a NaN loses.
        Min = "min",
        /// Larger one; a NaN loses.
        Max = "max",
        /// Conjunction.
        And = "and",
        /// Disjunction.
        Or = "or",
        /// Exclusive or.
        Xor = "xor",
        /// Shift left by a 32-bit count; a count beyond the width gives 0.
        Shl = "shl",
        /// Shift right by a 32-bit count; a count beyond the width gives what the largest one gives.
        Shr = "shr",
        /// The magnitude of the second with the sign of the first.
        Copysign = "copysign",
    }
}

named! {
    /// Operations of three operands.
    Ternary {
        /// a * b + c: of floats rounded once.
        Fma = "fma.rn",
        /// Lower half of a * b, plus c.
        Mad = "mad.lo",
        /// The whole product of 32-bit integers, plus c in 64 bits.
        MadWide = "mad.wide",
        /// Field of a that begins at bit b and has c bits.
        Bfe = "bfe",
        /// Upper half of the 64 bits b:a shifted left by c mod 32.
        ShfLeft = "shf.l.wrap",
        /// Lower half of the 64 bits b:a shifted right by c mod 32.
        ShfRight = "shf.r.wrap",
        /// Bytes of b:a chosen by the nibbles of c.
        Prmt = "prmt",
    }
}

named! {
    /// Comparisons. Those that end in `u` also hold if an operand is a NaN.
    Cmp {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
        /// Not equal, or a NaN.
        Neu = "neu",
        /// Less, or a NaN.
        Ltu = "ltu",
        /// Neither is a NaN.
        Num = "num",
        /// One is a NaN.
        Nan = "nan",
    }
}

named! {
    /// How a conversion rounds.
    Round {
        /// It does not.
        Exact = "",
        /// To nearest even, to a float.
        Nearest = ".rn",
        /// To an integer, nearest even.
        IntNearest = ".rni",
        /// To an integer, towards zero.
        IntZero = ".rzi",
        /// To an integer, down.
        IntDown = ".rmi",
        /// To an integer, up.
        IntUp = ".rpi",
    }
}

named! {
    /// Atomic operations on memory; each yields the old value.
    AtomOp {
        /// Sum.
        Add = "add",
        /// Smaller one.
        Min = "min",
        /// Larger one.
        Max = "max",
        /// Conjunction.
        And = "and",
        /// Disjunction.
        Or = "or",
        /// Exclusive or.
        Xor = "xor",
        /// Replaces.
        Exch = "exch",
        /// Replaces by the second operand if the first one is there.
        Cas = "cas",
        /// Counts up to the operand, then begins at 0 again.
        Inc = "inc",
    }
}

named! {
    /// From which lane a shuffle reads.
    Shuffle {
        /// The one so many below.
        Up = "up",
        /// The one so many above.
        Down = "down",
        /// The one whose number differs in these bits.
        Butterfly = "bfly",
        /// The one with this number.
        Index = "idx",
    }
}

named! {
    /// What a vote finds out.
    Vote {
        /// Which lanes say yes, in 32 bits.
        Ballot = "ballot",
        /// Whether any lane says yes.
        Any = "any",
        /// Whether all lanes say yes.
        All = "all",
    }
}

named! {
    /// How a load or store treats caches.
    Cache {
        /// As usual.
        Usual = "",
        /// Through the cache of what no thread of the launch writes.
        Constant = ".nc",
        /// Used once.
        Streaming = ".cs",
    }
}
