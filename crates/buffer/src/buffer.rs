//! The engine that all schemes share. It looks up pages, makes room for new pages, counts events, and fills the
//! records.
//!
//! The decisions of a scheme do not depend on the speed of the flash. When the *resident* pages fill the capacity,
//! the buffer asks the scheme for a victim. The victim is no longer resident from this moment on, and the new page
//! becomes resident at once. Both pages occupy RAM until the victim is programmed. If there are then
//! [more pages in RAM](Buffer::over_capacity) than slots, the caller delays the answer to the request. Therefore the
//! same requests give the same records with both values of [`Release`] and with any program times.
//!
//! A caller writes pages in this way:
//!
//! ```
//! use destage_base::{Lpn, parameter::Values};
//! use destage_buffer::{Buffer, BufferConfig, Outlet, SchemeConfig, find, view::NoDevice};
//!
//! let lru = find("lru").expect("lru is a scheme");
//! let scheme = (lru.build)(&SchemeConfig::new(2, 4, &Values::defaults(lru.parameters)));
//! let mut buffer = Buffer::new(BufferConfig::new(2, 4), scheme);
//! let mut destaged = Vec::new();
//! for page in [1, 2, 1, 3] {
//!     buffer.begin_request(1);
//!     let mut outlet = Outlet::new(&mut buffer, &NoDevice, |record| destaged.extend(record.pages.iter().copied()));
//!     outlet.write(Lpn(page), 0);
//! }
//! assert_eq!(destaged[0].page, Lpn(2));
//! assert_eq!(buffer.counts().write_hits, 1);
//! // The fourth write is answered when the program of page 2 has freed a slot.
//! assert_eq!(buffer.over_capacity(), 1);
//! buffer.programmed(destaged[0], false, 0);
//! assert_eq!(buffer.over_capacity(), 0);
//! ```

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};

use crate::background::BackgroundFlush;
use crate::config::{BufferConfig, Release};
use crate::counts::Counts;
use crate::destage::{Destage, DestageCause, DirtyPage, Grouping, Slot};
use crate::intake::{Destager, Found};
use crate::page_map::Position;
use crate::pending_victims::PendingVictims;
use crate::resident::{Resident, State};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Series, Victim};
use crate::shown::Shown;
use crate::view::View;

/// The host request whose pages are being read or written.
#[derive(Clone, Copy, Default)]
struct CurrentRequest {
    number: u64,
    pages: u32,
    bypasses: bool,
}

/// A write buffer: a scheme, the resident pages, and the counts.
pub struct Buffer {
    pub(crate) config: BufferConfig,
    pub(crate) scheme: Box<dyn Scheme>,
    pub(crate) resident: Resident,
    pub(crate) pending_victims: PendingVictims,
    /// The properties of the scheme. If the buffer keeps no pages, these are the default properties with
    /// `keeps_pages` false.
    pub(crate) properties: Properties,
    /// The capacity plus [`BufferConfig::held_pages`].
    slots: u32,
    request: CurrentRequest,
    /// The number of page writes that went to other buffers. It is above 0 if this buffer receives a sample of the
    /// requests of a larger buffer. These writes count in the virtual time of this buffer.
    writes_elsewhere: u64,
    pub(crate) record: Destage,
    /// The scheme's latest answer. It is stored so that its memory can be used again.
    pub(crate) victim: Victim,
    /// Destaging in idle time. `None` if it is off. It is also off if the capacity is 0 or unbounded, because a share
    /// of such a capacity is not defined.
    pub(crate) background_flush: Option<BackgroundFlush>,
    pub(crate) counts: Counts,
}

impl Buffer {
    /// Creates an empty buffer. With a capacity of 0, the buffer keeps no pages, whatever its scheme.
    ///
    /// # Panics
    /// If the cluster size is 0.
    #[must_use]
    pub fn new(config: BufferConfig, scheme: Box<dyn Scheme>) -> Self {
        assert!(config.cluster_pages > 0, "a cluster has at least 1 page");
        let mut config = config;
        let mut properties = scheme.properties();
        let mut prepared = config.capacity_pages;
        if config.capacity_pages == 0 || !properties.keeps_pages {
            properties = Properties {
                keeps_pages: false,
                ..Properties::default()
            };
            prepared = 0;
            config.background = None;
        } else if properties.is_unbounded {
            config.capacity_pages = u32::MAX;
            config.background = None;
        }
        let mut resident = Resident::prepared_for(prepared);
        if config.notes_dirty_ages {
            resident.note_dirty_ages();
        }
        let background_flush = config.background.map(BackgroundFlush::new);
        Self {
            resident,
            pending_victims: PendingVictims::of(&properties, &config),
            properties,
            slots: config.capacity_pages.saturating_add(config.held_pages),
            config,
            scheme,
            request: CurrentRequest::default(),
            writes_elsewhere: 0,
            record: Destage {
                cause: DestageCause::Evict,
                grouping: Grouping::Pages,
                retain: false,
                pages: Vec::new(),
                pads: Vec::new(),
            },
            victim: Victim::default(),
            background_flush,
            counts: Counts::default(),
        }
    }

