//! `standin-iozone`: IOzone's automatic mode on NTFS. It replaces the IOzone trace that comes with the SSD extension
//! of DiskSim.
//!
//! The sequence of tests is that of IOzone. The files have 64 KiB to 512 MiB. For each file there are records from 4
//! KiB (64 KiB for files above 16 MiB) to 16 MiB. For each file and record size, IOzone runs the tests write,
//! rewrite, random write, record rewrite, fwrite and frewrite. A flush ends each test. Tests that only read let time
//! pass, but cause no requests. IOzone writes its results to a file on the same volume, which sometimes grows by a
//! cluster. After such a growth, new files begin one page later in a block. Such files leave small pieces of blocks
//! in the buffer of the scheme FAB.
//!
//! Records of up to 256 KiB remain in the cache of Windows until the flush, which writes them in pieces of up to 4
//! MiB. A longer record is divided into views of 256 KiB. Windows writes a view as soon as the next view of the
//! record begins. The last view is written at the flush or by the lazy writer. If a view does not follow the previous
//! view on the disk, the disk needs one revolution before it. The data rates and pauses are those of the trace,
//! rounded.
//!
//! For each record of a random write there is one random draw.

#[cfg(test)]
mod tests;
mod volume;

use crate::shared::{
    Arrivals, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, contradiction,
    page_sectors,
};
use crate::{Requests, Workload, WorkloadError};
use destage_base::Random;
use destage_base::parameter::{Parameter, Values};
use destage_base::parameters;
use destage_trace::{Operation, Request};
use std::collections::VecDeque;
use volume::{CLUSTER, CLUSTERS, Volume};

pub(crate) const WORKLOAD: Workload = Workload {
    name: NAME,
    about: "Stand-in for IOzone in automatic mode: files written from end to end and in any order, again and again.",
    parameters: &[
        Parameter {
            default: "100000",
            source: "trace ssd-iozone-aligned2-100K",
            ..REQUESTS
        },
        Parameter {
            default: "4212868",
            source: "trace ssd-iozone-aligned2-100K: the last page",
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        Parameter {
            default: "9.4",
            source: "what the model comes to; trace ssd-iozone-aligned2-100K: 936 s",
            ..MEAN_INTERARRIVAL_MS
        },
    ],
    make,
};

const NAME: &str = "standin-iozone";

/// Sectors in a KiB. All lengths in this file are in sectors.
const KIB: u64 = 2;
const MIB: u64 = 1024 * KIB;
/// The smallest and the largest file of IOzone. `RECORDS` are the shortest and the longest record. For files above
/// `CROSSOVER`, records below `LARGE_RECORD` are omitted.
const FILES: (u64, u64) = (64 * KIB, 512 * MIB);
const RECORDS: (u64, u64) = (4 * KIB, 16 * MIB);
const CROSSOVER: u64 = 16 * MIB;
const LARGE_RECORD: u64 = 64 * KIB;
/// The file of results grows by a cluster after this many results, each of which has 273 bytes.
const RESULTS_OF_CLUSTER: u64 = 15;
/// The range that the cache of Windows maps at a time, called a view. A view is written as soon as a record continues
/// beyond it.
const VIEW: u64 = 256 * KIB;
/// In each range of this length, the cache writes a piece of 1 MiB first, and then pieces of 4 MiB.
const RANGE: u64 = 16 * MIB;
const FIRST_PIECE: u64 = MIB;
const PIECE: u64 = 4 * MIB;
/// The amount of data that the disk accepts at the rate of the bus. After that amount, it accepts data at the rate at
/// which it writes. `BUS_MS` and `DISK_MS` are the times for one sector at these two rates, in ms.
const DISK_CACHE: u64 = 8 * MIB;
const BUS_MS: f64 = 0.0047;
const DISK_MS: f64 = 0.0075;
/// Long records are written view by view, and each view completes before the next view begins. The first `BUS_VIEWS`
/// views are written at the rate of the bus. The times are for a view at the rate of the bus, for a view at the rate
/// of the disk, and for a view that does not follow the previous view on the disk, in ms.
const BUS_VIEWS: u64 = 20;
const VIEW_BUS_MS: f64 = 2.45;
const VIEW_DISK_MS: f64 = 4.1;
const TURN_MS: f64 = 9.4;
/// Times of pieces in ascending order with gaps between them: a fixed time for each piece, and the time for each
/// sector of a piece, in ms.
const PIECE_MS: (f64, f64) = (0.4, 0.0155);
/// The time of a view of a record that was written just before, in ms. `FLUSHED_MS` is the time of a view at the
/// flush.
const AGAIN_MS: f64 = 3.0;
const FLUSHED_MS: f64 = 4.5;
/// The lazy writer wakes up after this time in ms. It then writes `LAZY_PIECES` pieces or `LAZY_VIEWS` views. The
/// last constants are the time of each such piece and the pause after the last piece, and the time of a group of
/// views, in ms.
const LAZY_MS: f64 = 1000.0;
const LAZY_PIECES: u64 = 16;
const LAZY_PIECES_MS: (f64, f64) = (0.7, 1100.0);
const LAZY_VIEWS: usize = 21;
const LAZY_VIEWS_MS: f64 = 165.0;
/// In a new file, the lazy writer stays this many views behind the writing process. The writing process is stopped
/// for the first time of `HELD_MS`, and then runs for the second time, again and again. Both times are in ms.
const LAZY_BEHIND: u64 = 150;
const HELD_MS: (f64, f64) = (500.0, 1500.0);

/// The tests of IOzone that write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Write,
    Rewrite,
    RandomWrite,
    RecordRewrite,
    Fwrite,
    Frewrite,
}

