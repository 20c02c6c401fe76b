//! `kill -9` of a server that is written to over several connections, again and again: nothing that it promised is gone, and
//! nothing is there that nobody wrote.
//!
//! `DESTAGE_KILLS` is how often an image, and how often a file behind the buffer, loses its server (20; `make kills`: 1000).
#![cfg(unix)]
#![allow(
    clippy::print_stdout,
    reason = "how much was tried is said to who asks for it"
)]

mod book;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use destage_base::Random;
use destage_serve::address::{Address, Place};
use destage_serve::client::{Client, ClientError};
use destage_serve::protocol::wire;

use book::{Book, Covered, SECTOR, sector};

const BYTES: usize = 1 << 20;
const SECTORS: usize = BYTES / SECTOR;
const CONNECTIONS: usize = 3;
/// Sectors that one connection writes before those of the next begin: no whole number of pages.
const STRIPE: usize = 20;
const PAGE: usize = 8;
/// Requests of a connection under way.
const DEPTH: usize = 8;

/// What is wrong with a host, on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plant {
    Nothing,
    /// It takes a flush for answered when it has sent it.
    EarlyFlush,
    /// It takes every answered write for promised.
    EveryWrite,
}

fn kills() -> u32 {
    let text = std::env::var("DESTAGE_KILLS");
    text.map_or(20, |text| text.parse().expect("DESTAGE_KILLS is a number"))
}

/// A server in `folder`, with the options that say where its bytes are and what else it is.
fn start(folder: &Path, options: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_destage"))
        .args(["serve", "--quiet", "--unix", "socket", "--capacity", "1MiB"])
        .args(["--set", "flash.dies=2", "--set", "flash.pages_per_block=8"])
        .args(["--set", "flash.planes_per_die=1", "--size", "128KiB"])
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn until_ready(child: &mut Child) {
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert!(line.starts_with("ready"), "{line:?}");
}

/// A request under way.
enum Asked {
    Change {
        first: usize,
        count: usize,
        request: u64,
        fua: bool,
    },
    Flush(Covered),
}

/// One connection.
struct Host<'b> {
    book: &'b Mutex<Book>,
    number: usize,
    plant: Plant,
    random: Random,
    open: BTreeMap<u64, Asked>,
    cookies: u64,
}

impl Host<'_> {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no thread has panicked")
    }

    /// Writes and flushes until the server is gone.
    fn run(mut self, address: &Address) {
        // A server that is killed at once may not even be greeted.
        if let Ok(mut client) = Client::connect(address, true) {
            let _ = client.set_timeout(Some(Duration::from_secs(60)));
            while self.step(&mut client).is_ok() {}
        }
    }

    fn step(&mut self, client: &mut Client) -> Result<(), ClientError> {
        if self.open.len() < DEPTH && self.random.below(3) > 0 {
            return self.ask(client);
        }
        if self.open.is_empty() {
            return Ok(());
        }
        let answer = client.receive(|_| 0)?;
        assert_eq!(answer.error, 0);
        match self.open.remove(&answer.cookie) {
            Some(Asked::Flush(covered)) => {
                let mut book = self.book();
                book.flushes += 1;
                for (sector, request) in covered {
                    book.promised(sector, request);
                }
            }
            Some(Asked::Change {
                first,
                count,
                request,
                fua,
            }) => {
                let is_promised = fua || self.plant == Plant::EveryWrite;
                let mut book = self.book();
                book.changes += 1;
                for sector in first..first + count {
                    book.answered(sector, request);
                    if is_promised {
                        book.promised(sector, request);
                    }
                }
            }
            None => panic!("an answer that nobody waits for"),
        }
        Ok(())
    }

    fn ask(&mut self, client: &mut Client) -> Result<(), ClientError> {
        self.cookies += 1;
        if self.random.below(16) == 0 {
            let covered = self.book().covered();
            if self.plant == Plant::EarlyFlush {
                let mut book = self.book();
                for (sector, request) in &covered {
                    book.promised(*sector, *request);
                }
            }
            self.open.insert(self.cookies, Asked::Flush(covered));
            return client.send((wire::CMD_FLUSH, 0), self.cookies, (0, 0), &[]);
        }
        let stripes = SECTORS / STRIPE / CONNECTIONS;
        let stripe = self.random.below(stripes as u64) as usize * CONNECTIONS + self.number;
        let mut first = stripe * STRIPE + self.random.below(STRIPE as u64) as usize;
        let left = (stripe + 1) * STRIPE - first;
        let mut count = 1 + self.random.below(left as u64) as usize;
        let mut command = match self.random.below(12) {
            0 => wire::CMD_WRITE_ZEROES,
            1 => wire::CMD_TRIM,
            _ => wire::CMD_WRITE,
        };
        if command == wire::CMD_TRIM {
            // A trim changes whole pages only.
            let begin = first.next_multiple_of(PAGE);
            let end = (first + count) / PAGE * PAGE;
            if begin < end {
                (first, count) = (begin, end - begin);
            } else {
                command = wire::CMD_WRITE;
            }
        }
        let fua = self.random.below(16) == 0;
        let mut book = self.book();
        let request = book.request();
        let is_write = command == wire::CMD_WRITE;
        let mut data = Vec::new();
        for number in first..first + count {
            book.sent(number, request, if is_write { request } else { 0 });
            if is_write {
                data.extend_from_slice(&sector(number, request));
            }
        }
        drop(book);
        let asked = Asked::Change {
            first,
            count,
            request,
            fua,
        };
        self.open.insert(self.cookies, asked);
        let flags = if fua { wire::CMD_FLAG_FUA } else { 0 };
        let range = ((first * SECTOR) as u64, (count * SECTOR) as u32);
        client.send((command, flags), self.cookies, range, &data)
    }
}

