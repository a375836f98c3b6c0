//! Threads that help with launches. The thread that runs a program takes part in each launch itself and offers it to helpers, which are
//! jobs of the pool. When a launch is over a helper looks out for the next one for a while before it gives its thread back: the kernels
//! of a program follow each other closely, as calls often do, and to wake a thread takes longer than a small kernel.
//!
//! ```text
//! host thread:  post ─ work ─ close ─ wait for those inside │ post ─ work ─ ..
//! helper:       wake ──── enter ─ work ─ leave ─ look out ────── enter ─ work ─ ..
//! ```
//!
//! A helper is *inside* from before it reads what is posted until after it has worked on it, and a launch ends when nobody is inside: so
//! what was posted is alive as long as somebody works on it. A helper that does not come in time is not waited for.

use crate::apart::Apart;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a helper looks out for the next launch: as long as a call without parallel work may take, and some times what it takes to wake
/// a thread.
const LOOK_OUT: Duration = Duration::from_micros(200);
/// How often a thread looks before it looks at the clock.
const LOOKS: u32 = 64;
/// How long a launch waits for helpers before it sleeps.
const PATIENCE: Duration = Duration::from_micros(100);

/// What is done by all who take part, given the number of the one who does it: 0 is the thread that runs the program.
type Claim<'a> = dyn Fn(usize) + Sync + 'a;

/// A launch that is offered.
struct Post<'a> {
    claim: &'a Claim<'a>,
    hands: usize,
    /// What a helper panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// What the helpers of a device and its launches share.
#[derive(Default)]
pub(crate) struct Team {
    /// Whether there are more threads than processors. Then who waits lets others have its processor; else it keeps it, for another
    /// process would have it for longer than a launch takes.
    crowded: bool,
    /// Where the threads of the pool are.
    apart: Arc<Apart>,
    /// Held by the launch that the helpers are for.
    turn: Mutex<()>,
    /// How many helpers the launch wants besides those that have come; less than zero if more have.
    places: AtomicIsize,
    /// The number of the launch.
    round: AtomicUsize,
    /// How many launches there were that may go to and fro.
    swings: AtomicUsize,
    /// The launch, or null.
    post: AtomicPtr<Post<'static>>,
    /// Helpers that may be reading what is posted.
    inside: AtomicUsize,
    /// Helpers that look out, or will.
    awake: AtomicUsize,
    /// Whether the launch sleeps until nobody is inside.
    sleeps: AtomicBool,
    asleep: Mutex<()>,
    left: Condvar,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").finish_non_exhaustive()
    }
}

impl Team {
    /// The helpers of a pool.
    pub(crate) fn new(crowded: bool, apart: Arc<Apart>) -> Self {
        Self {
            crowded,
            apart,
            ..Self::default()
        }
    }

    /// Waits for a moment.
    fn pause(&self) {
        if self.crowded {
            std::thread::yield_now();
        }
    }

    /// Does `claim` on this thread, and on up to `hands` threads in all; it is over on all of them when this returns. What they
    /// share out is theirs to see to: any number of them may come.
    pub(crate) fn work(self: &Arc<Self>, pool: &ThreadPool, hands: usize, claim: &Claim<'_>) {
        if hands <= 1 {
            return claim(0);
        }
        let Ok(_turn) = self.turn.try_lock() else {
            // Another program has the helpers; the pool has whoever is free.
            return spread_out(pool, hands, claim);
        };
        let post = Post {
            claim,
            hands,
            panic: Mutex::default(),
        };
        // Closed also when the claim panics.
        let posted = Posted::new(self, &post);
        let awake = self.awake.load(Ordering::SeqCst);
        if awake < hands - 1 {
            self.call(pool, hands - 1 - awake);
        }
        claim(0);
        drop(posted);
        let panic = post.panic.into_inner();
        if let Some(panic) = panic.unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }

    /// Whether the next launch that may go either way goes back: every second does, and so begins with what the one before has left near.
    pub(crate) fn goes_back(&self) -> bool {
        self.swings.fetch_add(1, Ordering::Relaxed) % 2 == 1
    }