const TESTS: [Test; 6] = [
    Test::Write,
    Test::Rewrite,
    Test::RandomWrite,
    Test::RecordRewrite,
    Test::Fwrite,
    Test::Frewrite,
];

/// The state of IOzone at some point of its sequence.
#[derive(Clone, Debug)]
struct Iozone {
    random: Random,
    volume: Volume,
    file: u64,
    record: u64,
    results: u64,
}

impl Test {
    /// Whether the test makes the file. The other tests write to the existing file.
    fn makes(self) -> bool {
        matches!(self, Self::Write | Self::Fwrite)
    }

    /// The time in ms until the next test that writes. During this time, IOzone opens, closes and reads the file.
    /// `file` and `record` are in sectors.
    fn pause_ms(self, file: u64, record: u64) -> f64 {
        let mib = file as f64 / MIB as f64;
        // Opening and closing a small file needs less time.
        let share = (mib / 4.0).min(1.0);
        // Each record needs a system call.
        let calls_ms = 0.06 * file as f64 / record as f64;
        match self {
            Self::Write | Self::Fwrite => 50.0 + 110.0 * share + 0.4 * mib,
            Self::Rewrite => 60.0 + 90.0 * share + 5.0 * mib + calls_ms,
            Self::RandomWrite => 50.0 + 60.0 * share + 3.0 * mib + calls_ms,
            Self::RecordRewrite => 60.0 + 1.5 * mib,
            Self::Frewrite => 60.0 + 90.0 * share + 5.0 * mib,
        }
    }
}

