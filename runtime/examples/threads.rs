//! Calls from several threads: one session, one compiled program, and each thread with arrays of its own.
//!
//! ```text
//! cargo run --release -p arrc --example threads
//! ```

use arrc::RunError;
use arrc::session::{Options, Program, Session};
use arrc::typed::Array;
use std::error::Error;
use std::thread;

/// Smooths a row of numbers several times, and tells the greatest of them.
const SMOOTH: &str = "
def mean (a: f32) (b: f32) (c: f32) = (a + b + c) / 3

entry smooth [n] (steps: i32) (xs: [n]f32) : ([n]f32, f32) =
  let ys = loop xs for _i < steps do map3 mean (rotate (-1) xs) xs (rotate 1 xs)
  in (ys, f32.maximum ys)

entry outer [n][m] (xs: [n]f32) (ys: [m]f32) : [n][m]f32 = map (\\x -> map (x *) ys) xs
";

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn Error>> {
    let session = Session::new(Options::default())?;
    let program = session.compile("smooth.fut", SMOOTH)?;
    for (thread, greatest) in smooth_in_threads(&program, 4)?.iter().enumerate() {
        println!("thread {thread}: the greatest is {greatest}");
    }
    let product: Array<f32, 2> =
        program.run("outer", (vec![1.0f32, 2.0], vec![3.0f32, 4.0, 5.0]))?;
    println!("{:?}: {:?}", product.shape(), product.elements());
    Ok(())
}

/// Each thread smooths a row in which one number stands out, by a height of its own.
fn smooth_in_threads(program: &Program, threads: u8) -> Result<Vec<f32>, Box<dyn Error>> {
    thread::scope(|scope| {
        let start = |thread: u8| {
            scope.spawn(move || {
                let mut row = vec![0.0f32; 1000];
                row[500] = 27.0 * f32::from(thread + 1);
                let (_, greatest): (Vec<f32>, f32) = program.run("smooth", (2i32, row))?;
                Ok::<_, RunError>(greatest)
            })
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        let mut found = Vec::new();
        for thread in running {
            found.push(thread.join().map_err(|_| "a thread panicked")??);
        }
        Ok(found)
    })
}

#[test]
fn each_thread_has_its_own_result() -> Result<(), Box<dyn Error>> {
    let session = Session::new(Options::default())?;
    let program = session.compile("smooth.fut", SMOOTH)?;
    // Smoothed twice, a peak of 27 is 9 high; every thread's is a multiple of it.
    let wanted: Vec<f32> = (1..=8u8).map(|thread| 9.0 * f32::from(thread)).collect();
    assert_eq!(smooth_in_threads(&program, 8)?, wanted);
    Ok(())
}
