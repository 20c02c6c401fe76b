//! Tests every scheme over every translation layer, through the device. The tests check the contents of each
//! sector: the data that reads return, the data that an answered flush has made durable, and the data on the
//! medium at the end.
//!
//! Several requests are in the device at a time; they overlap and end in any order. Flash commands end at once or
//! much later, and alarms fire at random times. The checks use only requests, answers and ended programs, and no
//! rule of the device.
//!
//! `DESTAGE_MATRIX` is the number of requests for each pair of a scheme and a layer; `make matrix` sets it to a
//! million.

use crate::ftl_kit;
mod host;
use crate::kit;
pub mod pairs;
pub mod requests;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};

use destage_base::Random;
use destage_buffer::SCHEMES;
use destage_device::Ordering;
use destage_sample::sampled;
use host::Host;
use kit::Stack;
use requests::{Asked, future_of, random_requests, real_requests};

/// The number of requests for each pair if `DESTAGE_MATRIX` is not set; a sample has half as many.
const REQUESTS: usize = 3_000;
/// The number of requests after which a pair starts again on a device with other settings.
const ROUND: usize = 20_000;

/// The layers of [`pairs::layers`]; the layer with dynamic placement (`placed`) is in the list twice.
fn layers() -> Vec<(&'static str, &'static str)> {
    let mut layers = pairs::layers();
    layers.push(("page", "placed"));
    layers
}

/// A device with `scheme` over `layer`; its other settings are random.
fn stack<'a>(scheme: &'a str, layer: (&'a str, &'a str), random: &mut Random) -> Stack<'a> {
    let mut stack = pairs::stack(scheme, layer, random, |_, _| {});
    let mut draw = |count: u64| random.below(count);
    let row = destage_buffer::find(scheme).expect("a scheme");
    if row.parameters.iter().any(|row| row.name == "epo_pool") {
        let pools = ["corrected", "every_queue", "printed"];
        stack.scheme_settings.extend([
            ("epo_key", ["logical", "physical"][draw(2) as usize]),
            ("epo_pool", pools[draw(3) as usize]),
        ]);
    }
    stack
}

/// A bug that is planted in the device or its driver on purpose.
#[derive(Clone, Copy, Default)]
struct Plant {
    ordering: Ordering,
    /// Whether flushes are answered as soon as they are accepted.
    lies: bool,
}

/// Runs one pair for `count` requests. `source` makes the requests from the number of pages, the number of
/// requests and a seed.
fn pair(
    scheme: &str,
    layer: (&str, &str),
    seed: u64,
    count: usize,
    source: fn(u64, usize, u64) -> Vec<Asked>,
    plant: Plant,
) {
    let mut random = Random::new(seed);
    let round = ROUND.min(count.div_ceil(3));
    for number in 0..count.div_ceil(round) {
        let seed = random.next_u64();
        let mut stack = stack(scheme, layer, &mut random);
        stack.config.ordering = plant.ordering;
        let pages = stack.build().device.pages();
        let requests = source(pages, round, seed);
        let future = future_of(&requests, pages, stack.config.strict_trim);
        stack.future = &future;
        let run = || {
            let mut host = Host::new(&stack, seed);
            host.lies = plant.lies;
            host.run(&requests);
        };
        if IS_QUIET.get() {
            run();
        } else {
            let what = format!(
                "{scheme} {:?} of {} pages over {layer:?}, {:?}, filled: {}, round {number}",
                stack.scheme_settings, stack.capacity, stack.config, stack.filled
            );
            ftl_kit::about(what, run);
        }
    }
}

fn requests_asked() -> usize {
    let asked = std::env::var("DESTAGE_MATRIX").ok();
    asked.map_or(sampled(REQUESTS / 4, REQUESTS), |text| {
        text.parse().expect("a number")
    })
}

/// Runs all pairs of a scheme and a layer, on all processor cores.
fn every_pair(source: fn(u64, usize, u64) -> Vec<Asked>) {
    let layers = layers();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Atomic::Relaxed);
            let Some(row) = SCHEMES.get(number / layers.len()) else {
                return;
            };
            let layer = layers[number % layers.len()];
            let run = || {
                let seed = number as u64;
                pair(
                    row.name,
                    layer,
                    seed,
                    requests_asked(),
                    source,
                    Plant::default(),
                );
            };
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                failed.fetch_add(1, Atomic::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    assert_eq!(failed.into_inner(), 0, "pairs have failed");
}

#[test]
fn every_scheme_over_every_layer_keeps_what_was_written_last() {
    every_pair(random_requests);
}

#[test]
#[ignore = "needs recorded traces"]
fn every_scheme_over_every_layer_keeps_what_a_real_trace_wrote() {
    every_pair(|pages, count, _| real_requests(pages, count));
}

thread_local! {
    /// Whether a panic is expected on this thread.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The finding of the matrix for `bplru` over page mapping with `plant`; `None` if it finds nothing.
fn finding(plant: Plant) -> Option<String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                usual(panic);
            }
        }));
    });
    IS_QUIET.set(true);
    let run = || pair("bplru", ("page", ""), 5, 3_000, random_requests, plant);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_QUIET.set(false);
    let panic = result.err()?;
    Some(panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn the_matrix_sees_effects_that_overtake_each_other() {
    let plant = Plant {
        ordering: Ordering::Reference,
        ..Plant::default()
    };
    let found = finding(plant).expect("writes overtake each other unseen");
    assert!(found.contains("page"), "{found}");
    assert_eq!(finding(Plant::default()), None);
}

#[test]
fn the_matrix_sees_a_flush_that_is_answered_early() {
    let plant = Plant {
        lies: true,
        ..Plant::default()
    };
    let found = finding(plant).expect("a flush is answered early unseen");
    assert!(found.contains("is not durable"), "{found}");
}
