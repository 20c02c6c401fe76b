//! Properties of every layer, with each value of each of its choices, on several kinds of small devices: a read
//! returns the last write, and the layer emits no operation that flash cannot do.

use crate::kit;

use destage_base::{Lpn, Random};
use destage_ftl::{BuildError, FTLS};
use destage_nand::Cause;
use destage_sample::sampled;

use kit::{Device, Setup, devices, variants};

/// The numbers of operations of a layer: with each setup at least the first, and with all setups together at least the
/// second. With `make whole` they are 60,000 and a million.
fn operations() -> (u32, u32) {
    sampled((15_000, 300_000), (60_000, 1_000_000))
}

/// Runs random writes, reads and trims. Some pages are used far more often than others, and some operations are in
/// sequence. Returns the number of pages that were trimmed together with others.
fn exercise(device: &mut Device, seed: u64, operations: u32) -> u64 {
    let mut random = Random::new(seed);
    let pages = device.pages();
    let (mut next, mut trimmed) = (0, 0);
    for step in 0..operations {
        let page = match random.below(8) {
            0..3 => random.below(pages),
            3..6 => random.below(pages.div_ceil(8)),
            _ => {
                next = (next + 1) % pages;
                next
            }
        };
        match random.below(20) {
            0..3 => device.read(page),
            3 if step % 64 == 0 => trimmed += device.trim_all(page..pages.min(page + pages / 2)),
            3 => device.trim(page),
            4 => device
                .write_for(page, Cause::Pad)
                .unwrap_or_else(|full| panic!("{full:?}")),
            5..9 => device.write_long(page),
            _ => device.write(page),
        }
        if step % 10_000 == 0 {
            device.check();
        }
    }
    device.check();
    trimmed
}

#[test]
fn reads_give_the_last_write_and_flash_is_used_as_it_can_be() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let (with_each, together) = operations();
        let (mut built, mut trimmed) = (0, 0);
        let mut operations = 0;
        let setups: Vec<Setup> = devices(row.name).iter().flat_map(variants).collect();
        // A fifth of the setups may be refused.
        let each = with_each.max(together / 5 * 6 / setups.len() as u32);
        for (number, setup) in setups.iter().enumerate() {
            match setup.build() {
                Ok(_) => built += 1,
                // The combination of parameters may be refused, but the device itself must be possible.
                Err(refusal) => {
                    assert!(
                        !matches!(
                            refusal,
                            BuildError::Geometry(_) | BuildError::TooManyPages { .. }
                        ),
                        "{setup:?}: {refusal:?}"
                    );
                    continue;
                }
            }
            kit::about(format!("{setup:?}"), || {
                trimmed += exercise(&mut Device::new(setup), number as u64, each);
            });
            operations += each;
        }
        assert!(
            2 * built > setups.len() && operations >= together,
            "{}: {built} of {} devices can be built, {operations} operations",
            row.name,
            setups.len()
        );
        // The trims of this layer read and write pages of the map.
        assert_eq!(trimmed > 0, row.name != "dftl", "{}", row.name);
    }
}

