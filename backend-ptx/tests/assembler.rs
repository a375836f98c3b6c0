//! Every instruction that the verifier lets through is one that `ptxas` knows, for every type.

mod common;

use backend_ptx::ptx::operands::Access;
use backend_ptx::ptx::ops::{
    AtomOp, Binary, Cache, Cmp, Round, Shuffle, Special, Ternary, Unary, Vote,
};
use backend_ptx::ptx::verify::verify;
use backend_ptx::ptx::{
    Address, Builder, Class, Func, FuncId, Inst, Kind, Module, Operand, Order, Reg, Scope, Space,
    Ty, print, require,
};
use common::imm;
use common::ptxas::{self, TARGETS};
use std::collections::BTreeSet;

const TYPES: [Ty; 15] = [
    Ty::Pred,
    Ty::U8,
    Ty::S8,
    Ty::U16,
    Ty::S16,
    Ty::B16,
    Ty::F16,
    Ty::B32,
    Ty::U32,
    Ty::S32,
    Ty::F32,
    Ty::B64,
    Ty::U64,
    Ty::S64,
    Ty::F64,
];

/// Registers of each width, all with values; the first ones.
struct Pool {
    p: Reg,
    h: Reg,
    r: Reg,
    d: Reg,
}

impl Pool {
    fn of(&self, class: Class) -> Reg {
        match class {
            Class::Pred => self.p,
            Class::B16 => self.h,
            Class::B32 => self.r,
            Class::B64 => self.d,
        }
    }
}

fn pool(b: &mut Builder) -> Pool {
    let d = common::pointer(b, 0);
    let r = b.special(Special::Tid);
    let h = b.convert(Ty::B16, Ty::U32, Round::Exact, r);
    let p = b.cmp(Cmp::Ne, Ty::U32, r, imm(0));
    Pool { p, h, r, d }
}

/// Every instruction over all operations and types, well-formed or not.
fn all(pool: &Pool) -> Vec<Inst> {
    let mut all = vec![
        Inst::Fence(Scope::Cta),
        Inst::Fence(Scope::Gpu),
        Inst::Fence(Scope::Sys),
        Inst::CopyCommit,
        Inst::CopyWait(1),
        Inst::Barrier,
        Inst::Nanosleep(imm(100)),
        Inst::Prefetch(pool.d.into()),
        Inst::WarpSync {
            mask: imm(0xffff_ffff),
        },
    ];
    let orders = [
        Order::Weak,
        Order::Relaxed(Scope::Gpu),
        Order::Acquire(Scope::Cta),
        Order::Release(Scope::Sys),
        Order::AcquireRelease(Scope::Gpu),
    ];
    let reg = |ty: Ty| pool.of(ty.class());
    let get = |ty: Ty| Operand::Reg(reg(ty));
    for which in Special::ALL {
        let dst = pool.r;
        all.push(Inst::Special { dst, which: *which });
    }
    for ty in TYPES {
        let (a, b) = (get(ty), get(ty));
        let dst = reg(ty);
        for op in Unary::ALL {
            let dst = pool.of(op.result(ty));
            all.push(Inst::Unary {
                op: *op,
                ty,
                dst,
                a,
            });
        }
        for op in Binary::ALL {
            let (dst, second) = (pool.of(op.result(ty)), pool.of(op.second(ty)));
            for b in [second.into(), imm(3)] {
                all.push(Inst::Binary {
                    op: *op,
                    ty,
                    dst,
                    a,
                    b,
                });
            }
        }
        for op in Ternary::ALL {
            let [second, third] = op.others(ty).map(|class| pool.of(class).into());
            let dst = pool.of(op.result(ty));
            all.push(Inst::Ternary {
                op: *op,
                ty,
                dst,
                a,
                b: second,
                c: third,
            });
            all.push(Inst::Ternary {
                op: *op,
                ty,
                dst,
                a,
                b: imm(4),
                c: imm(5),
            });
        }
        for op in Cmp::ALL {
            for b in [b, imm(1 << 31)] {
                all.push(Inst::Compare {
                    op: *op,
                    ty,
                    dst: pool.p,
                    a,
                    b,
                });
            }
        }
        for from in TYPES {
            for round in Round::ALL {
                let src = reg(from);
                all.push(Inst::Convert {
                    to: ty,
                    from,
                    round: *round,
                    dst,
                    src,
                });
            }
        }
        for src in [a, imm(1)] {
            all.push(Inst::Mov { ty, dst, src });
        }
        all.push(Inst::Select {
            ty,
            dst,
            yes: a,
            no: imm(0),
            cond: pool.p,
        });
        all.push(Inst::Param { ty, dst, offset: 0 });
        for mode in AtomOp::ALL {
            all.push(Inst::Reduce {
                op: *mode,
                ty,
                dst: pool.r,
                src: reg(ty),
                mask: imm(0xffff_ffff),
            });
        }
        all.push(Inst::Match {
            ty,
            dst: pool.r,
            src: reg(ty),
            mask: imm(0xffff_ffff),
        });
        for space in [Space::Global, Space::Shared, Space::Local] {
            let at = Address {
                base: pool.of(space.class()),
                offset: 16,
            };
            for order in orders {
                for count in [1, 2, 3, 4] {
                    for cache in Cache::ALL {
                        let (dst, src) = (vec![dst; count], vec![a; count]);
                        all.push(Inst::Load {
                            space,
                            order,
                            cache: *cache,
                            ty,
                            dst,
                            at,
                            undefined: false,
                        });
                        all.push(Inst::Store {
                            space,
                            order,
                            cache: *cache,
                            ty,
                            src,
                            at,
                            any_wins: false,
                        });
                    }
                }
                for op in AtomOp::ALL {
                    for dst in [None, Some(dst)] {
                        let second = (*op == AtomOp::Cas).then_some(b);
                        all.push(Inst::Atom {
                            op: *op,
                            space,
                            order,
                            ty,
                            dst,
                            at,
                            a,
                            b: second,
                        });
                    }
                }
            }
        }
    }
    together(pool, &mut all);
    all
}

