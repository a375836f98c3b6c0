//! Searching near a guess.

/// How far from a guess is looked first.
const NEAR: usize = 4;

/// The first of so many numbers of which a condition does not hold, which holds for all before it, or how many there are. Looks near a
/// guess first, for what is far from there is not in the cache.
pub(super) fn near(count: usize, guess: usize, holds: impl Fn(usize) -> bool) -> usize {
    let guess = guess.min(count);
    let (mut lo, mut hi, mut step) = (0, count, NEAR);
    if guess < count && holds(guess) {
        lo = guess + 1;
        while hi - lo > step {
            if !holds(lo + step) {
                hi = lo + step;
                break;
            }
            lo += step + 1;
            step *= 4;
        }
    } else {
        hi = guess;
        while hi > step {
            if holds(hi - step) {
                lo = hi - step + 1;
                break;
            }
            hi -= step;
            step *= 4;
        }
    }
    while lo < hi {
        let middle = lo.midpoint(hi);
        if holds(middle) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    lo
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn what_is_looked_for_is_found_from_any_guess() {
        for count in 0..70 {
            for end in 0..=count {
                for guess in 0..=count + 1 {
                    assert_eq!(near(count, guess, |i| i < end), end, "{guess} of {count}");
                }
            }
        }
    }
}
