//! `req-block`: keeps the pages written by one request together. Small requests stay longer than large requests.
//!
//! Pages that a host writes together are likely to be rewritten together. The entries of the scheme are therefore
//! *request blocks*: the pages of one request. The size of a request block is the best predictor of rewrites. Small
//! blocks are often written again, and large blocks are not. The scheme has three lists:
//!
//! ```text
//!   IRL  new      [ {40-71} {9} ]      as written
//!   SRL  small    [ {3 4} {17} ]       at most req_small pages, and hit since
//!   DRL  divided  [ {45 46} ]          pages of a large block that were hit, without its other pages
//!   victim: of the last blocks of the three lists, the one with the smallest  accesses / (pages x age)
//! ```
//!
//! A divided block was split off from a large block. When the divided block is evicted and the large block is still
//! in the list of new blocks, the large block is evicted too. By then both blocks are rarely used, and together they
//! make a larger write.
//!
//! Cost: O(1) per call, plus one step per page that is evicted. If k pages did not arrive in ascending order, O(k log
//! k).

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use destage_base::{choices, parameters, table};

use crate::clusters::{ClusterId, Rings};
use crate::destage::{Grouping, Slot};
use crate::groups::Groups;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

choices! {
    /// The values of `req_count`.
    enum Count {
        Request = "request",
        Page = "page",
    }
}

parameters! {
    /// The parameters of `req-block`.
    struct Parameters {
        /// A request block of at most this many pages is small.
        req_small: u32 = "5", "pages", "Req-block (ICPP 2022).";
        /// Whether a request that hits several pages of a block counts as one access, or as one per page.
        req_count: Count = "request", "", "Ours.";
    }
}

/// The row of `req-block`.
pub const ROW: SchemeRow = SchemeRow {
    name: "req-block",
    family: "run",
    about: "Keeps the pages of a request together; small requests that are hit stay longer than large ones.",
    source: "Req-block, ICPP 2022; extended in IEEE TCAD 2023.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(ReqBlock {
            groups: Groups::new(),
            lists: Rings::new(3, 0),
            blocks: Vec::new(),
            small: parameters.req_small,
            counts_pages: parameters.req_count == Count::Page,
            made: 0,
        })
    })
};

/// The list of new request blocks. In each list, the latest block is at the front.
const NEW: u32 = 0;
/// The list of small blocks that were hit.
const SMALL: u32 = 1;
/// The list of blocks that consist of pages that were hit in large blocks.
const DIVIDED: u32 = 2;

#[derive(Clone, Copy)]
struct Block {
    list: u32,
    accesses: u64,
    /// The virtual time at which the block was made. `used` is the virtual time of its last access.
    begun: u64,
    used: u64,
    /// The request that made the block. `counted` is the request that last counted as an access.
    request: u64,
    counted: u64,
    /// The number of this block among all blocks ever made. Unlike a [`ClusterId`], this number is not used again.
    serial: u64,
    /// The number and the serial of the block from which this block was split off. If this block was not split off,
    /// they are those of this block.
    origin: (ClusterId, u64),
}

struct ReqBlock {
    groups: Groups,
    lists: Rings,
    /// The data of each block.
    blocks: Vec<Block>,
    small: u32,
    counts_pages: bool,
    made: u64,
}

