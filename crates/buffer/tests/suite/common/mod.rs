//! A test bench around a buffer. The slots hold version numbers of pages instead of bytes. A simulated flash
//! holds the versions that were programmed. Simple sets and maps record which version of each page must be in RAM
//! and on flash. The bench compares the buffer with these sets after every operation, so every test that uses the
//! bench also checks the buffer.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod model;
mod streams;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

use destage_base::parameter::Values;
use destage_base::{Lpn, Random};
use destage_buffer::destage::{DirtyPage, Grouping, PadContent, Slot};
use destage_buffer::{
    Buffer, BufferConfig, Common, DestageCause, Destager, Release, SchemeConfig, SchemeRow, View,
};

pub use streams::*;

/// One operation of a host, with the numbers of its pages.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Write(Vec<u64>),
    Read(Vec<u64>),
    Trim(u64),
    Fua(u64),
    Flush,
    Drain,
    Idle,
}

/// The moment at which programs complete.
pub enum Completion {
    /// As soon as they are issued.
    AtOnce,
    /// Only when a page waits for a slot. In this case the oldest program completes.
    Held,
    /// In random order; a random number of programs complete after each operation.
    Random(Random),
}

/// A destage record in a form that tests can compare and print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub cause: DestageCause,
    pub grouping: Grouping,
    pub keep: bool,
    pub pages: Vec<u64>,
    pub pads: Vec<(u64, PadContent)>,
}

impl std::fmt::Display for Record {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.cause.name())?;
        for page in &self.pages {
            write!(formatter, " {page}")?;
        }
        for (page, content) in &self.pads {
            let sign = match content {
                PadContent::Read => '+',
                PadContent::AtHand => '=',
                PadContent::Filler => '~',
            };
            write!(formatter, " {sign}{page}")?;
        }
        formatter.write_str(if self.keep { " kept" } else { "" })
    }
}

/// A device that reports which pages were ever written and what the dies are doing. A test sets both. Each write
/// gives a page a new flash address, unless the test sets `updates_in_place`.
#[derive(Default)]
pub struct Device {
    pub dies: u32,
    pub updates_in_place: bool,
    pub unwritten: BTreeSet<u64>,
    /// Dies that are collecting garbage.
    pub collecting: BTreeSet<u32>,
    /// The number of operations that wait at each die. At a die beyond the end of the vector no operation waits.
    pub queues: Vec<u32>,
}

impl View for Device {
    fn die_of(&self, page: Lpn) -> u32 {
        (page.0 % u64::from(self.dies)) as u32
    }
    fn is_written(&self, page: Lpn) -> bool {
        !self.unwritten.contains(&page.0)
    }
    fn updates_in_place(&self) -> bool {
        self.updates_in_place
    }
    fn is_collecting(&self, die: u32) -> bool {
        self.collecting.contains(&die)
    }
    fn queue_length(&self, die: u32) -> u32 {
        self.queues.get(die as usize).copied().unwrap_or(0)
    }
}

struct Program {
    page: DirtyPage,
    keep: bool,
    /// Whether the resident page was overwritten in its slot after the program was issued.
    overwritten: bool,
    /// The version that is being programmed; `None` if the page was trimmed or bypassed meanwhile.
    version: Option<u64>,
}

pub struct Bench {
    pub buffer: Buffer,
    pub device: Device,
    pub completion: Completion,
    pub records: Vec<Record>,
    /// The events so far, in the words of the scenario files.
    pub log: Vec<Cow<'static, str>>,
    /// Whether records are written to the log, too.
    pub tells_records: bool,
    in_flight: VecDeque<Program>,
    ram: Vec<u64>,
    flash: BTreeMap<u64, u64>,
    newest: BTreeMap<u64, u64>,
    dirty: BTreeSet<u64>,
    clock: u64,
}

impl Destager for Bench {
    type Error = Infallible;

    fn buffer(&mut self) -> (&mut Buffer, &dyn View) {
        (&mut self.buffer, &self.device)
    }

    fn destage(&mut self) -> Result<(), Infallible> {
        self.issue(DestageCause::Evict);
        // The buffer already counts the page that is being written, although this page has not entered yet.
        self.check_occupancy();
        Ok(())
    }
}