    /// How many helpers there are that need not be woken, or will not.
    pub(crate) fn awake(&self) -> usize {
        self.awake.load(Ordering::Relaxed)
    }

    /// Has more helpers come.
    fn call(self: &Arc<Self>, pool: &ThreadPool, helpers: usize) {
        if !self.crowded {
            self.apart.keep_away();
        }
        self.awake.fetch_add(helpers, Ordering::SeqCst);
        let team = Arc::clone(self);
        pool.spawn(move || team.come(helpers));
    }

    /// A helper that has so many helpers come, itself included: that they are woken is shared out, too.
    fn come(self: Arc<Self>, helpers: usize) {
        let others = helpers - 1;
        for some in [others.div_ceil(2), others / 2] {
            if some > 0 {
                let team = Arc::clone(&self);
                rayon::spawn(move || team.come(some));
            }
        }
        self.help();
    }

    /// Takes part in launches until there is none for a while.
    fn help(&self) {
        let mine = rayon::current_thread_index().unwrap_or_default();
        // The launch that this helper took part in last; there is none with that number yet.
        let mut last = usize::MAX;
        loop {
            let since = Instant::now();
            let mut looks = 0u32;
            while !self.enter(mine, &mut last) {
                std::hint::spin_loop();
                looks += 1;
                if looks.is_multiple_of(LOOKS) {
                    if since.elapsed() > LOOK_OUT {
                        // Who posts after this does not count on this helper; of who has posted before, it sees the post.
                        self.awake.fetch_sub(1, Ordering::SeqCst);
                        if !self.is_wanted(last) {
                            return;
                        }
                        self.awake.fetch_add(1, Ordering::SeqCst);
                    }
                    self.pause();
                }
            }
        }
    }

    /// Whether there is a launch that wants a helper who took part in launch `last`.
    fn is_wanted(&self, last: usize) -> bool {
        !self.post.load(Ordering::SeqCst).is_null()
            && self.round.load(Ordering::Relaxed) != last
            && self.places.load(Ordering::Relaxed) > 0
    }

    /// Takes part in the launch that is posted, if it wants another helper. Whether it did.
    fn enter(&self, mine: usize, last: &mut usize) -> bool {
        if !self.is_wanted(*last) {
            return false;
        }
        self.inside.fetch_add(1, Ordering::SeqCst);
        let _inside = Inside(self);
        let post = self.post.load(Ordering::SeqCst);
        if post.is_null() || self.places.fetch_sub(1, Ordering::Relaxed) <= 0 {
            return false;
        }
        *last = self.round.load(Ordering::Relaxed);
        // SAFETY: the launch waits until this helper is not inside any more, for it was counted before the post was seen.
        let post = unsafe { &*post };
        let number = 1 + mine % (post.hands - 1);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (post.claim)(number))) {
            let mut first = post.panic.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(panic);
        }
        true
    }

    /// Sleeps until nobody is inside.
    fn sleep(&self) {
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeps.store(true, Ordering::SeqCst);
        while self.inside.load(Ordering::SeqCst) > 0 {
            asleep = self
                .left
                .wait(asleep)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }
}

/// A launch while it is posted.
struct Posted<'a>(&'a Team);

impl<'a> Posted<'a> {
    fn new(team: &'a Team, post: &'a Post<'_>) -> Self {
        let places = isize::try_from(post.hands - 1).unwrap_or(isize::MAX);
        team.places.store(places, Ordering::Relaxed);
        team.round.fetch_add(1, Ordering::Relaxed);
        // Helpers are gone before `post` is (see `drop`): what they see of it is alive.
        let post = std::ptr::from_ref(post).cast_mut().cast::<Post<'static>>();
        team.post.store(post, Ordering::SeqCst);
        Self(team)
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        let team = self.0;
        team.post.store(std::ptr::null_mut(), Ordering::SeqCst);
        let since = Instant::now();
        let mut looks = 0u32;
        while team.inside.load(Ordering::SeqCst) > 0 {
            std::hint::spin_loop();
            looks += 1;
            if looks.is_multiple_of(LOOKS) {
                if since.elapsed() > PATIENCE {
                    return team.sleep();
                }
                team.pause();
            }
        }
    }
}

