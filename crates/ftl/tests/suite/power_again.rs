//! Repeated power failures on small devices with the smallest reserve. No layer may lose programmed pages or run
//! out of free blocks, however often the power fails and at whatever moment. The power also fails during mounts.

use crate::kit;

use std::panic::{AssertUnwindSafe, catch_unwind};

use destage_base::parameter::{Kind, Value};
use destage_base::{Lpn, Random, Ticks};
use destage_ftl::mount::mount;
use destage_ftl::{FTLS, Filling, Ftl, PageWrite};
use destage_nand::medium::{BadDrive, Image, ImageKind, Medium};
use destage_nand::{Geometry, Operations};

use kit::{Setup, TIMING, about, variants};

/// Bytes of a page.
const BYTES: usize = 8;

/// The moments at which the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cuts {
    /// At any moment of a step.
    Anywhere,
    /// In the first program of a step: the step has programmed nothing, and the page that it was programming can
    /// no longer be used.
    FirstProgram,
    /// Late in a step.
    LastOperation,
}

/// A device whose power fails repeatedly.
struct Victim<'a> {
    setup: &'a Setup,
    ftl: Box<dyn Ftl>,
    medium: Medium,
    random: Random,
    operations: Operations,
    versions: u64,
    /// For each page, the version that it must have after a mount; `None` after a trim, when the page may have any
    /// version.
    wanted: Vec<Option<u64>>,
    /// The page whose program was cut off, and its version.
    in_flight: Option<(u64, u64)>,
    cuts: Cuts,
}

impl<'a> Victim<'a> {
    fn new(setup: &'a Setup, cuts: Cuts) -> Self {
        let ftl = setup
            .build()
            .unwrap_or_else(|refusal| panic!("{refusal:?}"));
        let geometry = Geometry {
            page_bytes: BYTES as u64,
            ..setup.geometry
        };
        let in_order = setup.values().get("in_order") != Some(&Value::Flag(false));
        let mut medium = Medium::new(&geometry, in_order);
        if setup.filled {
            medium.fill_from(Filling::of(&*ftl));
        }
        Self {
            setup,
            wanted: vec![Some(0); ftl.pages() as usize],
            ftl,
            medium,
            random: Random::new(setup.seed),
            operations: Operations::detailed(),
            versions: 0,
            in_flight: None,
            cuts,
        }
    }

    /// The moment at which the step in service on `die` is cut off.
    fn moment(&mut self, die: u32) -> Ticks {
        let moments = self.medium.moments(die, &TIMING);
        let last = moments.last().copied().unwrap_or(0);
        match self.cuts {
            Cuts::Anywhere => self.random.below(last + 1),
            Cuts::FirstProgram => {
                let programs = self.medium.programs(die, &TIMING);
                programs.first().map_or(0, |(_, end)| end - 1)
            }
            Cuts::LastOperation => last.saturating_sub(1 + self.random.below(1_600)),
        }
    }

    /// At random, does a step of deferred work on `die`. The power may fail in this step as in any other. Returns
    /// whether the power failed.
    fn idle(&mut self, die: u32, fails: &mut u64) -> bool {
        if !self.ftl.properties().works_when_idle || self.random.below(3) > 0 {
            return false;
        }
        let worked = self.ftl.work_idle(die, &mut self.operations);
        if !worked.unwrap_or_else(|full| panic!("in idle time: {full:?}")) {
            return false;
        }
        *fails -= 1;
        self.step(die, &[], *fails == 0);
        *fails == 0
    }

