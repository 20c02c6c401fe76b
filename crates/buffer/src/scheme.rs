//! The contract between the buffer and a scheme.
//!
//! The buffer knows which pages are resident and which of them are dirty. It does all counting and fills all records.
//! A scheme maintains an order of the pages and answers one question: which pages are destaged next?

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks};

use crate::destage::{Grouping, Slot};
use crate::shown::Shown;
use crate::view::View;

/// A resident page, with its number and its slot in RAM.
///
/// A scheme that has one node per page can use `slot` as the index of the node, and needs no hashing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The logical page number.
    pub page: Lpn,
    /// The slot that holds the page. Each resident page has a different slot.
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
    /// The number of page writes so far, including this access if it is a write. Papers call it virtual time.
    pub virtual_time: u64,
    /// Simulated or real time, in ticks of 0.1 ns. A scheme only compares times and subtracts them.
    pub now: Ticks,
    /// The number of the host request that contains this page request. It is the same for all pages of the request.
    pub request: u64,
    /// The number of pages of the host request.
    pub request_pages: u32,
}

/// The reason why the buffer asks for victims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// This page, which is not resident, needs a free slot.
    Evict(Lpn),
    /// Every dirty page has to reach the flash (flush or drain).
    Flush,
    /// This resident page has to reach the flash now (FUA).
    FlushPage(Entry),
}

/// A scheme's answer: which pages to destage together, and how. The buffer passes an empty `Victim`, and uses its
/// memory again for the next answer.
#[derive(Debug, Default)]
pub struct Victim {
    /// The pages, in the order in which they are to be issued. A clean page that is evicted is dropped without a
    /// program.
    pub entries: Vec<Entry>,
    /// The relation between the pages.
    pub grouping: Grouping,
    /// Whether to program also the missing pages of the first entry's cluster.
    pub pad: bool,
    /// Whether the pages remain resident and become clean.
    pub retain: bool,
}

/// Says which idle time a scheme uses, and how often the buffer then asks the scheme for pages.
///
/// A group of pages is *idle* while no host request for any of its pages is queued or in service. The idle period
/// begins at the last arrival or the last completion of a request for the group, whichever is later. After the time
/// `after`, the buffer asks the scheme for pages to write back. It then asks again at the moments that `again`
/// defines, without waiting for `after` again. It stops when a host request for the group arrives or the scheme names
/// no pages. Programs that were issued are not cancelled, so a host request that arrives queues behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleRule {
    /// The time for which a group has to be idle before the scheme is asked, in ticks.
    pub after: Ticks,
    /// The moment at which the scheme is asked again.
    pub again: IdleAgain,
    /// The number of groups that are watched separately. With 1, the group is the whole device.
    pub groups: u32,
}

/// The moment at which a scheme that has named pages in idle time is asked again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleAgain {
    /// As soon as all pages that the scheme named last are programmed.
    AfterRecord,
    /// As soon as one of the pages that the scheme named last is programmed. The scheme can query with
    /// [`View::queue_length`] which dies are still busy. The scheme may therefore name no pages now and be asked again
    /// later. An answer without pages ends the idle period only when none of the scheme's pages is being programmed.
    AfterPage,
}

/// The fixed properties of a scheme, and its requirements on the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Whether the scheme buffers pages. The buffer informs a scheme that keeps no pages only of read misses.
    pub keeps_pages: bool,
    /// Whether a read that misses enters the buffer as a clean page.
    pub allocates_reads: bool,
    /// Whether a page that enters waits for the program of the page that it replaces, even if other slots are free.
    pub waits_for_its_place: bool,
    /// Whether the buffer accepts every page, whatever its capacity. Pages are still evicted when
    /// [`Scheme::is_full_for`] says that there is no room.
    pub is_unbounded: bool,
    /// Whether the scheme identifies a page by the flash address of its latest write. A write may give the page
    /// another address (see [`View::updates_in_place`]). In this case a rewrite is no hit. The old copy is evicted at
    /// once, and the new copy enters as a new page.
    pub knows_addresses: bool,
    /// The rule for the idle time that the scheme uses; `None` if the scheme uses no idle time.
    pub idle_rule: Option<IdleRule>,
    /// Whether the buffer asks the scheme after each page write for pages to program at once ([`Scheme::eager`]).
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
    /// The name, in the form that [`Scheme::report`] describes.
    pub name: &'static str,
    /// The values in the order of time. A value is `None` if the figure had no meaning at that time. At most a few
    /// thousand values are stored, even for a long run.
    pub values: Vec<Option<f64>>,
    /// The variation of the values: the square of (standard deviation / mean), over all values, including those that
    /// were not stored. `None` if the variation has no meaning.
    pub squared_variation: Option<f64>,
}

