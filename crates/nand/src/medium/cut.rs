//! The state of the medium after a loss of power.
//!
//! Every operation of a step has an end of its own. The operations of a lane follow one another, and the lanes run in
//! parallel. At a loss of power, operations that have ended remain valid, and operations that have not begun are
//! undone. A program in flight makes its page unreadable, and an erase in flight makes its block unreadable.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use destage_base::lazy::LazyTable;
use destage_base::{Lpn, Random, Ticks};

use super::cells::{Before, Block, Data, Stored};
use super::commands::Progress;
use super::fill::AtFirst;
use super::{Medium, SpareKind, Spot};
use crate::batch::Batch;
use crate::operation::{Kind, Operation, Transfer};
use crate::timing::Timing;

/// An operation of a step in service, and how to undo it.
#[derive(Clone)]
pub(super) struct Done {
    pub lane: u32,
    pub operation: Operation,
    pub undo: Undo,
    /// The logical page that the operation programs for the host.
    pub page: Option<Lpn>,
    /// For a program, its number in the order of all programs; for other operations, the number of programs before.
    pub number: u64,
    /// The progress of the command of the operation, on devices whose commands begin and end one by one.
    pub progress: Progress,
}

/// The state before an operation, which a loss of power restores.
#[derive(Clone)]
pub(super) enum Undo {
    Nothing,
    Program(Before),
    Erase(Box<Block>),
}

/// Faults of bad drives. A drive without checksums returns torn pages; a drive with shared word lines can lose pages
/// whose programs have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BadDrive {
    /// Bytes of a sector, if the page of an interrupted program stays readable, with its spare area and some of its
    /// sectors (a torn page). 0 if such a page is unreadable.
    pub torn_sector_bytes: usize,
    /// Number of interrupted programs, out of a million, that destroy the earlier pages of their word line.
    pub paired_loss_ppm: u32,
    /// Number of consecutive pages of a block that share a word line. Cells that hold one bit although they could
    /// hold more have one page on each word line.
    pub pages_per_word_line: u32,
}

/// The fault of a [`BadDrive`] through which contents were lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lost {
    /// The program of the page was cut off, and the drive does not notice this.
    Torn,
    /// The program of another page on the same word line was cut off.
    Paired,
}

/// The effects of a loss of power.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CutReport {
    /// Number of programs that were cut off.
    pub programs: u32,
    /// Number of erases that were cut off.
    pub erases: u32,
    /// The logical pages of which a copy was lost through a fault of a [`BadDrive`].
    pub lost: Vec<(Lpn, Lost)>,
    /// Whether a step was interrupted before its last operation had ended. The state of the layer then includes
    /// operations that the flash has not completed.
    pub is_cut_short: bool,
    /// By die, the ticks for which operations in service continued after the cut with the energy of the capacitor.
    pub went_on: Vec<Ticks>,
}

/// The progress of an operation when the power failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    End,
    Middle,
    Nothing,
}

impl Medium {
    /// The power fails. For each die, `elapsed` gives the ticks since its step in service began. If
    /// [commands](Self::by_commands) begin and end one by one, `elapsed` gives the current time instead. After the
    /// call no step is in service, and the places of logical pages are unknown until the next mount. `random` decides
    /// those effects of `bad` that depend on chance.
    pub fn cut(
        &mut self,
        elapsed: impl Fn(u32) -> Ticks,
        timing: &Timing,
        bad: &BadDrive,
        random: &mut Random,
    ) -> CutReport {
        let report = self.wind_up(elapsed, timing, bad, random, |_| false);
        self.forget_places();
        report
    }

