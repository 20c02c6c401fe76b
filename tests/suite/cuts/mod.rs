//! Tests power loss with every scheme over every layer: at every moment of short streams, and at random moments
//! of long streams.
//!
//! After each mount the test compares the contents of the device with the ledger. The ledger knows only requests
//! and answers, and no rule of the device. `DESTAGE_CUTS` is the number of random cuts for all pairs together.
//! `make cuts` requests a hundred thousand random cuts, and cuts at every moment of the short streams.

#![allow(
    clippy::print_stdout,
    reason = "a long test says how many cuts it made"
)]

use crate::ftl_kit;
use crate::kit;
use crate::matrix::{pairs, requests};
mod subject;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering as Atomic};

use destage_base::{Lpn, Random, Ticks};
use destage_buffer::SCHEMES;
use destage_device::RequestKind;
use destage_device::ledger::Finding;
use destage_nand::medium::BadDrive;
use destage_sample::sampled;

use kit::{SECTOR_BYTES, Stack, TIMING};
use pairs::layers;
use requests::{future_of, random_requests};
use subject::{Plant, Remains, Restored, Subject};

/// A device with `scheme` over `layer`; its other settings are random.
fn stack<'a>(scheme: &'a str, layer: (&'a str, &'a str), random: &mut Random) -> Stack<'a> {
    pairs::stack(scheme, layer, random, |stack, random| {
        if layer.1.is_empty() && random.below(3) == 0 {
            stack.geometry.pages_per_block = 8;
            stack.geometry.blocks_per_plane = 36;
        }
    })
}

/// Mounts a copy of `remains`, and cuts the power again at a random step of the mount. Returns the remains after
/// this cut, or `None` if the mount has no step.
fn cut_at_mount(remains: &Remains, stack: &Stack<'_>, random: &mut Random) -> Option<Remains> {
    let mut left = None;
    let mut steps = 0;
    remains.clone().mount_only(stack, &mut |medium, die| {
        steps += 1;
        if random.below(steps) == 0 {
            let moments = medium.moments(die, &TIMING);
            let last = moments.last().copied().unwrap_or(0);
            let elapsed = random.below(last + 1);
            let mut medium = medium.clone();
            medium.cut(
                |_| elapsed,
                &TIMING,
                &BadDrive::default(),
                &mut Random::new(1),
            );
            left = Some(medium);
        }
    });
    left.map(|medium| remains.with(medium))
}

fn random_cut(subject: &Subject<'_>, random: &mut Random) -> Vec<Ticks> {
    let mut elapsed = vec![0; subject.stack.geometry.dies as usize];
    for (die, moments) in subject.moments() {
        let last = moments.last().copied().unwrap_or(0);
        elapsed[die as usize] = random.below(last + 1);
    }
    elapsed
}

/// A long stream of requests on one device that repeatedly loses power.
struct Campaign<'c> {
    scheme: &'c str,
    layer: (&'c str, &'c str),
    seed: u64,
    /// The number of requests. On average, the power fails once in ten requests.
    requests: usize,
    plant: Plant,
    with: With,
}

/// What a campaign tests in addition to power cuts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    Nothing,
    /// Capacitors, and bad drives that lose more data than they should: torn pages and other pages of a word
    /// line.
    Extras,
    /// Many trims of whole blocks.
    Trims,
}

impl Campaign<'_> {
    /// Runs the campaign; returns the number of cuts, or a text about the first finding.
    fn run(&self) -> Result<usize, String> {
        let mut random = Random::new(self.seed);
        let mut stack = stack(self.scheme, self.layer, &mut random);
        if self.plant != Plant::Nothing {
            (stack.config.volatile_cache, stack.config.strict_trim) = (true, false);
        }
        let pages = stack.build().device.pages();
        let mut requests = random_requests(pages, self.requests, self.seed);
        if self.plant != Plant::Nothing {
            // Every fifth request becomes a flush, because most planted bugs break the promise of a flush.
            let flushes = requests.iter_mut().step_by(5);
            flushes.for_each(|asked| asked.kind = RequestKind::Flush);
        }
        if self.with == With::Trims {
            for asked in requests.iter_mut().filter(|asked| asked.first % 3 == 0) {
                asked.kind = RequestKind::Trim;
                (asked.first, asked.sectors) = (asked.first / 16 * 16, 16);
            }
        }
        let future = future_of(&requests, pages, stack.config.strict_trim);
        stack.future = &future;
        let mut subject = Subject::new(&stack, self.plant);
        let mut cuts = 0;
        for (number, asked) in requests.iter().enumerate() {
            while subject.outstanding() >= 3 {
                subject.go_on(&mut random);
            }
            subject.submit(asked);
            for _ in 0..random.below(4) {
                subject.go_on(&mut random);
            }
            if random.below(10) > 0 {
                continue;
            }
            let elapsed = random_cut(&subject, &mut random);
            let elapsed = |die: u32| elapsed[die as usize];
            let mut remains = match self.with {
                With::Nothing | With::Trims => {
                    subject.cut(elapsed, &BadDrive::default(), &mut random)
                }
                With::Extras => {
                    let charge = [0, 1, 5, 1_000][random.below(4) as usize];
                    let bad = BadDrive {
                        torn_sector_bytes: [0, SECTOR_BYTES][random.below(2) as usize],
                        paired_loss_ppm: [0, 500_000][random.below(2) as usize],
                        pages_per_word_line: 2,
                    };
                    subject.fail(&elapsed, bad, charge, &mut random)
                }
            };
            // Sometimes the power fails again during the mount.
            while random.below(3) == 0
                && let Some(again) = cut_at_mount(&remains, &stack, &mut random)
            {
                remains = again;
                cuts += 1;
            }
            cuts += 1;
            let rest = future_of(&requests[number + 1..], pages, stack.config.strict_trim);
            subject.resume(hold(remains, &stack, &rest, "cut")?);
        }
        Ok(cuts)
    }
}

