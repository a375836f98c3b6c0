//! Memory that somebody else allocated: arrays of other libraries in this process, which are used without a copy.

use midend::ir::types::ScalarType;
use midend::value::{Data, elements};
use std::any::Any;
use std::ptr::NonNull;

/// Whoever is to be told that memory is not used any more, by being dropped. It may be dropped by any thread.
type Owner = Box<dyn Any + Send + Sync>;

/// Elements side by side, in memory of somebody else.
pub struct Foreign {
    start: NonNull<u8>,
    elem: ScalarType,
    len: usize,
    is_read_only: bool,
    /// Released once, when the last buffer that refers to the memory is dropped.
    _owner: Owner,
}

// SAFETY: the memory is plain scalars that nobody writes to but through this, which `adopt` asks of its caller; the owner may be
// sent.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl std::fmt::Debug for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            start, elem, len, ..
        } = self;
        write!(f, "{len} {elem} at {start:?}")
    }
}

impl Foreign {
    pub(crate) const fn start(&self) -> NonNull<u8> {
        self.start
    }
    /// The type of the elements.
    pub const fn elem(&self) -> ScalarType {
        self.elem
    }
    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Whether the memory must not be written to.
    pub const fn is_read_only(&self) -> bool {
        self.is_read_only
    }
    /// The elements, copied.
    pub fn to_data(&self) -> Data {
        let shape = [i64::try_from(self.len).unwrap_or(i64::MAX)];
        let size = i64::try_from(self.elem.bytes()).unwrap_or(1);
        let layout = Layout {
            start: self.start.as_ptr(),
            elem: self.elem,
            shape: &shape,
            strides: &[size],
        };
        // SAFETY: whoever made this promised that the elements are there.
        unsafe { gather(layout, self.len) }
    }
}

/// Where the elements of an array are.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The first element.
    pub start: *const u8,
    /// The type of the elements. Truth values are bytes that are 0 or 1.
    pub elem: ScalarType,
    /// Extents, outermost first.
    pub shape: &'a [i64],
    /// How many bytes it is to the next element of each dimension, which may be 0 or negative.
    pub strides: &'a [i64],
}

/// What has become of an array of somebody else.
#[derive(Debug)]
pub enum Adopted {
    /// Its elements stay where they are.
    Borrowed(Foreign),
    /// They were not side by side in row-major order, or not aligned, and have been copied. The owner has been released.
    Copied(Data),
}

/// Takes an array of somebody else, without a copy if its elements are aligned and side by side in row-major order. The `owner` is dropped
/// when the memory is not used any more. Nothing if the shape is none, or the strides are not as many.
///
/// # Safety
/// Until the owner is dropped, all elements are readable, and nobody else writes to them; unless `is_read_only`, nobody else reads them
/// either, and they are writable.
pub unsafe fn adopt(layout: Layout<'_>, is_read_only: bool, owner: Owner) -> Option<Adopted> {
    let len = elements(layout.shape)?;
    len.checked_mul(layout.elem.bytes())
        .filter(|bytes| isize::try_from(*bytes).is_ok())?;
    if layout.strides.len() != layout.shape.len() {
        return None;
    }
    let start = NonNull::new(layout.start.cast_mut());
    // An empty vector has an aligned address, too.
    if let Some(start) = start.filter(|_| len > 0 && is_plain(layout)) {
        return Some(Adopted::Borrowed(Foreign {
            start,
            elem: layout.elem,
            len,
            is_read_only,
            _owner: owner,
        }));
    }
    // SAFETY: promised by the caller.
    Some(Adopted::Copied(unsafe { gather(layout, len) }))
}

/// Whether elements are aligned and side by side.
fn is_plain(layout: Layout<'_>) -> bool {
    let size = layout.elem.bytes();
    let mut next = i64::try_from(size).unwrap_or(i64::MAX);
    for (extent, stride) in layout.shape.iter().zip(layout.strides).rev() {
        // How far it is to an element that is not there does not matter.
        if *extent > 1 && *stride != next {
            return false;
        }
        next = next.saturating_mul(*extent);
    }
    layout.start.addr().is_multiple_of(size)
}

/// Copies the elements into row-major order.
///
/// # Safety
/// All elements are readable, and truth values are 0 or 1.
unsafe fn gather(layout: Layout<'_>, len: usize) -> Data {
    macro_rules! gathered {
        ($($variant:ident: $ty:ty),*) => {
            match layout.elem {
                $(ScalarType::$variant => {
                    let mut all = Vec::<$ty>::with_capacity(len);
                    each_row(layout, len, |row, count, stride| {
                        if stride == size_of::<$ty>() as i64 {
                            let from = all.len();
                            // SAFETY: promised by the caller; the vector has room for all elements.
                            unsafe {
                                let to = all.as_mut_ptr().add(from).cast::<u8>();
                                std::ptr::copy_nonoverlapping(row, to, count * size_of::<$ty>());
                                all.set_len(from + count);
                            }
                            return;
                        }
                        for i in 0..count as i64 {
                            let at = row.wrapping_offset((i * stride) as isize);
                            // SAFETY: promised by the caller.
                            all.push(unsafe { at.cast::<$ty>().read_unaligned() });
                        }
                    });
                    Data::$variant(all)
                })*
            }
        };
    }
    gathered!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
        F16: half::f16, F32: f32, F64: f64, Bool: bool)
}

