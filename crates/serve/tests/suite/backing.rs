//! Tests of a device with a file or disk behind its buffer: which writes reach the disk, when, and how the device
//! reports errors of the disk.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use crate::kit;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use destage_base::Random;
use destage_device::backed::{Backing, Fault};
use destage_serve::device::Pace;
use destage_serve::media::{Disk, Place, open};
use destage_serve::protocol::{ErrorCode, wire};
use destage_sim::run::live::Media;

use kit::{Asks, BYTES, FUA, Rig};

/// A disk in RAM whose errors the test controls.
#[derive(Clone, Default)]
struct Told {
    bytes: Arc<Mutex<Vec<u8>>>,
    writes: Arc<Mutex<Vec<(u64, u64)>>>,
    is_full: Arc<AtomicBool>,
    /// Whether a full disk has room again after a discard.
    frees: Arc<AtomicBool>,
    cannot_read: Arc<AtomicBool>,
    syncs: Arc<AtomicU32>,
    cannot_sync: Arc<AtomicBool>,
    /// While a test holds this lock, no sync ends.
    gate: Arc<Mutex<()>>,
}

impl Told {
    fn new() -> Self {
        let told = Self::default();
        told.bytes.lock().unwrap().resize(BYTES as usize, 0);
        told
    }

    fn start(&self, pairs: &[&str], pace: Pace) -> kit::Running {
        let disk = self.clone();
        let rig = Rig {
            pace,
            ..Rig::with(pairs)
        };
        rig.start_over(move || {
            let of_sync = disk.clone();
            let sync = move || {
                drop(of_sync.gate.lock().unwrap());
                of_sync.syncs.fetch_add(1, Ordering::SeqCst);
                match of_sync.cannot_sync.load(Ordering::SeqCst) {
                    true => Err(std::io::Error::other("no")),
                    false => Ok(()),
                }
            };
            (Media::Disk(Box::new(disk), BYTES), Some(Box::new(sync)))
        })
    }

    fn at(&self, offset: usize) -> u8 {
        self.bytes.lock().unwrap()[offset]
    }
}

impl Backing for Told {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Fault> {
        if self.cannot_read.load(Ordering::SeqCst) {
            return Err(Fault::Io);
        }
        let bytes = self.bytes.lock().unwrap();
        out.copy_from_slice(&bytes[offset as usize..offset as usize + out.len()]);
        Ok(())
    }

    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<(), Fault> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(Fault::Full);
        }
        let all = parts.concat();
        self.writes.lock().unwrap().push((offset, all.len() as u64));
        self.bytes.lock().unwrap()[offset as usize..offset as usize + all.len()]
            .copy_from_slice(&all);
        Ok(())
    }

    fn discard(&self, offset: u64, bytes: u64) -> Result<(), Fault> {
        if self.frees.load(Ordering::SeqCst) {
            self.is_full.store(false, Ordering::SeqCst);
        }
        self.write(offset, &[&vec![0; bytes as usize]])
    }

    fn hole(&self, offset: u64) -> (bool, u64) {
        let bytes = self.bytes.lock().unwrap();
        let behind = &bytes[offset as usize..];
        let end = behind.iter().position(|byte| *byte != 0);
        match end {
            Some(0) => (false, offset + 1),
            end => (true, end.map_or(BYTES, |end| offset + end as u64)),
        }
    }
}

