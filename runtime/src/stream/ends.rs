//! Sequences from iterators, and to functions.

use crate::typed::{Argument, Element, Outcome};
use midend::stream::Outside;
use midend::trap::RunError;
use midend::value::Value;
use std::sync::{Mutex, PoisonError};

/// Gives so many elements of a sequence, as the values that an array of them is, or all that are left.
type Input<'a> = Box<dyn FnMut(i64) -> Result<Vec<Value>, RunError> + Send + 'a>;

/// Takes elements, as the values that an array of them is.
type Output<'a> = Box<dyn FnMut(Vec<Value>) -> Result<(), RunError> + Send + 'a>;

/// Where the sequences of a call come from, in the order of the parameters, and where they go to.
#[derive(Default)]
pub struct Ends<'a> {
    inputs: Vec<Mutex<Input<'a>>>,
    output: Option<Mutex<Output<'a>>>,
}

impl<'a> Ends<'a> {
    /// No sequences yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more parameter: a sequence of numbers.
    #[must_use]
    pub fn input<T: Element + 'a>(
        self,
        elements: impl IntoIterator<Item = T, IntoIter: Send + 'a>,
    ) -> Self {
        let mut elements = elements.into_iter();
        self.input_values(move |most| {
            let most = usize::try_from(most).unwrap_or(0);
            let chunk: Vec<T> = elements.by_ref().take(most).collect();
            Ok(vec![chunk.into_value()])
        })
    }

    /// One more parameter: a sequence of anything. `next` is asked for a number of elements and gives the values that an array
    /// of them is; of fewer only at the end.
    #[must_use]
    pub fn input_values(
        mut self,
        next: impl FnMut(i64) -> Result<Vec<Value>, RunError> + Send + 'a,
    ) -> Self {
        self.inputs.push(Mutex::new(Box::new(next)));
        self
    }

    /// Takes the result, a sequence of numbers, chunk by chunk.
    #[must_use]
    pub fn output<T: Element>(self, mut take: impl FnMut(Vec<T>) + Send + 'a) -> Self {
        self.output_values(move |mut values| {
            let chunk = values.pop().and_then(Vec::<T>::from_value);
            let chunk = chunk.ok_or_else(|| {
                let ty = Vec::<T>::leaf();
                RunError::BadArguments(format!("the result is no sequence that {ty} could hold"))
            })?;
            take(chunk);
            Ok(())
        })
    }

    /// Takes the result, whatever it consists of: the values that an array of the elements of a chunk is.
    #[must_use]
    pub fn output_values(
        mut self,
        take: impl FnMut(Vec<Value>) -> Result<(), RunError> + Send + 'a,
    ) -> Self {
        self.output = Some(Mutex::new(Box::new(take)));
        self
    }
}

impl std::fmt::Debug for Ends<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let inputs = self.inputs.len();
        f.debug_struct("Ends").field("inputs", &inputs).finish()
    }
}

impl Outside for Ends<'_> {
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let missing =
            || RunError::BadArguments(format!("sequence {} was not given", u64::from(stream) + 1));
        let input = self.inputs.get(stream as usize).ok_or_else(missing)?;
        (input.lock().unwrap_or_else(PoisonError::into_inner))(most)
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let Some(output) = &self.output else {
            return Ok(());
        };
        (output.lock().unwrap_or_else(PoisonError::into_inner))(values)
    }
}
