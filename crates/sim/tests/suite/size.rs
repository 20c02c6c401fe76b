//! Tests of the search for the number of blocks in a plane. For every layer it must find the smallest sufficient
//! number.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_ftl::FTLS;
use destage_sim::observer::Silent;
use destage_sim::settings::{Config, Settings};

/// The configuration of a small device with the layer `ftl` and the settings `pairs`.
fn config(ftl: &str, pairs: &[&str]) -> Config {
    let mut settings = Settings::new();
    let shape = [
        "flash.dies=2",
        "flash.planes_per_die=2",
        "flash.pages_per_block=8",
    ];
    for pair in shape.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    settings.set_kind("ftl", ftl).unwrap();
    settings.resolve().unwrap()
}

/// The number of pages that the device offers with `blocks` blocks in a plane; `None` if such a device cannot be
/// built.
fn offered(config: &Config, blocks: u32) -> Option<u64> {
    let ftl = config.with_blocks(blocks).prepared_ftl(&mut Silent);
    Some(ftl.ok()?.pages())
}

#[test]
fn the_smallest_power_of_two_that_holds_the_addresses_is_found() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let config = config(row.name, &[]);
        assert!(config.is_open(), "{}", row.name);
        for pages in [0, 1, 700, 1024, 1025, 40_000] {
            let blocks = config.blocks_for_addresses(pages).unwrap();
            let (name, holds) = (row.name, offered(&config, blocks).unwrap() >= pages);
            assert!(blocks.is_power_of_two() && holds, "{name}: {pages}");
            let half = offered(&config, blocks / 2).filter(|offered| *offered >= pages);
            assert_eq!(half, None, "{name}: {pages} fit in half of {blocks}");
        }
    }
}

#[test]
fn the_smallest_number_that_offers_a_capacity_is_found() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        for pairs in [&[][..], &["flash.page_bytes=16KiB"]] {
            let config = config(row.name, pairs);
            let page = config.with_blocks(1).flash_bytes() / 32;
            for pages in [1, 2000, 12_345, 300_000] {
                let blocks = config.blocks_for_capacity(pages * page).unwrap();
                let (name, holds) = (row.name, offered(&config, blocks).unwrap() >= pages);
                assert!(holds, "{name}: {pages} in {blocks}");
                let fewer = offered(&config, blocks - 1).filter(|offered| *offered >= pages);
                assert_eq!(fewer, None, "{name}: {pages} fit in fewer than {blocks}");
            }
        }
    }
}

/// A layer may accept only multiples of some number of blocks.
#[test]
fn zones_give_the_smallest_device_too() {
    for (zone, step) in [(4, 4), (6, 6), (64, 64)] {
        let config = config(
            "zns",
            &[&format!("ftl.zone_blocks={zone}"), "flash.planes_per_die=1"],
        );
        let page = config.typed.flash.page_bytes;
        for pages in [1, 12_345, 300_000] {
            let blocks = config.blocks_for_capacity(pages * page).unwrap();
            assert_eq!(blocks % step, 0);
            assert!(
                offered(&config, blocks).unwrap() >= pages,
                "{zone}: {blocks}"
            );
            let fewer = offered(&config, blocks - step).filter(|offered| *offered >= pages);
            assert_eq!(fewer, None, "{zone}: {pages} fit in fewer than {blocks}");
        }
    }
}

#[test]
fn without_flash_any_address_will_do() {
    let config = config("none", &[]);
    assert_eq!(config.blocks_for_addresses(1000).unwrap(), 32);
    assert!(config.blocks_for_addresses(1 << 50).is_ok());
}

#[test]
fn what_no_number_makes_large_enough_is_refused() {
    let text = |result: Result<u32, destage_sim::error::SimError>| result.unwrap_err().to_string();
    let page = config("page", &[]);
    let refusal = text(page.blocks_for_addresses(1 << 40));
    assert!(refusal.contains("end at page 1099511627776"), "{refusal}");
    // No number of dies helps: a device has at most 2^32 - 2 pages.
    assert!(
        refusal.contains("at most 4294967294 pages of 4096 bytes; expected larger pages"),
        "{refusal}"
    );
    let refusal = text(page.blocks_for_capacity(1 << 59));
    assert!(
        refusal.starts_with("device.capacity_bytes = 576460752303423488: "),
        "{refusal}"
    );
}

#[test]
fn a_layer_that_can_never_be_made_says_why() {
    let page = config("page", &["flash.parallel_units=3"]);
    for result in [
        page.blocks_for_addresses(1000),
        page.blocks_for_capacity(1 << 20),
        page.lazy_blocks(),
    ] {
        let refusal = result.unwrap_err().to_string();
        assert!(refusal.contains("flash.parallel_units = 3"), "{refusal}");
    }
}

#[test]
fn a_device_for_an_unknown_input_is_as_large_as_starts_at_once() {
    let of = |pairs: &[&str], profile: Option<&str>| {
        let mut settings = Settings::new();
        if let Some(profile) = profile {
            settings.load_profile(profile).unwrap();
        }
        for pair in pairs {
            settings.set_pair(pair).unwrap();
        }
        settings.resolve().unwrap().lazy_blocks().unwrap()
    };
    assert_eq!(of(&[], None), 1 << 17);
    // With half as many dies there are half as many planes, so each plane has twice as many blocks. With more pages
    // in a block, a plane has fewer blocks, because the number of pages is limited.
    assert_eq!(of(&["flash.dies=4"], None), 1 << 18);
    assert!(of(&["flash.pages_per_block=4096"], None) < 1 << 17);
    assert!(of(&["flash.blocks_per_plane=auto"], Some("tlc")) >= 1 << 10);
}

#[test]
fn a_run_without_a_number_is_refused() {
    let error = config("page", &[]).prepared_ftl(&mut Silent).err().unwrap();
    assert!(error.to_string().contains("expected a number"), "{error}");
}
