//! Layers that map by block report an error if a device is too small from the start, or if it wears out.

use crate::kit;

use destage_base::{Lpn, Random};
use destage_ftl::{BuildError, FtlConfig, PageWrite, Shortage};
use destage_nand::Operations;

use kit::{Setup, TIMING};

const LAYERS: [&str; 5] = ["block", "hybrid", "replacement", "bast", "superblock"];

#[test]
fn a_device_without_a_block_for_data_is_refused() {
    for layer in LAYERS {
        let logs = (!matches!(layer, "block" | "hybrid")).then_some(7);
        let needed = 2 + logs.unwrap_or(0);
        let refusal = Setup::new(layer, 1, needed, 4).build().err();
        let refusal = refusal.unwrap_or_else(|| panic!("{layer} needs more blocks"));
        let no_data_block = BuildError::NoDataBlock {
            blocks: needed,
            logs,
            spare: 2,
        };
        assert_eq!(refusal, no_data_block, "{layer}");
        assert!(Setup::new(layer, 1, needed + 1, 4).build().is_ok());
    }
}

#[test]
fn a_device_whose_blocks_retire_ends_by_saying_so() {
    for layer in LAYERS {
        let setup = Setup::new(layer, 1, 20, 4);
        let built = (setup.row().build)(&FtlConfig {
            units_per_page: 1,
            program_unit: 1,
            program_passes: 1,
            bits_per_cell: 2,
            geometry: setup.geometry,
            erase_dates: TIMING,
            copy_back: false,
            parallel_units: 1,
            endurance: 5,
            retire: true,
            power_may_fail: false,
            filled: true,
            seed: 1,
            values: &setup.values(),
        });
        let mut ftl = built.expect("a device");
        let mut random = Random::new(1);
        let mut operations = Operations::default();
        let mut written = 0;
        let full = loop {
            assert!(written < 1_000_000, "{layer} never wears out");
            let page = Lpn(random.below(ftl.pages()));
            operations.clear();
            match ftl.write(PageWrite::host(page), &mut operations) {
                Ok(()) => written += 1,
                Err(full) => break full,
            }
        };
        assert!(
            matches!(*full, Shortage::Spare { blocks: 20, retired, endurance: 5 } if retired > 0),
            "{layer}: {full:?}"
        );
        let mut worn = 0;
        ftl.erases(&mut |_, _, erases| worn += u64::from(erases == 5));
        assert_eq!(ftl.retired(), worn, "{layer}");
        assert!(ftl.wear().max <= 5, "{layer}: {:?}", ftl.wear());
        for page in 0..ftl.pages() {
            operations.clear();
            ftl.read(Lpn(page), &mut operations)
                .expect("a page that is read");
        }
    }
}
