//! The contract between the buffer and a scheme.
//!
//! The buffer owns which pages are resident, which of them are dirty, all counting and all records.
//! A scheme owns an order, and answers one question: which page leaves next?

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};

use crate::destage::{Grouping, Slot};
use crate::shown::Shown;
use crate::view::View;

/// A resident page: its number and its place in RAM.
///
/// A scheme that keeps one node per page indexes its nodes by `slot`, so it never hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Which page.
    pub page: Lpn,
    /// Where it is; unique among resident pages.
    pub slot: Slot,
}

/// Whether a page request reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// The host reads the page.
    Read,
    /// The host writes the page.
    Write,
}

/// One page request, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Read or write.
    pub kind: AccessKind,
    /// Page writes presented so far, this one included (the papers' virtual time).
    pub virtual_time: u64,
    /// Simulated or real time, in ticks of 0.1 ns. Only compared and subtracted.
    pub now: Ticks,
    /// Number of the host request this page belongs to; equal for all its pages.
    pub request: u64,
    /// How many pages that host request has.
    pub request_pages: u32,
}

/// Why the buffer asks for victims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// This page, not resident, is about to enter.
    Evict(Lpn),
    /// Everything dirty has to reach the flash (flush, drain).
    Flush,
    /// This resident page has to reach the flash now (FUA).
    FlushPage(Entry),
}

/// The answer: pages to destage together, and how. Comes in empty; buffers are reused.
#[derive(Debug, Default)]
pub struct Victim {
    /// The pages, in the order they are to be issued. Clean pages among them are dropped without a program.
    pub entries: Vec<Entry>,
    /// How they belong together.
    pub grouping: Grouping,
    /// Complete the cluster of the first entry with its missing pages.
    pub pad: bool,
    /// The pages stay resident, and become clean.
    pub retain: bool,
}

/// When a scheme is offered idle time: which idle time to watch, and how often to ask.
///
/// A group of pages is *idle* while no host request for any of its pages is queued or in service. Once the group has been idle for `after`, counted
/// from the later of its last request's arrival and last completion, the buffer is asked for pages to write back, and asked again as `again` says
/// until a host request for the group arrives or the answer is no. Between two answers the wait does not begin again. Issued programs are not called
/// back: a
/// host request that arrives
/// queues behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleRule {
    /// How long a group has to be idle first.
    pub after: Ticks,
    /// When to ask again.
    pub again: IdleAgain,
    /// How many groups are watched apart; with 1, the device as a whole.
    pub groups: u32,
}

/// When to ask again for idle work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleAgain {
    /// Once every page of the last answer is programmed.
    AfterRecord,
    /// After the program of each page. The scheme asks [`View::queue_length`] which dies still work, so
    /// an answer of no is final only when none of its pages is being programmed.
    AfterPage,
}

/// The fixed properties of a scheme, and its demands on the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Whether it buffers anything. A scheme that keeps no pages is told of misses only.
    pub keeps_pages: bool,
    /// Whether a read that misses enters the buffer as a clean page.
    pub allocates_reads: bool,
    /// Whether a page that enters waits until the former page of its place is programmed, however many slots are free elsewhere.
    pub waits_for_its_place: bool,
    /// Whether the buffer takes every page, whatever its capacity. Pages still leave where
    /// [`Scheme::is_full_for`] wants room.
    pub is_unbounded: bool,
    /// Whether it knows pages by the flash address of their latest write. If a write gives its page another address ([`View::updates_in_place`]), a
    /// rewrite is no hit: the old copy leaves at once, and the new one enters as a page of its own.
    pub knows_addresses: bool,
    /// Whether and when the scheme is offered idle time.
    pub idle_rule: Option<IdleRule>,
    /// Whether the scheme is asked after each page write which pages to program at once ([`Scheme::eager`]).
    pub is_eager: bool,
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            keeps_pages: true,
            allocates_reads: false,
            waits_for_its_place: false,
            is_unbounded: false,
            knows_addresses: false,
            idle_rule: None,
            is_eager: false,
        }
    }
}

/// A figure that a scheme recorded repeatedly.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// As of [`Scheme::report`].
    pub name: &'static str,
    /// In the order of time; `None` where it had no meaning. At most a few thousand, however long the run.
    pub values: Vec<Option<f64>>,
    /// How much the values varied, including those that were not kept: the square of the standard deviation over the mean. None if it says nothing.
    pub squared_variation: Option<f64>,
}

