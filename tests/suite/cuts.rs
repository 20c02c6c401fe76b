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
use destage_flash::ftl::FTLS;
use destage_flash::medium::BadDrive;

use kit::{Stack, TIMING};
use requests::{SECTORS, future_of, random_requests};
use subject::{Plant, Remains, Subject};

/// `scheme` over `layer`, with the rest at random.
fn stack<'a>(scheme: &'a str, layer: (&'a str, &'a str), random: &mut Random) -> Stack<'a> {
    let mut draw = |count: u64| random.below(count);
    let capacity = [12, 1, 2, 12][draw(4) as usize];
    let dies = 1 + draw(3) as u32 + u32::from(layer.1 == "placed");
    let mut stack = Stack::new(scheme, capacity, layer.0, dies, 20);
    stack.layer_settings = flash_kit::small_settings(layer.0).to_vec();
    match layer.1 {
        "batches" => {
            (stack.geometry.planes, stack.parallel_units) = (2, 2);
            stack.geometry.blocks_per_plane = 14;
            stack.copy_back = true;
        }
        "placed" => stack.layer_settings.push(("placement", "dynamic")),
        _ => {}
    }
    stack.sectors = SECTORS as usize;
    stack.filled = draw(3) > 0;
    stack.config.blocks_per_die = stack.geometry.blocks_per_die();
    stack.config.volatile_cache = draw(6) > 0;
    stack.config.strict_trim = draw(3) == 0;
    stack.scheme_settings = vec![
        ("release", ["complete", "issue"][draw(2) as usize]),
        ("bypass_pages", ["0", "4"][draw(2) as usize]),
        ("pad_charge_reads", ["true", "false"][draw(2) as usize]),
        ("pad_unwritten", ["fill", "stop_at_last"][draw(2) as usize]),
        ("bg_destage", ["false", "true"][draw(2) as usize]),
        ("bg_high", "0.4"),
        ("bg_low", "0.1"),
        ("bg_again", ["record", "page"][draw(2) as usize]),
    ];
    let row = destage_buffer::find(scheme).expect("a scheme");
    if row.parameters.iter().any(|row| row.name == "tier_bytes") {
        stack.scheme_settings.push(("tier_bytes", "65536"));
    }
    stack
}

/// What is left if the power fails once more in a step of the mount; none if there is no such step.
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

/// The layers, and those of them that the device serves in a way of its own.
fn layers() -> Vec<(&'static str, &'static str)> {
    let rows = FTLS.iter().filter(|row| row.has_flash);
    let mut layers: Vec<_> = rows.map(|row| (row.name, "")).collect();
    layers.extend([("page", "batches"), ("page", "placed")]);
    layers
}

fn cut_at_random(scheme: &str, layer: (&str, &str), seed: u64, count: usize) -> usize {
    let mut random = Random::new(seed);
    let mut stack = stack(scheme, layer, &mut random);
    let pages = stack.build().device.pages();
    let requests = random_requests(pages, 10 * count, seed);
    let future = future_of(&requests, pages, stack.config.strict_trim);
    stack.future = &future;
    let mut subject = Subject::new(&stack, Plant::Nothing);
    let mut cuts = 0;
    for asked in requests {
        while subject.outstanding() >= 3 {
            subject.go_on(&mut random);
        }
        subject.submit(&asked);
        for _ in 0..random.below(4) {
            subject.go_on(&mut random);
        }
        if random.below(10) == 0 {
            let elapsed = random_cut(&subject, &mut random);
            let mut remains = subject.cut(
                |die| elapsed[die as usize],
                &BadDrive::default(),
                &mut random,
            );
            // Sometimes the power fails again while blocks are put in order.
            while random.below(3) == 0 {
                match cut_at_mount(&remains, &stack, &mut random) {
                    Some(again) => remains = again,
                    None => break,
                }
                cuts += 1;
            }
            let restored = remains.restore(&stack, &mut |_, _| {}).expect("a mount");
            assert_eq!(restored.findings, [], "cut {cuts}");
            subject.resume(restored);
            cuts += 1;
        }
    }
    cuts
}

#[test]
fn random_cuts_over_every_layer() {
    for layer in layers() {
        flash_kit::about(format!("{layer:?}"), || {
            for seed in 0..8 {
                flash_kit::about(format!("seed {seed}"), || {
                    let cuts = cut_at_random("lru", layer, seed, 300);
                    assert!(cuts > 100);
                });
            }
        });
    }
}
