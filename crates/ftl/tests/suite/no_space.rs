//! Blocks wear out and retire until no free block is left. An operation that then fails must emit nothing and
//! change nothing.

use crate::kit;

use std::collections::BTreeMap;

use destage_base::{Lpn, Random};
use destage_ftl::{FTLS, NoSpace, PageWrite};
use destage_nand::Cause;

use kit::{Device, Setup, devices, variants};

/// Two devices that serve the same operations. An operation that fails on `asked` is not tried on `spared`; after
/// it, both devices must still be equal.
struct Pair {
    asked: Device,
    spared: Device,
    failures: u32,
    /// Pages whose write was placed at a die but could not be done yet; reads of these pages have to wait.
    placed: BTreeMap<u64, u32>,
}

impl Pair {
    /// Does `step` on `asked`, and if it succeeds, on `spared` too; both results must be equal.
    fn step<T: PartialEq + core::fmt::Debug>(
        &mut self,
        step: impl Fn(&mut Device) -> Result<T, NoSpace>,
    ) -> Option<T> {
        let Ok(done) = step(&mut self.asked) else {
            self.failures += 1;
            return None;
        };
        let again = step(&mut self.spared);
        assert_eq!(
            again.as_ref(),
            Ok(&done),
            "after {} failures",
            self.failures
        );
        assert_eq!(self.asked.emitted(), self.spared.emitted());
        Some(done)
    }

    fn write(&mut self, write: PageWrite) {
        let die = *self.placed.entry(write.page.0).or_insert_with(|| {
            let die = self.asked.ftl.place(write.page, &|_| 0);
            assert_eq!(self.spared.ftl.place(write.page, &|_| 0), die);
            die
        });
        self.asked.now += 1;
        self.spared.now += 1;
        for _ in 0..1_000 {
            let at = self.asked.ftl.collects_at(die);
            assert_eq!(self.spared.ftl.collects_at(die), at);
            match self.step(|device| device.collect_once(at)) {
                Some(true) => {}
                Some(false) => break,
                None => return,
            }
        }
        if self.step(|device| device.write_on(die, write)).is_some() {
            self.placed.remove(&write.page.0);
        }
    }

    /// Whether a write of `page` waits at the die where it was placed.
    fn waits(&self, page: u64) -> bool {
        self.asked.ftl.properties().places_writes && self.placed.contains_key(&page)
    }

    fn read(&mut self, page: u64) {
        if !self.waits(page) {
            self.step(|device| device.try_read(page));
        }
    }

    fn trim(&mut self, page: u64) {
        if !self.waits(page) {
            self.step(|device| device.try_trim(page));
        }
    }

    /// Reads all pages, except those whose write waits.
    fn read_all(&mut self) {
        for page in 0..self.asked.pages() {
            self.read(page);
        }
    }
}

/// Wears a device out and continues for a while; returns how many operations failed.
fn wear_out(setup: &Setup, seed: u64) -> u32 {
    let mut pair = Pair {
        asked: Device::new(setup),
        spared: Device::new(setup),
        failures: 0,
        placed: BTreeMap::new(),
    };
    let mut random = Random::new(seed);
    let pages = pair.asked.pages();
    let mut left_after_the_end = 1_000;
    for _ in 0..60_000 {
        let spread = match random.below(3) {
            0 => pages,
            _ => pages.div_ceil(6),
        };
        let page = random.below(spread);
        let failed = pair.failures;
        // After the first failure, trims make blocks free again, so that later operations show whether the state
        // is intact.
        let what = match random.below(24) {
            what if failed > 0 && what > 10 => 2,
            what => what,
        };
        match what {
            0..2 => pair.read(page),
            2 => pair.trim(page),
            what => pair.write(PageWrite {
                page: Lpn(page),
                cause: Cause::Host,
                is_long: what < 8,
                has_stream: true,
            }),
        }
        if failed < 3 && pair.failures > failed {
            pair.read_all();
        }
        if pair.failures > 0 {
            left_after_the_end -= 1;
        }
        if left_after_the_end == 0 {
            break;
        }
    }
    pair.read_all();
    pair.failures
}

#[test]
fn what_fails_has_emitted_nothing_and_changed_nothing() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let (mut built, mut worn) = (0, 0);
        for (number, setup) in devices(row.name).iter().flat_map(variants).enumerate() {
            let setup = Setup {
                endurance: 12,
                retire: true,
                power_may_fail: false,
                ..setup
            };
            if setup.build().is_err() {
                continue;
            }
            built += 1;
            kit::about(format!("{setup:?}"), || {
                worn += u32::from(wear_out(&setup, number as u64) > 0);
            });
        }
        eprintln!("{}: {worn} of {built} devices ended", row.name);
        assert!(2 * worn > built, "{}: {worn} of {built} ended", row.name);
    }
}
