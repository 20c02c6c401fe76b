//! The ledger gives, for each sector, the version that must be there after a loss of power, and the versions that may
//! be there instead. It is derived from requests and answers alone.
//!
//! The ledger uses no rule of the device, of the buffer or of the flash. It receives every accepted request, and
//! every answer before a client can see the answer. A sector *must* hold its newest promised version: the newest one
//! that an answered flush covers, or that was answered with force unit access. Instead of this version, the sector
//! *may* hold any version accepted later. Contents are compared by checksums over the bytes of a sector.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use destage_base::Lpn;
use destage_base::lazy::{LazyTable, Same};
use destage_nand::medium::{Lost, digest};

use crate::request::{Request, RequestKind, Span};

/// The smallest number of changes of a page at which the ledger removes superseded changes.
const CHANGES_TO_PRUNE: usize = 8;

/// The reason why a sector holds a wrong version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Finding {
    /// A promised version is missing, or the data were never written.
    Bad,
    /// The contents may be an old version that the ledger has forgotten. If so, this version is allowed, because the
    /// sector was trimmed or because no later version was promised.
    Forgotten,
    /// The sector was lost through a fault of a bad drive.
    Lost(Lost),
    /// The drive relies on its capacitor, and the energy was not sufficient.
    Energy,
}

/// Counts of sectors and versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Number of sectors that were ever changed.
    pub sectors: u64,
    /// Number of these sectors with promised contents. Contents are promised by an answer, or because a mount has
    /// found them.
    pub must: u64,
    /// Number of versions, over all sectors, that may be there instead of the promised versions.
    pub may: u64,
}

/// The properties of the device that a ledger needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Number of logical pages of the device.
    pub pages: u64,
    /// Number of sectors of a page.
    pub sectors: u32,
    /// Number of bytes of a sector.
    pub sector_bytes: usize,
    /// Whether writes are answered from RAM.
    pub volatile_cache: bool,
    /// Whether trims write zeros.
    pub strict_trim: bool,
    /// Whether flushes are answered at once, on the assumption that a capacitor saves the data.
    pub relies_on_capacitor: bool,
    /// Number of old contents that the ledger stores for a sector, because after a trim the sector may hold any of
    /// them. It is also the number of changes without a promise that the ledger stores for a page. If a page has
    /// more, the oldest change is forgotten.
    pub remembered: usize,
}

/// What a request has done to a page.
#[derive(Clone)]
enum What {
    /// The sectors were written. There is one checksum for each sector.
    Written(Box<[u64]>),
    Zeroes,
    Trimmed,
}

/// A request that changed a page.
#[derive(Clone)]
struct Change {
    version: u64,
    /// The first changed sector of the page. `to` is the number after the last changed sector.
    from: u32,
    to: u32,
    what: What,
    /// The number of the answer among all answers, from 1; `None` while the request is not answered.
    answer: Option<NonZeroU64>,
    /// Whether the answer promised that the change is durable.
    forced: bool,
}

impl Change {
    fn covers(&self, sector: u32) -> bool {
        (self.from..self.to).contains(&sector)
    }

    /// The checksum of the contents of `sector` after this change. The change has to cover `sector`.
    fn digest(&self, sector: u32, zeros: u64) -> u64 {
        match &self.what {
            What::Written(sums) => sums[(sector - self.from) as usize],
            What::Zeroes | What::Trimmed => zeros,
        }
    }
}

/// One page: its contents at the start or at the latest mount (the *base*), and the changes since.
#[derive(Clone)]
struct Page {
    /// A checksum for each sector of the base; `None` if all sectors hold zeros.
    base: Option<Box<[u64]>>,
    changes: Vec<Change>,
    /// Number of changes at which the ledger next removes superseded changes.
    prune_at: usize,
    /// Checksums of older contents, each with its sector. `has_forgotten` says whether other older contents were
    /// forgotten.
    old: Vec<(u32, u64)>,
    has_forgotten: bool,
    /// The latest version of a change that was removed although its sectors may have had no later promised version.
    dropped: u64,
}