impl Iozone {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            volume: Volume::new(0.0),
            file: FILES.0,
            record: RECORDS.0,
            results: 0,
        }
    }

    /// Runs all tests for the current file and record size. Then selects the next record size, the next file, or the
    /// first file again.
    fn run(&mut self) {
        for test in TESTS {
            if test.makes() {
                self.volume.make(self.file);
            }
            match (test, self.record > VIEW) {
                (Test::RandomWrite, false) => self.write_some(),
                (Test::RandomWrite, true) => self.write_some_views(),
                (Test::RecordRewrite, false) => {
                    self.volume.write(0, self.record);
                    self.wait(self.record as f64 * BUS_MS);
                }
                (Test::RecordRewrite, true) => self.rewrite_first_record(),
                (_, false) => self.write_all(test.makes()),
                (_, true) => self.write_all_views(test.makes()),
            }
            self.volume.commit(test.makes());
            self.wait(test.pause_ms(self.file, self.record));
        }
        self.volume.remove();
        self.results += 1;
        if self.results.is_multiple_of(RESULTS_OF_CLUSTER) {
            self.volume.grow_another();
        }
        self.record *= 2;
        if self.record <= self.file.min(RECORDS.1) {
            return;
        }
        self.file *= 2;
        if self.file > FILES.1 {
            self.file = FILES.0;
            self.volume.format();
        }
        self.record = if self.file > CROSSOVER {
            LARGE_RECORD
        } else {
            RECORDS.0
        };
    }

    fn wait(&mut self, ms: f64) {
        self.volume.now_ms += ms;
    }

    /// Writes the file from start to end, from the cache. The trace lacks the first piece of a new file. With records
    /// of 128 KiB or more, it lacks the first piece of every file. This function omits these pieces, too.
    fn write_all(&mut self, is_new: bool) {
        let mut offset = if is_new || self.record >= 128 * KIB {
            FIRST_PIECE
        } else {
            0
        };
        let lazy_ms = self.volume.now_ms + LAZY_MS;
        let mut lazy = if is_new || self.file < 256 * MIB {
            0
        } else {
            LAZY_PIECES
        };
        let mut written = 0;
        while offset < self.file {
            let most = match offset % RANGE {
                0 => FIRST_PIECE,
                within => PIECE.min(RANGE - within),
            };
            let sectors = most.min(self.file - offset);
            self.volume.write(offset, sectors);
            offset += sectors;
            written += sectors;
            if lazy > 0 && self.volume.now_ms > lazy_ms {
                lazy -= 1;
                self.wait(LAZY_PIECES_MS.0);
                if lazy == 0 {
                    self.wait(LAZY_PIECES_MS.1);
                }
            } else if written <= DISK_CACHE {
                self.wait(sectors as f64 * BUS_MS);
            } else {
                self.wait(sectors as f64 * DISK_MS);
            }
        }
    }

    /// Writes random records from the cache. The number of draws equals the number of records of the file. Each drawn
    /// record is written once, and adjacent records are written together.
    fn write_some(&mut self) {
        let written = self.draw();
        let mut record = 0;
        for run in written.chunk_by(|one, other| one == other) {
            if run[0] {
                let sectors = run.len() as u64 * self.record;
                self.volume.write(record * self.record, sectors);
                self.wait(PIECE_MS.0 + PIECE_MS.1 * sectors as f64);
            }
            record += run.len() as u64;
        }
    }

    /// Draws as many random records as the file has. Returns, for each record of the file, whether it was drawn.
    fn draw(&mut self) -> Vec<bool> {
        let records = self.file / self.record;
        let mut written = vec![false; records as usize];
        for _ in 0..records {
            written[self.random.below(records) as usize] = true;
        }
        written
    }

    /// Writes the file from start to end in long records. The trace lacks the first view, so this function omits it.
    fn write_all_views(&mut self, is_new: bool) {
        let views = self.record / VIEW;
        let start_ms = self.volume.now_ms;
        let (mut lazy_ms, mut held_ms) = (start_ms + LAZY_MS, start_ms + LAZY_MS + 700.0);
        let mut written = 0;
        let mut behind = VecDeque::new();
        for record in 0..self.file / self.record {
            for view in 0..views - 1 {
                if record + view == 0 {
                    continue;
                }
                self.write_view(record * views + view, view > 0, &mut written);
                if !is_new || views > 4 {
                    continue;
                }
                if self.volume.now_ms > held_ms {
                    self.wait(HELD_MS.0);
                    held_ms = self.volume.now_ms + HELD_MS.1;
                }
                let is_far = behind.len() as u64 > LAZY_BEHIND / views;
                if self.file >= 128 * MIB && is_far && self.volume.now_ms > start_ms + LAZY_MS {
                    // The lazy writer writes views some distance behind the writing process.
                    if let Some(view) = behind.pop_front() {
                        self.write_view(view, false, &mut written);
                    }
                }
            }
            behind.push_back(record * views + views - 1);
            let is_lazy = !is_new && views <= 8 && self.file >= 64 * MIB;
            if is_lazy && self.volume.now_ms > lazy_ms {
                while !behind.is_empty() {
                    for view in behind.drain(..LAZY_VIEWS.min(behind.len())) {
                        self.volume.write(view * VIEW, VIEW);
                    }
                    self.wait(LAZY_VIEWS_MS);
                }
                lazy_ms = self.volume.now_ms + LAZY_MS;
            }
        }
        self.flush(behind);
    }

    /// Writes a view and waits until it completes. `follows` says whether the view follows the previous view on the
    /// disk.
    fn write_view(&mut self, view: u64, follows: bool, written: &mut u64) {
        self.volume.write(view * VIEW, VIEW);
        *written += 1;
        self.wait(match follows {
            _ if *written < BUS_VIEWS => VIEW_BUS_MS,
            true => VIEW_DISK_MS,
            false => TURN_MS,
        });
    }

    /// Writes the last views of records, as the flush does.
    fn flush(&mut self, views: impl IntoIterator<Item = u64>) {
        // With records of two views, every other view is skipped. The disk then needs one revolution before each
        // view.
        let ms = if self.record == 2 * VIEW {
            TURN_MS
        } else {
            FLUSHED_MS
        };
        for view in views {
            self.volume.write(view * VIEW, VIEW);
            self.wait(ms);
        }
    }

    /// Writes random long records. The number of draws equals the number of records of the file.
    fn write_some_views(&mut self) {
        let (records, views) = (self.file / self.record, self.record / VIEW);
        let mut last = vec![false; records as usize];
        let mut written = 0;
        for _ in 0..records {
            let record = self.random.below(records);
            last[record as usize] = true;
            for view in 0..views - 1 {
                self.write_view(record * views + view, view > 0, &mut written);
            }
        }
        self.flush(
            (0..records)
                .filter(|record| last[*record as usize])
                .map(|record| record * views + views - 1),
        );
    }

    /// Writes the first record of the file, which is long, as often as the file has records.
    fn rewrite_first_record(&mut self) {
        let views = self.record / VIEW;
        for _ in 0..self.file / self.record {
            for view in 0..views - 1 {
                self.volume.write(view * VIEW, VIEW);
                self.wait(AGAIN_MS);
            }
        }
        self.volume.write((views - 1) * VIEW, VIEW);
        self.wait(AGAIN_MS);
    }
}

