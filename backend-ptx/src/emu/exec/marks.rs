//! Marks of an access to memory, above its offset in [`Op::imm`](crate::emu::code::Op::imm).

use crate::ptx::{Order, Scope};

/// Several threads may touch the place at the same time.
pub(super) const ORDERED: u64 = 1 << 32;
pub(super) const ACQUIRE: u64 = 1 << 33;
pub(super) const RELEASE: u64 = 1 << 34;
/// Several may store.
pub(super) const ANY_WINS: u64 = 1 << 35;
/// What was never written may be read.
pub(super) const UNDEFINED: u64 = 1 << 36;
/// The scope is the block.
pub(super) const NARROW: u64 = 1 << 37;

/// The marks of an order.
pub(super) fn marks(order: Order) -> u64 {
    let scope = match order.scope() {
        Some(Scope::Cta) => NARROW,
        Some(Scope::Gpu | Scope::Sys) | None => 0,
    };
    let kind = match order {
        Order::Weak => 0,
        Order::Relaxed(_) => ORDERED,
        Order::Acquire(_) => ORDERED | ACQUIRE,
        Order::Release(_) => ORDERED | RELEASE,
        Order::AcquireRelease(_) => ORDERED | ACQUIRE | RELEASE,
    };
    kind | scope
}