/// Whether `page` is resident: dirty, clean or being written back, but not leaving.
pub fn is_resident(buffer: &Buffer, page: u64) -> bool {
    let slot = buffer.find(Lpn(page));
    slot.is_some_and(|slot| !buffer.is_leaving(slot))
}

impl Bench {
    pub fn new(row: &SchemeRow, capacity: u32, values: &Values, completion: Completion) -> Self {
        Self::over(4, row, capacity, values, completion, None)
    }

    /// Like `new`. A scheme that needs the future page writes gets those of `operations`.
    pub fn for_operations(
        row: &SchemeRow,
        capacity: u32,
        values: &Values,
        completion: Completion,
        operations: &[Operation],
    ) -> Self {
        let future = row.needs_future().then(|| page_writes(operations));
        Self::over(4, row, capacity, values, completion, future.as_deref())
    }

    /// A bench over a device of `dies` dies. `future` holds all page writes of the run, for a scheme that needs
    /// the future.
    pub fn over(
        dies: u32,
        row: &SchemeRow,
        capacity: u32,
        values: &Values,
        completion: Completion,
        future: Option<&[Lpn]>,
    ) -> Self {
        let config = BufferConfig::from_parameters(capacity, 4, &Common::from_values(values));
        Self::configured(dies, row, config, values, completion, future)
    }

    /// A bench for a buffer with the configuration `config`. But `completion` decides when slots are released.
    pub fn configured(
        dies: u32,
        row: &SchemeRow,
        config: BufferConfig,
        values: &Values,
        completion: Completion,
        future: Option<&[Lpn]>,
    ) -> Self {
        let capacity = config.capacity_pages;
        let release = match completion {
            Completion::AtOnce => Release::Issue,
            _ => Release::Complete,
        };
        let config = BufferConfig { release, ..config };
        let scheme = (row.build)(&SchemeConfig {
            dies,
            future,
            ..SchemeConfig::new(capacity, config.cluster_pages, values)
        });
        Self {
            buffer: Buffer::new(config, scheme),
            device: Device {
                dies,
                ..Device::default()
            },
            completion,
            records: Vec::new(),
            log: Vec::new(),
            tells_records: true,
            in_flight: VecDeque::new(),
            ram: vec![u64::MAX; capacity as usize],
            flash: BTreeMap::new(),
            newest: BTreeMap::new(),
            dirty: BTreeSet::new(),
            clock: 0,
        }
    }

