//! A flash medium with real bytes. The medium carries out the operations of a translation layer page by page, and
//! refuses operations that flash cannot do.
//!
//! The medium stores the bytes and the spare area of every programmed page, and knows which copy of each logical page
//! is the newest. It refuses to erase pages that are still needed.
//!
//! The caller [starts](Medium::start) a step when the die begins the step, and [ends](Medium::end) it when the die is
//! done. In between, the programs of the step are in flight. The copies that these programs replace are held: the
//! blocks of these copies may not be erased. Only programmed pages need memory.
//!
//! `docs/SPEC.md` has the complete rules.

mod blocks;
mod cells;
mod commands;
mod cut;
mod erased;
mod fill;
pub mod image;
mod keeper;
mod refusal;
mod scan;
mod spare;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::Lpn;
use destage_base::lazy::{LazyTable, parts};

use self::blocks::Blocks;
pub use self::cells::digest;
use self::cells::{Cell, Data, Stored};
use self::commands::Progress;
pub use self::commands::{FlashCommand, Pass};
pub use self::cut::{BadDrive, CutReport, Lost};
use self::cut::{Done, Undo};
pub use self::erased::Pools;
use self::fill::AtFirst;
pub use self::fill::Placement;
use self::image::Kept;
pub use self::keeper::{Fault, Store};
pub use self::refusal::{Refusal, Spot};
pub use self::spare::{Image, ImageKind, Spare, SpareKind};
use crate::array::Ppn;
use crate::batch::Entry as BatchEntry;
use crate::geometry::Geometry;
use crate::operation::{Content, Detail, Kind, Operations, Purpose};

/// Marks that a page is on no die.
const NO_DIE: u32 = u32::MAX;

/// The place of the newest copy of a logical page, and the version that was programmed last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// The die, or [`NO_DIE`]; `at` is the physical page of this die.
    die: u32,
    at: u32,
    version: u64,
}

impl Entry {
    fn new(place: Option<(u32, u32)>, version: u64) -> Self {
        let (die, at) = place.unwrap_or((NO_DIE, 0));
        Self { die, at, version }
    }

    fn place(&self) -> Option<(u32, u32)> {
        (self.die != NO_DIE).then_some((self.die, self.at))
    }
}

/// A copy whose replacement is still being programmed, and which therefore may not be erased.
#[derive(Clone)]
struct Hold {
    /// Die and physical page of the copy.
    place: (u32, u32),
    page: Lpn,
    by: Program,
}

/// A program: its die, its lane, and its number in the order of all programs.
#[derive(Clone, Copy)]
struct Program {
    die: u32,
    lane: u32,
    number: u64,
}

#[derive(Clone)]
struct Die {
    blocks: Blocks,
    is_busy: bool,
    /// Whether all operations of the step in service end together, although commands of the device end one by one.
    is_whole: bool,
    /// The operations of the steps in service. Their effects are applied already, as if the operations had ended. If
    /// a step ends as a whole, the list has all operations of the step; otherwise only the operations whose commands
    /// have not ended.
    done: Vec<Done>,
    /// The entries of the batch in service, from which the times of its operations are computed; empty if no batch is
    /// in service.
    parts: Vec<BatchEntry>,
}

/// The contents that a program of a step writes.
struct Payload {
    kind: SpareKind,
    page: Option<Lpn>,
    version: u64,
    data: Data,
}

impl Payload {
    /// The contents of a page that only the layer reads.
    fn internal(kind: SpareKind, page: Option<Lpn>) -> Self {
        Self {
            kind,
            page,
            version: 0,
            data: Data::Zeros,
        }
    }

    /// The page as the medium stores it. `program` is the number of the program.
    fn stored(self, purpose: Purpose, program: u64) -> Stored {
        let spare = Spare {
            kind: self.kind,
            page: self.page,
            version: self.version,
            program,
            purpose,
        };
        Stored {
            spare,
            data: self.data,
            is_torn: false,
        }
    }
}

