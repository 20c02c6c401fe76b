//! A host that records its requests, the answers, and the programs that have ended, and compares the device with
//! these records.

use std::collections::{BTreeMap, VecDeque};

use destage_base::{Lpn, Random};
use destage_device::{RequestKind, Span};

use crate::kit::{Event, Rig, Stack};
use crate::matrix::requests::{Asked, SECTORS, Words, bytes, word};

/// The most requests in the device at once.
const MOST_OUTSTANDING: u64 = 6;

/// What the host knows about a page from requests, answers and ended programs.
#[derive(Clone, Default)]
struct Page {
    words: Words,
    /// The version of the latest change.
    version: u64,
    /// The version of the latest change that was answered.
    replied: u64,
    /// The newest version whose program or trim has ended.
    durable: u64,
    /// The version of the latest trim after which flash has no copy of the page (without `strict_trim`).
    trimmed: u64,
    /// The contents of each version that is not older than the durable one.
    history: VecDeque<(u64, Words)>,
}

/// A request that is not answered yet.
struct Open {
    asked: Asked,
    version: u64,
    /// The number of pages that are still to be read or changed.
    left: usize,
    /// For a flush: the version of each page that must become durable.
    must: Vec<u64>,
    /// For a trim: the pages that were already trimmed or never written, each with its version.
    passed_over: Vec<(u64, u64)>,
}

/// A device, the host of this device, and the expectations of the host.
pub struct Host {
    rig: Rig,
    random: Random,
    pages: Vec<Page>,
    open: BTreeMap<u32, Open>,
    /// Answered requests that the host has not retired yet.
    answered: Vec<Span>,
    versions: u64,
    outstanding: usize,
    /// The largest number of events between a request and the next one.
    pace: u64,
    volatile_cache: bool,
    strict_trim: bool,
    /// Whether flushes are answered as soon as they are accepted (a planted bug).
    pub lies: bool,
}

impl Host {
    pub fn new(stack: &Stack<'_>, seed: u64) -> Self {
        let rig = stack.build();
        Self {
            pages: vec![Page::default(); rig.device.pages() as usize],
            random: Random::new(seed),
            open: BTreeMap::new(),
            answered: Vec::new(),
            versions: 0,
            outstanding: 1,
            pace: 1,
            volatile_cache: stack.config.volatile_cache,
            strict_trim: stack.config.strict_trim,
            lies: false,
            rig,
        }
    }

    /// The pages that `asked` reads or changes. A trim does not change a page that the trim covers only partly.
    fn pages_of(&self, asked: &Asked) -> Vec<u64> {
        let count = self.pages.len() as u64;
        let span = asked.request().span;
        let all =
            (0..if asked.is_flush() { 0 } else { span.pages }).map(|at| span.page(at, count).0);
        all.filter(|page| {
            asked.kind != RequestKind::Trim
                || asked.covers(*page, count) == [true; SECTORS as usize]
        })
        .collect()
    }

    pub fn run(&mut self, requests: &[Asked]) {
        for asked in requests {
            if self.random.below(30) == 0 {
                self.outstanding = 1 + self.random.below(MOST_OUTSTANDING) as usize;
                self.pace = [0, 1, 3, 12][self.random.below(4) as usize];
                self.rig.flash.at_once = [0, 0, 20, 97][self.random.below(4) as usize];
            }
            while self.open.len() >= self.outstanding {
                self.go_on();
            }
            self.submit(asked);
            for _ in 0..self.random.below(self.pace + 1) {
                if self.rig.busy().is_empty() && self.answered.is_empty() {
                    break;
                }
                self.go_on();
            }
        }
        self.finish();
    }

