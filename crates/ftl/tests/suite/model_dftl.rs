//! `dftl` compared with its naive model, and with `page` if all mappings fit into RAM.

use crate::kit;
use crate::naive;

use destage_base::Random;
use destage_nand::Cause;
use kit::{Device, Setup};
use naive::dftl::{Dftl, MapRules};
use naive::page::{Policy, Rules};

#[test]
fn a_million_operations_cost_what_the_naive_model_says() {
    let mut random = Random::new(2009);
    for round in 0..140 {
        let dies = 1 + random.below(3);
        let pages = [2, 4, 7, 16][random.below(4) as usize];
        let separate = random.below(2) == 0;
        let low = 4 + random.below(2) as usize;
        let high = low + random.below(3) as usize;
        let logical_blocks = 2 + random.below(12) as usize;
        let map = MapRules {
            entries: 1 + random.below(20) as usize,
            per_page: 1 + random.below(16),
            segments: random.below(2) == 0,
            batch: random.below(2) == 0,
        };
        let map_pages = (logical_blocks * pages).div_ceil(map.per_page as usize);
        let open = 2 + usize::from(separate);
        let reserved = high + open + map_pages.div_ceil(pages) + random.below(4) as usize;
        let blocks = logical_blocks + reserved;
        let rules = Rules {
            dies,
            blocks,
            pages,
            logical_blocks,
            map_pages,
            filled: random.below(2) == 0,
            policy: Policy::Greedy,
            separate,
            low,
            high,
            endurance: 1_000_000,
            least_worn: false,
            levelling: None,
            seed: round,
        };
        let percent = (reserved as f64 + 0.5) / blocks as f64 * 100.0;
        let mut setup = Setup::new("dftl", dies as u32, blocks as u32, pages as u32)
            .with("cmt_entries", &(map.entries as u64 * dies).to_string())
            .with("mappings_per_page", &map.per_page.to_string())
            .with("cmt_policy", if map.segments { "slru" } else { "lru" })
            .with("batch_update", if map.batch { "true" } else { "false" })
            .with("separate_gc_block", if separate { "true" } else { "false" })
            .with("gc_low", &low.to_string())
            .with("gc_high", &high.to_string())
            .with("reserve_percent", &format!("{percent:.9}"));
        setup.filled = rules.filled;
        let mut model = Dftl::new(rules, map);
        naive::compare(&setup, &mut model, 8_000, round);
    }
}

#[test]
fn with_all_mappings_in_ram_it_does_what_page_mapping_does() {
    // `dftl` gets the blocks of its map in addition to the blocks of `page`.
    let (blocks, pages, logical) = (40, 8, 24);
    let map_blocks = 3;
    let common = |setup: Setup, blocks: u32| {
        let reserved = f64::from(blocks - logical) + 0.5;
        setup.with("gc_high", "5").with(
            "reserve_percent",
            &format!("{:.6}", reserved / f64::from(blocks) * 100.0),
        )
    };
    let page = common(Setup::new("page", 1, blocks, pages), blocks).with("gc_low", "4");
    let more = blocks + map_blocks;
    let dftl = common(Setup::new("dftl", 1, more, pages), more)
        .with("gc_low", "4")
        .with("mappings_per_page", "8")
        .with("cmt_entries", "192");
    let (mut page, mut dftl) = (Device::new(&page), Device::new(&dftl));
    assert_eq!(page.pages(), dftl.pages());
    // Each mapping is used once, so that all mappings are in RAM.
    (0..dftl.pages()).for_each(|number| dftl.read(number));
    let mut random = Random::new(9);
    for _ in 0..50_000 {
        let share = 1 + random.below(4);
        let number = random.below(page.pages() / share);
        if random.below(10) == 0 {
            // A read may have to write a page of the map. So `dftl` collects due garbage at the read, while `page`
            // does so at the next write. The counts are therefore not compared here.
            page.read(number);
            dftl.read(number);
            continue;
        }
        page.write(number);
        dftl.write(number);
        let copies = |device: &Device| device.tally.programs[Cause::Copy as usize];
        assert_eq!(copies(&page), copies(&dftl));
        assert_eq!(page.tally.erases, dftl.tally.erases);
    }
    assert!(page.tally.programs[Cause::Copy as usize] > 1_000);
    assert_eq!(dftl.tally.programs[Cause::Map as usize], 0);
}

/// A read may have to write a page of the map first. If no page is free for this, the read itself must fail. It
/// must not leave the failure to a later operation, since there may be none.
#[test]
fn a_read_that_finds_no_room_for_the_map_fails() {
    let mut setup = Setup::new("dftl", 1, 24, 4);
    for (name, value) in kit::small_settings("dftl") {
        setup = setup.with(name, value);
    }
    setup.endurance = 12;
    setup.retire = true;
    let mut device = Device::new(&setup);
    let mut random = Random::new(4);
    let pages = device.pages();
    while device.write_for(random.below(pages), Cause::Host).is_ok() {}
    let failed = (0..pages).find(|page| device.try_read(*page).is_err());
    let failed = failed.expect("a mapping that was changed has to leave");
    // The same read must fail again, although no other operation was done.
    assert!(device.try_read(failed).is_err());
}
