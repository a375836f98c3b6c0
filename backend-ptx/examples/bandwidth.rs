//! Measures kernels of a GPU beside a copy of memory: how many bytes a second they move, of those that they must.
//!
//! ```sh
//! cargo run --release -p arrc-backend-ptx --example bandwidth [LOG2_ELEMENTS]
//! ```
//!
//! Each line is a kernel; the figures are the median of interleaved runs, gigabytes a second and the share of a copy.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use backend_ptx::{Buffer, Cuda, CudaDevice, GpuOptions, Module};
use midend::device::{Arg, Device, Stop, Strided};
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;
use std::time::Instant;

/// Runs of each measurement, and launches in a run.
const RUNS: usize = 9;
const LAUNCHES: u32 = 10;

/// The kernels. Their arguments are the numbers of elements and of rows, the input, the output, and 1024 buckets.
const PLAN: &str = r#"plan

fun main(n_0: i64, m_1: i64, xs_2: buffer f32, ys_3: buffer f32, zs_40: buffer u32) -> ()
{
  do launch map "increment" (i_4: i64 < n_0) {
    let x_5: f32 = load xs_2[i_4]
    let y_6: f32 = add.f32(x_5, 1.0f32)
    do store ys_3[i_4] = y_6
    yield
  }
  do launch red "sum" (i_7: i64 < n_0) {
    let x_8: f32 = load xs_2[i_7]
    yield x_8
  } reduce comm (0.0f32) \(a_9: f32, b_10: f32) {
    let c_11: f32 = add.f32(a_9, b_10)
    yield c_11
  } out (ys_3)
  do launch scan "sums" (i_12: i64 < n_0) {
    let x_13: f32 = load xs_2[i_12]
    yield x_13
  } scan comm (0.0f32) \(a_14: f32, b_15: f32) {
    let c_16: f32 = add.f32(a_14, b_15)
    yield c_16
  } out (ys_3)
  do launch map "gather" (i_17: i64 < n_0) {
    let j_18: i64 = sub.i64(n_0, i_17)
    let k_19: i64 = sub.i64(j_18, 1)
    let x_20: f32 = load xs_2[k_19]
    do store ys_3[i_17] = x_20
    yield
  }
  do launch red "rows" (i_21: i64 < m_1, j_22: i64 < m_1) {
    let ix_23: i64 = mul.i64(m_1, i_21)
    let at_24: i64 = add.i64(ix_23, j_22)
    let x_25: f32 = load xs_2[at_24]
    yield x_25
  } reduce comm (0.0f32) \(a_26: f32, b_27: f32) {
    let c_28: f32 = add.f32(a_26, b_27)
    yield c_28
  } out (ys_3)
  do launch hist "counts" (i_29: i64 < n_0) {
    let x_30: f32 = load xs_2[i_29]
    let bits_31: u32 = tobits.f32(x_30)
    let far_32: i64 = mul.i64(i_29, 7919)
    let some_33: i64 = convert.u32.i64(bits_31)
    let all_34: i64 = add.i64(far_32, some_33)
    let bucket_35: i64 = and.i64(all_34, 1023)
    yield bucket_35, 1u32
  } into [1024] (zs_40) by comm (0u32) \(a_36: u32, b_37: u32) {
    let c_38: u32 = add.u32(a_36, b_37)
    yield c_38
  }
  yield
}
"#;

/// A kernel, its arguments by position in the plan, and how many arrays of all elements it moves.
const KERNELS: [(&str, &[usize], f64); 6] = [
    ("increment", &[0, 2, 3], 2.0),
    ("sum", &[0, 2, 3], 1.0),
    ("sums", &[0, 2, 3], 2.0),
    ("gather", &[0, 2, 3], 2.0),
    ("rows", &[1, 2, 3], 1.0),
    ("counts", &[0, 2, 4], 1.0),
];

struct Measured {
    device: CudaDevice,
    module: Module<Cuda>,
    args: [Arg<Buffer<Cuda>>; 5],
}

impl Measured {
    /// Seconds for one launch.
    fn kernel(&self, name: &str, which: &[usize]) -> Result<f64, RunError> {
        let args: Vec<_> = which.iter().map(|i| self.args[*i].clone()).collect();
        self.timed(|| self.device.launch(&self.module, name, &args, &Stop::new()))
    }

    /// Seconds to copy a matrix, or to transpose it.
    fn copy(&self, rows: i64, transposed: bool) -> Result<f64, RunError> {
        let [_, _, Arg::Buffer(xs), Arg::Buffer(ys), _] = &self.args else {
            return Ok(0.0);
        };
        let side = |buffer, strides| Strided {
            buffer,
            offset: 0,
            strides,
        };
        let (to, from) = ([rows, 1], if transposed { [1, rows] } else { [rows, 1] });
        self.timed(|| {
            self.device
                .copy(&[rows, rows], side(ys, &to), side(xs, &from))
        })
    }

    fn timed(&self, mut f: impl FnMut() -> Result<(), RunError>) -> Result<f64, RunError> {
        f()?;
        self.device.synchronise()?;
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            f()?;
        }
        self.device.synchronise()?;
        Ok(start.elapsed().as_secs_f64() / f64::from(LAUNCHES))
    }
}

fn main() -> Result<(), RunError> {
    let log: u32 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(28);
    let (n, m) = (1i64 << (log & !1), 1i64 << (log / 2));
    let plan: Program<Mem> =
        read::program(PLAN).map_err(|why| RunError::Internal(why.to_string()))?;
    let device = CudaDevice::open(GpuOptions::default())?;
    let scalar = |n| Arg::Scalar(Const::I64(n));
    let buffer = || device.alloc(ScalarType::F32, n as usize).map(Arg::Buffer);
    let measured = Measured {
        module: device.compile(&plan)?,
        args: [
            scalar(n),
            scalar(m),
            buffer()?,
            buffer()?,
            Arg::Buffer(device.upload(Data::U32(vec![0; 1024]))?),
        ],
        device,
    };
    let mut times = vec![Vec::new(); KERNELS.len() + 2];
    for _ in 0..RUNS {
        times[0].push(measured.copy(m, false)?);
        times[1].push(measured.copy(m, true)?);
        for (times, (name, which, _)) in times[2..].iter_mut().zip(KERNELS) {
            times.push(measured.kernel(name, which)?);
        }
    }
    let names = ["copy", "transpose"].into_iter().map(|name| (name, 2.0));
    let names = names.chain(KERNELS.map(|(name, _, arrays)| (name, arrays)));
    let mut ceiling = 0.0;
    println!("{}, {n} f32", measured.device.properties().name);
    for ((name, arrays), mut times) in names.zip(times) {
        times.sort_by(f64::total_cmp);
        let rate = arrays * 4.0 * n as f64 / times[RUNS / 2] / 1e9;
        if ceiling == 0.0 {
            ceiling = rate;
        }
        println!("{name:12} {rate:6.0} GB/s  {:4.2}", rate / ceiling);
    }
    Ok(())
}