#[test]
fn a_device_that_is_filled_or_written_in_order_copies_nothing() {
    // Layers with a cache of one-bit cells are left out, because they copy every page out of the cache.
    for row in FTLS
        .iter()
        .filter(|row| row.has_flash && !row.has_cell_modes)
    {
        for setup in devices(row.name) {
            let mut device = Device::new(&setup);
            let pages = device.pages();
            for page in (0..pages).chain(0..pages) {
                device.write(page);
            }
            let copies = device.tally.programs[Cause::Copy as usize];
            assert_eq!(copies, 0, "{setup:?}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_operations() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let setup = &devices(row.name)[0];
        let run = || {
            let mut device = Device::new(setup);
            exercise(&mut device, 7, 5_000);
            (device.tally, device.merges)
        };
        assert_eq!(run(), run());
    }
}

/// Tries all sequences of a few writes and trims on four pages.
#[test]
fn every_short_sequence_on_two_blocks_of_two_pages() {
    let steps = sampled(4, 5);
    for row in FTLS.iter().filter(|row| row.has_flash) {
        for filled in [true, false] {
            let mut setup = Setup::new(row.name, 1, 10, 2);
            setup.filled = filled;
            setup.copy_back = true;
            for (parameter, value) in kit::small_settings(row.name) {
                setup = setup.with(parameter, value);
            }
            let pages = setup.build().expect("a layer").pages().min(4) as u32;
            let choices = 2 * pages;
            for sequence in 0..choices.pow(steps) {
                kit::about(format!("{sequence} on {setup:?}"), || {
                    let mut device = Device::new(&setup);
                    let mut left = sequence;
                    for _ in 0..steps {
                        let page = u64::from(left % pages);
                        match left / pages % 2 {
                            0 => device.write(page),
                            _ => device.trim(page),
                        }
                        left /= choices;
                    }
                    device.check();
                });
            }
        }
    }
}

#[test]
fn copying_all_pages_of_a_filled_device_is_copying_the_needed_ones() {
    let rows = FTLS.iter().filter(|row| {
        row.parameters
            .iter()
            .any(|parameter| parameter.name == "merge_copies")
    });
    for row in rows {
        let setup = &devices(row.name)[0];
        let run = |copies: &str| {
            let mut device = Device::new(&setup.clone().with("merge_copies", copies));
            let mut random = Random::new(3);
            for _ in 0..20_000 {
                let page = random.below(device.pages());
                device.write(page);
            }
            (device.tally, device.merges)
        };
        assert_eq!(run("valid"), run("all"), "{}", row.name);
    }
}

/// The difference in erases between the most and the least worn block after writes to a quarter of the pages.
fn spread_of_wear(setup: &Setup) -> u32 {
    let mut device = Device::new(setup);
    let hot = device.pages().div_ceil(4);
    let mut random = Random::new(5);
    for _ in 0..60_000 {
        let page = random.below(hot);
        device.write(page);
    }
    device.check();
    let (mut least, mut most) = (u32::MAX, 0);
    device.ftl.erases(&mut |_, _, erases| {
        least = least.min(erases);
        most = most.max(erases);
    });
    most - least
}

#[test]
fn static_wear_levelling_keeps_wear_together_where_cold_data_does_not_move() {
    let rows = FTLS.iter().filter(|row| {
        let mut parameters = row.parameters.iter();
        // Layers with a cache of one-bit cells are left out, because the blocks of the cache wear separately.
        !row.has_cell_modes && parameters.any(|parameter| parameter.name == "wl_period")
    });
    let mut levelled = 0;
    for row in rows {
        let setup = devices(row.name)[0]
            .clone()
            .with("wl_period", "20")
            .with("wl_gap", "4");
        let without = spread_of_wear(&setup);
        let with = spread_of_wear(&setup.with("wl", "static"));
        assert!(
            4 * with < without,
            "{}: erases differ by {without} without levelling and by {with} with it",
            row.name
        );
        levelled += 1;
    }
    assert!(levelled > 0, "no layer levels wear");
}

#[test]
fn pages_striped_in_runs_are_where_they_were_written() {
    for name in ["page", "dftl", "hat"] {
        for setup in devices(name) {
            let setup = setup.with("stride", "5");
            exercise(&mut Device::new(&setup), 11, 20_000);
        }
        let refusal = devices(name)[0].clone().with("stride", "1000").build();
        let refusal = refusal.err().expect("a refusal");
        assert!(
            matches!(refusal, BuildError::Stride { stride: 1000, .. }),
            "{refusal:?}"
        );
    }
}

#[test]
fn batches_on_parallel_units_keep_what_was_written() {
    for units in [2, 4] {
        for filled in [true, false] {
            let mut setup = Setup::new("page", 2, 12, 6)
                .with("reserve_percent", "40")
                .with("min_free_percent", "10");
            setup.geometry.planes = 4;
            setup.geometry.summary_page = true;
            setup.copy_back = true;
            setup.parallel_units = units;
            setup.filled = filled;
            let mut device = Device::new(&setup);
            let mut random = Random::new(u64::from(units));
            let pages = device.pages();
            for _ in 0..4_000 {
                let die = random.below(2) as u32;
                let mut draw = |most: u64| {
                    let mut drawn: Vec<Lpn> = (0..random.below(most))
                        .map(|_| Lpn(random.below(pages / 2) / 2 * 2 + u64::from(die)))
                        .collect();
                    drawn.sort_unstable();
                    drawn.dedup();
                    drawn
                };
                let (reads, writes) = (draw(4), draw(12));
                let writes: Vec<(Lpn, Cause)> =
                    writes.iter().map(|page| (*page, Cause::Host)).collect();
                let taken = device.serve(die, &reads, &writes);
                assert!(taken > 0 || writes.is_empty());
                if let Some((page, _)) = writes.first() {
                    device.trim(page.0);
                }
            }
            device.check();
            assert!(device.tally.programs[Cause::Copy as usize] > 100);
        }
    }
}

#[test]
fn rows_say_what_layers_do() {
    for row in FTLS {
        let mut setup = Setup::new(row.name, 2, 40, 8);
        setup.geometry.planes = 2;
        let built = setup.build().expect(row.name).properties();
        assert_eq!(
            built.open_blocks > 0,
            row.fills_blocks_in_turn,
            "{}",
            row.name
        );
        assert_eq!(built.places_writes, row.places_writes, "{}", row.name);
        assert_eq!(built.has_merges, row.has_merges, "{}", row.name);
        (setup.copy_back, setup.parallel_units) = (true, 2);
        let built = setup.build().expect(row.name).properties();
        assert_eq!(built.parallel_units > 1, row.groups_planes, "{}", row.name);
    }
}
