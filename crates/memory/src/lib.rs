//! The memory budget of a program: an allocator that counts the bytes in use. If too many bytes are in use, work ends
//! in an orderly way.
//!
//! [`Budget`] wraps the system's allocator. It counts requested memory, including memory that is reserved but never
//! touched. The effect of a request beyond the [limit](set_limit) depends on the kind of process.
//!
//! * A program of this project has called [`on_excess`]. The request is not passed to the system. Its thread calls
//!   the function given to `on_excess`, which reports to the user and ends the process. Other threads with requests
//!   beyond the limit wait until the process ends.
//! * A library within an interpreter has called [`outlive_excess`]. An allocator may not unwind, and it may not
//!   return if the request cannot be granted. Therefore the work itself calls [`exceeded`] at each of its steps, and
//!   ends with an error if the limit is exceeded. Until then, requests are granted up to twice the limit. A request
//!   beyond twice the limit, or beyond the memory of the system, stops its thread for ever if the thread has [named
//!   its work](doing). The stopped thread keeps its memory. The thread that waits for it sees from [`held`] that a
//!   thread was stopped.
//!
//! Memory that C libraries allocate themselves is not counted. These libraries are the decoders of zstd, xz and
//! bzip2.

mod machine;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

pub use machine::default_limit;

/// Bytes in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The limit: the largest number of bytes that may be in use.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether a thread is reporting an excess.
static REPORTING: AtomicBool = AtomicBool::new(false);
/// Whether the process continues after an excess.
static OUTLIVES: AtomicBool = AtomicBool::new(false);
/// Number of threads that were stopped. `WHY_HELD` is the request of the thread that was stopped last.
static HELD: AtomicUsize = AtomicUsize::new(0);
static WHY_HELD: Mutex<Option<Excess>> = Mutex::new(None);
static ON_EXCESS: OnceLock<fn(Excess) -> !> = OnceLock::new();
/// The work that was named last, by any thread.
static LATEST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// Whether this thread may allocate beyond the limit, because it reports an excess.
    static IS_EXEMPT: Cell<bool> = const { Cell::new(false) };
    static DOING: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A request for memory beyond the limit, or beyond the memory of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The work in progress, as named by [`doing`]; empty if no thread has named its work.
    pub doing: String,
    /// Requested bytes; 0 if the memory in use already exceeds the limit.
    pub asked: u64,
    /// Bytes in use before the request.
    pub used: u64,
    /// The limit in bytes; `None` if the system had no more memory.
    pub limit: Option<u64>,
}

/// The system's allocator with a limit. A program installs it with `#[global_allocator]`.
pub struct Budget;

/// Sets the limit to `bytes` in use at once. Memory is counted from the start of the process.
pub fn set_limit(bytes: u64) {
    LIMIT.store(
        usize::try_from(bytes).unwrap_or(usize::MAX),
        Ordering::Relaxed,
    );
}

/// The limit in bytes; `u64::MAX` if none was set.
#[must_use]
pub fn limit() -> u64 {
    LIMIT.load(Ordering::Relaxed) as u64
}

/// Sets the function that is called for a request that cannot be granted. The function may allocate, and has to end
/// the process. It must not take a lock that another thread could hold while it allocates. Only the first call has
/// an effect.
pub fn on_excess(report: fn(Excess) -> !) {
    OUTLIVES.store(false, Ordering::Relaxed);
    // If a function was set before, it remains set.
    let _ = ON_EXCESS.set(report);
}

/// From now on the process continues after an excess, as the documentation of the [crate] describes. A later call of
/// [`on_excess`] cancels this.
pub fn outlive_excess() {
    OUTLIVES.store(true, Ordering::Relaxed);
}

/// The present excess over the limit, with the work of this thread; `None` if the limit is not exceeded. A call costs
/// so little time that work can make it at every step.
#[must_use]
pub fn exceeded() -> Option<Excess> {
    let (used, limit) = (USED.load(Ordering::Relaxed), LIMIT.load(Ordering::Relaxed));
    (used > limit).then(|| Excess {
        doing: spoken(),
        asked: 0,
        used: used as u64,
        limit: Some(limit as u64),
    })
}

/// Number of threads that were stopped because of their requests since the process began.
#[must_use]
pub fn held() -> usize {
    HELD.load(Ordering::Acquire)
}

