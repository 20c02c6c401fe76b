//! Properties of all layers in which several logical blocks share a log block.

use crate::kit;

use destage_base::Random;
use destage_ftl::BuildError;
use kit::{Device, Setup};

const LAYERS: [&str; 3] = ["fast", "sast", "last"];

fn figure(device: &Device, wanted: &str) -> f64 {
    let mut found = None;
    device.ftl.report(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("no {wanted}"))
}

/// A log block of `pages` pages can hold pages of at most `pages` logical blocks, and only of logical blocks that
/// share the log block. So a reclaimed log block must not cause more merges than the smaller of these two numbers.
#[test]
fn a_reclaimed_log_block_merges_no_more_blocks_than_can_be_in_it() {
    for layer in LAYERS {
        for (blocks, pages) in [(24, 4), (24, 16)] {
            let setup = Setup::new(layer, 1, blocks, pages);
            let most = if layer == "sast" { 4 } else { pages };
            let mut device = Device::new(&setup);
            let mut random = Random::new(8);
            for _ in 0..20_000 {
                // Offset 0 is not written, since a write to offset 0 begins a sequence in `fast`.
                let block = random.below(device.pages() / u64::from(pages));
                let offset = 1 + random.below(u64::from(pages) - 1);
                device.write(block * u64::from(pages) + offset);
            }
            let associativity = figure(&device, "associativity");
            assert!(
                associativity > 1.0 && associativity <= f64::from(most),
                "{layer}: {associativity}"
            );
            let told = figure(&device, "log_merged_blocks") / figure(&device, "log_victims");
            assert_eq!(associativity, told);
            device.ftl.reset_figures();
            assert_eq!(figure(&device, "log_victims"), 0.0);
        }
    }
}

#[test]
fn an_die_without_a_log_block_for_each_sort_of_write_is_refused() {
    for layer in ["fast", "last"] {
        let row = destage_ftl::find(layer).expect("a layer");
        let logs = row.parameters.iter().find(|row| row.name == "log_blocks");
        let logs = logs.expect("a parameter");
        assert!(logs.read("1").is_err() && logs.read("2").is_ok(), "{layer}");
    }
    let refusal = Setup::new("sast", 1, 6, 4)
        .with("log_blocks", "4")
        .build()
        .err()
        .expect("a refusal");
    assert!(
        matches!(refusal, BuildError::NoDataBlock { spare: 2, .. }),
        "{refusal:?}"
    );
}