    /// Whether this buffer ever keeps a page. If not, every write bypasses the buffer and every read misses. The
    /// counts then describe no buffer.
    #[must_use]
    pub fn keeps_pages(&self) -> bool {
        self.properties.keeps_pages
    }

    /// Whether a read that misses enters the buffer.
    #[must_use]
    pub fn allocates_reads(&self) -> bool {
        self.properties.allocates_reads
    }

    /// The number of slots in use: those of resident pages, and those of evicted pages that are still being
    /// programmed.
    #[inline]
    #[must_use]
    pub fn occupied(&self) -> u32 {
        self.resident.occupied()
    }

    /// The number of dirty resident pages. Pages that are being programmed do not count.
    #[inline]
    #[must_use]
    pub fn dirty(&self) -> u32 {
        self.resident.dirty()
    }

    /// The number by which the pages in RAM, resident or still being programmed, exceed the slots.
    #[inline]
    #[must_use]
    pub fn over_capacity(&self) -> u32 {
        self.resident.occupied().saturating_sub(self.slots)
    }

    /// Says that the following requests belong to placement handle `handle`.
    pub fn of_handle(&mut self, handle: u32) {
        self.scheme.of_handle(handle);
    }

    /// Adds `pages` page writes that went to other buffers to the virtual time. A buffer that receives a sample of
    /// the requests of a larger buffer then has the same virtual time as the larger buffer.
    #[inline]
    pub fn pass_writes(&mut self, pages: u64) {
        self.writes_elsewhere += pages;
    }

    /// Begins the next host request. The caller then passes the `pages` pages of the request, in ascending order.
    pub fn begin_request(&mut self, pages: u32) {
        self.request = CurrentRequest {
            number: self.request.number + 1,
            pages,
            bypasses: false,
        };
        self.pending_victims.clear();
    }

    /// Writes one page of a request that does not [bypass](Self::bypasses) the buffer. `destager` provides the
    /// buffer. It receives the records of the pages that are evicted to make room. Returns whether the page was
    /// resident and was overwritten in its slot.
    ///
    /// The overwritten version may still be in flight, for two reasons: the page is being written back with `retain`,
    /// or the page was read again while it was leaving. A driver that moves page contents must therefore copy the
    /// contents out of the slot when a record is issued.
    ///
    /// # Errors
    /// The errors of [`Destager::destage`]. In this case the page is not in the buffer.
    ///
    /// # Panics
    /// If the buffer keeps no pages, or the scheme breaks its contract.
    #[inline(always)]
    pub fn write<D: Destager>(destager: &mut D, page: Lpn, now: Ticks) -> Result<bool, D::Error> {
        let (buffer, view) = destager.buffer();
        buffer.counts.page_writes += 1;
        let (position, copy) = buffer.resident.locate(page);
        if let Some((slot, state)) = copy
            && state != State::Leaving
        {
            let entry = Entry { page, slot };
            if !buffer.properties.knows_addresses || view.updates_in_place() {
                buffer.rewrite(entry, now);
                return Ok(true);
            }
            if buffer.replace(entry, now, view) {
                destager.destage()?;
            }
        }
        Self::enter(destager, position, page, now)?;
        Ok(false)
    }

    #[inline(always)]
    fn rewrite(&mut self, entry: Entry, now: Ticks) {
        self.counts.write_hits += 1;
        if !self.resident.rewrite(entry.slot, now) {
            self.counts.rewrites_of_clean += 1;
        }
        let access = self.access(AccessKind::Write, now);
        self.scheme.touch(entry, &access);
    }

    /// The page of `old` is written again and gets a new flash address. The scheme knows a page by its flash address,
    /// so the new version is a new page for the scheme, and the copy `old` is evicted. Returns `true` if
    /// [`record`](Self::record) contains that copy.
    #[cold]
    fn replace(&mut self, old: Entry, now: Ticks, view: &dyn View) -> bool {
        self.scheme.remove(old);
        self.victim.entries.push(old);
        self.carry_out(DestageCause::Evict, now, view)
    }