struct IozoneRequests {
    iozone: Iozone,
    arrivals: Arrivals,
    first_sector: u64,
    /// The time of the last write in ms, before the gaps are scaled.
    last_ms: f64,
    /// The factor by which gaps are multiplied.
    pace: f64,
}

impl Iterator for IozoneRequests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.count()?;
        loop {
            if let Some(write) = self.iozone.volume.pop() {
                let gap_ms = (write.at_ms - self.last_ms).max(0.0);
                self.last_ms += gap_ms;
                self.arrivals.wait(gap_ms * self.pace);
                let sector = self.first_sector + write.sector;
                let request = self
                    .arrivals
                    .request(sector, write.sectors, Operation::Write);
                return Some(request);
            }
            self.iozone.run();
        }
    }
}

parameters! {
    struct Own {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS;
    }
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    /// The mean gap of the model over its first 100000 requests, in ms.
    const MEAN_MS: f64 = 9.4;
    /// The first cluster of the volume is a multiple of this number.
    const ALIGN: u64 = 64;
    let own = Own::from_values(values);
    let page_sectors = page_sectors(NAME, own.page_bytes)?;
    let clusters = own.footprint_pages * page_sectors / CLUSTER;
    if clusters < CLUSTERS {
        let expected = format!("at least {}", (CLUSTERS * CLUSTER).div_ceil(page_sectors));
        return Err(contradiction(
            NAME,
            FOOTPRINT_PAGES.name,
            own.footprint_pages,
            expected,
        ));
    }
    Ok(Box::new(IozoneRequests {
        iozone: Iozone::new(seed),
        arrivals: Arrivals::by_sectors(NAME, own.requests, own.mean_interarrival_ms, 1)?,
        first_sector: (clusters - CLUSTERS) / ALIGN * ALIGN * CLUSTER,
        last_ms: 0.0,
        pace: own.mean_interarrival_ms / MEAN_MS,
    }))
}