/// Chooses which buffered pages leave next. Sees page numbers and events; owns its order and nothing else.
///
/// What the buffer guarantees:
/// * `insert` names a page that is not resident, in a slot no other resident page has;
/// * `touch` and `remove` name resident pages;
/// * pages named in a [`Victim`] are forgotten by the buffer at once, unless `retain` is set.
///
/// What a scheme guarantees:
/// * it forgets the pages it names in a [`Victim`] without `retain`;
/// * `evict` names at least one page while it tracks any;
/// * equal calls give equal answers: no hash order, no clock, no randomness but a seeded one.
pub trait Scheme: Send {
    /// The properties of this scheme, which never change.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// From now on, reads and writes are those of placement handle `handle` of the host. Default: that makes no difference.
    fn of_handle(&mut self, handle: u32) {
        let _ = handle;
    }

    /// `entry` becomes resident. Room has been made.
    fn insert(&mut self, entry: Entry, access: &Access);

    /// The resident `entry` is read or written again.
    fn touch(&mut self, entry: Entry, access: &Access);

    /// A read of `page` was not served from here, and the page does not enter. For schemes that weigh
    /// their reads. A scheme with [`Properties::allocates_reads`] is told of them by `insert`.
    fn read_missed(&mut self, page: Lpn, access: &Access) {
        let _ = (page, access);
    }

    /// The resident `entry` leaves without being chosen (trim).
    fn remove(&mut self, entry: Entry);

    /// Names the pages that go next.
    ///
    /// For [`Need::FlushPage`] the named pages must include that page; a page-level scheme names it alone.
    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim);

    /// Shows `visit` the pages that this scheme would evict for [`Need::Evict`], one victim after another beginning with the next, until it answers
    /// `false`.
    ///
    /// For wrappers that pass over some candidates and take out a later one by [`remove`](Self::remove). A scheme shows either all its pages, exactly
    /// in the order in which they would leave, or none; without them, the wrapper takes victims one by one.
    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        let _ = visit;
    }

    /// Shows its lists and regions as its paper draws them, each page it keeps once.
    ///
    /// Labels give values that change only with the group itself, such as the time of its last use, and not its present age. Default: the pages of
    /// [`candidates`](Self::candidates), as one list.
    fn show(&self, shown: &mut Shown) {
        let mut pages = Vec::new();
        self.candidates(&mut |entry| {
            pages.push(entry);
            true
        });
        if !pages.is_empty() {
            let list = shown.list("Pages", "leaves last", "leaves next");
            list.row(pages.into_iter().rev());
        }
    }

    /// Whether `page` cannot enter although `free` slots are free; set-associative caches differ here.
    ///
    /// Asked only while `free` is not 0 and some page is resident, and more than once for one page.
    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        let _ = page;
        free == 0
    }

    /// Names pages to program now although no room is needed, or `None`. Asked after each page write, until it names
    /// none, if [`Properties::is_eager`].
    fn eager(&mut self, access: &Access, view: &dyn View, victim: &mut Victim) {
        let _ = (access, view, victim);
    }

    /// Names pages worth writing back now, or none: the groups `groups` of [`IdleRule::groups`] are idle. These are all of them, or one.
    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        let _ = (groups, now, view, victim);
    }

    /// Which group's idle time ends when the host asks for `page`, in `0 .. groups`.
    fn idle_group_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }

    /// A page named with `retain` now equals the flash. Not called for a page that was written again,
    /// or left, before its program completed.
    fn cleaned(&mut self, entry: Entry) {
        let _ = entry;
    }

    /// Emits figures that only this scheme has, such as learned thresholds: a name of lower-case words joined by `_`, and a value. They become
    /// metrics `scheme.<name>`; a figure without a meaning is left out.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// Emits figures that it had again and again, such as thresholds at the end of each period. They become series
    /// `scheme.<name>`.
    fn series(&self, emit: &mut dyn FnMut(Series)) {
        let _ = emit;
    }

    /// Resets the counts of [`Scheme::report`] and [`Scheme::series`], for a measurement that begins now. It keeps what it has learned, and
    /// decides as before. Default: it counts nothing.
    fn reset_figures(&mut self) {}

    /// Pages tracked; the buffer compares it with its own count in debug builds.
    fn len(&self) -> usize;

    /// Whether no page is tracked.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
