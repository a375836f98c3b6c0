//! Programs of the flat dialect with ragged arrays and spaces: the flat interpreter, the plan on the reference device,
//! and the CPU on one, two and three threads give the same.

use arrc_tests::generate::ragged_program;
use backend_cpu::{CpuDevice, Options as DeviceOptions};
use midend::device::{Device, Stop};
use midend::interp::{self, mem::Reference};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::syntax::Program;
use midend::pass::{self, PassCx};
use midend::plan::{Executable, Options, signatures};
use midend::value::{ArrayValue, Data, Value};
use midend::verify::{self, Verify};
use midend::{passes, pipeline};

/// The generator of the test suites.
#[allow(dead_code, reason = "other suites use the rest")]
#[path = "../../tests/src"]
pub mod arrc_tests {
    pub mod generate;
}

/// How many random programs are tried, unless `ARRC_PROGRAMS` says otherwise; `ARRC_SEED` is the seed of the first.
const RANDOM: u64 = 3;

const PROGRAMS: &[(&str, &str)] = &[
    ("map", include_str!("../../tests/flat/map.ir")),
    (
        "elementwise",
        include_str!("../../tests/flat/elementwise.ir"),
    ),
    ("reduce", include_str!("../../tests/flat/reduce.ir")),
    ("sum", include_str!("../../tests/flat/sum.ir")),
    ("scan", include_str!("../../tests/flat/scan.ir")),
    ("write", include_str!("../../tests/flat/write.ir")),
    ("nested", include_str!("../../tests/flat/nested.ir")),
    ("host", include_str!("../../tests/flat/host.ir")),
];

fn verified<D: Verify>(what: &str, program: &Program<D>) {
    if let Err(faults) = verify::program(program) {
        panic!("{what}: {faults:#?}\n{}", print::program(program));
    }
}

/// A program in all its forms.
struct Forms {
    flat: Program<Seg>,
    plans: Vec<Program<Mem>>,
}

impl Forms {
    fn new(name: &str, text: &str) -> Self {
        let flat: Program<Seg> = read::program(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        verified(name, &flat);
        let mut remarks = Vec::new();
        let mut cx = PassCx {
            options: &pass::Options::default(),
            remarks: &mut remarks,
        };
        let plain = (passes::PLAN.run)(flat.clone(), &mut cx);
        let optimised = pipeline::FLAT
            .iter()
            .fold(flat.clone(), |p, pass| (pass.run)(p, &mut cx));
        verified(name, &optimised);
        let optimised = (pipeline::PLAN.run)(optimised, &mut cx);
        let optimised = pipeline::PLANNED
            .iter()
            .fold(optimised, |p, pass| (pass.run)(p, &mut cx));
        for plan in [&plain, &optimised] {
            verified(name, plan);
            let text = print::program(plan);
            let again: Program<Mem> =
                read::program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(text, print::program(&again));
        }
        Self {
            flat,
            plans: vec![plain, optimised],
        }
    }

    fn on<D: Device>(&self, device: &D, plan: &Program<Mem>, args: &[Value]) -> Vec<Value> {
        let mut signatures = signatures(&self.flat);
        for (id, fun) in plan.funs.enumerate() {
            if fun.entry.is_some() {
                signatures.iter_mut().for_each(|s| s.fun = id);
            }
        }
        let module = device.compile(plan).expect("compiles");
        let stop = Stop::new();
        let executable = Executable::new(plan, signatures);
        let results = executable.run(device, &module, "main", args.to_vec(), &Options::new(&stop));
        results.unwrap_or_else(|e| panic!("{e}\n{}", print::program(plan)))
    }
}

fn vector(data: Vec<i64>) -> Value {
    Value::Array(ArrayValue {
        shape: vec![data.len() as i64],
        data: Data::I64(data),
    })
}

/// Lengths, offsets and elements.
fn args(lengths: &[i64]) -> Vec<Value> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let total = offsets[offsets.len() - 1];
    let elements = (0..total).map(|i| (i * 7919) % 101).collect();
    vec![vector(lengths.to_vec()), vector(offsets), vector(elements)]
}

/// Rows of all kinds, few enough for the interpreters.
fn small() -> Vec<Vec<i64>> {
    let mut shapes = vec![
        vec![],
        vec![0],
        vec![5],
        vec![0, 0, 0],
        vec![3, 0, 1],
        vec![0, 2, 0, 0, 4, 0],
        vec![70, 0, 16, 1, 64],
    ];
    shapes.push((0..40).map(|i| (i * i) % 7).collect());
    shapes
}

fn device(threads: usize) -> CpuDevice {
    CpuDevice::new(DeviceOptions {
        threads,
        memory: None,
        vector_bits: 0,
    })
    .expect("this machine is supported")
}

