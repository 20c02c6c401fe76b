//! `page` compared with a naive model, with writes that are divided into streams, garbage collection in steps, and
//! units that share a page of flash.

use crate::kit;
use crate::naive;

use destage_base::{Lpn, Random};
use destage_ftl::PageWrite;
use destage_nand::operation::Tally;
use destage_nand::{Cause, Operations};
use kit::Setup;
use naive::Counts;
use naive::streams::{Die, Rules, Separation};

/// A reserve in percent with which exactly `reserved` of `blocks` blocks are reserved.
fn percent(reserved: usize, blocks: usize) -> String {
    format!("{:.9}", (reserved as f64 + 0.5) / blocks as f64 * 100.0)
}

fn setup(rules: &Rules) -> Setup {
    let reserved = rules.blocks - rules.logical_blocks;
    let mut setup = Setup::new("page", 1, rules.blocks as u32, rules.pages as u32)
        .with("separate_gc_block", "true")
        .with("gc_low", &rules.low.to_string())
        .with("gc_high", &rules.high.to_string())
        .with("gc_hard_threshold", &rules.floor.to_string())
        .with("gc_step_pages", &rules.step.to_string())
        .with("reserve_percent", &percent(reserved, rules.blocks));
    setup.units_per_page = rules.units as u32;
    if let Some((changes, pages)) = rules.journal {
        setup = setup
            .with("journal_changes", &changes.to_string())
            .with("journal_pages", &pages.to_string());
    }
    let Separation {
        handles,
        isolates,
        window,
    } = rules.separation;
    setup
        .with("hot_window", &window.to_string())
        .with("handles", &handles.to_string())
        .with(
            "handle_isolation",
            if isolates { "persistent" } else { "initial" },
        )
}

/// Runs the same random writes and trims on the layer and on the model. Between two of them, a random number of
/// steps of garbage collection runs, and more steps as long as garbage collection is urgent.
fn compare(rules: Rules, seed: u64) -> (Tally, Vec<(String, f64)>) {
    let setup = setup(&rules);
    let mut ftl = setup
        .build()
        .unwrap_or_else(|why| panic!("{why:?}: {rules:?}"));
    let mut model = Die::new(rules);
    let mut random = Random::new(seed);
    let (mut tally, mut out) = (Tally::default(), Operations::default());
    let pages = ftl.pages();
    assert_eq!(pages, (rules.logical_blocks * rules.pages) as u64);
    let mut copy_reads = 0;
    for step in 0..6_000 {
        let page = match random.below(4) {
            0 => random.below(pages),
            _ => random.below(pages.div_ceil(5)),
        };
        let mut steps = 0;
        let most = if rules.step > 0 {
            random.below(3)
        } else {
            u64::MAX
        };
        while steps < most || ftl.collects_before_writes(0) {
            let is_urgent = ftl.collects_before_writes(0);
            assert_eq!(is_urgent, model.is_urgent(), "{rules:?} at {step}");
            out.clear();
            let was_one = ftl.collect_garbage(0, step, &mut out).expect("room");
            assert_eq!(was_one, model.collect(), "{rules:?} at {step}");
            if !was_one {
                break;
            }
            tally.add(&out);
            steps += 1;
        }
        out.clear();
        match random.below(12) {
            0 => {
                ftl.trim(Lpn(page), &mut out).expect("room");
                model.trim(page);
            }
            _ => {
                let handle = page % 3 + random.below(2);
                ftl.hint(Lpn(page), handle as u32);
                model.hint(page, handle);
                let write = PageWrite {
                    has_stream: true,
                    ..PageWrite::host(Lpn(page))
                };
                ftl.write(write, &mut out).expect("room");
                model.write(page);
            }
        }
        tally.add(&out);
        copy_reads += tally.reads[Cause::Copy as usize];
        tally.reads[Cause::Copy as usize] = 0;
        assert_eq!(Counts::from(&tally), model.counts, "{rules:?} at {step}");
        assert_eq!(copy_reads, model.copy_reads, "{rules:?} at {step}");
    }
    let mut figures = Vec::new();
    ftl.report(&mut |name, value| figures.push((name.to_owned(), value)));
    let handles = rules.separation.handles as usize;
    for handle in (0..handles).filter(|_| handles > 1) {
        let of_handle = model.told.iter().skip(handle).step_by(handles);
        let (written, moved) = of_handle.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let of = |name: &str| {
            let name = format!("handle_{handle}_{name}");
            figures
                .iter()
                .find(|(other, _)| *other == name)
                .map(|(_, value)| *value)
        };
        if written > 0 {
            assert_eq!(of("writes"), Some(written as f64));
            assert_eq!(of("waf"), Some((written + moved) as f64 / written as f64));
        }
    }
    if rules.separation.window > 0 {
        let hot: u64 = model.told[handles..]
            .iter()
            .map(|(written, _)| written)
            .sum();
        let found = figures.iter().find(|(name, _)| name == "hot_writes");
        assert_eq!(found.map(|(_, value)| *value), Some(hot as f64));
    }
    (tally, figures)
}

