//! A process that continues after an excess. Work can query the excess, and a request that cannot be granted stops
//! only its own thread.
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
    // A request below twice the limit is granted, and `exceeded` reports it.
    let more = Vec::<u8>::with_capacity(20 * MIB);
    let excess = exceeded().unwrap();
    assert_eq!((&*excess.doing, excess.asked), ("filling a list", 0));
    assert!(excess.used > excess.limit.unwrap());
    drop(more);
    assert_eq!(exceeded(), None);

    let before = used();
    for (asked, limit) in [(100 * MIB, excess.limit), (isize::MAX as usize, None)] {
        // The second request is larger than the memory of the system. For this request, the limit is so large that
        // only the system can refuse it.
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
    // The requests that were not granted are not counted.
    assert!(used() < before + MIB as u64);
    // A thread that does not name its work counts as a thread of the interpreter, and is not stopped.
    set_limit(excess.limit.unwrap());
    let others = std::thread::spawn(|| Vec::<u8>::with_capacity(300 * MIB).capacity());
    assert_eq!(others.join().unwrap(), 300 * MIB);
    drop(most);
}
