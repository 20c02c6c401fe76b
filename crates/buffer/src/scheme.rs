//! The contract between the buffer and a scheme.
//!
//! The buffer knows which pages are resident and which of them are dirty; it does all counting and writes all
//! records. A scheme keeps an order of the pages, and answers one question: which pages are destaged next?

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};

use crate::destage::{Grouping, Slot};
use crate::shown::Shown;
use crate::view::View;

/// A resident page: its number and its slot in RAM.
///
/// A scheme that keeps one node per page can use `slot` as the index of the node, and needs no hashing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The logical page number.
    pub page: Lpn,
    /// The slot that holds the page; different for each resident page.
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
    /// Whether the page is read or written.
    pub kind: AccessKind,
    /// Number of page writes so far, this one included (the virtual time of the papers).
    pub virtual_time: u64,
    /// Simulated or real time, in ticks of 0.1 ns. A scheme only compares and subtracts times.
    pub now: Ticks,
    /// Number of the host request of which this page is a part; the same for all pages of the request.
    pub request: u64,
    /// How many pages the host request has.
    pub request_pages: u32,
}

/// Why the buffer asks for victims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// This page, which is not resident, needs room.
    Evict(Lpn),
    /// Every dirty page has to reach the flash (flush or drain).
    Flush,
    /// This resident page has to reach the flash now (FUA).
    FlushPage(Entry),
}

/// A scheme's answer: which pages to destage together, and how. The buffer passes it in empty, and reuses its memory.
#[derive(Debug, Default)]
pub struct Victim {
    /// The pages, in the order in which they are to be issued. A clean page that leaves is dropped without a program.
    pub entries: Vec<Entry>,
    /// How the pages belong together.
    pub grouping: Grouping,
    /// Whether to program the missing pages of the first entry's cluster as well.
    pub pad: bool,
    /// Whether the pages stay resident and become clean.
    pub retain: bool,
}

/// Which idle time a scheme uses, and how often it is asked for pages then.
///
/// A group of pages is *idle* while no host request for any of its pages is queued or in service. The idle period
/// begins at the last arrival or the last completion of a request for the group, whichever is later. When it has
/// lasted for `after`, the scheme is asked for pages to write back. It is asked again, as `again` says and without
/// waiting for `after` again, until a host request for the group arrives or the scheme names no pages. A program that
/// was issued is not cancelled: a host request that arrives queues behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleRule {
    /// How long a group has to be idle before the scheme is asked.
    pub after: Ticks,
    /// When the scheme is asked again.
    pub again: IdleAgain,
    /// How many groups are watched separately; with 1, the group is the whole device.
    pub groups: u32,
}

/// When a scheme that named pages in idle time is asked again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleAgain {
    /// When every page of the last answer is programmed.
    AfterRecord,
    /// When any page of the last answer is programmed. The scheme can ask [`View::queue_length`] which dies are still
    /// busy. So an answer without pages is final only when none of the scheme's pages is being programmed.
    AfterPage,
}

/// The fixed properties of a scheme, and its requirements on the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Whether the scheme buffers anything. A scheme that keeps no pages is told of read misses only.
    pub keeps_pages: bool,
    /// Whether a read that misses enters the buffer as a clean page.
    pub allocates_reads: bool,
    /// Whether a page that enters waits for the program of the page that it replaces, even if other slots are free.
    pub waits_for_its_place: bool,
    /// Whether the buffer accepts every page, whatever its capacity. Pages are still evicted when
    /// [`Scheme::is_full_for`] asks for room.
    pub is_unbounded: bool,
    /// Whether the scheme identifies a page by the flash address of its latest write. If a write gives the page
    /// another address (see [`View::updates_in_place`]), a rewrite is no hit: the old copy is evicted at once, and
    /// the new copy enters as a new page.
    pub knows_addresses: bool,
    /// The idle time that the scheme uses; `None` if it uses none.
    pub idle_rule: Option<IdleRule>,
    /// Whether the scheme is asked after each page write for pages to program at once ([`Scheme::eager`]).
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

/// A series of values that a scheme recorded for one figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// The name, of the form that [`Scheme::report`] describes.
    pub name: &'static str,
    /// The values in the order of time; `None` where the figure had no meaning. At most a few thousand values are
    /// kept, however long the run is.
    pub values: Vec<Option<f64>>,
    /// How much the values varied: the square of (standard deviation / mean), over all values, including those that
    /// were not kept. `None` if it says nothing.
    pub squared_variation: Option<f64>,
}