/// Runs a program on rows of these lengths in every way.
fn agree(name: &str, forms: &Forms, devices: &[CpuDevice], lengths: &[i64]) {
    let args = args(lengths);
    let options = interp::Options::default();
    let wanted = interp::run_flat(&forms.flat, "main", args.clone(), &options);
    let wanted = wanted.unwrap_or_else(|e| panic!("{name} {lengths:?}: {e}"));
    for plan in &forms.plans {
        let about = || format!("{name} {lengths:?}\n{}", print::program(plan));
        let got = forms.on(&Reference::new(), plan, &args);
        assert_eq!(got, wanted, "reference: {}", about());
        for device in devices {
            assert_eq!(forms.on(device, plan, &args), wanted, "cpu: {}", about());
        }
    }
}

#[test]
fn interpreters_and_cpu_agree() {
    let devices = [1, 2].map(device);
    for (name, text) in PROGRAMS {
        let forms = Forms::new(name, text);
        for lengths in small() {
            agree(name, &forms, &devices, &lengths);
        }
    }
}

#[test]
fn random_programs_agree() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let devices = [1, 3].map(device);
    for seed in first..first + number("ARRC_PROGRAMS").unwrap_or(RANDOM) {
        let text = ragged_program(seed);
        let forms = Forms::new(&text, &text);
        for lengths in small() {
            agree(&format!("seed {seed}"), &forms, &devices, &lengths);
        }
    }
}

/// Rows that the work is cut inside of, and so many that it is cut between them.
fn large() -> Vec<Vec<i64>> {
    let scattered = |i: i64| (i * 7919) % 5;
    let mut shapes = vec![
        vec![20_000],
        vec![3000; 7],
        (0..9000).map(scattered).collect(),
    ];
    let mut skewed: Vec<i64> = (0..3000).map(|i| i % 3).collect();
    skewed[1000] = 7000;
    skewed[2999] = 3000;
    shapes.push(skewed);
    let mut empty = vec![0; 15_000];
    empty[17] = 5000;
    empty[14_000] = 5000;
    shapes.push(empty);
    shapes
}

#[test]
fn cuts_change_nothing() {
    let devices = [1, 2, 3].map(device);
    for (name, text) in PROGRAMS {
        if matches!(*name, "nested" | "host") {
            // These do too much for the interpreter.
            continue;
        }
        let forms = Forms::new(name, text);
        for lengths in large() {
            let args = args(&lengths);
            let wanted = interp::run_flat(
                &forms.flat,
                "main",
                args.clone(),
                &interp::Options::default(),
            );
            let wanted = wanted.unwrap_or_else(|e| panic!("{name}: {e}"));
            for (device, threads) in devices.iter().zip(1..) {
                let got = forms.on(device, &forms.plans[1], &args);
                let rows = lengths.len();
                assert!(
                    got == wanted,
                    "{name} with {rows} rows on {threads} threads"
                );
            }
        }
    }
}

/// Sums that are rounded, into more buckets than caches hold, some of them outside.
const BUCKETS: &str = r#"flat
    fun main(n: i64, k: i64, m: i64, ls: [n]i64, offs: [k]i64, xs: [m]i64) -> (r: [300000]f32)
      entry "main" sizes 3 -> 0 (ls: []i64, offs: []i64, xs: []i64) -> ([]f32)
    {
      let xss: [n][..offs]i64 = reshape [n, ..offs] xs
      let blank: [300000]f32 = replicate [300000] 0.1f32
      let sums: [300000]f32 = seghist device (SPACE) {
        let x: i64 = index INDEX
        let big: i64 = mul.i64(x, 3011)
        let f: f32 = convert.i64.f32(x)
        let third: f32 = mul.f32(f, 0.3f32)
        yield big, third
      } into [300000] (blank) by (0.0f32) \(a: f32, b: f32) {
        let c: f32 = add.f32(a, b)
        yield c
      }
      yield sums
    }"#;

#[test]
fn buckets_are_shared_out() {
    let args = args(&[4000, 0, 9000, 7001]);
    let mut wanted = vec![0.1f32; 300_000];
    for i in 0..20_001i64 {
        let x = (i * 7919) % 101;
        if let Some(bucket) = wanted.get_mut((x * 3011) as usize) {
            *bucket += x as f32 * 0.3;
        }
    }
    let wanted = vec![Value::Array(ArrayValue {
        shape: vec![300_000],
        data: Data::F32(wanted),
    })];
    for (space, index) in [
        ("p: i64 < m", "xs[p]"),
        ("i: i64 < n, j: i64 in offs", "xss[i, j]"),
    ] {
        let text = BUCKETS.replace("SPACE", space).replace("INDEX", index);
        let forms = Forms::new("buckets", &text);
        for threads in [1, 2, 3] {
            let got = forms.on(&device(threads), &forms.plans[1], &args);
            assert!(got == wanted, "{space} on {threads} threads");
        }
    }
}
