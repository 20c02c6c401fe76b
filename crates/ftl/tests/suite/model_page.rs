//! `page` compared with its naive model, under each policy that chooses victims differently.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::page::{Page, Policy, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2008);
    for round in 0..160 {
        let draws = 1 + random.below(12) as usize;
        let (policy, name) = [
            (Policy::Greedy, "greedy"),
            (Policy::CostBenefit, "cost_benefit"),
            (Policy::Fifo, "fifo"),
            (Policy::DChoices(draws), "d_choices"),
            (Policy::GreedyWear, "greedy_wear"),
        ][round % 5];
        let dies = 1 + random.below(3);
        let pages = [1, 2, 4, 7, 16][random.below(5) as usize];
        let separate = random.below(2) == 0;
        let low = 2 + random.below(3) as usize;
        let high = low + random.below(3) as usize;
        let reserved = high + 1 + usize::from(separate) + random.below(4) as usize;
        let logical_blocks = 2 + random.below(12) as usize;
        let blocks = logical_blocks + reserved;
        let wear = ["none", "none", "dynamic", "static"][random.below(4) as usize];
        let rules = Rules {
            dies,
            blocks,
            pages,
            logical_blocks,
            map_pages: 0,
            filled: random.below(2) == 0,
            policy,
            separate,
            low,
            high,
            // A low endurance, so that blocks differ in their remaining life.
            endurance: 60,
            least_worn: wear != "none",
            levelling: (wear == "static").then_some((7, 3)),
            seed: round as u64,
        };
        let mut setup = Setup::new("page", dies as u32, blocks as u32, pages as u32)
            .with("gc_policy", name)
            .with("gc_choices", &draws.to_string())
            .with("wl", wear)
            .with("wl_period", "7")
            .with("wl_gap", "3")
            .with("separate_gc_block", if separate { "true" } else { "false" })
            .with("gc_low", &low.to_string())
            .with("gc_high", &high.to_string())
            .with("reserve_percent", &percent(reserved, blocks));
        setup.filled = rules.filled;
        setup.endurance = 60;
        setup.seed = rules.seed;
        let pages_of = setup.build().map(|ftl| ftl.pages());
        let logical = dies * (logical_blocks * pages) as u64;
        assert_eq!(pages_of, Ok(logical), "{setup:?}");
        let mut model = Page::new(rules);
        naive::compare(&setup, &mut model, 8_000, round as u64);
    }
}

/// A reserve in percent with which exactly `reserved` of `blocks` blocks are reserved.
fn percent(reserved: usize, blocks: usize) -> String {
    format!("{:.9}", (reserved as f64 + 0.5) / blocks as f64 * 100.0)
}

/// Wear levelling must not lose pages. The device is so small and so worn that wear levelling moves data often.
#[test]
fn levelled_devices_keep_what_was_written() {
    for settings in [
        vec![("wl", "static"), ("wl_period", "7"), ("wl_gap", "3")],
        vec![("gc_policy", "greedy_wear"), ("wl_migrate", "true")],
        vec![("gc_policy", "wear_aware")],
    ] {
        for copy_back in [true, false] {
            let mut setup = Setup::new("page", 2, 24, 4).with("reserve_percent", "40");
            for (name, value) in &settings {
                setup = setup.with(name, value);
            }
            setup.geometry.planes = 2;
            setup.copy_back = copy_back;
            setup.endurance = 600;
            if setup.build().is_err() {
                assert_eq!((settings[0].1, copy_back), ("wear_aware", false));
                continue;
            }
            let mut device = kit::Device::new(&setup);
            let mut random = Random::new(3);
            let pages = device.pages();
            for _ in 0..40_000 {
                device.write(random.below(pages / 8));
            }
            device.check();
            let wear = destage_nand::Cause::Wear as usize;
            assert!(device.tally.programs[wear] > 0, "{setup:?}");
        }
    }
}