    /// The second half of [`Buffer::write`], for a page that is not resident. `position` is the position in the map
    /// at which the page is or would be inserted. The position remains valid, because until this page enters, pages
    /// are only removed from the map.
    #[inline(never)]
    fn enter<D: Destager>(
        destager: &mut D,
        position: Position,
        page: Lpn,
        now: Ticks,
    ) -> Result<(), D::Error> {
        let (buffer, _) = destager.buffer();
        assert!(
            buffer.properties.keeps_pages,
            "page {page} enters a buffer that keeps no pages; its write has to bypass the buffer"
        );
        let access = buffer.access(AccessKind::Write, now);
        Self::make_room(destager, page, &access)?;
        let (buffer, _) = destager.buffer();
        let slot = buffer.resident.enter(position, page, true, now);
        buffer.insert(Entry { page, slot }, &access);
        Ok(())
    }

    /// Evicts victims until there is room for `page`.
    #[inline(always)]
    fn make_room<D: Destager>(
        destager: &mut D,
        page: Lpn,
        access: &Access,
    ) -> Result<(), D::Error> {
        loop {
            let (buffer, view) = destager.buffer();
            if buffer.has_room_for(page) {
                return Ok(());
            }
            buffer.ask(Need::Evict(page), access, view);
            assert!(
                !buffer.victim.retain,
                "a page kept in the buffer makes no room"
            );
            if buffer.carry_out(DestageCause::Evict, access.now, view) {
                destager.destage()?;
            }
        }
    }

    /// Inserts `page`, for which [`Found::enters`] was true, as a clean page. The page enters the buffer immediately,
    /// and not when its read from flash ends.
    ///
    /// # Errors
    /// The errors of [`Destager::destage`]. In this case the page is not in the buffer.
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn take_in_read<D: Destager>(
        destager: &mut D,
        page: Lpn,
        now: Ticks,
    ) -> Result<(), D::Error> {
        let access = destager.buffer().0.access(AccessKind::Read, now);
        Self::make_room(destager, page, &access)?;
        let (buffer, _) = destager.buffer();
        let (position, leaving) = buffer.resident.locate(page);
        // The page may still be leaving. In this case its slot holds the contents, and no read from flash is needed.
        let slot = match leaving {
            Some((slot, _)) => {
                buffer.resident.come_back(slot);
                slot
            }
            None => buffer.resident.enter(position, page, false, now),
        };
        buffer.insert(Entry { page, slot }, &access);
        Ok(())
    }