fn together(pool: &Pool, all: &mut Vec<Inst>) {
    let mask = imm(0xffff_ffff);
    let r = Operand::Reg(pool.r);
    for mode in Shuffle::ALL {
        for ok in [None, Some(pool.p)] {
            let dst = pool.r;
            all.push(Inst::Shuffle {
                mode: *mode,
                dst,
                ok,
                src: r,
                lane: imm(1),
                clamp: imm(31),
                mask,
            });
        }
    }
    for mode in Vote::ALL {
        let dst = pool.of(mode.result());
        all.push(Inst::Vote {
            mode: *mode,
            dst,
            src: pool.p,
            mask,
        });
    }
    for op in [Binary::And, Binary::Or, Binary::Add] {
        all.push(Inst::BarrierVote {
            op,
            dst: pool.p,
            src: pool.p,
        });
    }
    all.push(Inst::Pack {
        dst: pool.d,
        low: r,
        high: imm(1),
    });
    all.push(Inst::Unpack {
        low: pool.r,
        high: pool.r,
        src: pool.d,
    });
    for bytes in [4, 8, 16, 32] {
        all.push(Inst::CopyAsync {
            bytes,
            to: pool.r.into(),
            from: pool.d.into(),
        });
    }
}

/// A kernel of one instruction is well-formed.
fn is_well_formed(func: &Func, inst: &Inst) -> bool {
    let mut func = func.clone();
    let line = func.blocks[0].lines[0].clone();
    func.blocks[0].lines.push(backend_ptx::ptx::Line {
        inst: inst.clone(),
        ..line
    });
    verify(&Module { funcs: vec![func] }, 90).is_ok()
}

