//! A device that does what a layer says, page by page, and refuses what flash cannot do.
//!
//! It knows what the host wrote last and nothing of how the layer maps, so it tells whether a read gives the
//! last write, whether a page is programmed twice or out of order, and whether something needed is erased.
#![allow(dead_code, reason = "every test program uses another part of the kit")]
#![allow(clippy::print_stderr, reason = "a test that fails says where")]

pub mod scenario;

use destage_base::Lpn;
use destage_base::parameter::Values;
use destage_flash::ftl::{FtlConfig, FtlRow, NoSpace, find};
use destage_flash::operation::{Merge, Tally};
use destage_flash::{Cause, Ftl, Geometry, Kind, Operation, Operations, Timing, Transfer};

/// Times that matter to nobody here.
pub const TIMING: Timing = Timing {
    read: 25,
    program: 200,
    erase: 1500,
    page_transfer: 100,
    sector_transfer: 13,
};

/// Settings that bring the large tables of `layer` down to devices of a hundred pages.
pub fn small_settings(layer: &str) -> &'static [(&'static str, &'static str)] {
    match layer {
        "page" | "hat" => &[("reserve_percent", "50"), ("min_free_percent", "10")],
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

/// Runs `test`; if it panics, says what it was about.
pub fn about<T>(what: impl std::fmt::Display, test: impl FnOnce() -> T) -> T {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)) {
        Ok(result) => result,
        Err(cause) => {
            eprintln!("{what}");
            std::panic::resume_unwind(cause)
        }
    }
}

/// A layer's name, settings and device.
#[derive(Clone, Debug)]
pub struct Setup {
    pub ftl: String,
    pub geometry: Geometry,
    pub settings: Vec<(String, String)>,
    pub filled: bool,
    pub copy_back: bool,
    /// Erases a block survives; it is used on all the same.
    pub endurance: u32,
    pub seed: u64,
}

impl Setup {
    /// `ftl` on a filled device of one plane.
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
            endurance: 1_000_000,
            seed: 1,
        }
    }

    /// The same with a parameter set.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same on an empty device.
    #[must_use]
    pub fn empty(mut self) -> Self {
        self.filled = false;
        self
    }

    /// The row of the registry.
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

    /// The layer, or why it cannot be built.
    pub fn build(&self) -> Result<Box<dyn Ftl>, String> {
        let built = (self.row().build)(&FtlConfig {
            geometry: self.geometry,
            timing: TIMING,
            copy_back: self.copy_back,
            parallel_units: 1,
            endurance: self.endurance,
            retire: false,
            filled: self.filled,
            seed: self.seed,
            values: &self.values(),
        });
        built.map(|ftl| ftl.expect("a layer with flash"))
    }
}

/// What a physical page holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Erased,
    /// Of a device filled before: nobody has said whether something is there. It may be read as a map, and it
    /// may be programmed.
    Unknown,
    /// A version of a logical page; versions count from 1, and 0 is what was there at the start.
    Data {
        page: u64,
        version: u32,
    },
    /// Something the host never sees: maps, summaries, left-overs of a device filled before.
    Internal,
}

struct Die {
    pages: Vec<Content>,
    /// Of each block the page after the last one programmed.
    ends: Vec<u32>,
}

/// What a page is to hold, and where the device knows a copy of that.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    version: u32,
    written: bool,
    place: Option<(u32, u32)>,
}

/// The device. See the [module](self).
pub struct Device {
    pub ftl: Box<dyn Ftl>,
    pub tally: Tally,
    /// All merges so far.
    pub merges: Vec<Merge>,
    operations: Operations,
    dies: Vec<Die>,
    wanted: Vec<Wanted>,
    page_bits: u32,
    in_order: bool,
    /// Ticks that pass with every operation.
    pub now: u64,
}

impl Device {
    /// The device of `setup`.
    pub fn new(setup: &Setup) -> Self {
        let ftl = setup.build().unwrap_or_else(|refusal| panic!("{refusal}"));
        let geometry = setup.geometry;
        let page_bits = geometry.page_bits();
        let blocks = geometry.blocks_per_die() as usize;
        let before = if setup.filled {
            Content::Internal
        } else {
            Content::Erased
        };
        let values = setup.values();
        let has_order = setup
            .row()
            .parameters
            .iter()
            .any(|parameter| parameter.name == "in_order");
        let mut device = Self {
            tally: Tally::default(),
            merges: Vec::new(),
            operations: Operations::detailed(),
            dies: (0..geometry.dies)
                .map(|_| Die {
                    pages: vec![before; blocks << page_bits],
                    ends: vec![0; blocks],
                })
                .collect(),
            wanted: vec![
                Wanted {
                    version: 0,
                    written: setup.filled,
                    place: None
                };
                ftl.pages() as usize
            ],
            page_bits,
            in_order: !has_order || values.flag("in_order"),
            now: 1,
            ftl,
        };
        if setup.filled {
            device.learn_contents();
        }
        device
    }