/// Cuts the power at every `step`-th moment of a short stream on a used device; returns the number of cuts.
fn cut_everywhere(scheme: &str, layer: (&str, &str), seed: u64, step: u64) -> Result<u64, String> {
    let mut random = Random::new(seed);
    let mut stack = stack(scheme, layer, &mut random);
    let pages = stack.build().device.pages();
    let requests = random_requests(pages, USED_BEFORE + SHORT_STREAM, seed);
    let future = future_of(&requests, pages, stack.config.strict_trim);
    stack.future = &future;
    let mut subject = Subject::new(&stack, Plant::Nothing);
    let (mut seen, mut cuts) = (seed, 0);
    for (number, asked) in requests.iter().enumerate() {
        let is_watched = number >= USED_BEFORE;
        while subject.outstanding() >= 3 {
            subject.go_on(&mut random);
            if is_watched {
                cuts += cut_now(&subject, &mut seen, step, &mut random)?;
            }
        }
        subject.submit(asked);
        if is_watched {
            cuts += cut_now(&subject, &mut seen, step, &mut random)?;
        }
        for _ in 0..random.below(4) {
            subject.go_on(&mut random);
            if is_watched {
                cuts += cut_now(&subject, &mut seen, step, &mut random)?;
            }
        }
    }
    Ok(cuts)
}

/// Cuts the power of copies of the subject: at each moment of each step that a die is executing, with the other
/// dies at random moments of their steps. The subject itself continues without a cut.
fn cut_now(
    subject: &Subject<'_>,
    seen: &mut u64,
    step: u64,
    random: &mut Random,
) -> Result<u64, String> {
    let mut moments = subject.moments();
    if moments.is_empty() {
        moments.push((0, vec![0]));
    }
    let mut cuts = 0;
    for (die, moments) in moments {
        for moment in moments {
            *seen += 1;
            if !seen.is_multiple_of(step) {
                continue;
            }
            let mut elapsed = random_cut(subject, random);
            elapsed[die as usize] = moment;
            let elapsed = |die: u32| elapsed[die as usize];
            let remains = subject.cut(elapsed, &BadDrive::default(), random);
            cuts += 1;
            if let Some(again) = cut_at_mount(&remains, subject.stack, random) {
                hold(again, subject.stack, &[], "cut in its mount")?;
                cuts += 1;
            }
            let pages = subject.rig.device.pages();
            let requests = random_requests(pages, 12, random.next_u64());
            let future = future_of(&requests, pages, subject.stack.config.strict_trim);
            let restored = hold(remains, subject.stack, &future, "cut")?;
            // The restored device continues, and loses its power once more.
            if random.below(8) == 0 {
                let mut next = Subject::new(subject.stack, Plant::Nothing);
                next.resume(restored);
                for asked in &requests {
                    next.submit(asked);
                    next.finish(random);
                }
                let remains = next.cut(|_| 0, &BadDrive::default(), random);
                hold(remains, subject.stack, &[], "second cut")?;
                cuts += 1;
            }
        }
    }
    Ok(cuts)
}

/// Mounts the remains and compares the mounted device with the ledger.
fn hold(
    remains: Remains,
    stack: &Stack<'_>,
    future: &[Lpn],
    what: &str,
) -> Result<Restored, String> {
    let restored = remains
        .restore(stack, future)
        .map_err(|error| format!("{what}: {error:?}"))?;
    // Two kinds of findings are allowed: losses that a bad drive reports, and old versions of trimmed sectors
    // that the ledger no longer remembers.
    let is_lost = |finding: &Finding| matches!(finding, Finding::Lost(_) | Finding::Forgotten);
    match restored
        .findings
        .iter()
        .all(|(_, finding)| is_lost(finding))
    {
        true => Ok(restored),
        false => Err(format!("{what}: {:?}", restored.findings)),
    }
}