#[test]
fn whatever_is_well_formed_assembles() {
    let start = || {
        let mut b = Builder::new(
            "k",
            Kind::Entry {
                threads: 64,
                params: 16,
                resident: None,
            },
        );
        let pool = pool(&mut b);
        b.variable("near", Space::Shared, 4, 64);
        let local = b.variable("own", Space::Local, 4, 64);
        b.address_of(local);
        (b, pool)
    };
    let (b, pool) = start();
    let func = b.finish();
    let good: Vec<Inst> = all(&pool)
        .into_iter()
        .filter(|inst| is_well_formed(&func, inst))
        .collect();
    assert!(
        good.len() > 600,
        "{} instructions are well-formed",
        good.len()
    );
    // Those that need the same version go together, so that no other one asks for more.
    let versions: BTreeSet<(u32, u32)> = good.iter().map(|i| require::of_inst(i).version).collect();
    for target in TARGETS {
        for version in &versions {
            let (mut b, _) = start();
            for inst in &good {
                let needs = require::of_inst(inst);
                if needs.target <= target && needs.version == *version {
                    b.inst(inst.clone());
                }
            }
            let module = Module {
                funcs: vec![b.finish()],
            };
            verify(&module, target).expect("made of well-formed instructions");
            let text = print::module(&module, target);
            ptxas::assemble(&text, target)
                .unwrap_or_else(|log| panic!("sm_{target}, version {version:?}: {log}"));
        }
    }
}

#[test]
fn an_instruction_reads_and_writes_what_it_says() {
    let (mut b, pool) = (
        Builder::new(
            "k",
            Kind::Entry {
                threads: 32,
                params: 8,
                resident: None,
            },
        ),
        Pool {
            p: Reg(0),
            h: Reg(1),
            r: Reg(2),
            d: Reg(3),
        },
    );
    b.inst(Inst::Barrier);
    for inst in all(&pool) {
        let mut last_was_read = true;
        inst.accesses(&mut |access, _| match access {
            Access::Use(_) => assert!(last_was_read, "reads come before writes: {inst:?}"),
            Access::Def(_) => last_was_read = false,
        });
    }
}

#[test]
fn functions_call_each_other_and_themselves() {
    // fib(n) = n if n < 2, else fib(n-1) + fib(n-2)
    let mut f = Builder::new(
        "fib",
        Kind::Device {
            params: vec![Class::B32],
            results: vec![Class::B32],
        },
    );
    let n = f.param(Ty::U32, 0);
    let result = f.mov(Ty::B32, n);
    let small = f.cmp(Cmp::Lt, Ty::U32, n, imm(2));
    f.either(
        small,
        false,
        |_| {},
        |f| {
            let (x, y) = (f.reg(Class::B32), f.reg(Class::B32));
            for (dst, less) in [(x, 1), (y, 2)] {
                let arg = f.bin(Binary::Sub, Ty::U32, n, imm(less));
                f.inst(Inst::Call {
                    fun: FuncId(0),
                    results: vec![dst],
                    args: vec![arg.into()],
                });
            }
            let sum = f.bin(Binary::Add, Ty::U32, x, y);
            f.set(Ty::B32, result, sum);
        },
    );
    f.end(backend_ptx::ptx::Term::Return(vec![result.into()]));
    let mut b = Builder::new(
        "k",
        Kind::Entry {
            threads: 32,
            params: 8,
            resident: None,
        },
    );
    let out = common::pointer(&mut b, 0);
    let tid = common::thread(&mut b);
    let n = b.bin(Binary::Rem, Ty::U32, tid, imm(12));
    let value = b.reg(Class::B32);
    b.inst(Inst::Call {
        fun: FuncId(0),
        results: vec![value],
        args: vec![n.into()],
    });
    let place = common::at(&mut b, out, tid);
    b.store(Space::Global, Ty::U32, place, value);
    let module = Module {
        funcs: vec![f.finish(), b.finish()],
    };
    verify(&module, 75).expect("well-formed");
    for target in TARGETS {
        let text = print::module(&module, target);
        ptxas::assemble(&text, target).unwrap_or_else(|log| panic!("sm_{target}: {log}"));
    }
    let mut memory = backend_ptx::emu::Memory::new();
    let out = memory.alloc(4, 32);
    // Lanes part and meet again at every depth.
    common::run(&module, &mut memory, 1, &[out], 3).expect("no fault");
    let fib: Vec<u32> = (0..12)
        .scan((0, 1), |(a, b), _| {
            let now = *a;
            (*a, *b) = (*b, *a + *b);
            Some(now)
        })
        .collect();
    assert_eq!(common::read(&memory, out, 32)[12..24], fib);
    assert_eq!(common::read(&memory, out, 12), fib);
}
