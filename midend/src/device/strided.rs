//! Strided boxes, as [`Device::copy`](super::Device::copy) moves them.

use super::Strided;
use crate::trap::RunError;

/// One dimension of a copy: extent, stride of the destination, stride of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of elements.
    pub extent: i64,
    /// Elements from one to the next in the destination.
    pub dst: i64,
    /// Elements from one to the next in the source.
    pub src: i64,
}

impl<B> Strided<'_, B> {
    /// Refuses a box that leaves a buffer of `len` elements.
    pub fn check(&self, shape: &[i64], len: usize) -> Result<(), RunError> {
        if shape.len() != self.strides.len() {
            let text = "a copy has strides for another number of dimensions than it has";
            return Err(RunError::Device(text.to_owned()));
        }
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for (extent, stride) in shape.iter().zip(self.strides) {
            let reach = i128::from(*extent - 1) * i128::from(*stride);
            if reach < 0 {
                low += reach;
            } else {
                high += reach;
            }
        }
        if low < 0 || high >= len as i128 {
            return Err(RunError::Device(format!(
                "a copy touches elements {low} to {high} of a buffer of {len}"
            )));
        }
        Ok(())
    }
}

/// The dimensions of a box: those of one element dropped, those that continue each other joined.
///
/// ```text
/// shape [4, 1, 5], dst strides [10, 7, 2], src strides [5, 9, 1]  →  one axis of 20, steps 2 and 1
/// ```
pub fn axes(shape: &[i64], dst: &[i64], src: &[i64]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for ((extent, dst), src) in shape.iter().zip(dst).zip(src) {
        if *extent == 1 {
            continue;
        }
        let axis = Axis {
            extent: *extent,
            dst: *dst,
            src: *src,
        };
        match axes.last_mut() {
            Some(outer)
                if outer.dst == axis.dst * axis.extent && outer.src == axis.src * axis.extent =>
            {
                outer.extent *= axis.extent;
                outer.dst = axis.dst;
                outer.src = axis.src;
            }
            Some(_) | None => axes.push(axis),
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_continue_each_other_are_joined() {
        let one = |extent, dst, src| Axis { extent, dst, src };
        assert_eq!(axes(&[4, 1, 5], &[10, 7, 2], &[5, 9, 1]), [one(20, 2, 1)]);
        assert_eq!(
            axes(&[4, 5], &[5, 1], &[1, 4]),
            [one(4, 5, 1), one(5, 1, 4)]
        );
        assert_eq!(axes(&[1, 1], &[3, 1], &[3, 1]), []);
    }

    #[test]
    fn boxes_stay_in_their_buffers() {
        let side = |offset, strides| Strided {
            buffer: &(),
            offset,
            strides,
        };
        assert!(side(0, &[3, 1]).check(&[2, 3], 6).is_ok());
        assert!(side(0, &[3, 1]).check(&[2, 3], 5).is_err());
        assert!(side(5, &[-3, -1]).check(&[2, 3], 6).is_ok());
        assert!(side(4, &[-3, -1]).check(&[2, 3], 6).is_err());
        assert!(side(0, &[1]).check(&[2, 3], 6).is_err());
    }
}
