//! A process that outlives an excess: work is told, and what cannot be granted holds its thread alone.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_memory::{Budget, doing, exceeded, held, outlive_excess, set_limit, used, why_held};

#[global_allocator]
static MEMORY: Budget = Budget;

const MIB: usize = 1 << 20;

#[test]
fn work_is_told_and_what_cannot_be_granted_holds_its_thread() {
    outlive_excess();
    set_limit(used() + 64 * MIB as u64);
    assert_eq!(exceeded(), None);
    doing("filling a list");
    let most = Vec::<u8>::with_capacity(63 * MIB);
    assert_eq!(exceeded(), None);
    // Below twice the limit it is granted, and told.
    let more = Vec::<u8>::with_capacity(20 * MIB);
    let excess = exceeded().unwrap();
    assert_eq!((&*excess.doing, excess.asked), ("filling a list", 0));
    assert!(excess.used > excess.limit.unwrap());
    drop(more);
    assert_eq!(exceeded(), None);

    let before = used();
    for (asked, limit) in [(100 * MIB, excess.limit), (isize::MAX as usize, None)] {
        // The second is more than the system has, of which a large limit knows nothing.
        set_limit(limit.unwrap_or(u64::MAX));
        let count = held();
        std::thread::spawn(move || {
            doing("asking for much");
            drop(Vec::<u8>::with_capacity(asked));
        });
        while held() == count {
            std::thread::yield_now();
        }
        let why = why_held().unwrap();
        assert_eq!(
            (&*why.doing, why.asked, why.limit),
            ("asking for much", asked as u64, limit)
        );
    }
    // What was not granted does not count.
    assert!(used() < before + MIB as u64);
    // A thread that does not say what it does is the interpreter's: it goes on.
    set_limit(excess.limit.unwrap());
    let others = std::thread::spawn(|| Vec::<u8>::with_capacity(300 * MIB).capacity());
    assert_eq!(others.join().unwrap(), 300 * MIB);
    drop(most);
}
