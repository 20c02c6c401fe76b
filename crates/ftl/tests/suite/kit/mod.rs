//! A layer on a medium that stores bytes. The medium refuses operations that flash cannot do or that lose data.
//!
//! The test device stores what the host wrote last, independently of the map of the layer. So it detects a read
//! that does not return the last write.
#![allow(dead_code, reason = "every test program uses another part of the kit")]
#![allow(clippy::print_stderr, reason = "a test that fails says where")]

pub mod scenario;

use std::ops::Range;
use std::sync::Arc;

use destage_base::Lpn;
use destage_base::archive::to_bytes;
use destage_base::parameter::{Kind as ParameterKind, Value, Values};
use destage_ftl::{Built, Filling, Ftl, FtlConfig, FtlRow, NoSpace, PageWrite, find};
use destage_nand::batch::Batch;
use destage_nand::medium::{Image, ImageKind, Medium};
use destage_nand::operation::{Content, Merge, Tally};
use destage_nand::{Cause, Geometry, Kind, Operation, Operations, Timing, Transfer};

/// Operation times; their values do not matter to the tests.
pub const TIMING: Timing = Timing {
    read: 25,
    program: 200,
    erase: 1500,
    one_bit: [10, 80],
    page_transfer: 100,
    sector_transfer: 13,
};

/// Settings with which `layer` works on devices of about a hundred pages.
pub fn small_settings(layer: &str) -> &'static [(&'static str, &'static str)] {
    match layer {
        "page" | "hat" => &[("reserve_percent", "50"), ("min_free_percent", "10")],
        "pslc" => &[
            ("reserve_percent", "50"),
            ("min_free_percent", "10"),
            ("cache_percent", "20"),
        ],
        "zns" => &[("reserve_percent", "50"), ("zone_blocks", "2")],
        "dftl" => &[
            ("reserve_percent", "88"),
            ("min_free_percent", "1"),
            ("separate_gc_block", "false"),
            ("cmt_entries", "6"),
            ("mappings_per_page", "8"),
        ],
        _ if has_log_blocks(layer) => &[("log_blocks", "6")],
        _ => &[],
    }
}

fn has_log_blocks(layer: &str) -> bool {
    let row = find(layer).unwrap_or_else(|| panic!("no layer is called {layer}"));
    row.parameters.iter().any(|row| row.name == "log_blocks")
}

/// Runs `test`; if it panics, prints `what`, which names the case that failed.
pub fn about<T>(what: impl std::fmt::Display, test: impl FnOnce() -> T) -> T {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)) {
        Ok(result) => result,
        Err(cause) => {
            eprintln!("{what}");
            std::panic::resume_unwind(cause)
        }
    }
}

/// The name and the settings of a layer, and the device on which the layer runs.
#[derive(Clone, Debug)]
pub struct Setup {
    pub ftl: String,
    pub geometry: Geometry,
    pub settings: Vec<(String, String)>,
    pub filled: bool,
    pub copy_back: bool,
    pub parallel_units: u32,
    /// Units of the mapping that share a page of flash.
    pub units_per_page: u32,
    /// Maximum number of erases of a block.
    pub endurance: u32,
    /// Blocks that reached `endurance` erases are retired.
    pub retire: bool,
    /// The power may fail.
    pub power_may_fail: bool,
    pub seed: u64,
}

impl Setup {
    /// The layer `ftl` on a filled device with one plane per die.
    pub fn new(ftl: &str, dies: u32, blocks: u32, pages_per_block: u32) -> Self {
        Self {
            ftl: ftl.to_owned(),
            geometry: Geometry {
                dies,
                planes: 1,
                blocks_per_plane: blocks,
                pages_per_block,
                summary_page: false,
                page_bytes: 4096,
            },
            settings: Vec::new(),
            filled: true,
            copy_back: false,
            parallel_units: 1,
            units_per_page: 1,
            endurance: 1_000_000,
            retire: false,
            power_may_fail: false,
            seed: 1,
        }
    }

