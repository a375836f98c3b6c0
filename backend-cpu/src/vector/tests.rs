//! Functions in the text form, and random ones: interpreted, and executed where the machine has AVX-512. Both leave the same in memory.

use super::ir::{
    Address, Block, Cell, Cond, Conv, Elem, FloatCond, Function, Inst, IntOp, MaskOp, Op,
    Terminator, Type, Value, VecOp, VecUn,
};
use super::text::parse::parse;
use super::{LANES, interp, verify, x64};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{Linkage, Module as _, default_libcall_names};

/// Bytes of memory that functions work on.
const MEMORY: usize = 1 << 12;

#[repr(align(64))]
struct Memory([u8; MEMORY]);

/// Whether the machine executes the code.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    let able = std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    let able = false;
    able
}

/// Executes a function of the address of memory and a number.
fn execute(f: &Function, memory: &mut Memory, n: u64) -> u8 {
    let bytes = x64::compile(f).expect("the function compiles");
    let isa = cranelift_native::builder().expect("a known machine");
    let flags = cranelift_codegen::settings::Flags::new(cranelift_codegen::settings::builder());
    let isa = isa.finish(flags).expect("a target");
    let provider = ArenaMemoryProvider::new_with_size(1 << 20).expect("memory");
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.memory_provider(Box::new(provider));
    let mut jit = JITModule::new(builder);
    let signature = jit.make_signature();
    let id = jit
        .declare_function("f", Linkage::Local, &signature)
        .expect("declared");
    jit.define_function_bytes(id, 64, &bytes, &[])
        .expect("defined");
    jit.finalize_definitions().expect("linked");
    let code = jit.get_finalized_function(id);
    // SAFETY: the code is that of a function of two integers, which touches nothing but the memory it is given.
    let result = unsafe {
        let code: unsafe extern "C" fn(*mut u8, u64) -> u8 = std::mem::transmute(code);
        code(memory.0.as_mut_ptr(), n)
    };
    // SAFETY: nothing of it is executed any more.
    unsafe { jit.free_memory() };
    result
}

/// Runs a function in both ways on the same memory.
fn agree(f: &Function, fill: &[u8; MEMORY], n: u64) -> Result<(u32, Box<Memory>), String> {
    verify::verify(f)?;
    let printed = f.to_string();
    let again = parse(&printed)?;
    if again.to_string() != printed {
        return Err(format!("reads back as something else:\n{again}"));
    }
    let mut interpreted = Box::new(Memory(*fill));
    let base = interpreted.0.as_ptr() as u64;
    let result = interp::run(f, &[base, n], base, &mut interpreted.0)?;
    if has_avx512() {
        let mut executed = Box::new(Memory(*fill));
        let code = execute(f, &mut executed, n);
        if u32::from(code) != result {
            return Err(format!("returns {code} instead of {result}"));
        }
        if let Some(k) = (0..MEMORY).find(|k| executed.0[*k] != interpreted.0[*k]) {
            let (a, b) = (executed.0[k], interpreted.0[k]);
            return Err(format!("byte {k} is {a} instead of {b}"));
        }
    }
    Ok((result, interpreted))
}

