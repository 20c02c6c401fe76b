//! Every scheme over every translation layer, with the bytes followed through both: whatever the host wrote
//! last is what a read finds, in the buffer or on the flash, through any destage, merge, garbage collection, trim, flush.
//!
//! `DESTAGE_MATRIX` is the number of operations of each pair; `make matrix` asks for a million.

#[path = "../../crates/flash/tests/kit/mod.rs"]
mod kit;

use std::sync::atomic::{AtomicUsize, Ordering};

use destage_base::parameter::Values;
use destage_base::{Lpn, Random};
use destage_buffer::destage::DestageCause;
use destage_buffer::{
    Buffer, BufferConfig, COMMON, ReadStep, Release, SCHEMES, SchemeConfig, SchemeRow, Step, View,
};
use destage_flash::Cause as FlashCause;
use destage_flash::Ftl;
use destage_flash::ftl::FTLS;
use destage_tests::shared;
use destage_trace::{ReadOptions, read_all};
use kit::{Device, Setup};

/// Operations of each pair where nobody asks for another number.
const OPERATIONS: usize = 2_000;
const CAPACITY: u32 = 12;
const PAGES_PER_BLOCK: u32 = 4;

#[derive(Clone, Copy)]
enum Operation {
    Write { page: u64, pages: u64, fua: bool },
    Read { page: u64, pages: u64 },
    Trim { page: u64, pages: u64 },
    Flush,
    Idle,
}

/// What a scheme may see of the device.
struct Seen<'a> {
    ftl: &'a dyn Ftl,
    dies: u32,
}

impl View for Seen<'_> {
    fn dies(&self) -> u32 {
        self.dies
    }
    fn die_of(&self, page: Lpn) -> u32 {
        self.ftl.die_of(page)
    }
    fn is_written(&self, page: Lpn) -> bool {
        self.ftl.is_written(page)
    }
}

/// A buffer with the bytes in its slots, a device below, and what the host wrote last. Bytes are a number
/// that no other write has.
struct Stack {
    buffer: Option<Buffer>,
    slots: Vec<u64>,
    device: Device,
    dies: u32,
    flash: Vec<u64>,
    latest: Vec<u64>,
    writes: u64,
    now: u64,
}

macro_rules! view {
    ($stack:ident) => {
        &Seen {
            ftl: &*$stack.device.ftl,
            dies: $stack.dies,
        }
    };
}

impl Stack {
    fn new(setup: &Setup, row: &SchemeRow, future: &[Lpn]) -> Self {
        let device = Device::new(setup);
        let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
        if row.parameters.iter().any(|row| row.name == "tier_bytes") {
            values.set(
                "tier_bytes",
                destage_base::parameter::Value::Integer(65_536),
            );
        }
        let mut config = BufferConfig::from_values(CAPACITY, PAGES_PER_BLOCK, &values);
        config.release = Release::Issue;
        let dies = setup.geometry.dies;
        let scheme = (row.build)(&SchemeConfig {
            capacity_pages: CAPACITY,
            cluster_pages: config.cluster_pages,
            dies,
            future: Some(future),
            seed: 1,
            values: &values,
        });
        let pages = device.pages() as usize;
        let buffer = Buffer::new(config, scheme);
        Self {
            buffer: buffer.keeps_pages().then_some(buffer),
            slots: Vec::new(),
            device,
            dies,
            flash: vec![0; pages],
            latest: vec![0; pages],
            writes: 0,
            now: 0,
        }
    }

    fn run(&mut self, operation: Operation) {
        self.now += 1_000;
        match operation {
            Operation::Write { page, pages, fua } => self.write(page, pages, fua),
            Operation::Read { page, pages } => self.read(page, pages),
            Operation::Trim { page, pages } => {
                for page in page..page + pages {
                    if let Some(buffer) = &mut self.buffer {
                        buffer.trim(Lpn(page), self.now);
                    }
                    self.device.trim(page);
                    self.flash[page as usize] = 0;
                    self.latest[page as usize] = 0;
                }
            }
            Operation::Flush => {
                self.empty(DestageCause::Flush);
                let stale =
                    (0..self.latest.len()).find(|page| self.flash[*page] != self.latest[*page]);
                assert_eq!(
                    stale, None,
                    "a page that a flush did not bring to the flash"
                );
            }
            Operation::Idle => {
                let view = view!(self);
                if let Some(buffer) = &mut self.buffer
                    && buffer.idle_rule().is_some()
                    && buffer.idle(self.now, view)
                {
                    self.issue();
                }
            }
        }
    }