    /// Emits the figures that only this scheme has. See [`Scheme::report`].
    pub fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.scheme.report(emit);
    }

    /// Emits the figures that the scheme recorded repeatedly. See [`Scheme::series`].
    pub fn series(&self, emit: &mut dyn FnMut(Series)) {
        self.scheme.series(emit);
    }

    /// The lists that the scheme shows. If the scheme does not show all resident pages, the other pages follow in a
    /// last list, in the order of their slots.
    #[must_use]
    pub fn show(&self) -> Shown {
        let mut shown = Shown::default();
        if self.properties.keeps_pages {
            self.scheme.show(&mut shown);
        }
        if shown.pages().count() < self.resident.len() as usize {
            let known: BTreeSet<Slot> = shown.pages().map(|page| page.entry.slot).collect();
            let others = self.resident.entries();
            let others: Vec<Entry> = others
                .filter(|entry| !known.contains(&entry.slot))
                .collect();
            shown
                .list("Pages the scheme does not show", "", "")
                .row(others);
        }
        shown
    }

    /// The relation between the copy in `slot` and the flash.
    #[must_use]
    pub fn state(&self, slot: Slot) -> State {
        self.resident.state(slot)
    }

    /// The latest record. The next record overwrites it.
    #[must_use]
    pub fn record(&self) -> &Destage {
        &self.record
    }

    /// The program of one page of a record has completed. `retain` is the value of the record.
    ///
    /// With [`Release::Issue`] this call has no effect, because slots become free when programs are issued.
    ///
    /// # Panics
    /// If no program of that slot was in flight.
    pub fn programmed(&mut self, page: DirtyPage, retain: bool, now: Ticks) {
        if self.config.release == Release::Issue {
            return;
        }
        if self.resident.programmed(page.page, page.slot, now) {
            debug_assert!(retain, "page {} became clean by leaving", page.page);
            self.scheme.cleaned(Entry {
                page: page.page,
                slot: page.slot,
            });
        }
    }

    /// Reads one page.
    pub fn read(&mut self, page: Lpn, now: Ticks) -> Found {
        self.counts.page_reads += 1;
        let nothing = self.resident.occupied() == 0;
        let copy = match nothing {
            true => None,
            false => self.resident.newest(page),
        };
        self.counts.read_hits += u64::from(copy.is_some());
        let is_resident = copy.filter(|(_, state)| *state != State::Leaving);
        if let Some((slot, _)) = is_resident {
            let access = self.access(AccessKind::Read, now);
            self.scheme.touch(Entry { page, slot }, &access);
        } else if !self.allocates_reads() {
            let access = self.access(AccessKind::Read, now);
            self.scheme.read_missed(page, &access);
        }
        Found {
            in_ram: copy.is_some(),
            enters: is_resident.is_none() && self.allocates_reads(),
        }
    }

    /// The host no longer needs `page`. Returns whether a resident copy was dropped.
    pub fn trim(&mut self, page: Lpn, now: Ticks) -> bool {
        let dropped = self.drop_copy(page, now);
        self.counts.dropped.trimmed += u64::from(dropped == Some(State::Dirty));
        dropped.is_some()
    }

    /// Whether a write request of `pages` pages bypasses the buffer. The caller then calls [`bypass`](Self::bypass)
    /// for each page instead of [`write`](Self::write).
    #[must_use]
    pub fn bypasses(&self, pages: u32) -> bool {
        let is_long = self.config.bypass_pages > 0 && pages >= self.config.bypass_pages;
        is_long || !self.properties.keeps_pages
    }

    /// One page of the current request bypasses the buffer. The caller programs the page, which never has a slot.
    /// Returns whether a resident copy was dropped because it is now stale.
    pub fn bypass(&mut self, page: Lpn, now: Ticks) -> bool {
        self.counts.page_writes += 1;
        self.counts.destaged_pages[DestageCause::Bypass as usize] += 1;
        self.counts.records[DestageCause::Bypass as usize] += u64::from(!self.request.bypasses);
        self.request.bypasses = true;
        let dropped = self.drop_copy(page, now);
        self.counts.dropped.superseded += u64::from(dropped == Some(State::Dirty));
        dropped.is_some()
    }

    /// Lets all `pages` pages of the current request bypass the buffer at once. This is possible only while no page
    /// is in RAM, because then no copy has to be dropped. If a page is in RAM, returns `false` and does nothing.
    #[inline]
    pub fn bypass_whole(&mut self, pages: u32) -> bool {
        if self.resident.occupied() > 0 {
            return false;
        }
        self.counts.page_writes += u64::from(pages);
        self.counts.destaged_pages[DestageCause::Bypass as usize] += u64::from(pages);
        self.counts.records[DestageCause::Bypass as usize] += u64::from(!self.request.bypasses);
        self.request.bypasses = true;
        true
    }

    /// Destages the next dirty pages. Returns `true` if [`record`](Self::record) contains them, and `false` if no
    /// page is dirty. The caller repeats the call until it returns `false`. A flush also returns `false` if the
    /// buffer ignores flushes. `cause` is [`DestageCause::Flush`] or [`DestageCause::Drain`].
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn flush_next(&mut self, cause: DestageCause, now: Ticks, view: &dyn View) -> bool {
        if cause == DestageCause::Flush && !self.config.honor_flush {
            return false;
        }
        while self.resident.dirty() > 0 {
            let access = self.access(AccessKind::Write, now);
            self.ask(Need::Flush, &access, view);
            if self.carry_out(cause, now, view) {
                return true;
            }
        }
        false
    }

    /// Destages `page`, which has to be durable now. Returns `true` if [`record`](Self::record) contains it. Returns
    /// `false` if there is nothing to issue: the page is not resident, is clean, is already being programmed, or the
    /// buffer ignores flushes.
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn fua(&mut self, page: Lpn, now: Ticks, view: &dyn View) -> bool {
        let Some((slot, State::Dirty)) = self.resident.newest(page) else {
            return false;
        };
        if !self.config.honor_flush {
            return false;
        }
        let entry = Entry { page, slot };
        let access = self.access(AccessKind::Write, now);
        self.ask(Need::FlushPage(entry), &access, view);
        assert!(
            self.victim.entries.contains(&entry),
            "page {page} was asked for and not named"
        );
        self.carry_out(DestageCause::Fua, now, view)
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            resident: self.resident.len(),
            dirty: self.resident.dirty(),
            dirty_max: self.resident.dirty_max(),
            oldest_dirty_max: self.resident.oldest_dirty_max(),
            ..self.counts
        }
    }

    /// Resets the scheme's figures and the maxima. The maxima then begin with the pages that are buffered now. The
    /// sums of [`Buffer::counts`] are not reset, because the number of page writes is the virtual time.
    pub fn reset_figures(&mut self) {
        self.resident.reset_maxima();
        self.scheme.reset_figures();
    }

    /// Ends the run at `now`. For pages that are not durable yet, `oldest_dirty_max` counts the time until `now`.
    pub fn close_dirty_periods(&mut self, now: Ticks) {
        self.resident.close_dirty_periods(now);
    }

    /// The time, in ticks, at which the page that has been dirty longest became dirty. Pages that are being
    /// programmed count as dirty. The search checks every slot.
    #[must_use]
    pub fn oldest_dirty_since(&self) -> Option<Ticks> {
        self.resident.oldest_dirty_since()
    }

    /// For each dirty period that has ended since the last call, its length in ticks. Empty unless
    /// [`BufferConfig::notes_dirty_ages`] is set.
    pub fn take_dirty_ages(&mut self) -> impl Iterator<Item = Ticks> + '_ {
        self.resident.take_dirty_ages()
    }

    /// The slot of the newest copy of `page` in RAM. The page may be leaving.
    #[must_use]
    pub fn find(&self, page: Lpn) -> Option<Slot> {
        self.resident.newest(page).map(|(slot, _)| slot)
    }

    /// Emits the pages among `pages` that are in RAM, in no defined order. Leaving pages are included. If fewer pages
    /// are in RAM than in `pages`, the search checks every slot that was ever used. Otherwise it looks up each of
    /// `pages`.
    pub fn find_among(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        if u64::from(self.resident.occupied()) < pages.end - pages.start {
            let held = self.resident.all_pages();
            held.filter(|page| pages.contains(&page.0)).for_each(emit);
        } else {
            let held = pages.map(Lpn);
            held.filter(|page| self.find(*page).is_some())
                .for_each(emit);
        }
    }

    /// Whether the newest copy of `page` in RAM is resident, dirty, and not being programmed.
    #[must_use]
    pub fn is_dirty(&self, page: Lpn) -> bool {
        self.resident
            .newest(page)
            .is_some_and(|(_, state)| state == State::Dirty)
    }

    /// The configuration of this buffer. If the scheme's buffer is unbounded, the capacity is `u32::MAX` pages.
    #[must_use]
    pub fn config(&self) -> &BufferConfig {
        &self.config
    }

    /// Whether `page` can enter without an eviction. An empty buffer has room for any page, even if the scheme
    /// reserves slots.
    #[inline]
    fn has_room_for(&self, page: Lpn) -> bool {
        let free = self.config.capacity_pages - self.resident.len();
        self.resident.is_empty() || (free > 0 && !self.scheme.is_full_for(page, free as usize))
    }

    #[inline]
    pub(crate) fn access(&self, kind: AccessKind, now: Ticks) -> Access {
        Access {
            kind,
            virtual_time: self.counts.page_writes + self.writes_elsewhere,
            now,
            request: self.request.number,
            request_pages: self.request.pages,
        }
    }

    #[inline]
    fn insert(&mut self, entry: Entry, access: &Access) {
        self.scheme.insert(entry, access);
        self.check_scheme();
    }

    pub(crate) fn ask(&mut self, need: Need, access: &Access, view: &dyn View) {
        self.scheme.evict(need, access, view, &mut self.victim);
        assert!(
            !self.victim.entries.is_empty(),
            "the scheme names no victim for {need:?}"
        );
    }

    /// Drops the copy of `page`, if it exists. Returns the state of the copy if it was resident.
    fn drop_copy(&mut self, page: Lpn, now: Ticks) -> Option<State> {
        if self.resident.occupied() == 0 {
            return None;
        }
        let (slot, state) = self.resident.forget(page, now)?;
        if state == State::Leaving {
            return None;
        }
        self.scheme.remove(Entry { page, slot });
        self.note_fewer_dirty();
        self.check_scheme();
        Some(state)
    }

    #[inline]
    pub(crate) fn note_fewer_dirty(&mut self) {
        if let Some(background_flush) = &mut self.background_flush {
            background_flush.ends_at(self.resident.dirty());
        }
    }

    #[inline]
    pub(crate) fn check_scheme(&self) {
        debug_assert_eq!(
            self.scheme.len(),
            self.resident.len() as usize,
            "scheme and buffer disagree about how many pages are resident"
        );
    }
}