/// A request that has not been answered.
#[derive(Clone)]
struct Open {
    request: Request,
    version: u64,
    /// Number of answers before the request was accepted.
    answers: u64,
}

/// The position in `known` of a page that was never changed.
const UNKNOWN: u32 = u32::MAX;

/// The ledger. See the [module](self).
#[derive(Clone)]
pub struct Ledger {
    terms: Terms,
    zeros: u64,
    /// The position of each page in `known`.
    positions: LazyTable<Same<u32>>,
    /// The pages that were ever changed.
    known: Vec<Page>,
    open: BTreeMap<u32, Open>,
    /// Number of answers so far.
    answers: u64,
    /// Number of answers that the answered flushes cover.
    covered: u64,
    /// Whether the base is promised, because a mount has found it, or because the flash had contents before the first
    /// request.
    is_mounted: bool,
}

impl Ledger {
    /// The ledger of a device that holds only zeros.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            zeros: digest(&vec![0; terms.sector_bytes]),
            positions: LazyTable::new(terms.pages as usize, Same(UNKNOWN)),
            known: Vec::new(),
            open: BTreeMap::new(),
            answers: 0,
            covered: 0,
            is_mounted: false,
        }
    }

    /// The caller reports that `request` is accepted with this `token` and this `version`. `data` has the bytes of a
    /// write, in pieces of whole sectors.
    pub fn accept<'d>(
        &mut self,
        token: u32,
        request: &Request,
        version: u64,
        data: impl IntoIterator<Item = &'d [u8]>,
    ) {
        let open = Open {
            request: *request,
            version,
            answers: self.answers,
        };
        self.open.insert(token, open);
        let span = request.span;
        let sectors = self.terms.sectors;
        let pages = match request.kind {
            RequestKind::Read | RequestKind::Flush => 0..0,
            RequestKind::Trim if !self.terms.strict_trim => return self.trim(&span, version),
            RequestKind::Trim => span.whole_pages(),
            RequestKind::Write | RequestKind::WriteZeroes => 0..span.pages,
        };
        let sector_bytes = self.terms.sector_bytes;
        let sectors_of = |piece: &'d [u8]| piece.chunks(sector_bytes);
        let mut sums = data.into_iter().flat_map(sectors_of).map(digest);
        for offset in pages {
            let is_trim = request.kind == RequestKind::Trim;
            let head = if offset == 0 && !is_trim {
                span.head
            } else {
                0
            };
            let tail = if offset + 1 == span.pages && !is_trim {
                span.tail
            } else {
                0
            };
            let (from, to) = (head, sectors - tail);
            let what = match request.kind {
                RequestKind::Write => {
                    What::Written(sums.by_ref().take((to - from) as usize).collect())
                }
                _ => What::Zeroes,
            };
            let change = Change {
                version,
                from,
                to,
                what,
                answer: None,
                forced: false,
            };
            let number = span.page(offset, self.terms.pages).0;
            self.change(number, change);
        }
    }

    /// Records a trim with this `version` of the pages that `span` covers completely. Pages that were never changed
    /// need no entry, because they hold zeros before and after the trim.
    fn trim(&mut self, span: &Span, version: u64) {
        let (from, to) = (0, self.terms.sectors);
        for number in self.known_whole_pages(span) {
            let change = Change {
                version,
                from,
                to,
                what: What::Trimmed,
                answer: None,
                forced: false,
            };
            self.change(number, change);
        }
    }

    /// The pages that `span` covers completely and that were ever changed.
    fn known_whole_pages(&self, span: &Span) -> Vec<u64> {
        let mut known = Vec::new();
        for part in span.whole_parts(self.terms.pages) {
            let part = part.start as usize..part.end as usize;
            let touched = self.positions.touched_in(part);
            let changed = touched.filter(|(_, position)| *position != UNKNOWN);
            known.extend(changed.map(|(number, _)| number as u64));
        }
        known
    }

    fn change(&mut self, number: u64, change: Change) {
        let (terms, zeros, covered) = (self.terms, self.zeros, self.covered);
        let page = self.page_mut(number);
        if page.changes.len() >= page.prune_at {
            page.prune(&terms, covered, zeros);
            page.prune_at = (2 * page.changes.len()).clamp(CHANGES_TO_PRUNE, terms.remembered);
        }
        if page.changes.is_empty() {
            // Most pages have only one change.
            page.changes.reserve_exact(1);
        }
        page.changes.push(change);
    }

    fn position(&self, number: u64) -> Option<usize> {
        let position = self.positions.get(number as usize);
        (position != UNKNOWN).then_some(position as usize)
    }

    fn page(&self, number: u64) -> Option<&Page> {
        Some(&self.known[self.position(number)?])
    }

    /// Page `number`. A page that was never changed is added, with zeros as its base.
    fn page_mut(&mut self, number: u64) -> &mut Page {
        let position = self.position(number).unwrap_or_else(|| {
            *self.positions.get_mut(number as usize) = self.known.len() as u32;
            self.known.push(Page::holding(None));
            self.known.len() - 1
        });
        &mut self.known[position]
    }

    /// The pages that were ever changed, with their numbers, in ascending order.
    fn each_page(&self) -> impl Iterator<Item = (u64, &Page)> + '_ {
        let touched = self.positions.touched();
        let known = touched.filter(|(_, position)| *position != UNKNOWN);
        known.map(|(number, position)| (number as u64, &self.known[position as usize]))
    }

    /// The caller reports that request `token` is answered without an error.
    pub fn answer(&mut self, token: u32) {
        let Some(open) = self.open.remove(&token) else {
            return;
        };
        self.answers += 1;
        let Open {
            request, version, ..
        } = open;
        match request.kind {
            RequestKind::Flush => {
                self.covered = self.covered.max(open.answers);
                return;
            }
            // A read changes nothing, so its answer promises nothing.
            RequestKind::Read => return,
            RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim => {}
        }
        let answer = NonZeroU64::new(self.answers);
        let forced = request.fua || !self.terms.volatile_cache;
        let pages = match request.kind {
            RequestKind::Trim => self.known_whole_pages(&request.span),
            _ => {
                let offsets = 0..request.span.pages;
                let pages = offsets.map(|offset| request.span.page(offset, self.terms.pages).0);
                pages.collect()
            }
        };
        for number in pages {
            let Some(position) = self.position(number) else {
                continue;
            };
            let mut changes = self.known[position].changes.iter_mut().rev();
            if let Some(change) = changes.find(|change| change.version == version) {
                change.answer = answer;
                change.forced = forced;
            }
        }
    }

    /// Compares `bytes`, the contents of `page` after a mount, with the ledger. Returns the sectors that hold a wrong
    /// version, by their numbers on the device, each with the reason. If a fault of a bad drive has destroyed
    /// contents of the page, `lost` is this fault.
    #[must_use]
    pub fn check(&self, page: Lpn, bytes: &[u8], lost: Option<Lost>) -> Vec<(u64, Finding)> {
        let first = page.0 * u64::from(self.terms.sectors);
        let known = self.page(page.0);
        let sectors = (0..).zip(bytes.chunks(self.terms.sector_bytes));
        let each = sectors.filter_map(|(sector, bytes)| {
            let sum = digest(bytes);
            let finding = match known {
                None => (sum != self.zeros).then_some(Finding::Bad),
                Some(known) => known.finding(sector, sum, self),
            }?;
            let finding = match (finding, lost) {
                (Finding::Bad | Finding::Forgotten, Some(lost)) => Finding::Lost(lost),
                (finding, _) => finding,
            };
            Some((first + u64::from(sector), finding))
        });
        each.collect()
    }

    /// Number of sectors of `page` that have lost the newest answered write, whether it was promised or not. `bytes`
    /// are the contents of the page after a mount. A sector has lost this write if it holds neither the written data
    /// nor a later change.
    #[must_use]
    pub fn count_lost(&self, page: Lpn, bytes: &[u8]) -> u64 {
        let Some(known) = self.page(page.0) else {
            return 0;
        };
        let sectors = (0..).zip(bytes.chunks(self.terms.sector_bytes));
        let lost = sectors.filter(|(sector, bytes)| known.has_lost(*sector, bytes, self.zeros));
        lost.count() as u64
    }

    /// The pages that were ever changed.
    pub fn pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.each_page().map(|(number, _)| Lpn(number))
    }

    /// Begins a new ledger after a mount. `holds` appends the contents of a page to the given bytes, and is called
    /// for each page that was ever changed. From now on these contents are promised.
    pub fn restart(&mut self, mut holds: impl FnMut(Lpn, &mut Vec<u8>)) {
        let mut bytes = Vec::new();
        for (number, position) in self.positions.touched() {
            let Some(page) = self.known.get_mut(position as usize) else {
                continue;
            };
            page.forget_changes(&self.terms, self.zeros);
            bytes.clear();
            holds(Lpn(number as u64), &mut bytes);
            let sums = bytes.chunks(self.terms.sector_bytes).map(digest);
            page.base = Some(sums.collect());
        }
        self.open.clear();
        self.answers = 0;
        self.covered = 0;
        self.is_mounted = true;
    }

    /// The caller reports, before the first request, that `page` holds `bytes`. These contents are promised. Earlier
    /// contents of the page are unknown, and may still be on flash.
    pub fn hold(&mut self, page: Lpn, bytes: &[u8]) {
        let sums = bytes.chunks(self.terms.sector_bytes).map(digest);
        let base = Some(sums.collect());
        *self.page_mut(page.0) = Page {
            has_forgotten: true,
            ..Page::holding(base)
        };
        self.is_mounted = true;
    }

    /// Counts of the sectors and versions that the ledger knows.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.each(|_, must, may| {
            counts.sectors += 1;
            counts.must += u64::from(must > 0 || self.is_mounted);
            counts.may += may.len() as u64;
        });
        counts
    }

    /// Calls `emit` for each sector of each page that was ever changed. The arguments are the number of the sector,
    /// the version that must be there (0 for the base), and the versions that may be there instead.
    pub fn each(&self, mut emit: impl FnMut(u64, u64, &[u64])) {
        let mut may = Vec::new();
        for (number, page) in self.each_page() {
            for sector in 0..self.terms.sectors {
                let must = page.must(sector, self.covered);
                let version = must.map_or(0, |change| change.version);
                may.clear();
                let later = page.changes_after(sector, version);
                may.extend(later.map(|change| change.version));
                let sector = number * u64::from(self.terms.sectors) + u64::from(sector);
                emit(sector, version, &may);
            }
        }
    }
}