    /// Logical pages.
    pub fn pages(&self) -> u64 {
        self.ftl.pages()
    }

    /// On a filled device every page is somewhere, and no two are in the same place.
    fn learn_contents(&mut self) {
        for page in 0..self.pages() {
            let (die, at) = self
                .place_read(page)
                .unwrap_or_else(|| panic!("page {page} of a filled device has no contents"));
            let cell = &mut self.dies[die as usize].pages[at as usize];
            assert_eq!(*cell, Content::Internal, "{at} holds two pages");
            *cell = Content::Data { page, version: 0 };
            self.wanted[page as usize].place = Some((die, at));
        }
        // What holds nothing is erased, as far as anyone can tell; blocks with data are full.
        for die in &mut self.dies {
            let block_pages = 1 << self.page_bits;
            for (block, pages) in die.pages.chunks_mut(block_pages).enumerate() {
                if pages.iter().all(|content| *content == Content::Internal) {
                    pages.fill(Content::Unknown);
                } else {
                    die.ends[block] = block_pages as u32;
                }
            }
        }
    }

    /// Where a read of `page` looks.
    fn place_read(&mut self, page: u64) -> Option<(u32, u32)> {
        let die = self.ftl.die_of(Lpn(page));
        self.operations.clear();
        self.ftl.read(Lpn(page), &mut self.operations);
        let reads: Vec<&Operation> = self
            .operations
            .all()
            .iter()
            .filter(|operation| operation.cause == Cause::Host)
            .collect();
        match reads[..] {
            [] => None,
            [read] => {
                assert_eq!(read.kind, Kind::Read);
                Some((die, read.at.0))
            }
            _ => panic!("page {page}: {reads:?}"),
        }
    }

    /// Reads `page` and checks that it gives the last write, or nothing if there is none.
    pub fn read(&mut self, page: u64) {
        let place = self.place_read(page);
        let die = self.ftl.die_of(Lpn(page));
        self.tally.add(&self.operations);
        let operations = std::mem::take(&mut self.operations);
        self.carry_out(die, &operations, None);
        self.operations = operations;
        let wanted = self.wanted[page as usize];
        assert_eq!(
            self.ftl.is_written(Lpn(page)),
            wanted.written,
            "page {page}"
        );
        let found = place.map(|(die, at)| self.dies[die as usize].pages[at as usize]);
        let expected = wanted.written.then_some(Content::Data {
            page,
            version: wanted.version,
        });
        assert_eq!(found, expected, "page {page} at {place:?}");
    }

    /// Collects what is due, then writes `page` on behalf of `cause`.
    ///
    /// # Errors
    /// What the layer says.
    pub fn write_for(&mut self, page: u64, cause: Cause) -> Result<(), NoSpace> {
        self.write_as(page, cause, false)
    }

    fn write_as(&mut self, page: u64, cause: Cause, is_long: bool) -> Result<(), NoSpace> {
        let die = self.ftl.place(Lpn(page), &|_| 0);
        self.now += 1;
        for rounds in 0.. {
            self.operations.clear();
            if !self
                .ftl
                .collect_garbage(die, self.now, &mut self.operations)?
            {
                break;
            }
            assert!(rounds < 1_000, "garbage collection without end");
            self.settle(die, None);
        }
        self.operations.clear();
        let wanted = &mut self.wanted[page as usize];
        wanted.version += 1;
        wanted.written = true;
        wanted.place = None;
        let result = if is_long {
            self.ftl.write_long(Lpn(page), cause, &mut self.operations)
        } else {
            self.ftl.write(Lpn(page), cause, &mut self.operations)
        };
        self.settle(die, Some((page, cause)));
        result?;
        assert!(
            self.wanted[page as usize].place.is_some(),
            "the write of page {page} programmed nothing"
        );
        Ok(())
    }

