//! What clients were told, sector by sector: what must be there after a crash, and what may.

use std::collections::BTreeSet;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

#[derive(Clone, Default)]
struct Sector {
    /// The newest value that was promised, or was there when the book began anew.
    must: u64,
    /// What was sent after it, in its order.
    later: Vec<Sent>,
}

/// A write of a sector.
#[derive(Clone, Debug)]
struct Sent {
    request: u64,
    value: u64,
    is_answered: bool,
}

/// What a flush covers: sector and request.
pub type Covered = Vec<(usize, u64)>;

/// The book. Values are numbers of requests, or 0 for zeros. Writes of a sector come over one connection, and so in their order.
pub struct Book {
    sectors: Vec<Sector>,
    /// Sectors with later values.
    open: BTreeSet<usize>,
    next: u64,
    /// Writes, zeroes and trims that were answered.
    pub changes: u64,
    /// Flushes that were answered.
    pub flushes: u64,
}

impl Book {
    pub fn new(sectors: usize) -> Self {
        Self {
            sectors: vec![Sector::default(); sectors],
            open: BTreeSet::new(),
            next: 0,
            changes: 0,
            flushes: 0,
        }
    }

    /// The number of a new request.
    pub fn request(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub fn sent(&mut self, sector: usize, request: u64, value: u64) {
        self.sectors[sector].later.push(Sent {
            request,
            value,
            is_answered: false,
        });
        self.open.insert(sector);
    }

    pub fn answered(&mut self, sector: usize, request: u64) {
        let mut later = self.sectors[sector].later.iter_mut();
        if let Some(one) = later.find(|one| one.request == request) {
            one.is_answered = true;
        }
    }

    /// What a flush sent now covers: the newest request of each sector that was answered.
    pub fn covered(&self) -> Covered {
        let newest = |sector: &usize| {
            let later = &self.sectors[*sector].later;
            let answered = later.iter().rev().find(|one| one.is_answered);
            answered.map(|one| (*sector, one.request))
        };
        self.open.iter().filter_map(newest).collect()
    }

    /// What `request` wrote to `sector` is promised, and with it that nothing older comes back.
    pub fn promised(&mut self, sector: usize, request: u64) {
        let Sector { must, later } = &mut self.sectors[sector];
        if let Some(position) = later.iter().position(|one| one.request == request) {
            *must = later[position].value;
            later.drain(..=position);
        }
    }

    /// The first sector of `contents` that holds what it must not, in words. Otherwise what is there is what must be there from now on.
    pub fn check(&mut self, contents: &[u8]) -> Result<(), String> {
        for (number, bytes) in contents.chunks(SECTOR).enumerate() {
            let value = u64::from_le_bytes(*bytes.first_chunk().expect("a sector"));
            let Sector { must, later } = &mut self.sectors[number];
            if bytes != sector(number, value) {
                return Err(format!("sector {number}: holds what nobody wrote"));
            }
            if value != *must && !later.iter().any(|one| one.value == value) {
                return Err(format!(
                    "sector {number}: holds {value}; expected {must}, or what came after it: {later:?}"
                ));
            }
            *must = value;
            later.clear();
        }
        self.open.clear();
        Ok(())
    }
}

/// What a sector holds that holds `value`.
pub fn sector(number: usize, value: u64) -> Vec<u8> {
    if value == 0 {
        return vec![0; SECTOR];
    }
    let words = [value, number as u64 ^ value.rotate_left(32)];
    words.map(u64::to_le_bytes).concat().repeat(SECTOR / 16)
}

#[test]
fn a_book_tells_what_must_be_there_from_what_may() {
    let contents = |value| [sector(0, value), sector(1, 0)].concat();
    let written = || {
        let mut book = Book::new(2);
        book.sent(0, 1, 1);
        book.answered(0, 1);
        let covered = book.covered();
        book.sent(0, 2, 2);
        book.answered(0, 2);
        (book, covered)
    };
    for value in [0, 1, 2] {
        assert_eq!(written().0.check(&contents(value)), Ok(()));
        let (mut book, covered) = written();
        assert_eq!(covered, [(0, 1)]);
        book.promised(0, 1);
        assert_eq!(book.check(&contents(value)).is_ok(), value > 0);
    }
    assert!(written().0.check(&contents(3)).is_err());
    let torn = [
        sector(0, 1)[..256].to_vec(),
        sector(0, 2)[256..].to_vec(),
        sector(1, 0),
    ];
    assert!(written().0.check(&torn.concat()).is_err());
}
