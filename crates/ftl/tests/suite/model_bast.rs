//! `bast` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::{Device, Setup};
use naive::bast::{Bast, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2002);
    for round in 0..100 {
        let dies = 1 + random.below(3);
        let pages = [1, 2, 4, 8, 64][random.below(5) as usize];
        let logs = 1 + random.below(5);
        let logical = 2 + random.below(20);
        let flag = |random: &mut Random| random.below(3) == 0;
        let victim = ["fifo", "fifo", "lru", "min_cost"][random.below(4) as usize];
        let rules = Rules {
            dies,
            pages: pages as usize,
            logs: logs as usize,
            filled: random.below(2) == 0,
            partial: !flag(&mut random),
            lru: victim == "lru",
            min_cost: victim == "min_cost",
            eager: flag(&mut random),
            first_to_data: flag(&mut random),
        };
        let blocks = logical + logs + 2;
        let mut setup = Setup::new("bast", dies as u32, blocks as u32, pages as u32)
            .with("log_blocks", &logs.to_string())
            .with("log_victim", victim)
            .with("partial", if rules.partial { "true" } else { "false" })
            .with(
                "merge_time",
                if rules.eager { "eager_switch" } else { "lazy" },
            )
            .with(
                "first_write",
                if rules.first_to_data { "data" } else { "log" },
            );
        setup.filled = rules.filled;
        let mut model = Bast::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}

/// With pages in any order, a page of a bound log block may be written again in the data block.
#[test]
fn a_log_block_with_an_old_copy_does_not_become_the_data_block() {
    let setup = Setup::new("bast", 1, 10, 4)
        .with("log_blocks", "2")
        .with("in_order", "false")
        .with("first_write", "data");
    let mut device = Device::new(&setup);
    device.trim(0);
    for page in [1, 1, 1, 1, 0, 0, 4, 8] {
        device.write(page);
        device.check();
    }
    assert_eq!(device.merges.len(), 2);
}