/// The medium. See the [module](self).
#[derive(Clone)]
pub struct Medium {
    dies: Vec<Die>,
    pages: LazyTable<AtFirst>,
    page_bits: u32,
    pages_per_block: u32,
    is_in_order: bool,
    /// Whether commands begin and end one by one.
    is_by_commands: bool,
    /// Number of mapping units that share a page of flash. A page of flash is read as a whole. Everywhere else in
    /// this module, a mapping unit is called a page.
    units_per_page: u32,
    programs: u64,
    holds: Vec<Hold>,
    /// Pages that the step has read in order to copy them, but has not programmed yet. An entry is lane, die and
    /// physical page.
    reads: Vec<(u32, u32, u32)>,
    /// The page of `reads` whose copy was programmed last. The page of flash that holds this page is still in the
    /// page register.
    last_read: Option<(u32, u32, u32)>,
    zeros: Arc<[u8]>,
    /// The store in which the contents of the medium outlive the process, if there is one.
    kept: Option<Kept>,
}

impl Medium {
    /// An erased medium. `in_order` says whether pages of a block may only be programmed in ascending order.
    ///
    /// # Panics
    /// If a page has more bytes than there is memory.
    #[must_use]
    pub fn new(geometry: &Geometry, in_order: bool) -> Self {
        let page_bits = geometry.page_bits();
        let blocks = geometry.blocks_per_die();
        let bytes = usize::try_from(geometry.page_bytes).expect("a page fits into memory");
        let die = |_| Die {
            blocks: Blocks::new(blocks),
            is_busy: false,
            is_whole: false,
            done: Vec::new(),
            parts: Vec::new(),
        };
        let pages = (u64::from(geometry.dies) * u64::from(blocks)) << page_bits;
        Self {
            dies: (0..geometry.dies).map(die).collect(),
            pages: LazyTable::new(pages as usize, AtFirst::Nowhere),
            page_bits,
            pages_per_block: geometry.pages_per_block,
            is_in_order: in_order,
            is_by_commands: false,
            units_per_page: 1,
            programs: 0,
            holds: Vec::new(),
            reads: Vec::new(),
            last_read: None,
            zeros: vec![0; bytes].into(),
            kept: None,
        }
    }

    /// Number of physical pages of a die.
    #[must_use]
    pub fn pages_per_die(&self) -> u32 {
        let blocks = self.dies.first().map_or(0, |die| die.blocks.count());
        blocks * self.pages_per_block
    }

    /// This medium, for a device on which `units` mapping units share a page of flash. Such units are read together.
    #[must_use]
    pub fn with_units_per_page(self, units: u32) -> Self {
        Self {
            units_per_page: units,
            ..self
        }
    }