/// Sends random commands to a device with each scheme. The answers must agree with an array to which the test applies
/// the same changes. At the end, the disk must agree with the array too.
#[test]
fn what_was_written_is_read_and_is_on_the_disk_at_the_end() {
    for row in destage_sim::settings::Settings::new().schemes() {
        if row.needs_future() {
            continue;
        }
        for more in [
            "device.trim=default",
            "device.trim=strict",
            "trace.align=rmw",
        ] {
            let scheme = format!("buffer.kind={}", row.name);
            let told = Told::new();
            let running = told.start(&[&scheme, more], Pace::None);
            let mut client = running.client();
            let mut random = Random::new(5);
            let mut model = vec![0; BYTES as usize];
            for round in 0..200 {
                let sectors = 1 + random.below(60);
                let first = random.below(BYTES / 512 - sectors);
                let (offset, length) = (first * 512, (sectors * 512) as u32);
                let range = offset as usize..offset as usize + length as usize;
                let fua = if random.below(8) == 0 { FUA } else { 0 };
                match random.below(8) {
                    0..4 => {
                        let data: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
                        client.done((wire::CMD_WRITE, fua), (offset, length), &data);
                        model[range].copy_from_slice(&data);
                    }
                    4 => {
                        client.done((wire::CMD_WRITE_ZEROES, fua), (offset, length), &[]);
                        model[range].fill(0);
                    }
                    5 => {
                        client.done((wire::CMD_TRIM, fua), (offset, length), &[]);
                        let start = range.start.next_multiple_of(4096);
                        let end = range.end / 4096 * 4096;
                        model[start.min(end)..end].fill(0);
                    }
                    _ => {
                        let found = client.read(offset, length);
                        assert!(found == model[range], "{scheme} {more} round {round}");
                    }
                }
                if fua != 0 && round % 3 == 0 {
                    client.flush();
                    assert!(*told.bytes.lock().unwrap() == model, "{scheme} {more}");
                }
            }
            assert!(running.stop().unsaved.is_none());
            assert!(*told.bytes.lock().unwrap() == model, "{scheme} {more}");
        }
    }
}

#[test]
fn a_cluster_that_leaves_is_one_write_of_its_erase_block() {
    let told = Told::new();
    told.bytes.lock().unwrap()[5 * 4096] = 9;
    let running = told.start(
        &["buffer.kind=bplru", "flash.summary_page=false"],
        Pace::None,
    );
    let mut client = running.client();
    // The client writes two of the eight pages of each block, until the buffer evicts blocks.
    for block in 0..12 {
        client.write(block * 32768, &[1; 4096]);
        client.write(block * 32768 + 3 * 4096, &[2; 4096]);
    }
    let writes = told.writes.lock().unwrap().clone();
    assert!(!writes.is_empty());
    for (offset, length) in writes {
        assert_eq!((offset % 32768, length), (0, 32768));
    }
    assert_eq!([0, 3 * 4096, 5 * 4096].map(|at| told.at(at)), [1, 2, 9]);
    running.stop();
}

#[test]
fn a_flush_is_answered_after_the_sync_and_others_before() {
    for pace in [Pace::None, Pace::Model] {
        let told = Told::new();
        let running = told.start(&[], pace);
        let (mut client, mut other) = (running.client(), running.client());
        client.write(0, &[7; 4096]);
        let gate = told.gate.lock().unwrap();
        client.send((wire::CMD_FLUSH, 0), 1, (0, 0), &[]).unwrap();
        client
            .set_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        assert!(client.receive(|_| 0).is_err(), "answered before the sync");
        assert_eq!(told.at(0), 7);
        other.write(8192, &[8; 4096]);
        assert_eq!(other.read(8192, 512), [8; 512]);
        drop(gate);
        client.set_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(client.receive(|_| 0).unwrap().error, 0);
        let syncs = told.syncs.load(Ordering::SeqCst);
        other.done((wire::CMD_WRITE, FUA), (4096, 512), &[3; 512]);
        assert_eq!(told.at(4096), 3);
        assert_eq!(told.syncs.load(Ordering::SeqCst), syncs + 1);
        running.stop();
    }
}

#[test]
fn with_the_cache_off_every_write_is_there_and_synced() {
    let told = Told::new();
    let running = told.start(&["device.vwc=off"], Pace::None);
    running.client().write(0, &[7; 512]);
    assert_eq!((told.at(0), told.syncs.load(Ordering::SeqCst)), (7, 1));
    running.stop();
}

#[test]
fn a_disk_that_is_full_is_told_and_nothing_is_lost_when_it_has_room_again() {
    let told = Told::new();
    let running = told.start(&[], Pace::None);
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    told.is_full.store(true, Ordering::SeqCst);
    let full = ErrorCode::NoSpace as u32;
    for _ in 0..3 {
        assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    }
    let (range, data) = ((4096, 4096), [8; 4096]);
    assert_eq!(client.error((wire::CMD_WRITE, 0), range, &data), full);
    assert_eq!(client.error((wire::CMD_TRIM, 0), range, &[]), full);
    assert_eq!(client.read(0, 4096), [7; 4096]);
    told.is_full.store(false, Ordering::SeqCst);
    client.write(4096, &data);
    client.flush();
    assert_eq!([0, 4096].map(|at| told.at(at)), [7, 8]);
    assert!(running.stop().unsaved.is_none());
}

