//! Records on their way to flash.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};

use crate::idle::IdleTime;
use crate::operation::{PageOperation, Work};

/// A record, from its emission to the end of its last program.
///
/// There are also records that did not come from the buffer. They stand for work that a flush has to wait for in
/// addition to the records of the buffer: a write past the buffer that dropped a dirty page, or a trim that was
/// answered and waits for its turn.
#[derive(Default)]
pub(crate) struct Record {
    pub emitted: Ticks,
    /// Number of padding reads that have not ended.
    pub reads_left: u32,
    /// Number of programs and trims that have not ended.
    pub writes_left: u32,
    /// Number of pages of the record with an earlier effect that has not gone yet.
    pub blocked: u32,
    /// Whether the programs wait, with an entry in the write order of each of their pages.
    pub held: bool,
    /// Whether the pages stay in the buffer.
    pub retain: bool,
    /// Whether the record came from the buffer.
    pub destaged: bool,
    /// The idle time in which the record was written back, if it was.
    pub idle: Option<IdleTime>,
    /// The host requests that wait for the record.
    pub waiters: Vec<u32>,
    /// The programs of the record, in the order of issue.
    pub programs: Vec<PageOperation>,
}

impl Record {
    /// Resets a used record to one without programs. `waiter` is the only request that waits for it.
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

    /// Takes the programs of `destage` for this record, which has the number `id`: dirty pages in their order; if
    /// there is padding, all pages in page order. Runs of at least `long_pages` consecutive pages are long writes.
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

/// Marks the programs of runs of at least `least` consecutive pages as long writes.
fn mark_long(programs: &mut [PageOperation], least: u32) {
    for run in programs.chunk_by_mut(|one, next| one.page().0 + 1 == next.page().0) {
        let is_long = run.len() >= least as usize;
        for program in run {
            *program = program.with_long(is_long);
        }
    }
}

/// The entry of a write past the buffer in the destage log.
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