    /// Writes `page` for the host; the device has to have room.
    pub fn write(&mut self, page: u64) {
        self.write_for(page, Cause::Host)
            .unwrap_or_else(|full| panic!("page {page}: {}", full.explanation));
    }

    /// The same as part of a long write.
    pub fn write_long(&mut self, page: u64) {
        self.write_as(page, Cause::Host, true)
            .unwrap_or_else(|full| panic!("page {page}: {}", full.explanation));
    }

    /// Trims `page`.
    pub fn trim(&mut self, page: u64) {
        let die = self.ftl.die_of(Lpn(page));
        let wanted = &mut self.wanted[page as usize];
        wanted.written = false;
        wanted.place = None;
        self.operations.clear();
        self.ftl.trim(Lpn(page), &mut self.operations);
        self.settle(die, None);
    }

    /// Counts and carries out the operations of the present step.
    fn settle(&mut self, die: u32, written: Option<(u64, Cause)>) {
        self.tally.add(&self.operations);
        self.merges.extend(self.operations.merges());
        let operations = std::mem::take(&mut self.operations);
        self.carry_out(die, &operations, written);
        self.operations = operations;
    }

    fn carry_out(&mut self, die: u32, operations: &Operations, written: Option<(u64, Cause)>) {
        for lane in operations.lanes() {
            let mut register = Content::Erased;
            for operation in lane {
                assert_eq!(operation.count, 1, "a run where every page is to be named");
                match operation.kind {
                    Kind::Read => register = self.read_cell(die, operation),
                    Kind::Program => {
                        let content = match (operation.cause, written) {
                            (Cause::Copy | Cause::Wear, _) => register,
                            (Cause::Map, _) => Content::Internal,
                            (cause, Some((page, wanted))) if cause == wanted => Content::Data {
                                page,
                                version: self.wanted[page as usize].version,
                            },
                            _ => panic!("{operation:?} while {written:?} is written"),
                        };
                        self.program_cell(die, operation, content);
                    }
                    Kind::Erase => self.erase_block(die, operation),
                }
            }
        }
    }

    fn read_cell(&self, die: u32, operation: &Operation) -> Content {
        let content = self.dies[die as usize].pages[operation.at.0 as usize];
        assert_ne!(content, Content::Erased, "{operation:?}");
        content
    }

    fn program_cell(&mut self, die: u32, operation: &Operation, content: Content) {
        let at = operation.at.0;
        let (block, page) = (at >> self.page_bits, at & ((1 << self.page_bits) - 1));
        let state = &mut self.dies[die as usize];
        let before = state.pages[at as usize];
        assert!(
            matches!(before, Content::Erased | Content::Unknown),
            "{operation:?} is programmed: {before:?}"
        );
        assert!(
            !self.in_order || page >= state.ends[block as usize],
            "{operation:?} goes back in block {block}"
        );
        assert!(
            operation.transfer != Transfer::None
                || matches!(operation.cause, Cause::Copy | Cause::Wear | Cause::Map),
            "{operation:?} comes from nowhere"
        );
        state.ends[block as usize] = page + 1;
        state.pages[at as usize] = content;
        if let Content::Data { page, version } = content {
            let wanted = &mut self.wanted[page as usize];
            if wanted.written && wanted.version == version {
                wanted.place = Some((die, at));
            }
        }
    }

    fn erase_block(&mut self, die: u32, operation: &Operation) {
        let first = operation.at.0;
        let block = first >> self.page_bits;
        assert_eq!(first, block << self.page_bits, "{operation:?}");
        let state = &mut self.dies[die as usize];
        state.ends[block as usize] = 0;
        for at in first..first + (1 << self.page_bits) {
            if let Content::Data { page, .. } = state.pages[at as usize] {
                assert_ne!(
                    self.wanted[page as usize].place,
                    Some((die, at)),
                    "{operation:?} erases the newest copy of page {page}"
                );
            }
            state.pages[at as usize] = Content::Erased;
        }
    }

    /// Reads every page, and checks that the counts fit together.
    pub fn check(&mut self) {
        for page in 0..self.pages() {
            self.read(page);
        }
        let erases: u64 = self.tally.erases.iter().sum();
        let mut told = 0;
        self.ftl.erases(&mut |_, _, count| told += u64::from(count));
        assert_eq!(told, erases, "erases by block and in sum");
        assert_eq!(self.ftl.wear().sum, erases);
    }
}