impl Scheme for ReqBlock {
    fn insert(&mut self, entry: Entry, access: &Access) {
        // The block of this request, unless the block was evicted, or a hit moved it to another list.
        let current = self.lists.front(NEW).filter(|block| {
            let block = &self.blocks[block.index()];
            block.request == access.request
        });
        match current {
            Some(block) => {
                self.groups.join(block, entry);
                self.blocks[block.index()].used = access.virtual_time;
            }
            None => _ = self.start(entry, NEW, None, access),
        }
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Read {
            return;
        }
        let Some(block) = self.groups.find(entry.slot) else {
            return;
        };
        if self.groups.pages(block) <= self.small {
            self.lists.bring_to_front(SMALL, block);
            self.blocks[block.index()].list = SMALL;
            self.count(block, access);
            return;
        }
        // Pages of one block that are hit by one request remain together.
        let origin = (block, self.blocks[block.index()].serial);
        let current = self.lists.front(DIVIDED).filter(|block| {
            let block = &self.blocks[block.index()];
            block.request == access.request && block.origin == origin
        });
        self.leave(entry.slot);
        match current {
            Some(block) => {
                self.groups.join(block, entry);
                self.count(block, access);
            }
            None => _ = self.start(entry, DIVIDED, Some(origin), access),
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.leave(entry.slot);
    }

    fn evict(&mut self, need: Need, access: &Access, _: &dyn View, victim: &mut Victim) {
        let chosen = match need {
            Need::FlushPage(entry) => self.groups.find(entry.slot),
            Need::Evict(_) | Need::Flush => self.choose(access.virtual_time),
        };
        let Some(block) = chosen else { return };
        let Block { list, origin, .. } = self.blocks[block.index()];
        self.take(block, victim);
        if list == DIVIDED && self.is_new(origin) {
            self.take(origin.0, victim);
            victim.entries.sort_unstable_by_key(|entry| entry.page);
        }
        victim.grouping = Grouping::Pages;
    }

    fn show(&self, shown: &mut Shown) {
        for (number, name) in [
            (NEW, "New (IRL)"),
            (SMALL, "Small (SRL)"),
            (DIVIDED, "Divided (DRL)"),
        ] {
            let list = shown.list(
                name,
                "latest",
                "the least used of the three last leaves next",
            );
            for block in self.lists.iter(number) {
                let label = format!("accesses {}", self.blocks[block.index()].accesses);
                let group = list.group(label, Frame::Row);
                self.groups
                    .iter(block)
                    .for_each(|entry| group.page(entry, ""));
            }
        }
    }

    fn len(&self) -> usize {
        self.groups.len()
    }
}

impl ReqBlock {
    fn start(
        &mut self,
        entry: Entry,
        list: u32,
        origin: Option<(ClusterId, u64)>,
        access: &Access,
    ) -> ClusterId {
        let block = self.groups.start(entry);
        self.made += 1;
        let data = Block {
            list,
            accesses: 1,
            begun: access.virtual_time,
            used: access.virtual_time,
            request: access.request,
            counted: access.request,
            serial: self.made,
            origin: origin.unwrap_or((block, self.made)),
        };
        *table::at(&mut self.blocks, block.index(), data) = data;
        self.lists.push_front(list, block);
        block
    }

    fn count(&mut self, block: ClusterId, access: &Access) {
        let data = &mut self.blocks[block.index()];
        data.used = access.virtual_time;
        if self.counts_pages || data.counted != access.request {
            data.counted = access.request;
            data.accesses += 1;
        }
    }

    /// Whether the block with this number and serial still exists and is in the list of new blocks.
    fn is_new(&self, (block, serial): (ClusterId, u64)) -> bool {
        let data = &self.blocks[block.index()];
        data.serial == serial && data.list == NEW && self.lists.contains(block)
    }

    fn leave(&mut self, slot: Slot) {
        let (block, left) = self.groups.leave(slot);
        if left == 0 {
            self.lists.remove(block);
        }
    }

    fn take(&mut self, block: ClusterId, victim: &mut Victim) {
        self.lists.remove(block);
        self.groups.take(block, &mut victim.entries);
    }

    /// Of the last blocks of the three lists, the one with the smallest accesses / (pages * age). Among equals, the
    /// block whose last access is oldest.
    fn choose(&self, time: u64) -> Option<ClusterId> {
        let lasts = [NEW, SMALL, DIVIDED].into_iter();
        let lasts = lasts.filter_map(|list| self.lists.back(list));
        lasts.reduce(|best, next| {
            let of = |block: ClusterId| {
                let data = &self.blocks[block.index()];
                let age = (time - data.begun).max(1);
                let weight = u128::from(self.groups.pages(block)) * u128::from(age);
                (u128::from(data.accesses), weight, data.used)
            };
            let (best_accesses, best_weight, best_used) = of(best);
            let (next_accesses, next_weight, next_used) = of(next);
            // The fractions are compared by cross-multiplication, without division.
            let next_is_less =
                (next_accesses * best_weight, next_used) < (best_accesses * next_weight, best_used);
            if next_is_less { next } else { best }
        })
    }
}
