//! What holds for all layers with log blocks that several logical blocks share.

mod kit;

use destage_base::Random;
use destage_flash::Cause;
use kit::{Device, Setup};

const LAYERS: [&str; 3] = ["fast", "sast", "last"];

/// Writes, some long, of which most go to the first `hot` pages.
fn write(device: &mut Device, operations: u32, hot: u64, seed: u64) {
    let mut random = Random::new(seed);
    let mut next = 0;
    for _ in 0..operations {
        next = match random.below(8) {
            0 => random.below(device.pages()),
            1..5 => random.below(hot),
            _ => (next + 1) % device.pages(),
        };
        if random.below(3) == 0 {
            device.write_long(next);
        } else {
            device.write(next);
        }
    }
}

fn figure(device: &Device, wanted: &str) -> f64 {
    let mut found = None;
    device.ftl.report(&mut |name, value| {
        if name == wanted {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("no {wanted}"))
}

#[test]
fn on_a_filled_device_all_pages_are_valid_ones() {
    for layer in LAYERS {
        let run = |copies| {
            let setup = Setup::new(layer, 2, 24, 8).with("merge_copies", copies);
            let mut device = Device::new(&setup);
            write(&mut device, 20_000, 40, 3);
            (device.tally, device.merges)
        };
        assert_eq!(run("valid"), run("all"), "{layer}");
    }
}

/// A log block of `pages` pages is of no more logical blocks than that, nor of more than share it.
#[test]
fn a_reclaimed_log_block_merges_no_more_blocks_than_can_be_in_it() {
    for layer in LAYERS {
        for (blocks, pages) in [(24, 4), (24, 16)] {
            let setup = Setup::new(layer, 1, blocks, pages);
            let most = if layer == "sast" { 4 } else { pages };
            let mut device = Device::new(&setup);
            let mut random = Random::new(8);
            for _ in 0..20_000 {
                // Offset 0 would begin a sequence in fast.
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
            device.ftl.reset_counters();
            assert_eq!(figure(&device, "log_victims"), 0.0);
        }
    }
}

#[test]
fn static_levelling_narrows_the_spread_of_erases() {
    for layer in LAYERS {
        let run = |levelling| {
            let setup = Setup::new(layer, 1, 40, 4)
                .with("wl", levelling)
                .with("wl_period", "20")
                .with("wl_gap", "4");
            let mut device = Device::new(&setup);
            let mut random = Random::new(5);
            for _ in 0..20_000 {
                device.write(random.below(16));
            }
            device.check();
            let wear = device.ftl.wear();
            (
                wear.max - wear.min,
                device.tally.programs[Cause::Wear as usize],
            )
        };
        let (spread_without, moved_without) = run("none");
        let (spread, moved) = run("static");
        assert_eq!(moved_without, 0);
        assert!(
            moved > 0 && spread < spread_without / 2,
            "{layer}: {spread} of {spread_without}, {moved} pages moved"
        );
    }
}

#[test]
fn an_element_without_a_log_block_for_each_sort_of_write_is_refused() {
    for layer in ["fast", "last"] {
        let refusal = Setup::new(layer, 3, 24, 4)
            .with("log_blocks", "5")
            .build()
            .err()
            .expect("a refusal");
        assert!(
            refusal.contains("ftl.log_blocks = 5") && refusal.contains("flash.elements = 3"),
            "{refusal}"
        );
    }
    let refusal = Setup::new("sast", 1, 6, 4)
        .with("log_blocks", "4")
        .build()
        .err()
        .expect("a refusal");
    assert!(refusal.contains("ftl.spare_blocks = 2"), "{refusal}");
}
