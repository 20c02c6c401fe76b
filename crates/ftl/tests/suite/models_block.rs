//! `block` and `hybrid` compared with their naive models.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::block::{BlockMap, Rules as BlockRules};
use naive::hybrid::{Hybrid, Rules as HybridRules};

/// Random sizes: dies, pages per block, logical blocks per die, physical blocks per die.
fn shape(random: &mut Random) -> (u64, u64, u64, u64) {
    let dies = 1 + random.below(3);
    let pages = [1, 2, 4, 8, 64, 100][random.below(6) as usize];
    let logical = 1 + random.below(20);
    (dies, pages, logical, logical + 2 + random.below(2))
}

fn setup(ftl: &str, shape: (u64, u64, u64, u64), filled: bool, batch: bool) -> Setup {
    let (dies, pages, logical, blocks) = shape;
    let setup = Setup::new(ftl, dies as u32, blocks as u32, pages as u32)
        .with("spare_blocks", &(blocks - logical).to_string())
        .with("batch", if batch { "true" } else { "false" });
    if filled { setup } else { setup.empty() }
}

#[test]
fn a_million_operations_on_block_cost_what_the_naive_model_says() {
    let mut random = Random::new(3);
    for round in 0..100 {
        let shape = shape(&mut random);
        let (dies, pages, logical, blocks) = shape;
        let rules = BlockRules {
            dies,
            pages: pages as usize,
            filled: random.below(2) == 0,
            batch: random.below(3) > 0,
            in_order: random.below(3) > 0,
        };
        let in_order = if rules.in_order { "true" } else { "false" };
        let setup = setup("block", shape, rules.filled, rules.batch).with("in_order", in_order);
        let mut model = BlockMap::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}

#[test]
fn a_million_operations_on_hybrid_cost_what_the_naive_model_says() {
    let mut random = Random::new(4);
    for round in 0..100 {
        let shape = shape(&mut random);
        let (dies, pages, logical, blocks) = shape;
        let rules = HybridRules {
            dies,
            pages: pages as usize,
            filled: random.below(2) == 0,
            batch: random.below(3) > 0,
        };
        let setup = setup("hybrid", shape, rules.filled, rules.batch);
        let mut model = Hybrid::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}
