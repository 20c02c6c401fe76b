//! `superblock` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::superblock::{Rules, Superblocks};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2006);
    for round in 0..100 {
        let rules = Rules {
            dies: 1 + random.below(3),
            pages: [1, 2, 4, 8, 16, 64][random.below(6) as usize],
            logical: 1 + random.below(20),
            filled: random.below(2) == 0,
            blocks: 1 + random.below(5),
            updates: 1 + random.below(4) as usize,
            all_updates: 1 + random.below(9) as usize,
            hot_cold: random.below(4) > 0,
            map_cached: random.below(3) > 0,
        };
        let physical = rules.logical + rules.all_updates as u64 + 2;
        let word = |flag| if flag { "true" } else { "false" };
        let mut setup = Setup::new(
            "superblock",
            rules.dies as u32,
            physical as u32,
            rules.pages as u32,
        )
        .with("sb_blocks", &rules.blocks.to_string())
        .with("sb_update_blocks", &rules.updates.to_string())
        .with("log_blocks", &rules.all_updates.to_string())
        .with("sb_hotcold", word(rules.hot_cold))
        .with("sb_map_cached", word(rules.map_cached));
        setup.filled = rules.filled;
        let mut model = Superblocks::new(rules, physical);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}
