//! `last` compared with its naive model.

use crate::kit;
use crate::naive;

use destage_base::Random;
use kit::Setup;
use naive::last::{Last, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(42);
    for round in 0..100 {
        let dies = 1 + random.below(3);
        let pages = [1, 2, 4, 8, 64][random.below(5) as usize];
        let logs = 2 + random.below(8);
        let logical = 2 + random.below(20);
        let percent = [0, 30, 50, 50, 100][random.below(5) as usize];
        let window = [0, 40, 100, 100, 250][random.below(5) as usize];
        let sequential = (logs * percent / 100).clamp(1, logs - 1);
        let rules = Rules {
            dies,
            pages: pages as usize,
            sequential: sequential as usize,
            random: (logs - sequential) as usize,
            window: ((logs - sequential) * pages * window / 100) as usize,
            filled: random.below(2) == 0,
            partial: random.below(3) > 0,
            first_to_data: random.below(3) == 0,
        };
        let blocks = logical + logs + 2;
        let mut setup = Setup::new("last", dies as u32, blocks as u32, pages as u32)
            .with("log_blocks", &logs.to_string())
            .with("seq_log_percent", &percent.to_string())
            .with("hot_window_percent", &window.to_string())
            .with("partial", if rules.partial { "true" } else { "false" })
            .with(
                "first_write",
                if rules.first_to_data { "data" } else { "log" },
            );
        setup.filled = rules.filled;
        let mut model = Last::new(rules, logical, blocks);
        naive::compare(&setup, &mut model, 12_000, round);
    }
}
