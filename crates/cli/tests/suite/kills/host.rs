//! A client with one connection to a server. The client writes, reads and flushes until the server ends. It records
//! its requests and their answers in the book.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use destage_base::Random;
use destage_serve::address::Address;
use destage_serve::client::{Answer, Client, ClientError};
use destage_serve::protocol::wire;

use super::book::{Book, Covered, SECTOR, sector};

/// The number of consecutive sectors that belong to one connection. This number is not a multiple of the sectors of a
/// page, so some pages belong to two connections.
const STRIPE: usize = 20;
/// The largest number of sectors of a request.
const LONG: usize = 160;

/// A deliberate error of a client, which the checks must find.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    Nothing,
    /// The client treats a flush as answered when it sends the flush.
    EarlyFlush,
    /// The client treats every answered write as promised.
    EveryWrite,
}

/// Describes the requests to a device.
#[derive(Clone, Copy)]
pub struct Traffic {
    pub sectors: usize,
    /// The sectors of a page of the device. A trim changes whole pages only.
    pub page: usize,
    pub connections: usize,
    /// The queue depth of each connection.
    pub depth: usize,
    /// Whether the device promises every change that it has answered.
    pub write_through: bool,
    /// Whether a trim counts as a write of zeros.
    pub strict_trim: bool,
    pub plant: Plant,
}

/// A request in flight.
enum Asked {
    Change {
        first: usize,
        count: usize,
        request: u64,
        fua: bool,
    },
    /// A read: its first sector, and the age of each of its sectors when the client sent the read.
    Read(usize, Vec<usize>),
    Flush(Covered),
}

/// Waits until the server has answered `count` more requests, or all `hosts` have ended.
pub fn until_answered(book: &Mutex<Book>, count: u64, hosts: &[ScopedJoinHandle<'_, ()>]) {
    let answers = || book.lock().expect("no thread has panicked").answers();
    let end = answers() + count;
    while answers() < end && !hosts.iter().all(ScopedJoinHandle::is_finished) {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// A client that sends requests on one connection.
pub struct Host<'b> {
    book: &'b Mutex<Book>,
    number: usize,
    traffic: Traffic,
    random: Random,
    open: BTreeMap<u64, Asked>,
    cookies: u64,
}

impl<'b> Host<'b> {
    /// The client with connection `number` of `traffic`.
    pub fn new(book: &'b Mutex<Book>, traffic: Traffic, number: usize, seed: u64) -> Self {
        Self {
            book,
            number,
            traffic,
            random: Random::new(seed),
            open: BTreeMap::new(),
            cookies: 0,
        }
    }

    fn book(&self) -> MutexGuard<'b, Book> {
        self.book.lock().expect("no thread has panicked")
    }

    fn wrong(&self, what: String) {
        self.book().wrong.get_or_insert(what);
    }

    /// Sends requests until the server ends.
    pub fn run(mut self, address: &Address) {
        // A server that is killed early may not even accept the connection.
        let Ok(mut client) = Client::connect(address, true) else {
            return;
        };
        let _ = client.set_timeout(Some(Duration::from_secs(60)));
        let end = loop {
            if let Err(end) = self.step(&mut client) {
                break end;
            }
        };
        if let ClientError::Socket(error) = &end
            && !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
        {
            return;
        }
        self.wrong(format!("a connection ends with {end}"));
    }

    fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        if self.open.len() < self.traffic.depth && self.random.below(3) > 0 {
            return self.ask(client);
        }
        if self.open.is_empty() {
            return Ok(());
        }
        let answer = client.receive(|_| 0)?;
        self.hear(&answer);
        Ok(())
    }

    fn hear(&mut self, answer: &Answer) {
        if answer.error != 0 {
            return self.wrong(format!("an answer with error {}", answer.error));
        }
        let asked = self.open.remove(&answer.cookie);
        let mut book = self.book();
        match asked {
            Some(Asked::Flush(covered)) => {
                book.flushes += 1;
                for (sector, request) in covered {
                    book.promised(sector, request);
                }
            }
            Some(Asked::Read(first, ages)) => {
                book.reads += 1;
                let sectors = answer.data.chunks(SECTOR).zip(&ages);
                for (number, (bytes, age)) in (first..).zip(sectors) {
                    if let Err(what) = book.check_read(number, *age, bytes) {
                        book.wrong.get_or_insert(what);
                    }
                }
            }
            Some(Asked::Change {
                first,
                count,
                request,
                fua,
            }) => {
                let is_promised =
                    fua || self.traffic.write_through || self.traffic.plant == Plant::EveryWrite;
                book.changes += 1;
                for sector in first..first + count {
                    book.answered(sector, request);
                    if is_promised {
                        book.promised(sector, request);
                    }
                }
            }
            None => {
                book.wrong
                    .get_or_insert("an answer that nobody waits for".to_owned());
            }
        }
    }

    fn ask(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.cookies += 1;
        if self.random.below(16) == 0 {
            let covered = self.book().covered();
            if self.traffic.plant == Plant::EarlyFlush {
                let mut book = self.book();
                for (sector, request) in &covered {
                    book.promised(*sector, *request);
                }
            }
            self.open.insert(self.cookies, Asked::Flush(covered));
            return client.send((wire::CMD_FLUSH, 0), self.cookies, (0, 0), &[]);
        }
        let stripes = self.traffic.sectors / STRIPE / self.traffic.connections;
        let stripe = self.random.below(stripes as u64) as usize * self.traffic.connections;
        let stripe = stripe + self.number;
        let first = stripe * STRIPE + self.random.below(STRIPE as u64) as usize;
        // If there is only one connection, all sectors belong to it, so its requests may be longer.
        let left = match self.traffic.connections {
            1 => LONG.min(self.traffic.sectors - first),
            _ => (stripe + 1) * STRIPE - first,
        };
        let count = 1 + self.random.below(left as u64) as usize;
        let range = ((first * SECTOR) as u64, (count * SECTOR) as u32);
        let command = match self.random.below(16) {
            0 => wire::CMD_WRITE_ZEROES,
            1 => wire::CMD_TRIM,
            2 | 3 => wire::CMD_READ,
            _ => wire::CMD_WRITE,
        };
        if command == wire::CMD_READ {
            let book = self.book();
            let ages = (first..first + count).map(|number| book.age(number));
            let asked = Asked::Read(first, ages.collect());
            drop(book);
            self.open.insert(self.cookies, asked);
            return client.send((command, 0), self.cookies, range, &[]);
        }
        // A trim changes only whole pages.
        let page = self.traffic.page;
        let changed = match command {
            wire::CMD_TRIM => first.next_multiple_of(page)..(first + count) / page * page,
            _ => first..first + count,
        };
        let fua = self.random.below(16) == 0;
        let mut book = self.book();
        let request = book.request();
        let is_write = command == wire::CMD_WRITE;
        let is_trim = command == wire::CMD_TRIM && !self.traffic.strict_trim;
        let mut data = Vec::new();
        for number in changed.clone() {
            book.sent(number, request, if is_write { request } else { 0 }, is_trim);
            if is_write {
                data.extend_from_slice(&sector(number, request));
            }
        }
        drop(book);
        let asked = Asked::Change {
            first: changed.start,
            count: changed.len(),
            request,
            fua,
        };
        self.open.insert(self.cookies, asked);
        let flags = if fua { wire::CMD_FLAG_FUA } else { 0 };
        client.send((command, flags), self.cookies, range, &data)
    }
}
