//! `fast` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::fast::{Fast, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2007);
    for round in 0..100 {
        let dies = 1 + random.below(3);
        let pages = [1, 2, 4, 8, 64][random.below(5) as usize];
        let logs = 2 + random.below(5);
        let logical = 2 + random.below(20);
        let rules = Rules {
            dies,
            pages: pages as usize,
            random: logs as usize - 1,
            filled: random.below(2) == 0,
            partial: random.below(3) > 0,
            mismatch_to_random: random.below(2) == 0,
            first_to_data: random.below(3) > 0,
        };
        let blocks = logical + logs + 2;
        let mut setup = Setup::new("fast", dies as u32, blocks as u32, pages as u32)
            .with("log_blocks", &logs.to_string())
            .with("partial", if rules.partial { "true" } else { "false" })
            .with(
                "sw_mismatch",
                if rules.mismatch_to_random {
                    "rw"
                } else {
                    "merge"
                },
            )
            .with(
                "first_write",
                if rules.first_to_data { "data" } else { "log" },
            );
        setup.filled = rules.filled;
        let mut model = Fast::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}
