//! Power that fails: after every operation of short streams, and at random in long ones, through every scheme over every layer.
//!
//! What a device holds after its mount is held against the ledger, which knows requests and answers and no rule of the device.
//! `DESTAGE_CUTS` is the number of random cuts of all pairs together; `make cuts` asks for a hundred thousand, and for the
//! exhaustive ones of every pair.

#[path = "../../crates/flash/tests/kit/mod.rs"]
mod flash_kit;
#[path = "../../crates/device/tests/kit/mod.rs"]
mod kit;
#[path = "matrix/requests.rs"]
mod requests;
#[path = "cuts/subject.rs"]
mod subject;

use destage_base::{Random, Ticks};
use destage_flash::medium::BadDrive;

use kit::{SECTOR_BYTES, Stack, TIMING};
use requests::{SECTORS, random_requests};
use subject::{Plant, Subject};

fn random_cut(subject: &Subject<'_>, random: &mut Random) -> Vec<Ticks> {
    let mut elapsed = vec![0; subject.stack.geometry.dies as usize];
    for (die, moments) in subject.moments() {
        let last = moments.last().copied().unwrap_or(0);
        elapsed[die as usize] = random.below(last + 1);
    }
    elapsed
}

#[test]
fn random_cuts_over_page_mapping() {
    let mut stack = Stack::new("lru", 6, "page", 2, 20);
    stack.layer_settings = flash_kit::small_settings("page").to_vec();
    stack.sectors = SECTORS as usize;
    let mut random = Random::new(1);
    let mut subject = Subject::new(&stack, Plant::Nothing);
    let pages = subject.rig.device.pages();
    let mut cuts = 0;
    for asked in random_requests(pages, 20_000, 7) {
        while subject.outstanding() >= 3 {
            subject.go_on(&mut random);
        }
        subject.submit(&asked);
        for _ in 0..random.below(3) {
            subject.go_on(&mut random);
        }
        if random.below(10) == 0 {
            let elapsed = random_cut(&subject, &mut random);
            let remains = subject.cut(
                |die| elapsed[die as usize],
                &BadDrive::default(),
                &mut random,
            );
            let restored = remains.restore(&stack, &mut |_, _| {}).expect("a mount");
            assert_eq!(restored.findings, [], "cut {cuts}");
            subject.resume(restored);
            cuts += 1;
        }
    }
    assert!(cuts > 1000);
    let _ = (TIMING, SECTOR_BYTES);
}