    fn submit(&mut self, asked: &Asked) {
        let request = asked.request();
        let token = (0..).find(|token| !self.open.contains_key(token));
        let token = token.expect("a free token");
        let changes = !matches!(asked.kind, RequestKind::Read | RequestKind::Flush);
        self.versions += u64::from(changes);
        let left = self.pages_of(asked).len();
        let must = self.pages.iter().map(|page| page.replied);
        let open = Open {
            asked: *asked,
            version: self.versions,
            left,
            must: must.filter(|_| asked.is_flush()).collect(),
            passed_over: Vec::new(),
        };
        self.open.insert(token, open);
        if !asked.is_flush() {
            self.rig.device.announce(&request.span);
        }
        let data = match asked.kind {
            RequestKind::Write => self.data_of(asked),
            _ => Vec::new(),
        };
        let version = self.rig.submit(token, &request, &data);
        assert_eq!(version, self.versions);
        if asked.kind == RequestKind::Trim {
            self.pass_over_empty(asked, token);
        }
        self.look(Some(token));
        let left = self.open.get(&token).map_or(0, |open| open.left);
        assert!(!changes || left == 0, "{left} pages of {asked:?} unchanged");
        if self.lies && asked.is_flush() && self.open.contains_key(&token) {
            self.answer(token);
        }
    }