#[test]
fn streams_steps_and_units_cost_what_the_naive_model_says() {
    let mut random = Random::new(2026);
    for round in 0..60 {
        let has_handles = [1, 2, 4, 5].contains(&(round % 6));
        let separation = Separation {
            handles: if has_handles { 2 + random.below(4) } else { 1 },
            isolates: [2, 5].contains(&(round % 6)),
            window: if round % 6 > 2 {
                1 + random.below(60)
            } else {
                0
            },
        };
        let kept = if separation.isolates {
            separation.handles as usize - 1
        } else {
            0
        };
        let told = separation.streams() - 1;
        let pages = [2, 4, 8, 12][random.below(4) as usize];
        let journal =
            (round % 5 == 0).then(|| (1 + random.below(20), 1 + random.below(20) as usize));
        let map_blocks = journal.map_or(0, |(_, of_map)| 1 + of_map.div_ceil(pages));
        let least = if journal.is_some() { 4 } else { 2 + kept };
        let low = least + random.below(3) as usize;
        let high = low + random.below(3) as usize;
        let logical_blocks = 3 + random.below(12) as usize;
        let reserved = high + 2 + told + kept + map_blocks + random.below(4) as usize;
        let rules = Rules {
            blocks: logical_blocks + reserved,
            pages,
            journal,
            logical_blocks,
            low,
            high,
            floor: least + 1 + random.below(3) as usize,
            step: if told == 0 || random.below(2) == 0 {
                1 + random.below(5) as usize
            } else {
                0
            },
            separation,
            units: [1, 2, 4][random.below(3) as usize],
        };
        compare(rules, round);
    }
}

/// Streams must reduce the number of moved pages. In this test, nine of ten writes are to a sixteenth of the
/// pages; the others are to any page.
#[test]
fn what_is_told_apart_moves_less() {
    let copies = |separation: &[(&str, &str)]| {
        let mut setup = Setup::new("page", 1, 256, 16).with("reserve_percent", "15");
        for (name, value) in separation {
            setup = setup.with(name, value);
        }
        let mut device = kit::Device::new(&setup);
        let mut random = Random::new(7);
        let pages = device.pages();
        for _ in 0..40_000 {
            let is_hot = random.below(10) > 0;
            let page = if is_hot {
                random.below(pages / 16)
            } else {
                random.below(pages)
            };
            device.ftl.hint(Lpn(page), u32::from(page < pages / 16));
            device.write(page);
        }
        device.check();
        device.tally.programs[Cause::Copy as usize]
    };
    let (together, handles) = (copies(&[]), copies(&[("handles", "2")]));
    let isolated = copies(&[("handles", "2"), ("handle_isolation", "persistent")]);
    let hot = copies(&[("hot_window", "600")]);
    let all = [together, handles, isolated, hot];
    assert!(handles < together && hot < together, "{all:?}");
    assert!(isolated * 10 < together * 9, "{all:?}");
}