/// The number of requests before the first cut of [`cut_everywhere`], and the number of requests during which the
/// function cuts the power.
const USED_BEFORE: usize = 120;
const SHORT_STREAM: usize = 30;

/// The value of `DESTAGE_CUTS`, or `None`.
fn cuts_asked() -> Option<u64> {
    let asked = std::env::var("DESTAGE_CUTS").ok();
    asked.map(|text| text.parse().expect("a number"))
}

/// Runs `work` for every scheme over every layer, on all cores; returns the total number of cuts.
fn every_pair(work: impl Fn(&str, (&str, &str), u64) -> Result<u64, String> + Sync) -> u64 {
    let layers = layers();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let cuts = AtomicU64::new(0);
    let thread = || {
        loop {
            let number = next.fetch_add(1, Atomic::Relaxed);
            let Some(row) = SCHEMES.get(number / layers.len()) else {
                return;
            };
            let layer = layers[number % layers.len()];
            let what = format!("{} over {layer:?}", row.name);
            let run = || {
                let done = work(row.name, layer, number as u64);
                let done = done.unwrap_or_else(|finding| panic!("{what}: {finding}"));
                cuts.fetch_add(done, Atomic::Relaxed);
            };
            if catch_unwind(AssertUnwindSafe(|| ftl_kit::about(&what, run))).is_err() {
                failed.fetch_add(1, Atomic::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(thread);
        });
    });
    assert_eq!(failed.into_inner(), 0, "pairs have failed");
    cuts.into_inner()
}

#[test]
fn a_cut_at_every_moment_keeps_what_was_promised() {
    let step = if cuts_asked().is_some() { 1 } else { 20 };
    let cuts = every_pair(|scheme, layer, seed| cut_everywhere(scheme, layer, seed, step));
    println!("{cuts} cuts at every moment");
    assert!(cuts > 10_000, "only {cuts} cuts");
}

/// Runs a campaign for every pair. The number of requests is chosen so that all campaigns together make about
/// `DESTAGE_CUTS` cuts, or `otherwise` cuts if the variable is not set.
fn campaigns(otherwise: u64, with: With) -> u64 {
    let pairs = (SCHEMES.len() * layers().len()) as u64;
    // On average, there is at least one cut per ten requests.
    let requests = 10 * cuts_asked().unwrap_or(otherwise).div_ceil(pairs) as usize + 100;
    every_pair(|scheme, layer, seed| {
        let campaign = Campaign {
            scheme,
            layer,
            seed,
            requests,
            plant: Plant::Nothing,
            with,
        };
        campaign.run().map(|cuts| cuts as u64)
    })
}

#[test]
fn cuts_at_random_again_and_again_keep_what_was_promised() {
    let cuts = campaigns(20_000, With::Nothing);
    println!("{cuts} cuts at random");
    assert!(cuts >= cuts_asked().unwrap_or(10_000), "only {cuts} cuts");
}

#[test]
fn capacitors_add_survivors_and_bad_drives_lose_by_name() {
    let cuts = campaigns(10_000, With::Extras);
    println!("{cuts} cuts with capacitors or in bad drives");
    assert!(cuts > 5_000, "only {cuts} cuts");
}

#[test]
fn blocks_that_were_trimmed_leave_room_to_mount() {
    let (seeds, least) = sampled((4, 3_000), (12, 10_000));
    let mut cuts = 0;
    for layer in layers() {
        for seed in 0..seeds {
            let campaign = Campaign {
                scheme: "lru",
                layer,
                seed,
                requests: 1_500,
                plant: Plant::Nothing,
                with: With::Trims,
            };
            match campaign.run() {
                Ok(done) => cuts += done,
                Err(finding) => panic!("{layer:?} {seed}: {finding}"),
            }
        }
    }
    assert!(cuts > least, "only {cuts} cuts");
}

/// Runs ten campaigns over `layer`, and returns how many of them find the planted bug `plant`.
fn found(plant: Plant, layer: (&str, &str)) -> usize {
    let campaigns = (0..10).map(|seed| Campaign {
        scheme: "lru",
        layer,
        seed,
        requests: 2_000,
        plant,
        with: With::Nothing,
    });
    campaigns.filter(|campaign| campaign.run().is_err()).count()
}

#[test]
fn every_planted_bug_is_found() {
    for layer in [("page", ""), ("fast", "")] {
        for plant in [
            Plant::EarlyFlush,
            Plant::NoFua,
            Plant::LateTrim,
            Plant::SpareFirst,
            Plant::TrustsTorn,
            Plant::FlushPerConnection,
        ] {
            assert!(found(plant, layer) > 5, "{plant:?} over {layer:?}");
        }
        assert_eq!(found(Plant::Nothing, layer), 0, "{layer:?}");
    }
}