fn words(memory: &Memory, at: usize) -> Vec<u32> {
    let row = memory.0[at..at + 4 * LANES].chunks_exact(4);
    row.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

#[test]
fn lanes_leave_a_loop_at_different_steps() {
    let f = parse(
        "function 16 lanes
b0(v0: i64, v1: i64):
  v2: vec i32 = iota
  v3: vec i32 = vconst 0x0
  v4: mask = mask_const true
  jump b1(v3, v4)
b1(v5: vec i32, v6: mask):
  v7: vec i32 = vconst 0x1
  v8: vec i32 = vec.add v5, v7
  v9: vec i32 = blend v6, v8, v5
  v10: mask = vcmp.lt_s v9, v2
  v11: mask = mask.and v6, v10
  v12: i32 = any v11
  branch v12, b1(v9, v11), b2()
b2():
  vstore.w32 [v0], v9
  v13: i32 = const 0
  return v13
",
    )
    .expect("the text is well-formed");
    let (result, memory) = agree(&f, &[7; MEMORY], 0).unwrap_or_else(|why| panic!("{why}\n{f}"));
    assert_eq!(result, 0);
    let expected: Vec<u32> = (0..LANES as u32).map(|k| k.max(1)).collect();
    assert_eq!(words(&memory, 0), expected);
}

#[test]
fn inactive_lanes_neither_read_nor_store() {
    let f = parse(
        "function 16 lanes
b0(v0: i64, v1: i64):
  v2: mask = first_lanes v1
  v3: vec i32 = vload.w32 [v0 + 4032], v2
  v4: vec i64 = conv.sext v3
  v5: vec i64 = vec.add v4, v4
  v6: vec i32 = iota
  scatter.w64 v0, v6, v5, v2
  v7: i32 = mask_bits v2
  store.w32 [v0 + v1*8 + 2048], v7
  v8: i32 = const 5
  return v8
",
    )
    .expect("the text is well-formed");
    for n in [0, 1, 7, 16] {
        let mut fill = [9; MEMORY];
        fill[4032..].fill(1);
        let (_, memory) = agree(&f, &fill, n).unwrap_or_else(|why| panic!("{why}\n{f}"));
        assert_eq!(memory.0[8 * n as usize], 9, "what no lane stores to");
    }
}

#[test]
fn faults_are_found() {
    let faulty = [
        ("v2: vec i32 = vec.div v1, v1", "not of such elements"),
        ("v2: vec f32 = vec1.sqrt v1", "not of floats"),
        ("v2: vec i64 = conv.zext v0", "v0 is no vector"),
        ("v2: vec i32 = blend v1, v1, v1", "v1 is not mask"),
        ("v2: vec i32 = vec.add v1, v3", "not defined on every way"),
        ("v2: i32 = load.w64 [v0]", "yields i64"),
    ];
    for (line, why) in faulty {
        let text = format!(
            "function 16 lanes
b0(v0: i64):
  v1: vec i32 = iota
  {line}
  v3: vec i32 = iota
  v4: i32 = const 0
  return v4
"
        );
        let f = parse(&text).unwrap_or_else(|why| panic!("{line}: {why}"));
        let found = verify::verify(&f).expect_err("the function is faulty");
        assert!(found.contains(why), "{line}: {found}");
    }
}

/// Numbers that differ by seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 ^ (self.0 >> 29)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A random function under construction: straight-line code, in which a loop may stand.
struct Maker {
    random: Random,
    f: Function,
    at: Block,
    base: Value,
}

impl Maker {
    fn push(&mut self, ty: Type, op: Op) -> Value {
        let result = self.f.value(ty);
        let at = self.at;
        self.f.data_mut(at).insts.push(Inst {
            op,
            result: Some(result),
        });
        result
    }

    fn effect(&mut self, op: Op) {
        let at = self.at;
        self.f.data_mut(at).insts.push(Inst { op, result: None });
    }

    /// A value of a type that is defined here, maybe one made for it.
    fn any(&mut self, ty: Type) -> Value {
        let data = self.f.data(self.at);
        let results = data.insts.iter().filter_map(|inst| inst.result);
        let here: Vec<Value> = data.params.iter().copied().chain(results).collect();
        let fits: Vec<Value> = here
            .into_iter()
            .filter(|v| self.f.ty(*v) == ty && *v != self.base)
            .collect();
        if !fits.is_empty() && self.random.below(8) > 0 {
            return self.random.of(&fits);
        }
        let bits = match self.random.below(4) {
            0 => self.random.below(40) as u64,
            1 => (self.random.below(40) as u64).wrapping_neg(),
            2 => self.random.next() >> self.random.below(60),
            _ => self.random.next(),
        };
        match ty {
            Type::I32 => self.push(ty, Op::Const(i64::from(bits as i32))),
            Type::I64 => self.push(ty, Op::Const(bits as i64)),
            Type::Vector(Elem::F32) => {
                let number = (bits as i32 as f32 / 64.0).to_bits();
                self.push(ty, Op::VecConst(u64::from(number)))
            }
            Type::Vector(Elem::F64) => {
                let number = (bits as i64 as f64 / 64.0).to_bits();
                self.push(ty, Op::VecConst(number))
            }
            Type::Vector(Elem::I32) => match self.random.below(2) {
                0 => self.push(ty, Op::Iota),
                _ => self.push(ty, Op::VecConst(u64::from(bits as u32))),
            },
            Type::Vector(Elem::I64) => match self.random.below(2) {
                0 => self.push(ty, Op::Iota),
                _ => self.push(ty, Op::VecConst(bits)),
            },
            Type::Mask => {
                let elem = self.random.of(&[Elem::I32, Elem::I64]);
                let (a, b) = (self.any(Type::Vector(elem)), self.any(Type::Vector(elem)));
                let cond = self.random.of(&[
                    Cond::Eq,
                    Cond::Ne,
                    Cond::LtS,
                    Cond::LeS,
                    Cond::LtU,
                    Cond::LeU,
                ]);
                self.push(ty, Op::VecCompare(cond, a, b))
            }
        }
    }

    fn mask(&mut self) -> Option<Value> {
        (self.random.below(2) == 0).then(|| self.any(Type::Mask))
    }

    /// An instruction of any kind.
    fn inst(&mut self) {
        let int = self.random.of(&[Type::I32, Type::I64]);
        let whole = self.random.of(&[Elem::I32, Elem::I64]);
        let float = self.random.of(&[Elem::F32, Elem::F64]);
        let elem = self.random.of(&[whole, float]);
        let vector = Type::Vector(elem);
        match self.random.below(22) {
            0 => {
                let op = self.random.of(&[
                    IntOp::Add,
                    IntOp::Sub,
                    IntOp::Mul,
                    IntOp::And,
                    IntOp::Or,
                    IntOp::Xor,
                    IntOp::Shl,
                    IntOp::Sar,
                    IntOp::Shr,
                ]);
                let (a, b) = (self.any(int), self.any(int));
                self.push(int, Op::Int(op, a, b));
            }
            1 => {
                let a = self.any(int);
                let divisor = self.push(int, Op::Const(3 + self.f.types.len() as i64));
                let op = self.random.of(&[IntOp::DivS, IntOp::DivU, IntOp::RemU]);
                self.push(int, Op::Int(op, a, divisor));
            }
            2 => {
                let cond = self.random.of(&[
                    Cond::Eq,
                    Cond::Ne,
                    Cond::LtS,
                    Cond::LeS,
                    Cond::LtU,
                    Cond::LeU,
                ]);
                let (a, b) = (self.any(int), self.any(int));
                let cond = self.push(Type::I32, Op::Compare(cond, a, b));
                if self.random.below(2) == 0 {
                    self.push(int, Op::Select(cond, a, b));
                }
            }
            3 => {
                let a = self.any(Type::I32);
                let bits = self.random.of(&[8, 16, 32]);
                let signed = self.random.below(2) == 0;
                let to = if bits == 32 { Type::I64 } else { int };
                self.push(to, Op::Extend(a, bits, signed));
            }
            4 => {
                let a = self.any(Type::I64);
                self.push(Type::I32, Op::Low(a));
            }
            5 => {
                let a = self.any(int);
                let to = if int == Type::I32 {
                    Elem::I32
                } else {
                    Elem::I64
                };
                self.push(Type::Vector(to), Op::Splat(a));
            }
            6 => {
                let a = self.any(Type::Vector(whole));
                let to = if whole == Elem::I32 {
                    Type::I32
                } else {
                    Type::I64
                };
                self.push(to, Op::First(a));
            }
            7 | 8 => {
                let op = match elem.is_float() {
                    true => self
                        .random
                        .of(&[VecOp::Add, VecOp::Sub, VecOp::Mul, VecOp::Div]),
                    false => self.random.of(&[
                        VecOp::Add,
                        VecOp::Sub,
                        VecOp::Mul,
                        VecOp::And,
                        VecOp::Or,
                        VecOp::Xor,
                        VecOp::MinS,
                        VecOp::MaxS,
                        VecOp::MinU,
                        VecOp::MaxU,
                    ]),
                };
                let (a, b) = (self.any(vector), self.any(vector));
                self.push(vector, Op::Vec(op, a, b));
            }
            9 => {
                let ty = Type::Vector(whole);
                let amount = self.any(ty);
                let most = self.push(ty, Op::VecConst(8 * whole.bytes() as u64 - 1));
                let amount = self.push(ty, Op::Vec(VecOp::And, amount, most));
                let a = self.any(ty);
                let op = self.random.of(&[VecOp::Shl, VecOp::Sar, VecOp::Shr]);
                self.push(ty, Op::Vec(op, a, amount));
            }
            10 => {
                let op = self.random.of(&[
                    VecUn::Sqrt,
                    VecUn::Floor,
                    VecUn::Ceil,
                    VecUn::Nearest,
                    VecUn::Trunc,
                ]);
                let a = self.any(Type::Vector(float));
                self.push(Type::Vector(float), Op::VecUn(op, a));
            }
            11 => {
                let ty = Type::Vector(float);
                let (a, b, c) = (self.any(ty), self.any(ty), self.any(ty));
                self.push(ty, Op::Fma(a, b, c));
            }
            12 => {
                let cond = self.random.of(&[
                    FloatCond::Eq,
                    FloatCond::Lt,
                    FloatCond::Le,
                    FloatCond::One,
                    FloatCond::Une,
                    FloatCond::Unordered,
                ]);
                let ty = Type::Vector(float);
                let (a, b) = (self.any(ty), self.any(ty));
                self.push(Type::Mask, Op::FloatCompare(cond, a, b));
            }
            13 => {
                let (m, a, b) = (self.any(Type::Mask), self.any(vector), self.any(vector));
                self.push(vector, Op::Blend(m, a, b));
            }
            14 => {
                let (conv, from, to) = self.random.of(&[
                    (Conv::Bits, Elem::I32, Elem::F32),
                    (Conv::Float, Elem::F32, Elem::F64),
                    (Conv::Float, Elem::F64, Elem::F32),
                    (Conv::Float, Elem::I32, Elem::F32),
                    (Conv::Float, Elem::I32, Elem::F64),
                    (Conv::Float, Elem::I64, Elem::F32),
                    (Conv::Float, Elem::I64, Elem::F64),
                    (Conv::Unsigned, Elem::I32, Elem::F32),
                    (Conv::Unsigned, Elem::I32, Elem::F64),
                    (Conv::Unsigned, Elem::I64, Elem::F32),
                    (Conv::Unsigned, Elem::I64, Elem::F64),
                    (Conv::Trunc, Elem::F32, Elem::I32),
                    (Conv::Trunc, Elem::F32, Elem::I64),
                    (Conv::Trunc, Elem::F64, Elem::I32),
                    (Conv::Trunc, Elem::F64, Elem::I64),
                    (Conv::TruncU, Elem::F32, Elem::I32),
                    (Conv::TruncU, Elem::F32, Elem::I64),
                    (Conv::TruncU, Elem::F64, Elem::I32),
                    (Conv::TruncU, Elem::F64, Elem::I64),
                    (Conv::SignExtend, Elem::I32, Elem::I64),
                    (Conv::ZeroExtend, Elem::I32, Elem::I64),
                    (Conv::Wrap, Elem::I64, Elem::I32),
                ]);
                let a = self.any(Type::Vector(from));
                self.push(Type::Vector(to), Op::Convert(conv, a));
            }
            15 => {
                let a = self.any(Type::Mask);
                match self.random.below(5) {
                    0 => self.push(Type::Mask, Op::MaskNot(a)),
                    1 => self.push(Type::I32, Op::Any(a)),
                    2 => self.push(Type::I32, Op::MaskBits(a)),
                    3 => {
                        let bit = self.push(Type::I32, Op::Any(a));
                        self.push(Type::Mask, Op::MaskSplat(bit))
                    }
                    _ => self.push(
                        Type::Mask,
                        Op::MaskConst(self.f.types.len().is_multiple_of(2)),
                    ),
                };
            }
            16 => {
                let op = self
                    .random
                    .of(&[MaskOp::And, MaskOp::Or, MaskOp::Xor, MaskOp::AndNot]);
                let (a, b) = (self.any(Type::Mask), self.any(Type::Mask));
                self.push(Type::Mask, Op::Mask(op, a, b));
            }
            17 => {
                let n = self.random.below(LANES + 1) as i64;
                let n = self.push(Type::I64, Op::Const(n));
                self.push(Type::Mask, Op::FirstLanes(n));
            }
            18 => {
                let cell = self.random.of(&[
                    Cell::I8,
                    Cell::U8,
                    Cell::I16,
                    Cell::U16,
                    Cell::W32,
                    Cell::W64,
                ]);
                let elem = if cell == Cell::W64 {
                    Elem::I64
                } else {
                    Elem::I32
                };
                let at = Address::at(self.base, self.random.below(2048) as i32);
                let mask = self.mask();
                self.push(Type::Vector(elem), Op::VecLoad(cell, at, mask));
            }
            19 => {
                let cell = self.random.of(&[Cell::I8, Cell::U16, Cell::W32, Cell::W64]);
                let elem = if cell == Cell::W64 {
                    Elem::I64
                } else {
                    Elem::I32
                };
                let value = self.any(Type::Vector(elem));
                let at = Address::at(self.base, self.random.below(2048) as i32);
                let mask = self.mask();
                self.effect(Op::VecStore(cell, at, value, mask));
            }
            _ => {
                let wide = self.random.of(&[Elem::I32, Elem::I64]);
                let index = self.any(Type::Vector(wide));
                let most = self.push(Type::Vector(wide), Op::VecConst(127));
                let index = self.push(Type::Vector(wide), Op::Vec(VecOp::And, index, most));
                let (cell, elem) = self
                    .random
                    .of(&[(Cell::W32, Elem::I32), (Cell::W64, Elem::I64)]);
                let mask = self.mask();
                if self.random.below(2) == 0 {
                    self.push(Type::Vector(elem), Op::Gather(cell, self.base, index, mask));
                } else {
                    let value = self.any(Type::Vector(elem));
                    self.effect(Op::Scatter(cell, self.base, index, value, mask));
                }
            }
        }
    }

    /// Stores all that is defined here, and masks as bits; floats as integers, so that NaNs do not tell how they were made.
    fn store_all(&mut self) {
        let data = self.f.data(self.at);
        let results = data.insts.iter().filter_map(|inst| inst.result);
        let here: Vec<Value> = data.params.iter().copied().chain(results).collect();
        let mut offset = 2048;
        for value in here.into_iter().rev() {
            if value == self.base || offset + 128 > MEMORY as i32 {
                continue;
            }
            let at = Address::at(self.base, offset);
            match self.f.ty(value) {
                Type::I32 => self.effect(Op::Store(Cell::W32, at, value)),
                Type::I64 => self.effect(Op::Store(Cell::W64, at, value)),
                Type::Vector(elem) => {
                    let cell = if elem.bytes() == 4 {
                        Cell::W32
                    } else {
                        Cell::W64
                    };
                    let value = match elem.is_float() {
                        true => {
                            let ordered = self
                                .push(Type::Mask, Op::FloatCompare(FloatCond::Le, value, value));
                            let zero = self.push(Type::Vector(elem), Op::VecConst(0));
                            self.push(Type::Vector(elem), Op::Blend(ordered, value, zero))
                        }
                        false => value,
                    };
                    self.effect(Op::VecStore(cell, at, value, None));
                }
                Type::Mask => {
                    let bits = self.push(Type::I32, Op::MaskBits(value));
                    self.effect(Op::Store(Cell::W32, at, bits));
                }
            }
            offset += 128;
        }
    }
}

/// A random function: some code, and with many values a loop of three steps that carries them.
fn random(seed: u64) -> Function {
    let mut f = Function::new(LANES);
    let entry = f.block(&[Type::I64, Type::I64]);
    let base = f.data(entry).params[0];
    let mut maker = Maker {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        f,
        at: entry,
        base,
    };
    let some = 4 + maker.random.below(40);
    (0..some).for_each(|_| maker.inst());
    if maker.random.below(2) == 0 {
        let kinds = [
            Type::I32,
            Type::I64,
            Type::Vector(Elem::I32),
            Type::Vector(Elem::I64),
            Type::Vector(Elem::F32),
            Type::Vector(Elem::F64),
            Type::Mask,
        ];
        let carried = 1 + maker.random.below(24);
        let types: Vec<Type> = (0..carried).map(|_| maker.random.of(&kinds)).collect();
        let mut start: Vec<Value> = types.iter().map(|ty| maker.any(*ty)).collect();
        start.insert(0, maker.push(Type::I64, Op::Const(0)));
        let with_counter: Vec<Type> = [Type::I64].into_iter().chain(types.clone()).collect();
        let (inside, exit) = (maker.f.block(&with_counter), maker.f.block(&types));
        let at = maker.at;
        maker.f.data_mut(at).end = Some(Terminator::Jump(inside, start));
        maker.at = inside;
        let counter = maker.f.data(inside).params[0];
        let some = 4 + maker.random.below(20);
        (0..some).for_each(|_| maker.inst());
        let next: Vec<Value> = types.iter().map(|ty| maker.any(*ty)).collect();
        let one = maker.push(Type::I64, Op::Const(1));
        let following = maker.push(Type::I64, Op::Int(IntOp::Add, counter, one));
        let three = maker.push(Type::I64, Op::Const(3));
        let more = maker.push(Type::I32, Op::Compare(Cond::LtS, following, three));
        let again = [following].into_iter().chain(next.clone()).collect();
        maker.f.data_mut(inside).end =
            Some(Terminator::Branch(more, (inside, again), (exit, next)));
        maker.at = exit;
    }
    maker.store_all();
    let result = maker.any(Type::I32);
    let at = maker.at;
    maker.f.data_mut(at).end = Some(Terminator::Return(result));
    maker.f
}

#[test]
fn random_functions_do_what_the_interpreter_says() {
    let mut fill = [0; MEMORY];
    let mut random_bytes = Random(17);
    fill.iter_mut()
        .for_each(|byte| *byte = random_bytes.next() as u8);
    for seed in 1..=400 {
        let f = random(seed);
        if let Err(why) = agree(&f, &fill, seed % 17) {
            panic!("seed {seed}: {why}\n{f}");
        }
    }
}
