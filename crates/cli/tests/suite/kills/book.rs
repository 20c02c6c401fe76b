//! The book of a test. For each sector, it says which contents the device must have after a kill of the server or a
//! power failure, and which contents the device may have instead. The book is derived only from requests and answers.

use std::collections::BTreeSet;

use destage_nand::medium::digest;

pub const SECTOR: usize = 512;
/// This bit is set in the value of bytes that no client wrote.
const FOREIGN: u64 = 1 << 63;

/// A change of a sector.
#[derive(Clone, Copy, Debug)]
struct Change {
    request: u64,
    value: u64,
    /// Whether the change is a trim. After a power failure the sector may again have its contents from before the
    /// trim.
    is_trim: bool,
    is_answered: bool,
}

/// The contents of a sector at the start of the server, and all changes of the sector since then.
#[derive(Clone)]
struct Sector {
    changes: Vec<Change>,
    /// The position in `changes` of the newest promised change. The sector may have the value of this change or of a
    /// later change.
    must: usize,
    /// All values that the sector ever had.
    ever: BTreeSet<u64>,
}

impl Sector {
    fn holding(value: u64) -> Self {
        Self {
            changes: vec![Change {
                request: 0,
                value,
                is_trim: false,
                is_answered: true,
            }],
            must: 0,
            ever: BTreeSet::from([0, value]),
        }
    }

    fn position(&self, request: u64) -> Option<usize> {
        let mut changes = self.changes.iter();
        changes.rposition(|change| change.request == request)
    }

    fn may_hold(&self, value: u64) -> bool {
        let allowed = &self.changes[self.must..];
        let is_old = || {
            let mut changes = self.changes.iter();
            self.ever.contains(&value) || changes.any(|change| change.value == value)
        };
        allowed.iter().any(|change| change.value == value)
            || (allowed.iter().any(|change| change.is_trim) && is_old())
    }
}

/// Sectors that a flush covers, each with the newest request that the flush covers.
pub type Covered = Vec<(usize, u64)>;

/// The book of all sectors.
pub struct Book {
    sectors: Vec<Sector>,
    /// The sectors with changes that the device has not promised.
    open: BTreeSet<usize>,
    requests: u64,
    /// The number of answered changes. `flushes` and `reads` are the numbers of answered flushes and reads.
    pub changes: u64,
    pub flushes: u64,
    pub reads: u64,
    /// The first error of the server that a client noticed while the server was running.
    pub wrong: Option<String>,
}

impl Book {
    /// A book for a device of `count` sectors of zeros.
    pub fn new(count: usize) -> Self {
        Self {
            sectors: vec![Sector::holding(0); count],
            open: BTreeSet::new(),
            requests: 0,
            changes: 0,
            flushes: 0,
            reads: 0,
            wrong: None,
        }
    }

    /// Begins a request. Returns the number of the request. A write uses this number to make its data.
    pub fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Records that a client sends `request`, which sets `sector` to `value` or trims it.
    pub fn sent(&mut self, sector: usize, request: u64, value: u64, is_trim: bool) {
        self.sectors[sector].changes.push(Change {
            request,
            value,
            is_trim,
            is_answered: false,
        });
        self.open.insert(sector);
    }

    pub fn answered(&mut self, sector: usize, request: u64) {
        let sector = &mut self.sectors[sector];
        if let Some(position) = sector.position(request) {
            sector.changes[position].is_answered = true;
        }
    }

    /// The number of all answers so far.
    pub fn answers(&self) -> u64 {
        self.changes + self.flushes + self.reads
    }

    /// The changes that a flush covers if a client sends the flush now. For each sector with unpromised changes, this
    /// is the newest answered request.
    pub fn covered(&self) -> Covered {
        let newest = |number: &usize| {
            let Sector { changes, must, .. } = &self.sectors[*number];
            let mut later = changes[must + 1..].iter().rev();
            let answered = later.find(|change| change.is_answered)?;
            Some((*number, answered.request))
        };
        self.open.iter().filter_map(newest).collect()
    }

    /// Records that the device has promised the change of the sector by `request`. From now on the sector must not
    /// have older contents.
    pub fn promised(&mut self, number: usize, request: u64) {
        let sector = &mut self.sectors[number];
        if let Some(position) = sector.position(request) {
            sector.must = sector.must.max(position);
            if sector.must + 1 == sector.changes.len() {
                self.open.remove(&number);
            }
        }
    }

    /// Records that the device has promised all changes that it has answered so far.
    pub fn promise_answered(&mut self) {
        for (sector, request) in self.covered() {
            self.promised(sector, request);
        }
    }

    /// The number of changes of `sector`. A read that a client sends now must return the contents after the last of
    /// these changes or after a later change.
    pub fn age(&self, sector: usize) -> usize {
        self.sectors[sector].changes.len()
    }

