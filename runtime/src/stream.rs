//! Sequences: where their elements come from and go to, and how many are worked on at once.
//!
//! ```
//! use arrc::session::{Options, Session};
//! use arrc::stream::Ends;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::new(Options::default())?;
//! let program = session.compile("twice.fut", "entry twice (s: seq i64) : seq i64 = seq.map (* 2) s")?;
//! let mut sum = 0;
//! let ends = Ends::new()
//!     .input(0..1_000_000_i64)
//!     .output(|chunk: Vec<i64>| sum += chunk.iter().sum::<i64>());
//! program.call_streaming("twice", vec![], &ends)?;
//! drop(ends);
//! assert_eq!(sum, 999_999_000_000);
//! # Ok(())
//! # }
//! ```

mod ends;
mod schedule;

pub use ends::Ends;
pub use midend::stream::{InMemory, Outside};
pub(crate) use schedule::Adaptive;