/// Chooses which buffered pages are destaged next. A scheme receives page numbers and events, and maintains only an
/// order of the pages.
///
/// Guarantees of the buffer:
/// * `insert` names a page that is not resident, in a slot no other resident page has;
/// * `touch` and `remove` name resident pages;
/// * pages named in a [`Victim`] are no longer resident after the call, unless `retain` is set.
///
/// Guarantees of a scheme:
/// * it forgets the pages that it names in a [`Victim`] without `retain`;
/// * `evict` names at least one page while the scheme keeps any;
/// * equal calls give equal answers: they depend on no hash order, no clock, and no randomness without a fixed seed.
pub trait Scheme: Send {
    /// The properties of this scheme, which never change.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Says that the following reads and writes belong to the host's placement handle `handle`. By default, a scheme
    /// ignores handles.
    fn of_handle(&mut self, handle: u32) {
        let _ = handle;
    }

    /// `entry` becomes resident. The buffer has made room for it.
    fn insert(&mut self, entry: Entry, access: &Access);

    /// The resident `entry` is read or overwritten.
    fn touch(&mut self, entry: Entry, access: &Access);

    /// A read of `page` missed, and the page does not enter the buffer. This call is for schemes that count reads.
    /// For a scheme with [`Properties::allocates_reads`], the buffer calls `insert` instead.
    fn read_missed(&mut self, page: Lpn, access: &Access) {
        let _ = (page, access);
    }

    /// The resident `entry` leaves the buffer although the scheme did not choose it, for example because of a trim.
    fn remove(&mut self, entry: Entry);

    /// Names the pages to destage next.
    ///
    /// For [`Need::FlushPage`] the answer must include the page in question. A page-level scheme names only that
    /// page.
    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim);

    /// Shows `visit` the pages that this scheme would evict for [`Need::Evict`], in the order of eviction, until
    /// `visit` returns `false`.
    ///
    /// The method is for wrappers that skip some candidates and remove a later candidate with
    /// [`remove`](Self::remove). A scheme shows either all its pages, exactly in the order of eviction, or no page.
    /// If it shows no page, the wrapper evicts the victims of the scheme.
    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        let _ = visit;
    }

    /// Shows the scheme's lists and regions as its paper draws them. Each page of the scheme appears once.
    ///
    /// A label contains only values that change when its group changes, such as the time of the last use. It does not
    /// contain the present age of the group. By default, the pages of [`candidates`](Self::candidates) are shown as
    /// one list.
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

    /// Whether `page` cannot enter although `free` slots are free. An example is a set-associative cache whose set is
    /// full.
    ///
    /// The buffer asks only if `free` is not 0 and at least one page is resident. It may ask several times for one
    /// page.
    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        let _ = page;
        free == 0
    }

    /// Names pages to program now although no room is needed. May name no pages. The buffer asks a scheme with
    /// [`Properties::is_eager`] after each page write, again and again until the scheme names no page.
    fn eager(&mut self, access: &Access, view: &dyn View, victim: &mut Victim) {
        let _ = (access, view, victim);
    }

    /// Names pages to write back now, because the groups `groups` are idle. May name no pages. `groups` is one of the
    /// [`IdleRule::groups`], or all of them.
    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        let _ = (groups, now, view, victim);
    }

    /// The group of `page`, in `0 .. groups`. A host request for `page` ends the idle period of this group.
    fn idle_group_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }

    /// A page that was named with `retain` is programmed and now clean. The buffer does not make this call if the
    /// page was written again, or left the buffer, before the program completed.
    fn cleaned(&mut self, entry: Entry) {
        let _ = entry;
    }

    /// Emits the figures that only this scheme has, such as learned thresholds. A figure has a value and a name of
    /// lower-case words joined by `_`. It becomes the metric `scheme.<name>`. A figure without a meaning is not
    /// emitted.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// Emits the figures that the scheme recorded repeatedly, such as a threshold at the end of each period. Each
    /// figure becomes the series `scheme.<name>`.
    fn series(&self, emit: &mut dyn FnMut(Series)) {
        let _ = emit;
    }

    /// Resets the figures of [`Scheme::report`] and [`Scheme::series`], because a measurement begins now. The scheme
    /// retains the thresholds that it has learned, and its decisions do not change. By default, there is nothing to
    /// reset.
    fn reset_figures(&mut self) {}

    /// The number of pages in the scheme. Debug builds compare it with the number that the buffer counts.
    fn len(&self) -> usize;

    /// Whether the scheme has no page.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