    pub fn run(&mut self, operations: &[Operation]) {
        for operation in operations {
            self.apply(operation);
        }
    }

    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write(pages) => {
                self.buffer.begin_request(pages.len() as u32);
                let bypasses = self.buffer.bypasses(pages.len() as u32);
                for page in pages {
                    if bypasses {
                        self.bypass(*page)
                    } else {
                        self.write(*page)
                    }
                    self.check();
                }
            }
            Operation::Read(pages) => {
                self.buffer.begin_request(pages.len() as u32);
                for page in pages {
                    self.read(*page);
                    self.check();
                }
            }
            Operation::Trim(page) => self.trim(*page),
            Operation::Fua(page) => {
                self.apply(&Operation::Write(vec![*page]));
                if self.buffer.fua(Lpn(*page), self.clock, &self.device) {
                    self.issue(DestageCause::Fua);
                    assert!(self.records.last().unwrap().pages.contains(page));
                }
                assert!(!self.dirty.contains(page) || !self.buffer.config().honor_flush);
            }
            Operation::Flush => self.flush(DestageCause::Flush),
            Operation::Drain => self.flush(DestageCause::Drain),
            Operation::Idle => {
                if self.buffer.idle(self.clock, &self.device) {
                    self.issue(DestageCause::Idle);
                }
            }
        }
        self.complete_some();
        self.check();
    }

    /// Advances the clock by `ticks`. In addition, each page that is read or written advances the clock by one
    /// tick.
    pub fn pass(&mut self, ticks: u64) {
        self.clock += ticks;
    }

    /// The time of the bench's clock, in ticks.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Completes every program in flight, oldest first.
    pub fn complete_all(&mut self) {
        while !self.in_flight.is_empty() {
            self.complete(0);
        }
    }

    /// Checks all slots; `pages` must contain every resident page. The check is slow, so there should be few
    /// pages.
    pub fn check_all(&self, pages: impl Iterator<Item = u64>) {
        let mut slots = BTreeSet::new();
        let mut resident = 0;
        for page in pages {
            assert!(!self.dirty.contains(&page) || is_resident(&self.buffer, page));
            if let Some(slot) = self.buffer.find(Lpn(page)) {
                assert!(slots.insert(slot), "two pages in slot {slot:?}");
                assert_eq!(
                    self.newest.get(&page),
                    Some(&self.ram[slot.0 as usize]),
                    "page {page}"
                );
            }
            resident += u32::from(is_resident(&self.buffer, page));
        }
        assert_eq!(resident, self.buffer.counts().resident);
    }

    fn write(&mut self, page: u64) {
        self.tick();
        let now = self.clock;
        let Ok(was_resident) = Buffer::write(self, Lpn(page), now);
        if was_resident {
            self.log.push("hit".into());
        }
        let slot = self
            .buffer
            .find(Lpn(page))
            .expect("a written page is in RAM");
        assert!(is_resident(&self.buffer, page));
        assert!(
            was_resident
                || self
                    .in_flight
                    .iter()
                    .all(|program| program.page.slot != slot),
            "page {page} entered slot {slot:?} while that is programmed"
        );
        for program in self
            .in_flight
            .iter_mut()
            .filter(|program| program.page.slot == slot)
        {
            program.overwritten = true;
        }
        self.store(slot, self.clock);
        self.newest.insert(page, self.clock);
        self.dirty.insert(page);
        self.wait_for_slots();
        while self.buffer.is_eager() && self.buffer.eager_next(self.clock, &self.device) {
            self.issue(DestageCause::Eager);
            self.check_occupancy();
        }
    }

    /// Completes programs until RAM holds no more pages than the capacity.
    fn wait_for_slots(&mut self) {
        while self.buffer.over_capacity() > 0 {
            self.log.push("wait".into());
            let choice = match &mut self.completion {
                Completion::Random(random) => random.below(self.in_flight.len() as u64),
                _ => 0,
            };
            self.complete(choice as usize);
            self.check_occupancy();
        }
    }

    fn read(&mut self, page: u64) {
        self.tick();
        let now = self.clock;
        let found = self.buffer.read(Lpn(page), self.clock);
        let newest = self.newest.get(&page).copied();
        if found.in_ram {
            let slot = self.buffer.find(Lpn(page)).expect("a hit is in RAM");
            assert_eq!(
                Some(self.ram[slot.0 as usize]),
                newest,
                "page {page} read from RAM"
            );
            self.log.push("hit".into());
        } else {
            assert!(!is_resident(&self.buffer, page));
            assert_eq!(
                self.flash.get(&page).copied(),
                newest,
                "page {page} read from flash"
            );
            self.log.push("miss".into());
        }
        if found.enters {
            let Ok(()) = Buffer::take_in_read(self, Lpn(page), now);
            let slot = self
                .buffer
                .find(Lpn(page))
                .expect("an allocated page is in RAM");
            // A page that was never written gets a version that no other page has.
            let version = newest.unwrap_or(self.clock);
            self.newest.insert(page, version);
            self.flash.entry(page).or_insert(version);
            self.store(slot, version);
            self.wait_for_slots();
        }
    }

    fn store(&mut self, slot: Slot, version: u64) {
        // Evicted pages keep their slots while they are being programmed, so slot numbers can exceed the
        // capacity.
        let index = slot.0 as usize;
        if index >= self.ram.len() {
            self.ram.resize(index + 1, u64::MAX);
        }
        self.ram[index] = version;
    }

    fn trim(&mut self, page: u64) {
        self.tick();
        let was_resident = is_resident(&self.buffer, page);
        assert_eq!(self.buffer.trim(Lpn(page), self.clock), was_resident);
        assert_eq!(self.buffer.find(Lpn(page)), None);
        self.log
            .push(if was_resident { "dropped" } else { "absent" }.into());
        self.newest.remove(&page);
        self.supersede(page);
    }

    fn bypass(&mut self, page: u64) {
        self.tick();
        self.buffer.bypass(Lpn(page), self.clock);
        self.log.push("bypass".into());
        self.supersede(page);
        self.newest.insert(page, self.clock);
        self.flash.insert(page, self.clock);
    }

    /// Records that the flash copy of `page` and all programs of `page` in flight are outdated.
    fn supersede(&mut self, page: u64) {
        self.dirty.remove(&page);
        self.flash.remove(&page);
        for program in self
            .in_flight
            .iter_mut()
            .filter(|program| program.page.page.0 == page)
        {
            program.version = None;
        }
    }

    fn flush(&mut self, cause: DestageCause) {
        while self.buffer.flush_next(cause, self.clock, &self.device) {
            self.issue(cause);
            self.check();
        }
        if cause == DestageCause::Drain || self.buffer.config().honor_flush {
            assert_eq!(
                self.buffer.counts().dirty,
                0,
                "pages are dirty after a {}",
                cause.name()
            );
        }
    }

    /// Starts the programs of the buffer's current record. Every page of the record must be dirty, and its slot
    /// must hold its newest version.
    fn issue(&mut self, cause: DestageCause) {
        let record = self.buffer.record();
        assert_eq!(record.cause, cause);
        assert!(!record.pages.is_empty(), "an empty record");
        for page in &record.pages {
            let number = page.page.0;
            let version = self.ram[page.slot.0 as usize];
            assert!(
                self.dirty.remove(&number),
                "page {number} is destaged and was not dirty"
            );
            assert_eq!(
                self.newest.get(&number),
                Some(&version),
                "page {number} is not the newest"
            );
            let program = Program {
                page: *page,
                keep: record.retain,
                overwritten: false,
                version: Some(version),
            };
            self.in_flight.push_back(program);
        }
        let record = Record {
            cause,
            grouping: record.grouping,
            keep: record.retain,
            pages: record.pages.iter().map(|page| page.page.0).collect(),
            pads: record
                .pads
                .iter()
                .map(|pad| (pad.page.0, pad.content))
                .collect(),
        };
        if self.tells_records {
            self.log.push(record.to_string().into());
        }
        self.records.push(record);
        if matches!(self.completion, Completion::AtOnce) {
            self.complete_all();
        }
    }

    fn complete_some(&mut self) {
        if let Completion::Random(random) = &mut self.completion {
            let count = random.below(self.in_flight.len() as u64 + 1);
            let choices: Vec<_> = (0..count)
                .map(|done| random.below(self.in_flight.len() as u64 - done))
                .collect();
            for choice in choices {
                self.complete(choice as usize);
            }
        }
    }

    /// Completes the program at index `choice`. If an older program of the same page is in flight, completes that
    /// one instead, because programs of one page complete in order.
    fn complete(&mut self, choice: usize) {
        let page = self.in_flight[choice].page.page;
        let first = self
            .in_flight
            .iter()
            .position(|program| program.page.page == page)
            .unwrap();
        let Program {
            page,
            keep,
            overwritten,
            version,
        } = self.in_flight.remove(first).unwrap();
        if let Some(version) = version {
            if !overwritten && self.buffer.config().release == Release::Complete {
                assert_eq!(
                    self.ram[page.slot.0 as usize], version,
                    "a slot was reused too early"
                );
            }
            self.flash.insert(page.page.0, version);
        }
        self.buffer.programmed(page, keep, self.clock);
    }

    fn check(&self) {
        assert!(
            self.buffer.counts().are_balanced(),
            "{:?}",
            self.buffer.counts()
        );
        self.check_occupancy();
    }

    fn check_occupancy(&self) {
        let counts = self.buffer.counts();
        assert!(
            counts.resident <= self.buffer.config().capacity_pages,
            "{counts:?}"
        );
        assert!(
            counts.dirty_max <= self.buffer.config().capacity_pages,
            "{counts:?}"
        );
        assert_eq!(counts.dirty as usize, self.dirty.len(), "{counts:?}");
    }

    fn tick(&mut self) {
        self.clock += 1;
    }
}