/// Chooses which buffered pages are destaged next. A scheme gets page numbers and events, and keeps only an order of
/// the pages.
///
/// What the buffer guarantees:
/// * `insert` names a page that is not resident, in a slot no other resident page has;
/// * `touch` and `remove` name resident pages;
/// * pages named in a [`Victim`] are no longer resident after the call, unless `retain` is set.
///
/// What a scheme guarantees:
/// * it forgets the pages that it names in a [`Victim`] without `retain`;
/// * `evict` names at least one page while the scheme keeps any;
/// * equal calls give equal answers: they depend on no hash order, no clock, and no randomness without a fixed seed.
pub trait Scheme: Send {
    /// The properties of this scheme, which never change.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// The following reads and writes belong to the host's placement handle `handle`. By default, handles make no
    /// difference.
    fn of_handle(&mut self, handle: u32) {
        let _ = handle;
    }

    /// `entry` becomes resident. The buffer has made room for it.
    fn insert(&mut self, entry: Entry, access: &Access);

    /// The resident `entry` is read or written again.
    fn touch(&mut self, entry: Entry, access: &Access);

    /// A read of `page` missed, and the page does not enter the buffer. This call is for schemes that count reads. A
    /// scheme with [`Properties::allocates_reads`] gets `insert` instead.
    fn read_missed(&mut self, page: Lpn, access: &Access) {
        let _ = (page, access);
    }

    /// The resident `entry` leaves the buffer although the scheme did not choose it, for example because of a trim.
    fn remove(&mut self, entry: Entry);

    /// Names the pages to destage next.
    ///
    /// For [`Need::FlushPage`] the answer must include that page; a page-level scheme names only that page.
    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim);

    /// Shows `visit` the pages that this scheme would evict for [`Need::Evict`], victim by victim and the next victim
    /// first, until `visit` returns `false`.
    ///
    /// The method is for wrappers that skip some candidates and remove a later one by [`remove`](Self::remove). A
    /// scheme shows either all its pages, exactly in the order of eviction, or none. If it shows none, the wrapper
    /// takes victims one by one.
    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        let _ = visit;
    }

    /// Shows the scheme's lists and regions as its paper draws them. Each page that it keeps appears once.
    ///
    /// A label gives only values that change when its group changes, such as the time of the last use; it does not
    /// give the group's present age. By default, the pages of [`candidates`](Self::candidates) are shown as one list.
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

    /// Whether `page` cannot enter although `free` slots are free, as in a set-associative cache whose set is full.
    ///
    /// The buffer asks only while `free` is not 0 and some page is resident. It may ask more than once for one page.
    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        let _ = page;
        free == 0
    }

    /// Names pages to program now although no room is needed, or none. A scheme with [`Properties::is_eager`] is
    /// asked after each page write, repeatedly until it names no page.
    fn eager(&mut self, access: &Access, view: &dyn View, victim: &mut Victim) {
        let _ = (access, view, victim);
    }

    /// Names pages to write back now, or none, because the groups `groups` are idle. `groups` is one of the
    /// [`IdleRule::groups`], or all of them.
    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        let _ = (groups, now, view, victim);
    }

    /// The group of `page`, in `0 .. groups`: a host request for `page` ends the idle period of this group.
    fn idle_group_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }

    /// A page named with `retain` is programmed and now clean. There is no such call for a page that was written
    /// again, or that left, before its program completed.
    fn cleaned(&mut self, entry: Entry) {
        let _ = entry;
    }

    /// Emits the figures that only this scheme has, such as learned thresholds. Each has a name of lower-case words
    /// joined by `_`, and a value, and becomes the metric `scheme.<name>`. A figure that has no meaning is left out.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// Emits the figures that the scheme recorded repeatedly, such as a threshold at the end of each period. Each
    /// becomes the series `scheme.<name>`.
    fn series(&self, emit: &mut dyn FnMut(Series)) {
        let _ = emit;
    }

    /// Resets what [`Scheme::report`] and [`Scheme::series`] count, because a measurement begins now. The scheme
    /// keeps what it has learned, and decides as before. By default there is nothing to reset.
    fn reset_figures(&mut self) {}

    /// Number of pages that the scheme keeps; debug builds compare it with the buffer's own count.
    fn len(&self) -> usize;

    /// Whether the scheme keeps no page.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