/// A helper while it is inside.
struct Inside<'a>(&'a Team);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let team = self.0;
        let is_last = team.inside.fetch_sub(1, Ordering::SeqCst) == 1;
        if is_last && team.sleeps.load(Ordering::SeqCst) {
            let _asleep = team.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            team.left.notify_all();
        }
    }
}

/// Offers a claim to threads of the pool that are free.
fn spread_out(pool: &ThreadPool, hands: usize, claim: &Claim<'_>) {
    let all = || spread((0, hands), claim);
    if rayon::current_thread_index().is_some() {
        all();
    } else {
        pool.install(all);
    }
}

fn spread((lo, hi): (usize, usize), claim: &Claim<'_>) {
    if hi - lo <= 1 {
        claim(lo);
    } else {
        let middle = lo.midpoint(hi);
        rayon::join(
            || spread((lo, middle), claim),
            || spread((middle, hi), claim),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::Team;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool")
    }

    /// Shares out so many pieces, and counts how often each is done.
    fn launch(team: &Arc<Team>, pool: &ThreadPool, (hands, pieces): (usize, usize)) -> Vec<usize> {
        let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        let next = AtomicUsize::new(0);
        team.work(pool, hands, &|_| {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                let Some(done) = done.get(piece) else { return };
                done.fetch_add(1, Ordering::Relaxed);
            }
        });
        done.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn every_launch_is_over_when_it_returns() {
        let (team, pool) = (Arc::<Team>::default(), pool(3));
        for round in 0..3000 {
            let pieces = round % 7;
            assert_eq!(launch(&team, &pool, (3, pieces)), vec![1; pieces]);
            if round % 500 == 0 {
                // Helpers have gone meanwhile.
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    #[test]
    fn helpers_come_from_inside_of_the_pool_and_after_they_have_slept() {
        let (team, pool) = (Arc::<Team>::default(), pool(4));
        let seen = Mutex::new(BTreeSet::new());
        let wait_for_all = || {
            let come = AtomicUsize::new(0);
            team.work(&pool, 4, &|number| {
                seen.lock().expect("no panics").insert(number);
                come.fetch_add(1, Ordering::SeqCst);
                while come.load(Ordering::SeqCst) < 4 {
                    std::thread::yield_now();
                }
            });
        };
        // Each waits for all others, for longer than a launch waits before it sleeps.
        wait_for_all();
        std::thread::sleep(Duration::from_millis(5));
        wait_for_all();
        pool.install(|| {
            // This thread is one of four: three helpers are left.
            wait_for_all();
        });
        let seen = seen.into_inner().expect("no panics");
        assert!(
            seen.contains(&0) && seen.iter().all(|number| *number < 4),
            "{seen:?}"
        );
    }

    #[test]
    fn a_launch_waits_for_a_slow_helper() {
        let (team, pool) = (Arc::<Team>::default(), pool(2));
        let (come, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        team.work(&pool, 2, &|number| {
            come.fetch_add(1, Ordering::SeqCst);
            while come.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            if number > 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            done.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(done.into_inner(), 2);
    }

    #[test]
    fn several_programs_at_once_do_not_wait_for_each_other() {
        let (team, pool) = (Arc::<Team>::default(), pool(2));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        assert_eq!(launch(&team, &pool, (2, 5)), vec![1; 5]);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_of_a_helper_is_one_of_the_launch() {
        let (team, pool) = (Arc::<Team>::default(), pool(2));
        let come = AtomicUsize::new(0);
        let launched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            team.work(&pool, 2, &|number| {
                come.fetch_add(1, Ordering::SeqCst);
                while come.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
                assert_eq!(number, 0, "planted");
            });
        }));
        assert!(launched.is_err());
        assert_eq!(launch(&team, &pool, (2, 5)), vec![1; 5]);
    }
}