    fn write(&mut self, first: u64, pages: u64, fua: bool) {
        let Some(buffer) = &mut self.buffer else {
            return (first..first + pages).for_each(|page| self.write_past(page));
        };
        buffer.begin_request(pages as u32);
        let past = buffer.bypasses(pages as u32);
        for page in first..first + pages {
            if past {
                if let Some(buffer) = &mut self.buffer {
                    buffer.bypass(Lpn(page), self.now);
                }
                self.write_past(page);
                continue;
            }
            let view = view!(self);
            let Some(buffer) = &mut self.buffer else {
                return;
            };
            let step = buffer.write(Lpn(page), self.now, view);
            self.place(step);
            self.writes += 1;
            self.latest[page as usize] = self.writes;
            self.fill_slot(page, self.writes);
        }
        for page in (first..first + pages).filter(|_| fua && !past) {
            let view = view!(self);
            if let Some(buffer) = &mut self.buffer
                && buffer.fua(Lpn(page), self.now, view)
            {
                self.issue();
            }
        }
    }

    fn write_past(&mut self, page: u64) {
        self.device.write(page);
        self.writes += 1;
        self.flash[page as usize] = self.writes;
        self.latest[page as usize] = self.writes;
    }

    /// Issues records until the pending page is in.
    fn place(&mut self, mut step: Step) {
        while step == Step::Destage {
            self.issue();
            let view = view!(self);
            let Some(buffer) = &mut self.buffer else {
                return;
            };
            step = buffer.place(self.now, view);
        }
    }

    /// The bytes of `page` are now `bytes`.
    fn fill_slot(&mut self, page: u64, bytes: u64) {
        let found = self
            .buffer
            .as_ref()
            .and_then(|buffer| buffer.find(Lpn(page)));
        let slot = found.expect("a page just placed is in a slot").0 as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, 0);
        }
        self.slots[slot] = bytes;
    }

    /// Carries out the latest record.
    fn issue(&mut self) {
        let Some(buffer) = &self.buffer else { return };
        let record = buffer.record();
        let mut programs: Vec<(u64, Option<u64>)> = record
            .pages
            .iter()
            .map(|dirty| (dirty.page.0, Some(self.slots[dirty.slot.0 as usize])))
            .chain(record.pads.iter().map(|pad| (pad.page.0, None)))
            .collect();
        if !record.pads.is_empty() {
            programs.sort_by_key(|(page, _)| *page);
        }
        for pad in record.pads.iter().filter(|pad| pad.read) {
            self.device.read(pad.page.0);
        }
        for (page, bytes) in programs {
            match bytes {
                Some(bytes) => {
                    self.device.write(page);
                    self.flash[page as usize] = bytes;
                }
                None => self
                    .device
                    .write_for(page, FlashCause::Pad)
                    .unwrap_or_else(|full| panic!("{}", full.explanation)),
            }
        }
    }

    fn read(&mut self, first: u64, pages: u64) {
        if let Some(buffer) = &mut self.buffer {
            buffer.begin_request(pages as u32);
        }
        for page in first..first + pages {
            let step = self
                .buffer
                .as_mut()
                .map_or(ReadStep::Miss, |buffer| buffer.read(Lpn(page), self.now));
            let found = match step {
                ReadStep::Hit | ReadStep::HitAllocates => {
                    let buffer = self.buffer.as_ref().expect("hits are in a buffer");
                    self.slots[buffer.find(Lpn(page)).expect("a hit has a slot").0 as usize]
                }
                ReadStep::Miss | ReadStep::MissAllocates => {
                    self.device.read(page);
                    self.flash[page as usize]
                }
            };
            assert_eq!(found, self.latest[page as usize], "page {page}, {step:?}");
            if matches!(step, ReadStep::HitAllocates | ReadStep::MissAllocates) {
                let view = view!(self);
                let Some(buffer) = &mut self.buffer else {
                    return;
                };
                let step = buffer.place(self.now, view);
                self.place(step);
                self.fill_slot(page, found);
            }
        }
    }

    fn empty(&mut self, cause: DestageCause) {
        loop {
            let view = view!(self);
            let Some(buffer) = &mut self.buffer else {
                return;
            };
            if !buffer.flush_next(cause, self.now, view) {
                return;
            }
            self.issue();
        }
    }
}