    /// Checks that a read of the sector may return `bytes`. `age` is the age of the sector when the client sent the
    /// read.
    pub fn check_read(&self, number: usize, age: usize, bytes: &[u8]) -> Result<(), String> {
        let (value, changes) = (value_of(number, bytes), &self.sectors[number].changes);
        let mut allowed = changes[age - 1..].iter();
        if allowed.any(|change| change.value == value) {
            return Ok(());
        }
        let changes = &changes[age - 1..];
        Err(format!(
            "sector {number} reads as {value}; expected one of {changes:?}"
        ))
    }

    /// Checks `contents`. If there are more wrong sectors than a bad drive has `lost`, the error describes the first
    /// wrong sector. From now on, `contents` count as promised.
    pub fn check(&mut self, contents: &[u8], lost: u64) -> Result<(), String> {
        let (mut first, mut count) = (None, 0);
        for (number, bytes) in contents.chunks(SECTOR).enumerate() {
            let value = value_of(number, bytes);
            let sector = &mut self.sectors[number];
            if !sector.may_hold(value) {
                count += 1;
                first.get_or_insert_with(|| {
                    let (changes, must) = (&sector.changes, sector.must);
                    let what = if value & FOREIGN == 0 { "holds" } else { "holds, which nobody wrote," };
                    format!("sector {number}: {what} {value}; expected that of change {must} or later of {changes:?}")
                });
            }
            let values = sector.changes.iter().map(|change| change.value);
            sector.ever.extend(values.chain([value]));
            *sector = Sector {
                ever: std::mem::take(&mut sector.ever),
                ..Sector::holding(value)
            };
        }
        self.open.clear();
        match first {
            Some(what) if count > lost => Err(what),
            _ => Ok(()),
        }
    }
}

/// The bytes of sector `number` with the value `value`.
pub fn sector(number: usize, value: u64) -> Vec<u8> {
    if value == 0 {
        return vec![0; SECTOR];
    }
    let words = [value, number as u64 ^ value.rotate_left(32)];
    words.map(u64::to_le_bytes).concat().repeat(SECTOR / 16)
}

/// The value of sector `number` if it has the bytes `bytes`. If no client wrote these bytes to this sector, the value
/// has the bit `FOREIGN`.
fn value_of(number: usize, bytes: &[u8]) -> u64 {
    let value = u64::from_le_bytes(*bytes.first_chunk().expect("a sector"));
    match bytes == sector(number, value) {
        true => value,
        false => digest(bytes) | FOREIGN,
    }
}

#[test]
fn a_book_tells_what_must_be_there_from_what_may() {
    let contents = |value| [sector(0, value), sector(1, 0)].concat();
    let written = || {
        let mut book = Book::new(2);
        book.sent(0, 1, 1, false);
        book.answered(0, 1);
        let covered = book.covered();
        book.sent(0, 2, 2, false);
        book.answered(0, 2);
        (book, covered)
    };
    for value in [0, 1, 2] {
        assert_eq!(written().0.check(&contents(value), 0), Ok(()));
        let (mut book, covered) = written();
        assert_eq!(covered, [(0, 1)]);
        book.promised(0, 1);
        assert_eq!(book.check(&contents(value), 0).is_ok(), value > 0);
        // Contents that a check has found must not change later.
        assert_eq!(book.check(&contents(value), 0), Ok(()));
        assert!(book.check(&contents(3), 0).is_err());
    }
    assert!(written().0.check(&contents(3), 0).is_err());
    assert!(written().0.check(&contents(3), 1).is_ok());
    let torn = [
        sector(0, 1)[..256].to_vec(),
        sector(0, 2)[256..].to_vec(),
        sector(1, 0),
    ];
    assert!(written().0.check(&torn.concat(), 0).is_err());
}

#[test]
fn what_was_trimmed_is_zeros_or_anything_it_held_until_it_was_seen() {
    let trimmed = || {
        let mut book = Book::new(1);
        book.sent(0, 1, 1, false);
        book.sent(0, 2, 0, true);
        book.answered(0, 2);
        book.promise_answered();
        book
    };
    for value in [0, 1] {
        let mut book = trimmed();
        assert_eq!(book.check(&sector(0, value), 0), Ok(()));
        assert!(book.check(&sector(0, 1 - value), 0).is_err());
    }
    assert!(trimmed().check(&sector(0, 3), 0).is_err());
}

#[test]
fn a_read_finds_what_was_sent_before_it_or_later() {
    let mut book = Book::new(1);
    book.sent(0, 1, 1, false);
    let age = book.age(0);
    book.sent(0, 2, 2, false);
    for (value, is_right) in [(0, false), (1, true), (2, true), (3, false)] {
        let read = book.check_read(0, age, &sector(0, value));
        assert_eq!(read.is_ok(), is_right, "{value}");
    }
}