impl Page {
    fn holding(base: Option<Box<[u64]>>) -> Self {
        Self {
            base,
            changes: Vec::new(),
            prune_at: CHANGES_TO_PRUNE,
            old: Vec::new(),
            has_forgotten: false,
            dropped: 0,
        }
    }

    /// The checksum of `sector` in the base.
    fn base(&self, sector: u32, zeros: u64) -> u64 {
        self.base
            .as_ref()
            .map_or(zeros, |sums| sums[sector as usize])
    }

    /// The newest promised change of `sector`; `None` if the base is promised.
    fn must(&self, sector: u32, covered: u64) -> Option<&Change> {
        let promised = |change: &&Change| {
            change.covers(sector)
                && (change.forced || change.answer.is_some_and(|answer| answer.get() <= covered))
        };
        let promised = self.changes.iter().filter(promised);
        promised.max_by_key(|change| change.version)
    }

    /// The changes of `sector` after `version`.
    fn changes_after(&self, sector: u32, version: u64) -> impl Iterator<Item = &Change> + Clone {
        let changes = self.changes.iter();
        changes.filter(move |change| change.covers(sector) && change.version > version)
    }

    fn finding(&self, sector: u32, sum: u64, ledger: &Ledger) -> Option<Finding> {
        let zeros = ledger.zeros;
        let must = self.must(sector, ledger.covered);
        let version = must.map_or(0, |change| change.version);
        let promised = match must {
            Some(change) => change.digest(sector, zeros),
            None => self.base(sector, zeros),
        };
        let allowed = self.changes_after(sector, version).chain(must);
        let is_allowed = |change: &Change| change.digest(sector, zeros) == sum;
        if sum == promised || allowed.clone().any(is_allowed) {
            return None;
        }
        let is_old = self.has_held(sector, sum, zeros);
        if allowed
            .clone()
            .any(|change| matches!(change.what, What::Trimmed))
        {
            return match is_old {
                true => None,
                false if self.has_forgotten => Some(Finding::Forgotten),
                false => Some(Finding::Bad),
            };
        }
        if self.dropped > version {
            return Some(Finding::Forgotten);
        }
        match ledger.terms.relies_on_capacitor && (is_old || self.has_forgotten) {
            true => Some(Finding::Energy),
            false => Some(Finding::Bad),
        }
    }