    /// The power fails, as in [`Medium::cut`], but the device has a capacitor. An operation in service is completed
    /// if `pays` says that the energy of the capacitor is used for it. The places of logical pages remain known, so
    /// that the device can program further pages until the energy is used up. After these programs, the caller has to
    /// call [`Medium::forget_places`].
    pub fn wind_up(
        &mut self,
        elapsed: impl Fn(u32) -> Ticks,
        timing: &Timing,
        bad: &BadDrive,
        random: &mut Random,
        mut pays: impl FnMut(&Operation) -> bool,
    ) -> CutReport {
        let mut report = CutReport::default();
        let mut broken = Vec::new();
        let mut changed: Vec<(u32, u32)> = Vec::new();
        for die in 0..self.dies.len() as u32 {
            let elapsed = elapsed(die);
            let mut went_on = 0;
            let reached = match self.ends_as_whole(die) {
                true => self.reached(die, elapsed, timing, &mut pays, &mut went_on),
                false => self.reached_by_commands(die, elapsed, &mut pays, &mut went_on),
            };
            report.is_cut_short |= reached.iter().any(|reached| *reached != Reached::End);
            report.went_on.push(went_on);
            let undone = self.dies[die as usize].done.iter().zip(&reached);
            let undone = undone.filter(|(_, reached)| **reached != Reached::End);
            changed.extend(undone.map(|(done, _)| (die, self.split(done.operation.at.0).0)));
            self.break_off(die, &reached, bad, &mut report, &mut broken);
        }
        for Broken { at, one_bit, left } in broken {
            if let Some(torn) = left {
                self.tear(at, torn, bad, random, &mut report);
            }
            // If cells hold one bit, a word line has one page, so no other page can be lost.
            if random.below(1_000_000) < u64::from(bad.paired_loss_ppm) && !one_bit {
                self.lose_word_line(at, bad, &mut report);
            }
        }
        self.holds.clear();
        self.reads.clear();
        changed.sort_unstable();
        changed.dedup();
        self.rewrite_blocks(&changed);
        report
    }

    /// The progress of each operation of the step of `die`, which began `elapsed` ticks ago.
    fn reached(
        &self,
        die: u32,
        elapsed: Ticks,
        timing: &Timing,
        pays: &mut impl FnMut(&Operation) -> bool,
        went_on: &mut Ticks,
    ) -> Vec<Reached> {
        let spans = self.spans(die, timing);
        let of_step = self.dies[die as usize].done.iter().zip(&spans);
        let reached = of_step.map(|(done, (begin, end))| match elapsed {
            _ if elapsed >= *end => Reached::End,
            _ if elapsed < *begin => Reached::Nothing,
            _ if done.operation.kind != Kind::Read && pays(&done.operation) => {
                *went_on = (*went_on).max(end - elapsed);
                Reached::End
            }
            _ => Reached::Middle,
        });
        reached.collect()
    }

    /// The progress of each operation of `die` at the time `now`. Pages that one command programs are passed to
    /// `pays` as one operation. A first pass in flight is never completed, so it is not passed to `pays`.
    fn reached_by_commands(
        &self,
        die: u32,
        now: Ticks,
        pays: &mut impl FnMut(&Operation) -> bool,
        went_on: &mut Ticks,
    ) -> Vec<Reached> {
        let all = &self.dies[die as usize].done;
        let block_of = |done: &Done| done.operation.at.0 >> self.page_bits;
        let mut paid: Option<(&Done, bool)> = None;
        let reached = all.iter().map(|done| match done.progress {
            Progress::Waits => Reached::Nothing,
            Progress::Halfway(begins) if now < begins => Reached::Nothing,
            Progress::Halfway(_) => Reached::Middle,
            Progress::Last {
                begins, is_second, ..
            } if now < begins => match is_second {
                true => Reached::Middle,
                false => Reached::Nothing,
            },
            Progress::Last { ends, .. } => {
                let is_with = |other: &&Done| {
                    other.operation.kind == done.operation.kind
                        && other.progress == done.progress
                        && block_of(other) == block_of(done)
                };
                let known = paid
                    .filter(|(of, _)| is_with(of))
                    .map(|(_, is_paid)| is_paid);
                let is_paid = known.unwrap_or_else(|| {
                    let count = all.iter().filter(is_with).count() as u32;
                    pays(&Operation {
                        count,
                        ..done.operation
                    })
                });
                paid = Some((done, is_paid));
                if is_paid {
                    *went_on = (*went_on).max(ends.saturating_sub(now));
                    return Reached::End;
                }
                Reached::Middle
            }
        });
        reached.collect()
    }