/// Everything that the server has.
fn contents(address: &Address) -> Vec<u8> {
    let mut client = Client::connect(address, true).expect("a server");
    let answer = client.ask((wire::CMD_READ, 0), (0, BYTES as u32), &[]);
    let answer = answer.expect("an answer");
    assert_eq!(answer.error, 0);
    answer.data
}

/// `times` servers one after the other on the same bytes, each killed. What it found, if it found something.
fn campaign(
    media: &[&str],
    schemes: &[&str],
    plant: Plant,
    times: u32,
    seed: u64,
) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let address = Address {
        place: Place::Unix(folder.path().join("socket")),
        export: String::new(),
    };
    let mut random = Random::new(seed);
    let book = Mutex::new(Book::new(SECTORS));
    for round in 0..times {
        let scheme = schemes[round as usize % schemes.len()];
        let options = [media, &["--buffer", scheme]].concat();
        let mut child = start(folder.path(), &options);
        if random.below(8) == 0 {
            // While it begins.
            std::thread::sleep(Duration::from_micros(random.below(8000)));
            child.kill().expect("it is killed");
            child.wait().expect("an end");
            child = start(folder.path(), &options);
        }
        until_ready(&mut child);
        let found = book.lock().expect("no thread").check(&contents(&address));
        let found =
            found.map_err(|what| format!("{options:?}, seed {seed}, server {round}: {what}"));
        if found.is_ok() {
            std::thread::scope(|scope| {
                for number in 0..CONNECTIONS {
                    let host = Host {
                        book: &book,
                        number,
                        plant,
                        random: Random::new(random.next_u64()),
                        open: BTreeMap::new(),
                        cookies: 0,
                    };
                    let address = &address;
                    scope.spawn(move || host.run(address));
                }
                std::thread::sleep(Duration::from_micros(random.below(60_000)));
                child.kill().expect("it is killed");
            });
        }
        let _ = child.kill();
        child.wait().expect("an end");
        found?;
    }
    let book = book.into_inner().expect("no thread");
    assert!(book.flushes > 0);
    println!(
        "{}: {times} kills, {} changes and {} flushes answered",
        media.join(" "),
        book.changes,
        book.flushes
    );
    Ok(())
}

/// A campaign for each of `media`, side by side, with as many kills in all as are wanted.
fn all(media: &[&'static [&'static str]], schemes: &[&str]) {
    let each = kills().div_ceil(media.len() as u32);
    std::thread::scope(|scope| {
        let run = |(seed, media): (u64, &&'static [&'static str])| {
            let media = *media;
            scope.spawn(move || campaign(media, schemes, Plant::Nothing, each, seed))
        };
        let runs: Vec<_> = (0..).zip(media).map(run).collect();
        for run in runs {
            if let Err(what) = run.join().expect("a campaign") {
                panic!("{what}");
            }
        }
    });
}

const SCHEMES: [&str; 6] = ["lru", "bplru", "fab", "nocache", "apu-lru", "epo"];

macro_rules! image {
    ($layer:literal) => {
        &[
            "--image",
            "flash",
            "--ftl",
            $layer,
            "--set",
            "device.trim=strict",
        ]
    };
}

#[test]
fn an_image_keeps_what_was_promised() {
    all(
        &[
            image!("page"),
            image!("bast"),
            image!("fast"),
            image!("dftl"),
            image!("superblock"),
            image!("pslc"),
            image!("zns"),
        ],
        &SCHEMES,
    );
}

#[test]
fn a_file_behind_the_buffer_keeps_what_was_promised() {
    all(
        &[
            &["--backing", "disk"],
            &["--backing", "disk", "--set", "device.vwc=off"],
            &[
                "--backing",
                "disk",
                "--set",
                "trace.align=rmw",
                "--ftl",
                "fast",
            ],
        ],
        &SCHEMES,
    );
}

/// That it can fail: a host that believes too much, and a device that answers flushes without writing.
#[test]
fn what_is_lost_is_found() {
    for media in [&["--image", "flash"], &["--backing", "disk"]] {
        for plant in [Plant::EarlyFlush, Plant::EveryWrite] {
            let found = campaign(media, &["lru"], plant, 40, 1);
            assert!(found.is_err(), "{media:?}");
        }
        let lies = [&media[..], &["--set", "buffer.flush_mode=ignore"]].concat();
        let found = campaign(&lies, &["lru"], Plant::Nothing, 40, 1);
        assert!(found.is_err(), "{media:?}");
    }
}
