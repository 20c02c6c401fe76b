//! Records on their way to the flash.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};

use crate::idle::IdleTime;
use crate::operation::{PageOperation, Work};

/// One record, from its emission to the end of its last program.
///
/// A flush may also have to wait for records of another kind, if there is more to wait for than the requests that have been answered: a write past
/// the buffer that dropped a dirty page, a trim that waits for its turn.
#[derive(Default)]
pub(crate) struct Record {
    pub emitted: Ticks,
    /// Padding reads that have not ended.
    pub reads_left: u32,
    /// Programs and trims that have not ended.
    pub writes_left: u32,
    /// Pages on which something emitted earlier has not gone yet.
    pub blocked: u32,
    /// Its programs wait, and come first or later on each of their pages.
    pub held: bool,
    /// The pages stay in the buffer.
    pub retain: bool,
    /// The record left the buffer; otherwise it only stands for work that a flush waits for.
    pub destaged: bool,
    /// The idle time it was written back in, if it was.
    pub idle: Option<IdleTime>,
    /// Host requests that wait for it.
    pub waiters: Vec<u32>,
    /// Its programs in the order of issue.
    pub programs: Vec<PageOperation>,
}

impl Record {
    /// Makes a record used before into one that waits for nothing.
    pub fn reset(&mut self, emitted: Ticks, waiter: Option<u32>) {
        self.emitted = emitted;
        self.reads_left = 0;
        self.writes_left = 0;
        self.blocked = 0;
        self.held = false;
        self.retain = false;
        self.destaged = false;
        self.idle = None;
        self.waiters.clear();
        self.waiters.extend(waiter);
        self.programs.clear();
    }

    /// Whether nothing holds its programs back any more.
    pub fn may_go(&self) -> bool {
        self.reads_left == 0 && self.blocked == 0
    }

    /// Takes the programs of `destage`, which is record `id`: dirty pages as they come, or with pads in page order.
    /// Runs of `long_pages` consecutive pages and more are long writes.
    pub fn take_programs(&mut self, id: u32, destage: &Destage, long_pages: Option<u32>) {
        let programs = &mut self.programs;
        let dirty = destage.pages.iter();
        programs.extend(
            dirty.map(|dirty| PageOperation::new(dirty.page, Work::Destage(id, dirty.slot))),
        );
        if !destage.pads.is_empty() {
            let pads = destage.pads.iter();
            programs.extend(pads.map(|pad| PageOperation::new(pad.page, Work::PadWrite(id))));
            programs.sort_by_key(|operation| operation.page());
        }
        self.writes_left = programs.len() as u32;
        if let Some(least) = long_pages {
            mark_long(programs, least);
        }
    }
}

/// Marks the programs of pages that follow one another, `least` of them or more, as long writes.
fn mark_long(programs: &mut [PageOperation], least: u32) {
    for run in programs.chunk_by_mut(|one, next| one.page().0 + 1 == next.page().0) {
        let is_long = run.len() >= least as usize;
        for program in run {
            *program = program.with_long(is_long);
        }
    }
}

/// The entry of a write past the buffer in the log of destages.
pub(crate) fn bypass_record(pages: impl Iterator<Item = Lpn>) -> Destage {
    Destage {
        cause: DestageCause::Bypass,
        grouping: Grouping::Pages,
        retain: false,
        pages: pages
            .map(|page| DirtyPage {
                page,
                slot: Slot(0),
            })
            .collect(),
        pads: Vec::new(),
    }
}