#[test]
fn a_trim_may_make_the_room_that_the_disk_lacks() {
    let told = Told::new();
    let running = told.start(&[], Pace::None);
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    told.is_full.store(true, Ordering::SeqCst);
    let full = ErrorCode::NoSpace as u32;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    assert_eq!(
        client.error((wire::CMD_WRITE, 0), (4096, 512), &[8; 512]),
        full
    );
    told.frees.store(true, Ordering::SeqCst);
    client.done((wire::CMD_TRIM, 0), (8192, 4096), &[]);
    assert_eq!(told.at(0), 7);
    client.write(4096, &[8; 512]);
    client.flush();
    assert!(running.stop().unsaved.is_none());
}

#[test]
fn a_disk_that_fails_to_sync_is_not_believed_again() {
    let told = Told::new();
    let running = told.start(&[], Pace::None);
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    told.cannot_sync.store(true, Ordering::SeqCst);
    let io = ErrorCode::Io as u32;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), io);
    told.cannot_sync.store(false, Ordering::SeqCst);
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), io);
    let range = (0, 512);
    assert_eq!(client.error((wire::CMD_WRITE, FUA), range, &[1; 512]), io);
    assert_eq!(client.error((wire::CMD_WRITE, 0), range, &[1; 512]), io);
    assert_eq!(client.read(0, 512), [7; 512]);
    assert!(running.stop().unsaved.is_some());
}

#[test]
fn what_cannot_be_read_is_an_error_of_those_who_need_it() {
    let told = Told::new();
    told.bytes.lock().unwrap().fill(5);
    let running = told.start(&[], Pace::None);
    let mut client = running.client();
    told.cannot_read.store(true, Ordering::SeqCst);
    let io = ErrorCode::Io as u32;
    assert_eq!(client.error((wire::CMD_READ, 0), (0, 512), &[]), io);
    // The write covers only a part of its page. So the device has to read the rest of the page, and this read fails.
    assert_eq!(
        client.error((wire::CMD_WRITE, 0), (512, 512), &[1; 512]),
        io
    );
    client.write(4096, &[2; 4096]);
    assert_eq!(client.read(4096, 4096), [2; 4096]);
    told.cannot_read.store(false, Ordering::SeqCst);
    client.flush();
    assert_eq!(client.read(0, 4096), [5; 4096]);
    assert_eq!([0, 512, 4096].map(|at| told.at(at)), [5, 5, 2]);
    running.stop();
}

#[test]
fn a_file_is_made_extended_taken_as_it_is_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    let error = |path: &Path, capacity| Disk::open(path, capacity, false).unwrap_err().to_string();
    assert!(error(&path, None).contains("--capacity makes a file"));
    drop(Disk::open(&path, Some(1 << 20), false).unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);
    let disk = Disk::open(&path, Some(2 << 20), false).unwrap();
    assert_eq!(disk.bytes(), 2 << 20);
    assert!(error(&path, None).contains("the file is already in use"));
    drop(disk);
    let text = error(&path, Some(1 << 20));
    assert!(
        text.contains("has 2097152 bytes, but --capacity is 1048576"),
        "{text}"
    );
    assert!(error(folder.path(), None).contains("directory"));
    let odd = folder.path().join("odd");
    std::fs::write(&odd, [1; 5000]).unwrap();
    let disk = Disk::open(&odd, None, false).unwrap();
    assert_eq!(disk.bytes(), 4608);
    disk.write(4096, &[&[2; 4096]]).unwrap();
    let mut page = [7; 4096];
    disk.read(4096, &mut page).unwrap();
    assert_eq!((page[511], page[512]), (2, 0));
    disk.discard(0, 512).unwrap();
    drop(disk);
    let bytes = std::fs::read(&odd).unwrap();
    assert_eq!(
        (bytes.len(), bytes[4999], bytes[0], bytes[512]),
        (5000, 1, 0, 1)
    );
}

