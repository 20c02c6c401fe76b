//! `replacement` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::replacement::{Replacement, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(1995);
    for round in 0..100 {
        let rules = Rules {
            dies: 1 + random.below(3),
            pages: [1, 2, 4, 8, 64, 100][random.below(6) as usize],
            filled: random.below(2) == 0,
            in_order: random.below(3) == 0,
            chain: 2 + random.below(4) as usize,
            replacements: 1 + random.below(8) as usize,
        };
        let logical = 1 + random.below(20);
        let blocks = logical + rules.replacements as u64 + 2;
        let mut setup = Setup::new(
            "replacement",
            rules.dies as u32,
            blocks as u32,
            rules.pages as u32,
        )
        .with("log_blocks", &rules.replacements.to_string())
        .with("chain_blocks", &rules.chain.to_string())
        .with("in_order", if rules.in_order { "true" } else { "false" });
        setup.filled = rules.filled;
        let mut model = Replacement::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}