    /// This setup with the parameter `name` set to `value`.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// This setup on an empty device.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.filled = false;
        self
    }

    /// The registry row of the layer.
    pub fn row(&self) -> &'static FtlRow {
        find(&self.ftl).unwrap_or_else(|| panic!("no layer is called {}", self.ftl))
    }

    /// The values of all parameters.
    pub fn values(&self) -> Values {
        let row = self.row();
        let mut values = Values::defaults(row.parameters);
        for (name, text) in &self.settings {
            let parameter = row
                .parameters
                .iter()
                .find(|parameter| parameter.name == name)
                .unwrap_or_else(|| panic!("{} has no parameter {name}", self.ftl));
            let value = parameter
                .read(text)
                .unwrap_or_else(|expected| panic!("{name} = {text}: expected {expected}"));
            values.set(parameter.name, value);
        }
        values
    }

    /// Builds the layer; the error gives the reason why the layer cannot be built.
    pub fn build(&self) -> Built {
        (self.row().build)(&FtlConfig {
            units_per_page: self.units_per_page,
            program_unit: 1,
            program_passes: 1,
            bits_per_cell: 2,
            geometry: self.geometry,
            erase_dates: TIMING,
            copy_back: self.copy_back,
            parallel_units: self.parallel_units,
            endurance: self.endurance,
            retire: self.retire,
            power_may_fail: self.power_may_fail,
            filled: self.filled,
            seed: self.seed,
            values: &self.values(),
        })
    }
}

/// Small devices of several kinds with the layer `name`.
pub fn devices(name: &str) -> Vec<Setup> {
    let mut setups = Vec::new();
    for (dies, planes, blocks, pages, copy_back) in [
        (1, 1, 24, 4, false),
        (2, 2, 14, 3, true),
        (3, 1, 20, 2, false),
        (1, 2, 12, 70, true),
    ] {
        for filled in [true, false] {
            let mut setup = Setup::new(name, dies, blocks, pages);
            setup.geometry.planes = planes;
            setup.copy_back = copy_back;
            setup.filled = filled;
            for (parameter, value) in small_settings(name) {
                setup = setup.with(parameter, value);
            }
            setups.push(setup);
        }
    }
    setups
}

/// The setup itself, and a copy for each value of each choice or flag parameter that differs from the default.
pub fn variants(setup: &Setup) -> Vec<Setup> {
    let mut variants = vec![setup.clone()];
    for parameter in setup.row().parameters {
        let words: &[&str] = match parameter.kind {
            ParameterKind::Choice(words) => words,
            ParameterKind::Flag => &["true", "false"],
            _ => &[],
        };
        let others = words.iter().filter(|word| **word != parameter.default);
        variants.extend(others.map(|word| setup.clone().with(parameter.name, word)));
    }
    variants
}

/// The test device. See the [module](self).
pub struct Device {
    pub ftl: Box<dyn Ftl>,
    pub tally: Tally,
    /// All merges since the start or the last reset of the scenario.
    pub merges: Vec<Merge>,
    pub medium: Medium,
    operations: Operations,
    /// The version that each page must have; `None` if the page has no contents.
    wanted: Vec<Option<u64>>,
    versions: u64,
    /// The present time in ticks; it advances by 1 with each write.
    pub now: u64,
}

/// The bytes of a page in these tests: the version in the lower half, the page number in the upper half.
fn bytes_of(page: u64, version: u64) -> [u8; 8] {
    match version {
        0 => [0; 8],
        _ => (page << 32 | version).to_le_bytes(),
    }
}

impl Device {
    /// Builds the device of `setup`.
    pub fn new(setup: &Setup) -> Self {
        let ftl = setup
            .build()
            .unwrap_or_else(|refusal| panic!("{refusal:?}"));
        let values = setup.values();
        let in_order = values.get("in_order") != Some(&Value::Flag(false));
        let geometry = Geometry {
            page_bytes: 8,
            ..setup.geometry
        };
        let mut medium = Medium::new(&geometry, in_order);
        if setup.filled {
            medium.fill_from(Filling::of(&*ftl));
        }
        Self {
            tally: Tally::default(),
            merges: Vec::new(),
            medium,
            operations: Operations::detailed(),
            wanted: vec![setup.filled.then_some(0); ftl.pages() as usize],
            versions: 0,
            now: 1,
            ftl,
        }
    }

    /// Number of logical pages.
    pub fn pages(&self) -> u64 {
        self.ftl.pages()
    }

    /// Reads `page`. Checks that the read returns the last write, or nothing if `page` has no contents.
    pub fn read(&mut self, page: u64) {
        self.try_read(page)
            .unwrap_or_else(|full| panic!("page {page}: {full:?}"));
    }