    /// Carries out the [detailed](Operations::detailed) `operations`, which are one step of `die`. `images` has the
    /// bytes of each page that the step programs for the host. The programs of the step are in flight until
    /// [`Medium::end`]. On a device whose [commands](Self::by_commands) end one by one, a program is in flight until
    /// its command has ended.
    ///
    /// # Errors
    /// The reason why the first refused operation was refused. All operations before the refused one were carried out,
    /// and no operation after it.
    pub fn start(
        &mut self,
        die: u32,
        operations: &Operations,
        images: &[Image<'_>],
    ) -> Result<(), Refusal> {
        self.carry_out(die, operations, images)
    }

    /// [`Medium::start`] for a step, such as a step of a mount, that [ends](Self::end) as a whole on every device.
    ///
    /// # Errors
    /// The errors are those of [`Medium::start`].
    pub fn start_whole(
        &mut self,
        die: u32,
        operations: &Operations,
        images: &[Image<'_>],
    ) -> Result<(), Refusal> {
        self.dies[die as usize].is_whole = true;
        self.carry_out(die, operations, images)
    }

    fn carry_out(
        &mut self,
        die: u32,
        operations: &Operations,
        images: &[Image<'_>],
    ) -> Result<(), Refusal> {
        if self.dies[die as usize].is_busy {
            return Err(Refusal::Busy { die });
        }
        if operations.details().len() != operations.all().len() {
            return Err(Refusal::NotDetailed);
        }
        let ends_as_whole = self.ends_as_whole(die);
        self.dies[die as usize].is_busy = ends_as_whole;
        self.reads.clear();
        self.last_read = None;
        let is_single_lane = operations.is_single_lane();
        for (number, operation, detail) in operations.commands() {
            let lane = (die, number);
            let mut page = None;
            let undo = match operation.kind {
                Kind::Read => {
                    self.read(lane, operation.at, detail.content)?;
                    if !ends_as_whole {
                        continue;
                    }
                    Undo::Nothing
                }
                Kind::Program => {
                    if let Content::Host(written) = detail.content {
                        page = Some(written);
                    }
                    self.program(lane, is_single_lane, operation.at, detail, images)?
                }
                Kind::Erase => self.erase(lane, operation.at)?,
            };
            self.dies[die as usize].done.push(Done {
                lane: number,
                operation: *operation,
                undo,
                page,
                number: self.programs,
                progress: Progress::Waits,
            });
        }
        Ok(())
    }

    /// [`Medium::start`] for a batch with the entries `parts`, each of which ends at a time of its own.
    ///
    /// # Errors
    /// The errors are those of [`Medium::start`].
    pub fn start_batch(
        &mut self,
        die: u32,
        operations: &Operations,
        parts: &[BatchEntry],
        images: &[Image<'_>],
    ) -> Result<(), Refusal> {
        self.dies[die as usize].parts.extend_from_slice(parts);
        self.start(die, operations, images)
    }

    /// Number of page programs so far.
    #[must_use]
    pub fn programmed_pages(&self) -> u64 {
        self.programs
    }

    /// The caller reports that the step on `die` has ended. The programs of the step have then ended, and the copies
    /// that they replaced are no longer held. On a device whose [commands](Self::by_commands) end one by one, this
    /// call has an effect only for steps that end as a whole.
    pub fn end(&mut self, die: u32) {
        if !self.ends_as_whole(die) {
            return;
        }
        let state = &mut self.dies[die as usize];
        (state.is_busy, state.is_whole) = (false, false);
        state.done.clear();
        state.parts.clear();
        self.holds.retain(|hold| hold.by.die != die);
    }

    /// Whether the step in service at `die` ends as a whole.
    fn ends_as_whole(&self, die: u32) -> bool {
        !self.is_by_commands || self.dies[die as usize].is_whole
    }

    /// The spare area and the bytes of the copy of `page` that a mount would choose if all steps had ended. `None` if
    /// the page was never written, or was trimmed.
    #[must_use]
    pub fn newest(&self, page: Lpn) -> Option<(Spare, Cow<'_, Arc<[u8]>>)> {
        let (die, at) = self.place_of(page)?;
        Some((self.spare(die, Ppn(at))?, self.data(die, Ppn(at))?))
    }

    /// The spare area of [the newest copy](Self::newest) of `page`.
    #[must_use]
    pub fn newest_spare(&self, page: Lpn) -> Option<Spare> {
        let (die, at) = self.place_of(page)?;
        self.spare(die, Ppn(at))
    }

    /// Die and physical page of the newest copy of `page`.
    fn place_of(&self, page: Lpn) -> Option<(u32, u32)> {
        self.pages.get(page.0 as usize).place()
    }

    /// The caller reports that `page` is trimmed, so that no copy of `page` is needed any more. The call has to come
    /// before the operations of the trim start.
    pub fn trim(&mut self, page: Lpn) {
        if self.place_of(page).is_some() {
            self.pages.get_mut(page.0 as usize).die = NO_DIE;
        }
    }

    /// [Trims](Self::trim) all of `pages`. The pages of whole chunks of the table that were never programmed by the host
    /// use no memory.
    pub fn trim_all(&mut self, pages: &Range<u64>) {
        let nowhere = Entry::new(None, 0);
        for part in parts(&(pages.start as usize..pages.end as usize)) {
            if self.pages.has_only(part.start, nowhere) {
                continue;
            }
            let mut entries = part.clone().map(|page| self.pages.get(page));
            if entries.all(|entry| entry.version == 0) {
                self.pages.set_all(part, nowhere);
            } else {
                part.for_each(|page| self.trim(Lpn(page as u64)));
            }
        }
    }

    /// The spare area of a physical page; `None` if the page is erased or unreadable, or if its contents are unknown.
    #[must_use]
    pub fn spare(&self, die: u32, at: Ppn) -> Option<Spare> {
        let (block, page) = self.split(at.0);
        self.dies.get(die as usize)?.blocks.get(block)?.spare(page)
    }

    /// The bytes of a physical page; `None` if [`Medium::spare`] is `None`. Pages of the map and summaries are read
    /// as zeros.
    #[must_use]
    pub fn data(&self, die: u32, at: Ppn) -> Option<Cow<'_, Arc<[u8]>>> {
        let spot = self.spot(die, at.0);
        let block = self.dies.get(die as usize)?.blocks.get(spot.block)?;
        match block.cell(spot.page) {
            Cell::Stored(stored) => Some(self.bytes_of(stored, spot)),
            Cell::Filled(_) => Some(Cow::Borrowed(&self.zeros)),
            Cell::Erased | Cell::Unknown | Cell::Unreadable => None,
        }
    }

    /// The bytes of `stored`, which is at `spot`.
    fn bytes_of<'b>(&'b self, stored: &'b Stored, spot: Spot) -> Cow<'b, Arc<[u8]>> {
        match (&stored.data, &self.kept) {
            (Data::Here(bytes), _) => Cow::Borrowed(bytes),
            (Data::Filed(_), Some(kept)) => Cow::Owned(kept.read(spot, stored, self.zeros.len())),
            (Data::Zeros | Data::Filed(_), _) => Cow::Borrowed(&self.zeros),
        }
    }

    fn split(&self, at: u32) -> (u32, u32) {
        (at >> self.page_bits, at & ((1 << self.page_bits) - 1))
    }

    fn spot(&self, die: u32, at: u32) -> Spot {
        let (block, page) = self.split(at);
        Spot { die, block, page }
    }

    fn read(&mut self, (die, lane): (u32, u32), at: Ppn, content: Content) -> Result<(), Refusal> {
        if content == Content::None {
            return Ok(());
        }
        let die = match content {
            Content::CopyFrom(from, _) => from,
            _ => die,
        };
        let (block, page) = self.split(at.0);
        let stored = match self.dies[die as usize].blocks[block].cell(page) {
            Cell::Erased => return Err(Refusal::ReadOfErased(self.spot(die, at.0))),
            // A mount may read the spare area of an unreadable page that was to hold a page of the map. If the read
            // fails, the mount finds the map from the page before.
            Cell::Unreadable if content == Content::Spare => None,
            Cell::Unreadable => return Err(Refusal::ReadOfUnreadable(self.spot(die, at.0))),
            Cell::Unknown => None,
            Cell::Filled(page) => Some(Spare::filled(page)),
            Cell::Stored(stored) => Some(stored.spare),
        };
        match content {
            Content::Host(wanted) => {
                let place = self.place_of(wanted);
                let is_filler = || {
                    place.is_none()
                        && stored.is_some_and(|spare| {
                            spare.kind == SpareKind::Fill && spare.page == Some(wanted)
                        })
                };
                if place != Some((die, at.0)) && !is_filler() {
                    return Err(Refusal::ReadOfOld {
                        page: wanted,
                        spot: self.spot(die, at.0),
                        newest: place.map(|(die, at)| self.spot(die, at)),
                    });
                }
            }
            Content::Map(wanted) => {
                let is_it = |spare: Spare| {
                    spare.kind == SpareKind::Map
                        && spare.page.is_none_or(|page| page.0 == u64::from(wanted))
                };
                if !stored.is_none_or(is_it) {
                    return Err(Refusal::NotTheMap {
                        map_page: wanted,
                        spot: self.spot(die, at.0),
                    });
                }
            }
            Content::Copy(_) | Content::CopyFrom(..) => self.reads.push((lane, die, at.0)),
            Content::Summary | Content::Spare | Content::Filler | Content::None => {}
        }
        Ok(())
    }

    fn program(
        &mut self,
        (die, lane): (u32, u32),
        is_single_lane: bool,
        at: Ppn,
        detail: &Detail,
        images: &[Image<'_>],
    ) -> Result<Undo, Refusal> {
        let at = at.0;
        let (block, page) = self.split(at);
        let here = self.spot(die, at);
        let state = &self.dies[die as usize].blocks[block];
        if page >= self.pages_per_block || !state.is_programmable(page) {
            return Err(Refusal::ProgramOfProgrammed(here));
        }
        if self.is_in_order && page < state.end() {
            return Err(Refusal::OutOfOrder {
                spot: here,
                end: state.end(),
            });
        }
        let Some(purpose) = detail.purpose else {
            return Err(Refusal::WithoutContent(here));
        };
        let (payload, source) = match detail.content {
            Content::Host(page) => (self.take_image(page, images, here)?, None),
            Content::Copy(from) => {
                let from = (die, from.0);
                (self.take_copy(lane, from, here)?, Some(from))
            }
            Content::CopyFrom(of, from) => {
                let from = (of, from.0);
                (self.take_copy(lane, from, here)?, Some(from))
            }
            Content::Map(map_page) => (
                Payload::internal(SpareKind::Map, Some(Lpn(u64::from(map_page)))),
                None,
            ),
            Content::Summary => (Payload::internal(SpareKind::Summary, None), None),
            Content::Filler => (Payload::internal(SpareKind::Fill, None), None),
            Content::None | Content::Spare => return Err(Refusal::WithoutContent(here)),
        };
        self.take_place((die, at), lane, is_single_lane, &payload, source)?;
        self.programs += 1;
        let mut stored = payload.stored(purpose, self.programs);
        let state = &mut self.dies[die as usize];
        if let Some(kept) = &mut self.kept {
            kept.hold_overwritten(&mut state.done, here, self.page_bits, self.zeros.len());
            let of_block = &state.blocks[block];
            kept.program(here, &mut stored, of_block.erases, of_block.is_erased());
        }
        let state = &mut state.blocks[block];
        let before = state.put(page, self.pages_per_block, stored);
        if self.is_in_order {
            state.know_behind(page);
        }
        Ok(Undo::Program(before))
    }

    /// The contents that the host programs at `here`: the image of `page`.
    fn take_image(&self, page: Lpn, images: &[Image<'_>], here: Spot) -> Result<Payload, Refusal> {
        let Some(image) = images.iter().find(|image| image.page == page) else {
            return Err(Refusal::WithoutImage { page, spot: here });
        };
        if image.data.len() != self.zeros.len() {
            return Err(Refusal::WrongLength {
                page,
                given: image.data.len(),
                wanted: self.zeros.len(),
            });
        }
        let (kind, version) = match image.kind {
            ImageKind::Host => (SpareKind::Host, image.version),
            ImageKind::Zeros => (SpareKind::Zeros, image.version),
            ImageKind::Copy => (SpareKind::Copy, image.version),
            ImageKind::Fill => (SpareKind::Fill, 0),
        };
        Ok(Payload {
            kind,
            page: Some(page),
            version,
            data: Data::Here(image.data.clone()),
        })
    }

    /// The contents of the page `from` of `die`, which are copied to `here`. Before, the lane has to have read the
    /// page, or another mapping unit that shares its page of flash.
    fn take_copy(
        &mut self,
        lane: u32,
        (die, from): (u32, u32),
        here: Spot,
    ) -> Result<Payload, Refusal> {
        let wanted = (lane, die, from);
        let read = self.reads.iter().position(|read| *read == wanted);
        let (block, page) = self.split(from);
        let source = &self.dies[die as usize].blocks[block];
        let of_flash = |(lane, die, at): (u32, u32, u32)| {
            let (block, page) = self.split(at);
            (lane, die, block, page / self.units_per_page)
        };
        if let Some(read) = read {
            self.last_read = Some(wanted);
            self.reads.swap_remove(read);
        } else if self.last_read.map(of_flash) != Some(of_flash(wanted)) {
            return Err(Refusal::CopyOfUnread {
                from: self.spot(die, from),
                spot: here,
            });
        }
        let stored = match source.cell(page) {
            Cell::Stored(stored) => stored,
            Cell::Filled(page) => &Stored::filled(page),
            Cell::Erased | Cell::Unknown | Cell::Unreadable => {
                return Ok(Payload::internal(SpareKind::Map, None));
            }
        };
        let spare = stored.spare;
        let data = match &stored.data {
            Data::Filed(_) => {
                let spot = self.spot(die, from);
                Data::Here(self.bytes_of(stored, spot).into_owned())
            }
            data => data.clone(),
        };
        Ok(Payload {
            kind: match spare.kind {
                SpareKind::Host | SpareKind::Zeros => SpareKind::Copy,
                kind => kind,
            },
            page: spare.page,
            version: spare.version,
            data,
        })
    }

    /// If `payload` is the newest version of its logical page, makes `here` the place of the newest copy, and holds
    /// the copy that was the newest before.
    fn take_place(
        &mut self,
        here: (u32, u32),
        lane: u32,
        is_single_lane: bool,
        payload: &Payload,
        source: Option<(u32, u32)>,
    ) -> Result<(), Refusal> {
        let Some(page) = payload.page else {
            return Ok(());
        };
        if matches!(
            payload.kind,
            SpareKind::Fill | SpareKind::Map | SpareKind::Summary
        ) {
            return Ok(());
        }
        let ends_as_whole = self.ends_as_whole(here.0);
        let dies = &self.dies;
        let is_in_flight = |die: u32| is_in_flight(&dies[die as usize].done, page);
        let entry = self.pages.get_mut(page.0 as usize);
        let before = entry.place();
        if source.is_some() {
            // If the source is not the newest copy of the page, the programmed copy is not the newest either.
            if before != source {
                return Ok(());
            }
        } else {
            if payload.version < entry.version {
                return Err(Refusal::StaleProgram {
                    page,
                    version: payload.version,
                    newest: entry.version,
                });
            }
            if let Some((other, _)) = before.filter(|(other, _)| *other != here.0)
                && is_in_flight(other)
            {
                return Err(Refusal::InFlight { page, die: other });
            }
        }
        *entry = Entry::new(Some(here), payload.version);
        // If the step has a single lane and ends as a whole, every later operation of this die begins after the end
        // of this program. A replaced copy on this die then need not be held.
        let is_behind = is_single_lane && ends_as_whole;
        if let Some(place) = before.filter(|(die, _)| *die != here.0 || !is_behind) {
            let by = Program {
                die: here.0,
                lane,
                // The number that this program will have.
                number: self.programs + 1,
            };
            self.holds.push(Hold { place, page, by });
        }
        Ok(())
    }

    fn erase(&mut self, (die, lane): (u32, u32), first: Ppn) -> Result<Undo, Refusal> {
        let (block, page) = self.split(first.0);
        let here = self.spot(die, first.0);
        if page != 0 {
            return Err(Refusal::EraseOfPage(here));
        }
        let in_block = |at: u32| at >> self.page_bits == block;
        let is_here = |(_, of, at): &&(u32, u32, u32)| *of == die && in_block(*at);
        if let Some((.., at)) = self.reads.iter().find(is_here) {
            return Err(Refusal::EraseBeforeCopies {
                spot: here,
                page: self.split(*at).1,
            });
        }
        // If commands begin one by one, held copies are checked when the command of the erase begins.
        let ends_as_whole = self.ends_as_whole(die);
        for hold in self.holds.iter().filter(|_| ends_as_whole) {
            let is_before = (hold.by.die, hold.by.lane) == (die, lane);
            if hold.place.0 == die && in_block(hold.place.1) && !is_before {
                return Err(Refusal::EraseOfHeld {
                    spot: here,
                    page: hold.page,
                    by: hold.by.die,
                });
            }
        }
        let erased = &self.dies[die as usize].blocks[block];
        let programmed = erased.all().filter_map(|(offset, stored)| {
            let is_data = !matches!(stored.spare.kind, SpareKind::Map | SpareKind::Fill);
            let page = stored.spare.page.filter(|_| is_data)?;
            Some((offset, page))
        });
        for (offset, page) in erased.filled().chain(programmed) {
            if self.place_of(page) == Some((die, first.0 | offset)) {
                return Err(Refusal::EraseOfNewest { spot: here, page });
            }
        }
        let before = self.dies[die as usize].blocks[block].erase();
        if let Some(kept) = &mut self.kept {
            let erased = &self.dies[die as usize].blocks[block];
            kept.erase((die, block), before.is_erased(), erased, self.programs);
        }
        Ok(Undo::Erase(Box::new(before)))
    }
}

/// Whether the operations `done` contain a program of `page` for the host.
fn is_in_flight(done: &[Done], page: Lpn) -> bool {
    done.iter().any(|done| done.page == Some(page))
}
