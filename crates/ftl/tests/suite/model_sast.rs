//! `sast` compared with its naive model, and in its extreme cases with `bast` and `fast`.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::{Device, Setup};
use naive::sast::{Rules, Sast};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2008);
    for round in 0..100 {
        let dies = 1 + random.below(3);
        let pages = [1, 2, 4, 8, 64][random.below(5) as usize];
        let logs = 1 + random.below(7);
        let logical = 2 + random.below(20);
        let rules = Rules {
            dies,
            pages: pages as usize,
            logs: logs as usize,
            group_blocks: 1 + random.below(6),
            group_logs: 1 + random.below(4) as usize,
            filled: random.below(2) == 0,
            partial: random.below(3) > 0,
            first_to_data: random.below(3) == 0,
            oldest: random.below(3) == 0,
        };
        let blocks = logical + logs + 2;
        let mut setup = Setup::new("sast", dies as u32, blocks as u32, pages as u32)
            .with("log_blocks", &logs.to_string())
            .with("group_blocks", &rules.group_blocks.to_string())
            .with("group_log_blocks", &rules.group_logs.to_string())
            .with("partial", if rules.partial { "true" } else { "false" })
            .with(
                "log_victim",
                if rules.oldest { "fifo" } else { "most_dead" },
            )
            .with(
                "first_write",
                if rules.first_to_data { "data" } else { "log" },
            );
        setup.filled = rules.filled;
        let mut model = Sast::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}

/// Checks that two layers do the same operations for the same writes.
fn assert_equal(one: &Setup, other: &Setup, seed: u64, is_allowed: impl Fn(u64) -> bool) {
    let (mut one, mut other) = (Device::new(one), Device::new(other));
    assert_eq!(one.pages(), other.pages());
    let mut random = Random::new(seed);
    let mut next = 0;
    for step in 0..20_000 {
        next = match random.below(3) {
            0 => random.below(one.pages()),
            1 => random.below(one.pages().div_ceil(5)),
            _ => (next + 1) % one.pages(),
        };
        if is_allowed(next) {
            one.write(next);
            other.write(next);
            assert_eq!(one.tally, other.tally, "step {step}");
            assert_eq!(one.merges.last(), other.merges.last(), "step {step}");
        }
    }
    assert!(!one.merges.is_empty());
}

#[test]
fn groups_of_one_block_with_one_log_block_are_bast() {
    for (pages, dies, filled) in [(4, 1, true), (2, 2, false), (16, 3, true), (8, 1, false)] {
        for partial in ["true", "false"] {
            let of = |name| {
                let mut setup = Setup::new(name, dies, 24, pages)
                    .with("log_blocks", "9")
                    .with("partial", partial);
                setup.filled = filled;
                setup
            };
            let sast = of("sast")
                .with("group_blocks", "1")
                .with("group_log_blocks", "1");
            let bast = of("bast").with("log_victim", "lru");
            assert_equal(&sast, &bast, u64::from(pages), |_| true);
        }
    }
}

/// Without a write to offset 0, `fast` never uses its sequential log block.
#[test]
fn one_group_with_all_log_blocks_is_fast_without_its_sequential_one() {
    for (pages, dies) in [(4, 1), (2, 2), (16, 3), (8, 1)] {
        let sast = Setup::new("sast", dies, 24, pages)
            .with("log_blocks", "3")
            .with("spare_blocks", "3")
            .with("group_blocks", "100")
            .with("group_log_blocks", "4")
            .with("log_victim", "fifo");
        let fast = Setup::new("fast", dies, 24, pages).with("log_blocks", "4");
        let is_allowed = |page| page % u64::from(pages) != 0;
        assert_equal(&sast, &fast, u64::from(pages), is_allowed);
    }
}