    /// Makes the places of all logical pages unknown until the next mount.
    pub fn forget_places(&mut self) {
        self.pages = LazyTable::new(self.pages.len(), AtFirst::Nowhere);
    }

    /// The ends of all operations of the step in service at `die`, and 0 for the start of the step. The moments are
    /// in ticks after the start of the step, in ascending order.
    #[must_use]
    pub fn moments(&self, die: u32, timing: &Timing) -> Vec<Ticks> {
        let mut moments: Vec<Ticks> = self.spans(die, timing).iter().map(|span| span.1).collect();
        moments.push(0);
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// Begin and end of each program of the step in service at `die`, in ticks after the start of the step. The list
    /// is empty if [commands](Self::by_commands) begin and end one by one.
    #[must_use]
    pub fn programs(&self, die: u32, timing: &Timing) -> Vec<(Ticks, Ticks)> {
        if !self.ends_as_whole(die) {
            return Vec::new();
        }
        let done = self.dies[die as usize].done.iter();
        let spans = done.zip(self.spans(die, timing));
        let programs = spans.filter(|(done, _)| done.operation.kind == Kind::Program);
        programs.map(|(_, span)| span).collect()
    }

    /// Begin and end of each operation of the step in service at `die`, in ticks after the start of the step.
    fn spans(&self, die: u32, timing: &Timing) -> Vec<(Ticks, Ticks)> {
        let state = &self.dies[die as usize];
        if !state.parts.is_empty() {
            return self.spans_of_batch(die, timing);
        }
        let (mut lane, mut at) = (0, 0);
        let each = state.done.iter().map(|done| {
            if done.lane != lane {
                (lane, at) = (done.lane, 0);
            }
            let begin = at;
            at += timing.of(done.operation);
            (begin, at)
        });
        each.collect()
    }

    /// Begin and end of each operation of the batch at `die`, in ticks after the start of the batch. An operation
    /// begins with its transfer. After the program of the last data page of a block, the die programs the summary
    /// page.
    fn spans_of_batch(&self, die: u32, timing: &Timing) -> Vec<(Ticks, Ticks)> {
        let state = &self.dies[die as usize];
        let batch = Batch {
            entries: state.parts.clone(),
        };
        let mut spans = Vec::new();
        for (entry, finish) in batch.finish_times(timing) {
            let cells = match entry.write {
                true => timing.program,
                false => timing.read,
            };
            let summary = match entry.seals {
                true => timing.sector_transfer + timing.program,
                false => 0,
            };
            let end = finish - summary;
            spans.push((end - cells - timing.page_transfer, end));
            let next = state.done.get(spans.len()).map(|done| done.operation);
            if next.is_some_and(|next| next.transfer == Transfer::Sector) {
                spans.push((end, finish));
            }
        }
        spans
    }

    /// Undoes the operations of `die` that have not begun, makes the pages and blocks of operations in flight
    /// unreadable, and adds each program in flight to `broken`.
    fn break_off(
        &mut self,
        die: u32,
        reached: &[Reached],
        bad: &BadDrive,
        report: &mut CutReport,
        broken: &mut Vec<Broken>,
    ) {
        let (page_bits, pages) = (self.page_bits, self.pages_per_block);
        let state = &mut self.dies[die as usize];
        let done = core::mem::take(&mut state.done);
        for (done, reached) in done.into_iter().zip(reached).rev() {
            let at = done.operation.at.0;
            let (number, page) = (at >> page_bits, at & ((1 << page_bits) - 1));
            let block = &mut state.blocks[number];
            match (done.undo, reached) {
                (_, Reached::End) | (Undo::Nothing, _) => {}
                (Undo::Program(before), Reached::Nothing) => block.take_back(page, before),
                (Undo::Program(_), Reached::Middle) => {
                    // If the page has no stored contents, a later erase of the block has destroyed them.
                    let Some(stored) = block.stored(page) else {
                        continue;
                    };
                    let torn = (bad.torn_sector_bytes > 0).then(|| stored.clone());
                    block.break_off(page);
                    report.programs += 1;
                    broken.push(Broken {
                        at: (die, number, page),
                        one_bit: done.operation.one_bit,
                        left: torn,
                    });
                }
                (Undo::Erase(before), Reached::Nothing) => *block = *before,
                (Undo::Erase(_), Reached::Middle) => {
                    debug_assert!(done.operation.kind == Kind::Erase);
                    block.break_erase(pages);
                    report.erases += 1;
                }
            }
        }
        (state.is_busy, state.is_whole) = (false, false);
        state.parts.clear();
    }

    /// Makes a page torn. Its spare area remains readable, and each of its sectors holds the old data, the new data,
    /// or garbage.
    fn tear(
        &mut self,
        (die, block, page): (u32, u32, u32),
        torn: Stored,
        bad: &BadDrive,
        random: &mut Random,
        report: &mut CutReport,
    ) {
        let Some(logical) = torn.spare.page else {
            return;
        };
        if matches!(torn.spare.kind, SpareKind::Map | SpareKind::Fill) {
            return;
        }
        let mut bytes = self.bytes_of(&torn, Spot { die, block, page }).to_vec();
        let old = self.latest_on_flash(logical);
        for (number, sector) in bytes.chunks_mut(bad.torn_sector_bytes).enumerate() {
            match random.below(3) {
                0 => {
                    let start = number * bad.torn_sector_bytes;
                    let before = old.as_deref().unwrap_or(&self.zeros);
                    sector.copy_from_slice(&before[start..start + sector.len()]);
                }
                1 => {}
                _ => sector.fill_with(|| random.next_u64() as u8),
            }
        }
        let stored = Stored {
            data: Data::Here(bytes.into()),
            is_torn: true,
            ..torn
        };
        self.dies[die as usize].blocks[block].restore_torn(page, stored);
        report.lost.push((logical, Lost::Torn));
    }

    /// The bytes of the newest readable copy of `page` that was programmed after the fill; `None` if there is no such
    /// copy.
    fn latest_on_flash(&self, page: Lpn) -> Option<Arc<[u8]>> {
        let blocks = (0..).zip(&self.dies).flat_map(|(die, state)| {
            let made = state.blocks.made();
            made.map(move |(number, block)| (die, number, block))
        });
        let copies = blocks.flat_map(|(die, block, state)| {
            let at = move |(page, stored)| (stored, Spot { die, block, page });
            state.all().map(at)
        });
        let of_page = copies.filter(|(stored, _)| {
            stored.spare.page == Some(page)
                && !matches!(stored.spare.kind, SpareKind::Map | SpareKind::Fill)
        });
        let newest = of_page.max_by_key(|(stored, _)| (stored.spare.version, stored.spare.program));
        newest.map(|(stored, spot)| self.bytes_of(stored, spot).into_owned())
    }

    /// Makes those pages unreadable that are before `page` on the same word line.
    fn lose_word_line(
        &mut self,
        (die, block, page): (u32, u32, u32),
        bad: &BadDrive,
        report: &mut CutReport,
    ) {
        let first = page - page % bad.pages_per_word_line.max(1);
        let state = &mut self.dies[die as usize].blocks[block];
        for earlier in first..page {
            let Some(spare) = state.spare(earlier) else {
                continue;
            };
            let logical = spare.page;
            let is_data = !matches!(spare.kind, SpareKind::Map | SpareKind::Fill);
            state.lose(earlier, self.pages_per_block);
            if let Some(logical) = logical.filter(|_| is_data) {
                report.lost.push((logical, Lost::Paired));
            }
        }
    }
}

/// A program that was cut off.
struct Broken {
    /// Die, block and page.
    at: (u32, u32, u32),
    /// Whether the cells of the page hold one bit, in flash whose cells could hold more.
    one_bit: bool,
    /// The contents of the page, if the drive does not notice that the program was cut off.
    left: Option<Stored>,
}
