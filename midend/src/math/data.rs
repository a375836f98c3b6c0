//! Constants of the definitions: coefficients of polynomials and pieces of irrational numbers. Data only.
//!
//! The coefficients come from the Remez exchange in multiple precision on the interval that each comment names,
//! weighted for the relative error of the function, and are then rounded one by one. The splittings of irrational
//! numbers are the nearest float, the nearest float to what is left, and so on.

pub mod exp;
pub mod log;
pub mod special;
pub mod trig;