/// Random requests of one to six pages, most of them to a part of the device.
fn random_operations(pages: u64, count: usize, seed: u64) -> Vec<Operation> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let length = 1 + random.below(3) * random.below(4).min(pages - 1) / 2;
            let range = if random.below(3) == 0 {
                pages
            } else {
                pages.div_ceil(3)
            };
            let page = random.below(range).min(pages - length);
            match random.below(100) {
                0..20 => Operation::Read {
                    page,
                    pages: length,
                },
                20..24 => Operation::Trim {
                    page,
                    pages: length,
                },
                24 => Operation::Flush,
                25..28 => Operation::Idle,
                kind => Operation::Write {
                    page,
                    pages: length,
                    fua: kind == 28,
                },
            }
        })
        .collect()
}

/// Requests of a real trace, folded onto a small device.
fn real_operations(pages: u64, count: usize) -> Option<Vec<Operation>> {
    let path = shared()?.join("traces/financial1-head10k.ssdsim.zst");
    let trace = read_all(&path, &ReadOptions::default()).expect("a trace");
    let operations = trace.requests.iter().cycle().take(count).map(|request| {
        let length = u64::from(request.sectors).div_ceil(8).clamp(1, 6);
        let page = (request.sector / 8 % pages).min(pages - length);
        match request.operation {
            destage_trace::Operation::Read => Operation::Read {
                page,
                pages: length,
            },
            _ => Operation::Write {
                page,
                pages: length,
                fua: false,
            },
        }
    });
    Some(operations.collect())
}

fn future_of(operations: &[Operation]) -> Vec<Lpn> {
    let writes = operations.iter().filter_map(|operation| match operation {
        Operation::Write { page, pages, .. } => Some(*page..*page + *pages),
        _ => None,
    });
    writes.flatten().map(Lpn).collect()
}

fn pair(row: &SchemeRow, setup: &Setup, operations: &[Operation]) {
    kit::about(format!("{} over {setup:?}", row.name), || {
        let mut stack = Stack::new(setup, row, &future_of(operations));
        for operation in operations {
            stack.run(*operation);
        }
        stack.empty(DestageCause::Drain);
        for page in 0..stack.device.pages() {
            stack.read(page, 1);
        }
        stack.device.check();
    });
}

/// Runs `each` on all pairs of a scheme and a layer, on as many threads as there are cores.
fn every_pair(each: impl Fn(&SchemeRow, &str, usize) + Sync) {
    let layers: Vec<&str> = FTLS
        .iter()
        .map(|row| row.name)
        .filter(|name| *name != "none")
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (scheme, layer) = (number / layers.len(), number % layers.len());
            let Some(row) = SCHEMES.get(scheme) else {
                return;
            };
            each(row, layers[layer], number);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
}

fn setup(layer: &str, number: usize) -> Setup {
    let dies = 1 + number as u32 % 2;
    let mut setup = Setup::new(layer, dies, 20, PAGES_PER_BLOCK);
    setup.filled = !number.is_multiple_of(3);
    for (name, value) in kit::small_settings(layer) {
        setup = setup.with(name, value);
    }
    setup
}

fn operations_asked() -> usize {
    let asked = std::env::var("DESTAGE_MATRIX").ok();
    asked.map_or(OPERATIONS, |text| text.parse().expect("a number"))
}

#[test]
fn every_scheme_over_every_layer_keeps_what_was_written_last() {
    every_pair(|row, layer, number| {
        let setup = setup(layer, number);
        let pages = Device::new(&setup).pages();
        let operations = random_operations(pages, operations_asked(), number as u64);
        pair(row, &setup, &operations);
    });
}

#[test]
fn every_scheme_over_every_layer_keeps_what_a_real_trace_wrote() {
    if shared().is_none() {
        return;
    }
    every_pair(|row, layer, number| {
        let setup = setup(layer, number);
        let pages = Device::new(&setup).pages();
        let operations = real_operations(pages, operations_asked()).expect("a trace");
        pair(row, &setup, &operations);
    });
}