    /// Runs one step on `die`; with `fails`, the power fails during the step.
    fn step(&mut self, die: u32, images: &[Image<'_>], fails: bool) {
        let started = self.medium.start(die, &self.operations, images);
        started.unwrap_or_else(|refusal| panic!("{refusal}: {:?}", self.operations.all()));
        self.operations.clear();
        if fails {
            self.cut(die);
        } else {
            self.medium.end(die);
        }
    }

    fn cut(&mut self, die: u32) {
        let elapsed = self.moment(die);
        let bad = BadDrive::default();
        self.medium
            .cut(|_| elapsed, &TIMING, &bad, &mut Random::new(1));
    }

    /// Does the necessary garbage collections, then writes `page`. The power fails in the `fails`-th step from
    /// now. Returns whether it failed during this call.
    fn write(&mut self, page: u64, fails: &mut u64) -> bool {
        let write = PageWrite {
            is_long: self.random.below(4) == 0,
            ..PageWrite::host(Lpn(page))
        };
        if self.idle(self.ftl.die_of(Lpn(page)), fails) {
            return true;
        }
        self.ftl.hint(Lpn(page), page as u32 % 3);
        let die = self.ftl.place(Lpn(page), &|_| 0);
        for rounds in 0.. {
            assert!(rounds < 1_000, "garbage collection without end");
            let at = self.ftl.collects_at(die);
            let collected = self
                .ftl
                .collect_garbage(at, self.versions, &mut self.operations);
            if !collected.unwrap_or_else(|full| panic!("collecting: {full:?}")) {
                break;
            }
            *fails -= 1;
            self.step(at, &[], *fails == 0);
            if *fails == 0 {
                return true;
            }
        }
        let written = self.ftl.write(write, &mut self.operations);
        written.unwrap_or_else(|full| panic!("writing {page}: {full:?}"));
        self.versions += 1;
        let version = self.versions;
        let image = Image {
            page: Lpn(page),
            version,
            kind: ImageKind::Host,
            data: &version.to_le_bytes()[..].into(),
        };
        *fails -= 1;
        self.step(die, &[image], *fails == 0);
        match *fails {
            0 => self.in_flight = Some((page, version)),
            _ => self.wanted[page as usize] = Some(version),
        }
        *fails == 0
    }

    fn trim(&mut self, page: u64) {
        let trimmed = self.ftl.trim(Lpn(page), &mut self.operations);
        trimmed.unwrap_or_else(|full| panic!("trimming {page}: {full:?}"));
        self.wanted[page as usize] = None;
        self.medium.trim(Lpn(page));
        let die = self.ftl.home_of(Lpn(page));
        self.step(die, &[], false);
    }

    /// Mounts the device; before that, the power fails in `cuts` other mounts.
    fn mount(&mut self, cuts: u64) {
        let fresh = Setup {
            filled: false,
            ..self.setup.clone()
        };
        for _ in 0..cuts {
            let mut ftl = fresh.build().expect("it was built before");
            // Chooses one step of the mount at random, each step with the same probability, and copies the medium
            // while this step is in service.
            let (mut steps, mut at, mut random) = (0, None, self.random.clone());
            let mounted = mount(
                &mut *ftl,
                &mut self.medium.clone(),
                &TIMING,
                &mut |medium, die| {
                    steps += 1;
                    if random.below(steps) == 0 {
                        at = Some((medium.clone(), die));
                    }
                },
            );
            mounted.unwrap_or_else(|error| panic!("a mount to be cut off: {error:?}"));
            self.random = random;
            let Some((medium, die)) = at else { break };
            self.medium = medium;
            self.cut(die);
        }
        self.ftl = fresh.build().expect("it was built before");
        let mounted = mount(&mut *self.ftl, &mut self.medium, &TIMING, &mut |_, _| {});
        mounted.unwrap_or_else(|error| panic!("a mount: {error:?}"));
        self.check();
    }

    /// Checks that all programmed pages have their last version. A page whose program was cut off may have its old
    /// or its new version.
    fn check(&mut self) {
        let in_flight = self.in_flight.take();
        for page in 0..self.wanted.len() as u64 {
            let newest = self.medium.newest_spare(Lpn(page));
            let found = newest.map_or(0, |spare| spare.version);
            let wanted = self.wanted[page as usize];
            assert!(
                wanted.is_none_or(|wanted| wanted == found) || in_flight == Some((page, found)),
                "page {page} is {found}, wanted {wanted:?}"
            );
            self.wanted[page as usize] = Some(found);
            assert_eq!(self.ftl.is_written(Lpn(page)), newest.is_some());
        }
    }

    /// Cuts the power `cuts` times, with few writes between two cuts, and finally writes all pages once more.
    fn run(&mut self, cuts: u64, trims: bool) {
        let pages = self.ftl.pages();
        for page in 0..pages {
            self.write(page, &mut { u64::MAX });
        }
        for cut in 0..cuts {
            if trims && cut % 7 == 0 {
                let (first, count) = (self.random.below(pages), self.random.below(pages));
                (first..pages.min(first + count)).for_each(|page| self.trim(page));
            }
            let mut fails = 1 + self.random.below(8);
            loop {
                let page = self.random.below(pages);
                if self.write(page, &mut fails) {
                    break;
                }
            }
            let again = match self.random.below(4) {
                0 => self.random.below(12),
                _ => 0,
            };
            self.mount(again);
        }
        for page in 0..pages {
            self.write(page, &mut { u64::MAX });
        }
    }
}

/// Small devices with the layer `name` and the smallest possible reserve.
fn smallest(name: &str) -> Vec<Setup> {
    let shapes = [
        (1, 1, 16, 4, false),
        (1, 1, 16, 4, true),
        (2, 1, 10, 8, true),
        (1, 1, 40, 4, true),
        (1, 2, 12, 4, true),
        (1, 2, 12, 4, false),
        (1, 1, 30, 2, true),
    ];
    let mut setups = Vec::new();
    for (dies, planes, blocks, pages, copy_back) in shapes {
        let mut setup = Setup::new(name, dies, blocks, pages).empty();
        (setup.geometry.planes, setup.copy_back) = (planes, copy_back);
        setup.power_may_fail = true;
        match name {
            "pslc" => {
                setup = setup
                    .with("reserve_percent", "10")
                    .with("min_free_percent", "1")
                    .with("cache_percent", "8")
                    .with("cache_fold_pages", "1");
                // Also a device with enough free blocks for a dynamic cache.
                setups.push(setup.clone().with("reserve_percent", "50"));
            }
            "zns" => {
                setups.extend(zones(&setup));
                continue;
            }
            "page" | "hat" => {
                setup = setup
                    .with("reserve_percent", "10")
                    .with("min_free_percent", "1");
                if name == "page" {
                    setups.extend(told_apart(&setup));
                }
            }
            // With parity or metadata, the last unit of each superblock is the drive's own.
            "striped" => {
                setups.extend(["13", "30"].map(|own| setup.clone().with("own_percent", own)))
            }
            "dftl" => {
                setup = setup
                    .with("reserve_percent", "10")
                    .with("min_free_percent", "1")
                    .with("cmt_entries", "6")
                    .with("mappings_per_page", "8");
            }
            _ => {
                let row = setup.row();
                let logs = row.parameters.iter().find(|row| row.name == "log_blocks");
                if let Some(Kind::Integer { min, .. }) = logs.map(|row| row.kind) {
                    setup = setup.with("log_blocks", &min.to_string());
                }
            }
        }
        setups.push(setup);
    }
    setups
}

/// `base` with writes that are divided into streams, with garbage collection in steps, and with a journal.
fn told_apart(base: &Setup) -> Vec<Setup> {
    let with = |pairs: &[(&'static str, &str)]| {
        let all = pairs.iter();
        all.fold(base.clone(), |setup, (name, text)| setup.with(name, text))
    };
    vec![
        with(&[("handles", "2")]),
        with(&[("handles", "3"), ("handle_isolation", "persistent")]),
        with(&[("hot_window", "9")]),
        with(&[("gc_step_pages", "1")]),
        with(&[("journal_changes", "3"), ("journal_pages", "2")]),
        with(&[
            ("handles", "2"),
            ("gc_step_pages", "2"),
            ("journal_changes", "5"),
            ("journal_pages", "3"),
        ]),
    ]
}

/// `base` with several sizes of zones and limits of open zones; zones are finished early, late or never.
fn zones(base: &Setup) -> Vec<Setup> {
    let mut setups = Vec::new();
    for (blocks, open, finish) in [
        ("1", "1", "0"),
        ("2", "1", "60"),
        ("2", "14", "0"),
        ("1", "2", "40"),
    ] {
        setups.push(
            base.clone()
                .with("reserve_percent", "10")
                .with("zone_blocks", blocks)
                .with("open_zones", open)
                .with("finish_percent", finish),
        );
    }
    setups
}

/// Cuts the power of each small device with the layer `name` `cuts` times, in each of the [`ways`]. Returns the
/// number of devices that failed and the number of devices that were tried.
fn cut_again_and_again(name: &str, power_may_fail: bool, cuts: u64) -> (usize, usize) {
    let (mut failed, mut tried) = (0, 0);
    let of_base = |base: &Setup| variants(base);
    for setup in smallest(name).iter().flat_map(of_base) {
        let setup = Setup {
            power_may_fail,
            ..setup
        };
        if setup.build().is_err() {
            // The combination of settings is refused.
            continue;
        }
        for (seed, kind, trims) in ways(tried as u64) {
            let setup = Setup {
                seed,
                ..setup.clone()
            };
            let run = || Victim::new(&setup, kind).run(cuts, trims);
            let what = format!("{setup:?} {kind:?}, trims: {trims}");
            let done = catch_unwind(AssertUnwindSafe(|| about(what, run)));
            failed += usize::from(done.is_err());
            tried += 1;
        }
    }
    (failed, tried)
}

/// The seed, the kind of cuts, and whether there are trims: all combinations if the environment variable
/// `DESTAGE_CUTS` is set, otherwise one combination in rotation.
fn ways(turn: u64) -> Vec<(u64, Cuts, bool)> {
    let kinds = [Cuts::Anywhere, Cuts::FirstProgram, Cuts::LastOperation];
    let of_seed = |seed: u64| {
        let of_kind = move |kind| [(seed, kind, false), (seed, kind, true)];
        kinds.into_iter().flat_map(of_kind)
    };
    let all: Vec<(u64, Cuts, bool)> = (1..=3).flat_map(of_seed).collect();
    match std::env::var("DESTAGE_CUTS") {
        Ok(_) => all,
        Err(_) => vec![all[turn as usize % all.len()]],
    }
}

#[test]
fn no_layer_loses_anything_or_runs_out_however_often_it_is_cut() {
    let rows: Vec<_> = FTLS.iter().filter(|row| row.has_flash).collect();
    // `make cuts` runs six times as many cuts.
    let cuts = match std::env::var("DESTAGE_CUTS") {
        Ok(_) => 300,
        Err(_) => 50,
    };
    std::thread::scope(|scope| {
        let halves = rows.chunks(rows.len().div_ceil(2));
        let threads = halves.map(|rows| {
            scope.spawn(move || {
                for row in rows {
                    let (failed, tried) = cut_again_and_again(row.name, true, cuts);
                    assert!(tried > 20, "only {tried} devices of {}", row.name);
                    assert_eq!(failed, 0, "{}", row.name);
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            thread.join().expect("no layer fails");
        }
    });
}

/// The counterexample: without the provisions for power loss, the last block that garbage collection opens may
/// hold new data, and interrupted programs fill the rest of it. Then no page is left for garbage collection.
#[test]
fn a_device_that_does_not_reckon_with_cuts_runs_out() {
    let (failed, tried) = cut_again_and_again("page", false, 60);
    assert!(failed > tried / 10, "{failed} of {tried}");
}