    /// A trim does not change a page that was trimmed before or never written, and the device need not report it.
    /// So if the device does not report a page of the trim `asked`, this page must have been trimmed before or
    /// never written. Written zeros count as contents.
    fn pass_over_empty(&mut self, asked: &Asked, token: u32) {
        let events = &self.rig.flash.events;
        let told: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                Event::Changed { page } => Some(page.0),
                _ => None,
            })
            .collect();
        for number in self.pages_of(asked) {
            if told.contains(&number) {
                continue;
            }
            let page = &self.pages[number as usize];
            assert_eq!(
                page.version, page.trimmed,
                "page {number} has contents, and the trim {asked:?} passed it over"
            );
            let open = self.open.get_mut(&token).expect("an open request");
            open.left -= 1;
            open.passed_over.push((number, page.version));
        }
    }

    fn data_of(&self, asked: &Asked) -> Vec<u8> {
        let all = self.pages.len() as u64 * SECTORS;
        let sectors = (asked.first..asked.first + asked.sectors).map(|sector| sector % all);
        let words = sectors
            .map(|sector| word(sector / SECTORS, (sector % SECTORS) as usize, self.versions));
        bytes(&words.collect::<Vec<u64>>())
    }

    /// Checks all events that the device has reported.
    fn look(&mut self, submitting: Option<u32>) {
        for event in std::mem::take(&mut self.rig.flash.events) {
            match event {
                Event::Changed { page } => {
                    self.change(page.0, submitting.expect("only requests change pages"));
                }
                Event::Read {
                    token,
                    page,
                    contents,
                } => {
                    let open = self.open.get_mut(&token).expect("a read that is open");
                    assert!(open.asked.kind == RequestKind::Read && open.left > 0);
                    open.left -= 1;
                    let words = &self.pages[page.0 as usize].words;
                    assert_eq!(*contents.bytes, bytes(words), "read of page {page}");
                }
                Event::Ended { page, version } => self.ended(page, version),
                Event::Answer { token } if self.lies && !self.open.contains_key(&token) => {}
                Event::Answer { token } => self.answer(token),
            }
        }
    }

    fn change(&mut self, number: u64, token: u32) {
        let count = self.pages.len() as u64;
        let open = self.open.get_mut(&token).expect("an open request");
        let covered = open.asked.covers(number, count);
        let page = &mut self.pages[number as usize];
        let is_trim = open.asked.kind == RequestKind::Trim;
        let is_all = covered == [true; SECTORS as usize];
        assert!(
            page.version < open.version && (is_all || !is_trim) && covered.contains(&true),
            "page {number} is changed by {:?}",
            open.asked
        );
        for (sector, _) in covered.iter().enumerate().filter(|(_, covered)| **covered) {
            page.words[sector] = match open.asked.kind {
                RequestKind::Write => word(number, sector, open.version),
                _ => 0,
            };
        }
        page.version = open.version;
        if is_trim && !self.strict_trim {
            page.trimmed = open.version;
        }
        page.history.push_back((open.version, page.words));
        open.left -= 1;
    }

    /// A program or a trim has ended. The medium must then have this version of the page, or a newer one.
    fn ended(&mut self, lpn: Lpn, version: u64) {
        let page = &mut self.pages[lpn.0 as usize];
        page.durable = page.durable.max(version);
        while page.history.front().is_some_and(|(old, _)| *old < version) {
            page.history.pop_front();
        }
        let Some((spare, data)) = self.rig.flash.payload.medium().newest(lpn) else {
            assert!(page.trimmed >= version, "page {lpn} is not on the medium");
            return;
        };
        assert!(
            spare.version >= version || page.trimmed >= version,
            "version {} of page {lpn} is on the medium, {version} has ended",
            spare.version
        );
        let known = page
            .history
            .iter()
            .find(|(known, _)| *known == spare.version);
        if let Some((_, words)) = known {
            assert_eq!(data.to_vec(), bytes(words), "page {lpn} on the medium");
        }
    }

    fn answer(&mut self, token: u32) {
        let open = self
            .open
            .remove(&token)
            .expect("an answer to an open request");
        let asked = open.asked;
        assert_eq!(open.left, 0, "{asked:?} is answered before its pages");
        for (number, must) in open.must.iter().enumerate() {
            let page = &self.pages[number];
            assert!(
                page.durable >= *must || page.trimmed > *must,
                "a flush is answered, version {must} of page {number} is not durable"
            );
        }
        if !matches!(asked.kind, RequestKind::Read | RequestKind::Flush) {
            for number in self.pages_of(&asked) {
                // For a page that this trim passed over, the version of the earlier trim still counts.
                let before = open.passed_over.iter().find(|(page, _)| *page == number);
                let version = before.map_or(open.version, |(_, version)| *version);
                let page = &mut self.pages[number as usize];
                page.replied = page.replied.max(version);
                assert!(
                    page.durable >= version || (!asked.fua && self.volatile_cache),
                    "{asked:?} is answered, page {number} is not durable"
                );
            }
        }
        if !asked.is_flush() {
            self.answered.push(asked.request().span);
        }
    }

    /// One random event: an operation ends, an alarm fires, or the host retires an answered request.
    fn go_on(&mut self) {
        let busy = self.rig.busy();
        let alarms = self.rig.flash.alarms.len();
        let kind = self.random.below(10);
        if !self.answered.is_empty() && (kind < 3 || busy.is_empty()) {
            let which = self.random.below(self.answered.len() as u64) as usize;
            let span = self.answered.swap_remove(which);
            self.rig.device.retire(&span, &mut self.rig.flash);
        } else if alarms > 0 && (kind < 5 || busy.is_empty() || alarms > 20) {
            let which = self.random.below(alarms as u64) as usize;
            let alarm = self.rig.flash.alarms.swap_remove(which);
            self.rig.wake(alarm);
        } else {
            assert!(
                !busy.is_empty(),
                "{} requests wait for nothing",
                self.open.len()
            );
            self.rig
                .end(busy[self.random.below(busy.len() as u64) as usize]);
        }
        self.look(None);
    }

    /// Ends the stream: waits until all requests are answered and all pages are written back, and checks every page.
    fn finish(&mut self) {
        while !self.open.is_empty() {
            self.go_on();
        }
        self.rig.drain();
        self.look(None);
        while !(self.rig.busy().is_empty() && self.answered.is_empty()) {
            self.go_on();
        }
        assert!(self.rig.device.is_settled(), "records are open");
        assert_eq!(self.rig.device.buffer().dirty(), 0, "dirty pages");
        assert_eq!(
            self.rig.flash.payload.pages_in_ram(),
            [0, 0],
            "bytes in RAM"
        );
        for (number, page) in self.pages.iter().enumerate() {
            assert!(page.durable >= page.version, "page {number} is not durable");
            let lpn = Lpn(number as u64);
            let newest = self.rig.flash.payload.medium().newest(lpn);
            let found = newest.map(|(spare, data)| (spare.version, data.to_vec()));
            if page.version > 0 && page.version == page.trimmed {
                assert_eq!(found, None, "page {number} is trimmed");
            } else if page.version > 0 {
                assert_eq!(
                    found,
                    Some((page.version, bytes(&page.words))),
                    "page {number}"
                );
            }
            assert_eq!(
                *self.rig.flash.payload.newest(lpn).bytes,
                bytes(&page.words),
                "page {number}"
            );
        }
    }
}
