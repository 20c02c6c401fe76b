//! Records between their emission and the end of their programs.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};

use crate::idle::IdleTime;
use crate::operation::{PageOperation, Work};

/// A record, from its emission to the end of its last program.
///
/// Some records do not come from the buffer. Such a record represents other work that a flush has to wait for: a
/// write that bypassed the buffer and has dropped a dirty page from the buffer, or a trim that was answered but waits
/// for earlier effects.
#[derive(Default)]
pub(crate) struct Record {
    pub emitted: Ticks,
    /// Number of padding reads that have not ended.
    pub reads_left: u32,
    /// Number of programs and trims that have not ended.
    pub writes_left: u32,
    /// Number of pages of the record on which another effect comes before the record in the write order.
    pub blocked: u32,
    /// Whether the programs wait, and have entries in the write order of their pages.
    pub held: bool,
    /// Whether the pages stay in the buffer.
    pub retain: bool,
    /// Whether the record came from the buffer.
    pub destaged: bool,
    /// The idle time in which the record was written back, if it was written back in idle time.
    pub idle: Option<IdleTime>,
    /// The host requests that wait for the record.
    pub waiters: Vec<u32>,
    /// The programs of the record, in the order of issue.
    pub programs: Vec<PageOperation>,
}

impl Record {
    /// Resets a used record to a record without programs. If `waiter` is given, this request waits for the record.
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

    /// Whether the programs of the record may begin: no padding read and no earlier effect is left.
    pub fn may_go(&self) -> bool {
        self.reads_left == 0 && self.blocked == 0
    }

    /// Sets the programs of this record, whose number is `id`, from `destage`. Without padding, they are in the order
    /// of the dirty pages; with padding, in the order of page numbers. Runs of at least `long_pages` consecutive
    /// pages are marked as long writes.
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

/// The record of the destage log for a write that bypasses the buffer.
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