#[test]
fn a_file_behind_the_buffer_is_as_large_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    std::fs::write(&path, vec![3; 100 * 4096 + 512]).unwrap();
    let rig = Rig {
        pairs: vec!["buffer.kind=bplru", "buffer.capacity_bytes=64KiB"],
        ..Rig::default()
    };
    let running = rig.start_at(Place::Backing(&path));
    let mut client = running.client();
    assert_eq!(client.bytes, 100 * 4096 + 512);
    client.write(100 * 4096, &[4; 512]);
    assert_eq!(
        client.read(100 * 4096 - 512, 1024),
        [[3; 512], [4; 512]].concat()
    );
    running.stop();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(
        (bytes.len(), bytes[100 * 4096 - 1], bytes[100 * 4096]),
        (100 * 4096 + 512, 3, 4)
    );
    let mut settings = destage_sim::settings::Settings::new();
    for pair in [
        "dies=1",
        "planes_per_die=1",
        "blocks_per_plane=16",
        "pages_per_block=4",
    ] {
        settings.set_pair(&format!("flash.{pair}")).unwrap();
    }
    let opened = open(&settings, Place::Backing(&path), false).unwrap();
    let live = destage_sim::run::live::Live::on(
        &opened.config,
        opened.media,
        Box::new(destage_sim::observer::Silent),
    );
    let error = live.err().unwrap().to_string();
    assert!(error.contains("flash.blocks_per_plane"), "{error}");
}

/// The state of each page, as block status reports it.
fn states(client: &mut destage_serve::client::Client) -> Vec<u32> {
    let (mut states, mut at) = (Vec::new(), 0);
    while at < BYTES {
        let extents = client.status(0, (at, (BYTES - at) as u32));
        assert!(!extents.is_empty());
        for (bytes, state) in extents {
            assert_eq!(bytes % 4096, 0);
            states.extend((0..bytes / 4096).map(|_| state));
            at += u64::from(bytes);
        }
    }
    states
}

#[test]
fn block_status_is_that_of_the_file_with_what_the_buffer_holds() {
    const HOLE: u32 = 3;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    let disk = Disk::open(&path, Some(BYTES), false).unwrap();
    let knows_holes = disk.hole(0).0;
    drop(disk);
    for scheme in ["buffer.kind=lru", "buffer.kind=bplru", "buffer.kind=fab"] {
        std::fs::remove_file(&path).unwrap();
        let running = Rig::with(&[scheme]).start_at(Place::Backing(&path));
        let mut client = running.client();
        assert_eq!(
            states(&mut client),
            vec![if knows_holes { HOLE } else { 0 }; 256]
        );
        let mut random = Random::new(11);
        let mut model = vec![0; BYTES as usize];
        let mut trimmed = vec![true; 256];
        for round in 0..400_u32 {
            let (page, pages) = (random.below(248) as usize, 1 + random.below(8) as usize);
            let bytes = page * 4096..(page + pages) * 4096;
            let range = (bytes.start as u64, bytes.len() as u32);
            let value = match random.below(4) {
                0 => {
                    client.flush();
                    continue;
                }
                1 => {
                    client.done((wire::CMD_TRIM, 0), range, &[]);
                    trimmed[page..page + pages].fill(true);
                    0
                }
                2 => {
                    client.done((wire::CMD_WRITE_ZEROES, 0), range, &[]);
                    trimmed[page..page + pages].fill(false);
                    0
                }
                _ => {
                    client.write(range.0, &vec![round as u8 | 1; bytes.len()]);
                    trimmed[page..page + pages].fill(false);
                    round as u8 | 1
                }
            };
            model[bytes].fill(value);
            for (page, state) in states(&mut client).into_iter().enumerate() {
                let holds = model[page * 4096];
                assert!(
                    state == 0 || holds == 0,
                    "page {page} holds {holds}, and is {state}"
                );
                assert!(state != HOLE || trimmed[page], "page {page} was written");
                // BPLRU pads a block and writes the whole block, so a trimmed page in the block need not be a hole.
                if knows_holes && trimmed[page] && scheme != "buffer.kind=bplru" {
                    assert_eq!(state, HOLE, "page {page} was trimmed");
                }
            }
        }
        assert_eq!(client.read(0, BYTES as u32), model);
        running.stop();
    }
}