/// Goes through the innermost rows in order: where a row begins, how many elements it has, and how far they are from each other.
fn each_row(layout: Layout<'_>, len: usize, mut row: impl FnMut(*const u8, usize, i64)) {
    if len == 0 {
        return;
    }
    let (Some((count, outer)), Some((stride, strides))) =
        (layout.shape.split_last(), layout.strides.split_last())
    else {
        return row(layout.start, 1, 0);
    };
    let mut index = vec![0_i64; outer.len()];
    loop {
        let offset = |sum: i64, (i, stride): (&i64, &i64)| sum + i * stride;
        let begin = index.iter().zip(strides).fold(0, offset);
        row(
            layout.start.wrapping_offset(begin as isize),
            usize::try_from(*count).unwrap_or(0),
            *stride,
        );
        let mut dims = (0..outer.len()).rev();
        let next = dims.find(|dim| {
            index[*dim] += 1;
            if index[*dim] == outer[*dim] {
                index[*dim] = 0;
            }
            index[*dim] != 0
        });
        if next.is_none() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often it is dropped.
    struct Counter(Arc<AtomicUsize>);

    impl Drop for Counter {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn adopted(start: *const u8, elem: ScalarType, shape: &[i64], strides: &[i64]) -> Adopted {
        let layout = Layout {
            start,
            elem,
            shape,
            strides,
        };
        // SAFETY: tests ask for elements of arrays that they keep.
        unsafe { adopt(layout, true, Box::new(())) }.expect("a shape")
    }

    #[track_caller]
    fn copied(adopted: Adopted) -> Data {
        match adopted {
            Adopted::Copied(data) => data,
            Adopted::Borrowed(foreign) => panic!("{foreign:?} was not copied"),
        }
    }

    #[test]
    fn plain_memory_is_borrowed_and_released_once() {
        let elements = vec![1_i32, 2, 3, 4, 5, 6];
        let dropped = Arc::new(AtomicUsize::new(0));
        let layout = Layout {
            start: elements.as_ptr().cast(),
            elem: ScalarType::I32,
            shape: &[2, 3],
            strides: &[12, 4],
        };
        let owner = Box::new(Counter(Arc::clone(&dropped)));
        // SAFETY: the vector outlives what refers to it.
        let adopted = unsafe { adopt(layout, true, owner) };
        let Some(Adopted::Borrowed(foreign)) = adopted else {
            panic!("{adopted:?}");
        };
        assert_eq!(
            foreign.start().as_ptr().cast_const(),
            elements.as_ptr().cast()
        );
        assert_eq!(foreign.to_data(), Data::I32(elements.clone()));
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(foreign);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn strides_are_honoured() {
        let elements = [1_i16, 2, 3, 4, 5, 6];
        let start: *const u8 = elements.as_ptr().cast();
        let turned = adopted(start, ScalarType::I16, &[3, 2], &[2, 6]);
        assert_eq!(copied(turned), Data::I16(vec![1, 4, 2, 5, 3, 6]));
        let backwards = adopted(start.wrapping_add(10), ScalarType::I16, &[6], &[-2]);
        assert_eq!(copied(backwards), Data::I16(vec![6, 5, 4, 3, 2, 1]));
        let repeated = adopted(start, ScalarType::I16, &[2, 2], &[0, 2]);
        assert_eq!(copied(repeated), Data::I16(vec![1, 2, 1, 2]));
        let part = adopted(start, ScalarType::I16, &[2, 2], &[6, 2]);
        assert_eq!(copied(part), Data::I16(vec![1, 2, 4, 5]));
        // A dimension of one element may have any stride.
        let one = adopted(start, ScalarType::I16, &[1, 3], &[77, 2]);
        assert!(matches!(one, Adopted::Borrowed(_)));
    }

    #[test]
    fn misaligned_memory_is_copied() {
        let mut bytes = [0_u8; 64];
        let odd = bytes.as_ptr().align_offset(8) + 3;
        bytes[odd..odd + 16].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        let start = bytes[odd..].as_ptr();
        let dropped = Arc::new(AtomicUsize::new(0));
        let layout = Layout {
            start,
            elem: ScalarType::I64,
            shape: &[2],
            strides: &[8],
        };
        // SAFETY: the array outlives the copy.
        let adopted = unsafe { adopt(layout, false, Box::new(Counter(Arc::clone(&dropped)))) };
        assert_eq!(copied(adopted.expect("a shape")), Data::I64(vec![1, 2]));
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(matches!(
            self::adopted(start, ScalarType::U8, &[16], &[1]),
            Adopted::Borrowed(_)
        ));
    }

    #[test]
    fn empty_arrays_and_senseless_shapes() {
        let nothing = adopted(std::ptr::null(), ScalarType::F64, &[2, 0], &[0, 8]);
        assert_eq!(copied(nothing), Data::F64(vec![]));
        let layout = |shape, strides| Layout {
            start: std::ptr::null(),
            elem: ScalarType::F64,
            shape,
            strides,
        };
        for (shape, strides) in [
            (&[-1][..], &[8][..]),
            (&[2, 2], &[8]),
            (&[i64::MAX, 2], &[8, 8]),
            (&[1 << 61], &[8]),
        ] {
            // SAFETY: nothing is read of what is no array.
            let none = unsafe { adopt(layout(shape, strides), true, Box::new(())) };
            assert!(none.is_none(), "{shape:?} {strides:?}");
        }
    }
}