/// The request of the thread that was stopped last.
#[must_use]
pub fn why_held() -> Option<Excess> {
    WHY_HELD.lock().ok().and_then(|why| why.clone())
}

/// Names the work that this thread does from now on, in words for the user, such as `reading my.trace`. In reports, a
/// thread that has not named its work has the work that any thread named last.
pub fn doing(text: impl Into<String>) {
    let text = text.into();
    // No memory is allocated while `LATEST` is locked or `DOING` is borrowed, so a failing request can still read
    // both.
    let latest = text.clone();
    if let Ok(mut held) = LATEST.lock() {
        *held = latest;
    }
    DOING.with(|held| *held.borrow_mut() = text);
}

/// Bytes in use, as counted by [`Budget`].
#[must_use]
pub fn used() -> u64 {
    USED.load(Ordering::Relaxed) as u64
}

/// Counts the request of `bytes` bytes, and handles an excess over the limit.
#[inline]
fn take(bytes: usize) {
    let before = USED.fetch_add(bytes, Ordering::Relaxed);
    let limit = LIMIT.load(Ordering::Relaxed);
    if before.saturating_add(bytes) > limit {
        excess(bytes, before, Some(limit));
    }
}

#[inline]
fn give_back(bytes: usize) {
    USED.fetch_sub(bytes, Ordering::Relaxed);
}

#[cold]
fn excess(asked: usize, used: usize, limit: Option<usize>) {
    if IS_EXEMPT.get() {
        return;
    }
    if OUTLIVES.load(Ordering::Relaxed) {
        let most = limit.map_or(0, |limit| limit.saturating_mul(2));
        // A thread that has never named its work belongs to the interpreter.
        let is_ours = DOING.try_with(|held| held.try_borrow().is_ok_and(|text| !text.is_empty()));
        if used.saturating_add(asked) > most && is_ours.unwrap_or_default() {
            hold(asked, used, limit);
        }
        return;
    }
    let Some(report) = ON_EXCESS.get() else {
        return;
    };
    if REPORTING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    IS_EXEMPT.set(true);
    report(Excess {
        doing: spoken(),
        asked: asked as u64,
        used: used as u64,
        limit: limit.map(|bytes| bytes as u64),
    });
}

/// The work that this thread has named, or, if it has named none, the work that any thread named last.
fn spoken() -> String {
    let own = DOING.try_with(|held| held.try_borrow().map(|text| text.clone()));
    let own = own.ok().and_then(Result::ok).unwrap_or_default();
    match own.is_empty() {
        true => LATEST
            .try_lock()
            .map(|text| text.clone())
            .unwrap_or_default(),
        false => own,
    }
}

/// Stops this thread for ever, because its request is not granted and the thread cannot continue without the memory.
fn hold(asked: usize, used: usize, limit: Option<usize>) -> ! {
    IS_EXEMPT.set(true);
    if limit.is_some() {
        // The request was counted, but is not granted.
        give_back(asked);
    }
    let why = Excess {
        doing: spoken(),
        asked: asked as u64,
        used: used as u64,
        limit: limit.map(|bytes| bytes as u64),
    };
    if let Ok(mut latest) = WHY_HELD.lock() {
        *latest = Some(why);
    }
    HELD.fetch_add(1, Ordering::Release);
    loop {
        std::thread::park();
    }
}

/// Handles a request for which the system had no memory.
#[cold]
fn refused(asked: usize) {
    give_back(asked);
    excess(asked, USED.load(Ordering::Relaxed), None);
}

#[expect(
    unsafe_code,
    reason = "no safe interface counts the allocations of a whole program; every method hands its arguments to the system's allocator as they came"
)]
// SAFETY: every method calls the method of the system's allocator with the arguments that it got, and returns the
// result. Counting changes neither. No method unwinds: on an excess, a method ends the process or never returns.
unsafe impl GlobalAlloc for Budget {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller fulfils the conditions that `System` requires.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            refused(layout.size());
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller fulfils the conditions that `System` requires.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            refused(layout.size());
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `System`, which allocated the block.
        unsafe { System.dealloc(block, layout) };
        give_back(layout.size());
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let more = bytes.saturating_sub(layout.size());
        take(more);
        // SAFETY: the caller fulfils the contract of `System`, which allocated the block.
        let moved = unsafe { System.realloc(block, layout, bytes) };
        if moved.is_null() {
            refused(more);
        } else {
            give_back(layout.size().saturating_sub(bytes));
        }
        moved
    }
}