    /// Whether `sector`, which holds `bytes` now, has lost its newest answered change: this change is not a trim, and
    /// `bytes` are neither the contents of this change nor those of a later change.
    fn has_lost(&self, sector: u32, bytes: &[u8], zeros: u64) -> bool {
        let answered = self.changes_after(sector, 0);
        let answered = answered.filter(|change| change.answer.is_some());
        let Some(newest) = answered.max_by_key(|change| change.version) else {
            return false;
        };
        if matches!(newest.what, What::Trimmed) {
            return false;
        }
        let sum = digest(bytes);
        let mut there = self.changes_after(sector, newest.version - 1);
        !there.any(|change| change.digest(sector, zeros) == sum)
    }

    /// Whether, according to the ledger, `sector` has held data with this checksum.
    fn has_held(&self, sector: u32, sum: u64, zeros: u64) -> bool {
        let mut changes = self.changes.iter();
        sum == self.base(sector, zeros)
            || self.old.contains(&(sector, sum))
            || changes.any(|change| change.covers(sector) && change.digest(sector, zeros) == sum)
    }

    /// Removes the changes whose sectors all have newer promised versions. If as many changes as `terms.remembered`
    /// or more remain, also removes the oldest answered changes.
    fn prune(&mut self, terms: &Terms, covered: u64, zeros: u64) {
        let (sectors, most) = (0..terms.sectors, terms.remembered);
        let must: Vec<u64> = sectors
            .map(|sector| {
                self.must(sector, covered)
                    .map_or(0, |change| change.version)
            })
            .collect();
        let is_old = |change: &Change| {
            let sectors = &must[change.from as usize..change.to as usize];
            sectors.iter().all(|must| *must > change.version)
        };
        let (old, kept) = core::mem::take(&mut self.changes)
            .into_iter()
            .partition(is_old);
        self.changes = kept;
        let mut old: Vec<Change> = old;
        while self.changes.len() >= most
            && let Some(first) = self
                .changes
                .iter()
                .position(|change| change.answer.is_some())
        {
            let change = self.changes.remove(first);
            self.dropped = self.dropped.max(change.version);
            old.push(change);
        }
        for change in &old {
            self.remember(change, zeros, most);
        }
    }

    /// Stores the checksums of `change`, which is removed from the page.
    fn remember(&mut self, change: &Change, zeros: u64, most: usize) {
        for sector in change.from..change.to {
            self.keep(sector, change.digest(sector, zeros), most);
        }
    }

    fn keep(&mut self, sector: u32, sum: u64, most: usize) {
        if self.old.contains(&(sector, sum)) {
            return;
        }
        self.old.push((sector, sum));
        let of_sector = self.old.iter().filter(|(other, _)| *other == sector);
        if of_sector.count() > most
            && let Some(first) = self.old.iter().position(|(other, _)| *other == sector)
        {
            self.old.remove(first);
            self.has_forgotten = true;
        }
    }

    /// Removes all changes. Stores the checksums of these changes, and of the base, as older contents.
    fn forget_changes(&mut self, terms: &Terms, zeros: u64) {
        let most = terms.remembered;
        for sector in 0..terms.sectors {
            self.keep(sector, self.base(sector, zeros), most);
        }
        for change in core::mem::take(&mut self.changes) {
            self.remember(&change, zeros, most);
        }
        self.dropped = 0;
    }
}

#[cfg(test)]
mod tests;
