//! A mount of a device at rest must restore the same state, as far as this state is visible on flash: the place of
//! each page, whether its cells hold one bit, the number of blocks of a cache, and the place of the next page.

use crate::kit;

use destage_base::{Lpn, Random};
use destage_ftl::mount::mount;
use destage_ftl::{Ftl, PageWrite};
use destage_nand::array::Ppn;
use destage_nand::operation::Operations;

use kit::{Device, Setup, TIMING, about, small_settings};

/// For each page with contents: its die, its place, and whether its cells hold one bit.
fn places(ftl: &dyn Ftl) -> Vec<Option<(u32, Ppn, bool)>> {
    let mut operations = Operations::default();
    let of_page = |page| {
        operations.clear();
        ftl.peek(Lpn(page), &mut operations);
        let read = operations.all().first();
        read.map(|read| (ftl.home_of(Lpn(page)), read.at, read.one_bit))
    };
    (0..ftl.pages()).map(of_page).collect()
}

fn figure(ftl: &dyn Ftl, wanted: &str) -> Option<f64> {
    let mut found = None;
    ftl.report(&mut |name, value| found = found.or((name == wanted).then_some(value)));
    found
}

/// The place of the next page of a layer at rest, found by writing `page`; `None` if the write finds no free page.
fn next(ftl: &mut dyn Ftl, page: u64) -> Option<Ppn> {
    let mut operations = Operations::default();
    ftl.place(Lpn(page), &|_| 0);
    ftl.write(PageWrite::host(Lpn(page)), &mut operations)
        .ok()?;
    Some(operations.all().first()?.at)
}

/// Devices with layers that have more than one kind of open block.
fn setups() -> Vec<Setup> {
    let base = |name: &str| {
        let mut setup = Setup::new(name, 1, 24, 8);
        setup.power_may_fail = true;
        for (parameter, value) in small_settings(name) {
            setup = setup.with(parameter, value);
        }
        setup
    };
    let pslc = base("pslc").with("cache_fold_idle", "false");
    vec![
        pslc.clone(),
        pslc.clone().with("cache_full", "fold"),
        pslc.with("cache_size", "dynamic")
            .with("cache_percent", "40"),
        base("zns"),
        base("zns").with("zone_blocks", "4"),
    ]
}

#[test]
fn a_device_at_rest_is_found_as_it_was() {
    let mut in_one_bit = 0;
    for setup in setups() {
        for seed in 0..60 {
            about(format!("{setup:?}, {seed}"), || {
                let mut random = Random::new(seed);
                let mut device = Device::new(&setup);
                let pages = device.pages();
                for _ in 0..random.below(3 * pages) {
                    device.write(random.below(pages));
                }
                let fresh = Setup {
                    filled: false,
                    ..setup.clone()
                };
                let mut ftl = fresh.build().expect("it was built before");
                let mut medium = device.medium.clone();
                medium.forget_places();
                let report = mount(&mut *ftl, &mut medium, &TIMING, &mut |_, _| {});
                let report = report.expect("a mount");
                if report.tally != Default::default() {
                    // The mount had to collect garbage, so the state differs.
                    return;
                }
                let found = places(&*ftl);
                assert_eq!(found, places(&*device.ftl));
                in_one_bit += found
                    .iter()
                    .flatten()
                    .filter(|(.., one_bit)| *one_bit)
                    .count();
                assert_eq!(
                    figure(&*ftl, "cache_blocks"),
                    figure(&*device.ftl, "cache_blocks")
                );
                assert_eq!(ftl.wear(), device.ftl.wear());
                let page = random.below(pages);
                let (one, other) = (next(&mut *ftl, page), next(&mut *device.ftl, page));
                let is_inside = |at: Ppn| at.0 & 7 > 0;
                if one.is_some_and(is_inside) || other.is_some_and(is_inside) {
                    assert_eq!(one, other, "the next page");
                }
            });
        }
    }
    assert!(
        in_one_bit > 1_000,
        "only {in_one_bit} pages were in a cache"
    );
}