    /// Like [`Device::read`], but the layer may find no free block.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn try_read(&mut self, page: u64) -> Result<(), NoSpace> {
        let die = self.ftl.die_of(Lpn(page));
        self.operations.clear();
        let result = self.ftl.read(Lpn(page), &mut self.operations);
        self.check_failure(&result);
        result?;
        let host = |content: Content| content == Content::Host(Lpn(page));
        let details = self.operations.details();
        let reads = details.iter().filter(|detail| host(detail.content)).count();
        self.settle(die, &[]);
        let wanted = self.wanted[page as usize];
        let is_written = self.ftl.is_written(Lpn(page));
        assert_eq!(is_written, wanted.is_some(), "page {page}");
        assert_eq!(reads, usize::from(is_written), "page {page}");
        self.check_newest(page);
        Ok(())
    }

    /// Checks that the medium holds the last write of `page`.
    fn check_newest(&self, page: u64) {
        let found = self.medium.newest(Lpn(page));
        let found = found
            .as_ref()
            .map(|(spare, data)| (spare.version, &***data));
        let wanted = self.wanted[page as usize];
        let bytes = wanted.map(|version| (version, bytes_of(page, version)));
        let expected = bytes.as_ref().map(|(version, data)| (*version, &data[..]));
        assert_eq!(found, expected, "page {page}");
    }

    /// Collects the garbage that is due, then writes `page` with `cause`.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn write_for(&mut self, page: u64, cause: Cause) -> Result<(), NoSpace> {
        self.write_as(PageWrite {
            page: Lpn(page),
            cause,
            is_long: false,
            has_stream: true,
        })
    }

    /// Like [`Device::write_for`], for any kind of write.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn write_as(&mut self, write: PageWrite) -> Result<(), NoSpace> {
        let die = self.ftl.place(write.page, &|_| 0);
        self.now += 1;
        for rounds in 0.. {
            let at = self.ftl.collects_at(die);
            if !self.collect_once(at)? {
                break;
            }
            assert!(rounds < 1_000, "garbage collection without end");
        }
        self.write_on(die, write)
    }

    /// Does one step of garbage collection on `die`, if the die needs one. Returns whether a step was done.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn collect_once(&mut self, die: u32) -> Result<bool, NoSpace> {
        self.operations.clear();
        let collected = self
            .ftl
            .collect_garbage(die, self.now, &mut self.operations);
        self.check_failure(&collected);
        self.settle(die, &[]);
        collected
    }

    /// Does `write`, without garbage collection, on `die`, on which it was placed.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn write_on(&mut self, die: u32, write: PageWrite) -> Result<(), NoSpace> {
        let page = write.page;
        self.operations.clear();
        let result = self.ftl.write(write, &mut self.operations);
        self.check_failure(&result);
        result?;
        self.versions += 1;
        let data = bytes_of(page.0, self.versions).into();
        let image = Image {
            page,
            version: self.versions,
            kind: match write.cause {
                Cause::Pad => ImageKind::Copy,
                _ => ImageKind::Host,
            },
            data: &data,
        };
        self.settle(die, &[image]);
        self.wanted[page.0 as usize] = Some(self.versions);
        let newest = self.medium.newest(page).map(|(spare, _)| spare.version);
        assert_eq!(newest, Some(self.versions), "the write of page {}", page.0);
        Ok(())
    }

    /// Collects the garbage that is due on `die`, then serves `reads` and `writes` on `die` as one batch. Returns
    /// the number of accepted writes.
    pub fn serve(&mut self, die: u32, reads: &[Lpn], writes: &[(Lpn, Cause)]) -> usize {
        self.now += 1;
        for rounds in 0.. {
            let collected = self.collect_once(die);
            if !collected.unwrap_or_else(|full| panic!("{full:?}")) {
                break;
            }
            assert!(rounds < 1_000, "garbage collection without end");
        }
        self.operations.clear();
        let mut batch = Batch::default();
        let taken = self
            .ftl
            .serve(die, reads, writes, &mut batch, &mut self.operations)
            .unwrap_or_else(|full| panic!("{full:?}"));
        assert_eq!(batch.entries.len(), reads.len() + taken);
        let written = &writes[..taken];
        let versions = self.versions + 1..;
        let bytes: Vec<(Lpn, u64, Arc<[u8]>)> = written
            .iter()
            .zip(versions)
            .map(|((page, _), version)| (*page, version, bytes_of(page.0, version).into()))
            .collect();
        let images: Vec<Image<'_>> = bytes
            .iter()
            .map(|(page, version, data)| Image {
                page: *page,
                version: *version,
                kind: ImageKind::Host,
                data,
            })
            .collect();
        self.settle(die, &images);
        self.versions += taken as u64;
        for (page, version, _) in bytes {
            self.wanted[page.0 as usize] = Some(version);
        }
        taken
    }

    /// The operations of the last step.
    pub fn emitted(&self) -> &[Operation] {
        self.operations.all()
    }

    /// Writes `page` for the host; panics if the layer finds no free block.
    pub fn write(&mut self, page: u64) {
        self.write_for(page, Cause::Host)
            .unwrap_or_else(|full| panic!("page {page}: {full:?}"));
    }

    /// Writes `page` for the host as part of a long write; panics if the layer finds no free block.
    pub fn write_long(&mut self, page: u64) {
        let write = PageWrite {
            is_long: true,
            ..PageWrite::host(Lpn(page))
        };
        self.write_as(write)
            .unwrap_or_else(|full| panic!("page {page}: {full:?}"));
    }

    /// Trims `page`.
    pub fn trim(&mut self, page: u64) {
        self.try_trim(page)
            .unwrap_or_else(|full| panic!("page {page}: {full:?}"));
    }

    /// Like [`Device::trim`], but the layer may find no free block.
    ///
    /// # Errors
    /// The error of the layer.
    pub fn try_trim(&mut self, page: u64) -> Result<(), NoSpace> {
        let die = self.ftl.die_of(Lpn(page));
        self.operations.clear();
        let result = self.ftl.trim(Lpn(page), &mut self.operations);
        self.check_failure(&result);
        result?;
        self.wanted[page as usize] = None;
        self.medium.trim(Lpn(page));
        self.settle(die, &[]);
        Ok(())
    }

    /// Trims `pages`, as many of them as possible in one call. Checks that these pages are trimmed as if they were
    /// trimmed one by one. Returns the number of pages that were trimmed in the call.
    pub fn trim_all(&mut self, pages: Range<u64>) -> u64 {
        let mut one_by_one = self.ftl.copied();
        let mut trimmed = Vec::new();
        self.ftl
            .trim_all(pages.clone(), &mut |range| trimmed.push(range));
        for page in trimmed.iter().cloned().flatten() {
            self.operations.clear();
            let result = one_by_one.trim(Lpn(page), &mut self.operations);
            assert_eq!((result, self.operations.all()), (Ok(()), &[][..]), "{page}");
            self.wanted[page as usize] = None;
        }
        assert!(
            to_bytes(&mut *self.ftl).expect("bytes") == to_bytes(&mut *one_by_one).expect("bytes"),
            "{pages:?}"
        );
        trimmed.iter().for_each(|range| self.medium.trim_all(range));
        for page in pages.filter(|page| !trimmed.iter().any(|range| range.contains(page))) {
            self.trim(page);
        }
        trimmed.iter().map(|range| range.end - range.start).sum()
    }

    /// Checks that a step that failed has emitted nothing.
    fn check_failure<T>(&self, result: &Result<T, NoSpace>) {
        if result.is_err() {
            assert_eq!(self.operations.all(), [], "of a step that failed");
            assert!(self.operations.details().is_empty() && self.operations.merges().is_empty());
        }
    }

    /// Counts the operations of the present step, and runs them on the medium.
    fn settle(&mut self, die: u32, images: &[Image<'_>]) {
        self.tally.add(&self.operations);
        self.merges.extend(self.operations.merges());
        for (_, operation, detail) in self.operations.commands() {
            assert_eq!(operation.count, 1, "a run where every page is to be named");
            let comes_in = matches!(detail.content, Content::Host(_));
            assert!(
                operation.kind != Kind::Program
                    || comes_in <= (operation.transfer != Transfer::None),
                "{operation:?} comes from nowhere"
            );
        }
        self.medium
            .start(die, &self.operations, images)
            .unwrap_or_else(|refusal| panic!("{refusal}: {:?}", self.operations.all()));
        self.medium.end(die);
    }

    /// Reads every page. Checks that the sum of the erase counts of all blocks equals the number of erase
    /// operations.
    pub fn check(&mut self) {
        for page in 0..self.pages() {
            self.read(page);
        }
        let erases: u64 = self.tally.erases.iter().sum();
        let mut counted = 0;
        self.ftl
            .erases(&mut |_, _, count| counted += u64::from(count));
        assert_eq!(counted, erases, "erases by block and in sum");
        assert_eq!(self.ftl.wear().sum, erases);
    }
}
