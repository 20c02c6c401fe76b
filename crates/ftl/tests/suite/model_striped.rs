//! `striped` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::{Lpn, Random};
use destage_ftl::{BuildError, PageWrite};
use destage_nand::operation::Tally;
use destage_nand::{Cause, Operations};
use kit::Setup;
use naive::Counts;
use naive::striped::{Rules, Striped};

/// Runs the same random operations on the layer and on the model. After each operation, the counts of both must be
/// equal.
fn compare(setup: &Setup, rules: &Rules, operations: u32, seed: u64) {
    let built = setup.build();
    let mut ftl = built.unwrap_or_else(|refusal| panic!("{refusal:?}"));
    let mut model = Striped::new(rules);
    let pages = ftl.pages();
    let row_pages = rules.dies * rules.planes * rules.pages;
    assert_eq!(pages as usize, rules.offered * row_pages);
    let mut random = Random::new(seed);
    let (mut tally, mut out) = (Tally::default(), Operations::default());
    let skewed = random.below(9);
    for step in 0..operations {
        let page = match random.below(10) {
            draw if draw < skewed => random.below(pages.div_ceil(6)),
            _ => random.below(pages),
        };
        out.clear();
        match random.below(20) {
            0 => {
                ftl.read(Lpn(page), &mut out).expect("room");
                model.read(page as usize);
            }
            1 => {
                ftl.trim(Lpn(page), &mut out).expect("room");
                model.trim(page as usize);
            }
            _ => {
                let die = ftl.place(Lpn(page), &|_| 0);
                assert_eq!(die as usize, model.place(), "step {step}: {rules:?}");
                loop {
                    out.clear();
                    let at = ftl.collects_at(die);
                    if !ftl.collect_garbage(at, 0, &mut out).expect("room") {
                        break;
                    }
                    tally.add(&out);
                }
                out.clear();
                let written = ftl.write(PageWrite::host(Lpn(page)), &mut out);
                written.unwrap_or_else(|full| panic!("{rules:?}: {full:?}"));
                model.write(page as usize, die as usize);
            }
        }
        tally.add(&out);
        assert_eq!(
            Counts::from(&tally),
            model.counts(),
            "step {step}, page {page}: {rules:?}"
        );
    }
    assert!(tally.programs[Cause::Host as usize] > 0);
}

#[test]
fn many_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2026);
    for round in 0..80 {
        let one_of = |random: &mut Random, of: &[usize]| of[random.below(of.len() as u64) as usize];
        let dies = one_of(&mut random, &[1, 2, 3]);
        let planes = one_of(&mut random, &[1, 1, 2]);
        let pages = one_of(&mut random, &[1, 2, 4, 7]);
        let offered = 2 + random.below(8) as usize;
        let low = 4 + random.below(2) as usize;
        let superblocks = offered + low + 2 + random.below(3) as usize;
        let stripe = one_of(&mut random, &[1, 1, 2]);
        let rules = Rules {
            dies,
            planes,
            superblocks,
            pages,
            offered,
            filled: random.below(2) == 0,
            low,
            grain: stripe * planes,
            step: one_of(&mut random, &[1, 1, 3]),
            whole: random.below(3) == 0,
            burst: 0,
        };
        let rules = Rules {
            burst: match rules.whole {
                true => 0,
                false => one_of(&mut random, &[0, 0, 1, 5]),
            },
            ..rules
        };
        let pace = match (rules.whole, rules.burst) {
            (true, _) => "whole",
            (false, 0) => "even",
            (false, _) => "burst",
        };
        let reserved = (superblocks - offered) as f64 + 0.5;
        let mut setup = Setup::new("striped", dies as u32, superblocks as u32, pages as u32)
            .with(
                "reserve_percent",
                &format!("{}", reserved * 100.0 / superblocks as f64),
            )
            .with("gc_low", &low.to_string())
            .with("gc_step_units", &rules.step.to_string())
            .with("stripe_units", &stripe.to_string())
            .with("gc_burst_units", &rules.burst.max(1).to_string())
            .with("gc_pace", pace);
        setup.geometry.planes = planes as u32;
        setup.filled = rules.filled;
        kit::about(format!("{rules:?}"), || {
            compare(&setup, &rules, 2_500, round)
        });
    }
}

/// Units of the drive's own take their turns among the dies. If they filled all that a die has of a superblock, the die
/// could not hold data, so such a layer is refused. Any other layer takes every write.
#[test]
fn units_of_the_drive_leave_room_for_data_on_each_die_or_are_refused() {
    let mut random = Random::new(31);
    let (mut refused, mut built) = (0, 0);
    for _ in 0..300 {
        let dies = 1 + random.below(9) as u32;
        let planes = 1 + random.below(2) as u32;
        let pages = 1 + random.below(6) as u32;
        let percent = 1 + random.below(50);
        let mut setup = Setup::new("striped", dies, 16, pages)
            .with("reserve_percent", "45")
            .with("own_percent", &percent.to_string());
        setup.geometry.planes = planes;
        setup.filled = random.below(2) == 0;
        let what = format!("{dies} dies, {planes} planes, {pages} pages, {percent} %");
        let mut ftl = match setup.build() {
            Ok(ftl) => ftl,
            Err(BuildError::NoDataUnit { units, .. }) => {
                assert_eq!(units, planes * pages, "{what}");
                refused += 1;
                continue;
            }
            Err(other) => panic!("{what}: {other:?}"),
        };
        built += 1;
        kit::about(what, || {
            let mut out = Operations::default();
            for _ in 0..1500 {
                let page = Lpn(random.below(ftl.pages()));
                let die = ftl.place(page, &|_| 0);
                loop {
                    out.clear();
                    let at = ftl.collects_at(die);
                    if !ftl.collect_garbage(at, 0, &mut out).expect("room") {
                        break;
                    }
                }
                out.clear();
                ftl.write(PageWrite::host(page), &mut out).expect("room");
            }
        });
    }
    assert!(refused > 10 && built > 100, "{refused} {built}");
}
