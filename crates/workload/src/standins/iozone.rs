//! `standin-iozone`: IOzone's automatic mode on NTFS, in place of the trace that comes with the SSD extension
//! of DiskSim.
//!
//! The sequence is that of IOzone: files from 64 KiB to 512 MiB, each with records from 4 KiB (64 KiB for files
//! above 16 MiB) to 16 MiB. For each file and record it runs the tests write, rewrite, random write, record
//! rewrite, fwrite and frewrite, with a flush at the end of each. Tests that only read take time, but make no
//! requests. Results are written to a file on the same volume, which sometimes grows by a cluster. Files made
//! after that begin one page later in a block, which leaves FAB with small pieces of blocks.
//!
//! Windows writes records of up to 256 KiB from its cache at the flush, in pieces of up to 4 MiB. Of a longer
//! record, it writes each 256 KiB as soon as the next begins, and the last 256 KiB at the flush or by the lazy
//! writer. Before a part of 256 KiB that does not follow the previous one on the disk, the disk makes one turn.
//! Paces and pauses are those of the trace, in round figures.
//!
//! The draws are one for each record of a random write.

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

/// Sectors in a KiB. All lengths below are in sectors.
const KIB: u64 = 2;
const MIB: u64 = 1024 * KIB;
/// IOzone's smallest and largest file, its shortest and longest record, the file size above which short records
/// are left out, and the shortest record of such files.
const FILES: (u64, u64) = (64 * KIB, 512 * MIB);
const RECORDS: (u64, u64) = (4 * KIB, 16 * MIB);
const CROSSOVER: u64 = 16 * MIB;
const LARGE_RECORD: u64 = 64 * KIB;
/// After this many results (of 273 bytes each) the file of results grows by a cluster.
const RESULTS_OF_CLUSTER: u64 = 15;
/// The range that the cache of Windows maps at a time. It is written at once when a record continues after it.
const VIEW: u64 = 256 * KIB;
/// In each range of this length, the cache writes 1 MiB first, and then pieces of 4 MiB.
const RANGE: u64 = 16 * MIB;
const FIRST_PIECE: u64 = MIB;
const PIECE: u64 = 4 * MIB;
/// The amount of data that the disk accepts at the pace of the bus, before it writes at its own pace; both
/// paces in ms for each sector.
const DISK_CACHE: u64 = 8 * MIB;
const BUS_MS: f64 = 0.0047;
const DISK_MS: f64 = 0.0075;
/// Long records are written view by view, and each view is waited for. The number of views at the pace of the
/// bus; the time in ms of a view at that pace, of a view at the pace of the disk, and of a view that does not
/// follow the previous view on the disk.
const BUS_VIEWS: u64 = 20;
const VIEW_BUS_MS: f64 = 2.45;
const VIEW_DISK_MS: f64 = 4.1;
const TURN_MS: f64 = 9.4;
/// For pieces in ascending order with gaps in between: a fixed time for each piece, and the time for each of
/// its sectors, in ms.
const PIECE_MS: (f64, f64) = (0.4, 0.0155);
/// The time of a view of a record that was just written, and of a view at the flush, in ms.
const AGAIN_MS: f64 = 3.0;
const FLUSHED_MS: f64 = 4.5;
/// The lazy writer wakes up after this time in ms. It writes this many pieces or views at once, and then waits;
/// times in ms.
const LAZY_MS: f64 = 1000.0;
const LAZY_PIECES: u64 = 16;
const LAZY_PIECES_MS: (f64, f64) = (0.7, 1100.0);
const LAZY_VIEWS: usize = 21;
const LAZY_VIEWS_MS: f64 = 165.0;
/// In a new file, the lazy writer stays this many views behind. The writing process is stopped for the first
/// time below, and runs for the second time in between, in ms.
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

/// IOzone, at some point of its sequence.
#[derive(Clone, Debug)]
struct Iozone {
    random: Random,
    volume: Volume,
    file: u64,
    record: u64,
    results: u64,
}

impl Test {
    /// Whether the test makes the file.
    fn makes(self) -> bool {
        matches!(self, Self::Write | Self::Fwrite)
    }

    /// The time in ms until the next test that writes. In it, IOzone opens, closes and reads the file. `file`
    /// and `record` are in sectors.
    fn pause_ms(self, file: u64, record: u64) -> f64 {
        let mib = file as f64 / MIB as f64;
        // Small files are opened and closed faster.
        let share = (mib / 4.0).min(1.0);
        // Each record costs a call.
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

    /// Runs all tests of a file and a record. Then continues with the next record, the next file, or the first
    /// file again.
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
                (Test::RecordRewrite, true) => self.write_first_again(),
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

    /// Writes the file from end to end, from the cache. The trace lacks the first piece of a new file, and with
    /// records from 128 KiB on the first piece of every file.
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

    /// Writes as many random records as the file has, from the cache: each once, and neighbours together.
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

    /// The records that are hit by as many random draws as the file has records.
    fn draw(&mut self) -> Vec<bool> {
        let records = self.file / self.record;
        let mut written = vec![false; records as usize];
        for _ in 0..records {
            written[self.random.below(records) as usize] = true;
        }
        written
    }

    /// Writes the file from end to end in long records. The trace lacks the first view.
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
                    // The lazy writer follows the writing process.
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

    /// Writes a view, and waits for it; `follows` says whether it follows the last view.
    fn write_view(&mut self, view: u64, follows: bool, written: &mut u64) {
        self.volume.write(view * VIEW, VIEW);
        *written += 1;
        self.wait(match follows {
            _ if *written < BUS_VIEWS => VIEW_BUS_MS,
            true => VIEW_DISK_MS,
            false => TURN_MS,
        });
    }

    /// Writes the last views of records at the flush.
    fn flush(&mut self, views: impl IntoIterator<Item = u64>) {
        // With records of two views, every other view is skipped, and the disk makes a turn before the next
        // one.
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

    /// Writes as many random long records as the file has.
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

    /// Writes the first long record as often as the file has records.
    fn write_first_again(&mut self) {
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
    /// The time of the last write in ms, before gaps are scaled.
    last_ms: f64,
    /// The factor for gaps.
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
    /// The mean gap of the model in its first 100000 requests, in ms.
    const MEAN_MS: f64 = 9.4;
    /// The volume begins at a multiple of this many clusters.
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
