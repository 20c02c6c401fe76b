//! The flash in a file: opened again it is the same, cut off anywhere it is what a loss of power leaves, and it is opened as
//! the device that it is.

#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

mod kit;

use std::fs::OpenOptions;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use destage::flash::ftl::FTLS;
use destage_base::Random;
use destage_device::RequestKind;
use destage_device::backed::Fault;
use destage_flash::medium::Store;
use destage_serve::configuration;
use destage_serve::device::Pace;
use destage_serve::media::{Place, open};
use destage_serve::protocol::{ErrorCode, wire};
use destage_sim::observer::Silent;
use destage_sim::run::live::{Ask, Live, Media};
use destage_sim::settings::{Config, Settings};

use kit::{Asks, FUA, Rig};

fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    settings
}

/// A file in RAM that remembers what was written to it.
#[derive(Default)]
struct Tape {
    bytes: Mutex<Vec<u8>>,
    written: Mutex<Vec<(u64, Vec<u8>)>>,
    fault: Mutex<Option<Fault>>,
    /// How many writes came before each sync.
    syncs: Mutex<Vec<usize>>,
    marked: AtomicU64,
    synced: AtomicU64,
    /// It only says that it has synced.
    lies: bool,
}

impl Tape {
    fn of(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            bytes: Mutex::new(bytes),
            ..Self::default()
        })
    }

    fn writes(&self) -> usize {
        self.written.lock().unwrap().len()
    }
}

fn put(bytes: &mut [u8], offset: u64, part: &[u8]) {
    bytes[offset as usize..offset as usize + part.len()].copy_from_slice(part);
}

impl Store for Tape {
    fn read(&self, offset: u64, out: &mut [u8]) {
        let bytes = self.bytes.lock().unwrap();
        out.copy_from_slice(&bytes[offset as usize..offset as usize + out.len()]);
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        if self.fault.lock().unwrap().is_none() {
            put(&mut self.bytes.lock().unwrap(), offset, bytes);
            self.written.lock().unwrap().push((offset, bytes.to_vec()));
        }
    }

    fn sync(&self) {
        if !self.lies {
            self.syncs.lock().unwrap().push(self.writes());
        }
        let marked = self.marked.load(Ordering::Relaxed);
        self.synced.store(marked, Ordering::Relaxed);
    }

    fn mark(&self, program: u64) {
        self.marked.store(program, Ordering::Relaxed);
    }

    fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    fn written(&self, range: Range<u64>) -> Option<Range<u64>> {
        let bytes = self.bytes.lock().unwrap();
        let mut inside = bytes[range.start as usize..range.end as usize].iter();
        let first = inside.position(|byte| *byte != 0)?;
        Some(range.start + first as u64..range.end)
    }

    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap()
    }
}

fn live(config: &Config, tape: &Arc<Tape>) -> Live<'static> {
    let media = Media::Image(tape.clone(), 0);
    Live::on(config, media, Box::new(Silent)).unwrap()
}

/// One request, whose sectors hold `value`.
fn ask(
    live: &mut Live<'_>,
    kind: RequestKind,
    range: Range<u64>,
    fua: bool,
    value: u64,
) -> Result<(), String> {
    let data = match kind {
        RequestKind::Write => value
            .to_le_bytes()
            .repeat(64 * (range.end - range.start) as usize),
        _ => Vec::new(),
    };
    let ask = Ask {
        kind,
        sector: range.start,
        sectors: (range.end - range.start) as u32,
        fua,
        data: &data,
        tag: 0,
    };
    let done = live.submit(live.now(), &ask);
    let done = done.and_then(|()| live.advance_to_completion());
    done.map_err(|broken| broken.to_string())?;
    let completion = live.completed().unwrap();
    assert_eq!(completion.fault, None);
    Ok(())
}

fn sectors(live: &Live<'_>) -> Vec<u64> {
    let mut bytes = Vec::new();
    live.read(0, live.sectors() as u32, &mut bytes).unwrap();
    bytes
        .chunks(512)
        .map(|sector| {
            let value = u64::from_le_bytes(sector[..8].try_into().unwrap());
            assert!(
                sector == value.to_le_bytes().repeat(64),
                "a sector of two versions"
            );
            value
        })
        .collect()
}

/// What was accepted and promised, by the number of writes that the tape had seen.
#[derive(Default)]
struct Promises {
    /// By sector: value, and the writes before its request was accepted.
    accepted: Vec<Vec<(u64, usize)>>,
    /// Writes before an answer, and of each sector how many values are older than the one that is promised then.
    promised: Vec<(usize, Vec<usize>)>,
}

impl Promises {
    /// Whether `found` may be there when only the first `writes` writes were carried out.
    fn check(&self, found: &[u64], writes: usize) -> Result<(), String> {
        let promised = self
            .promised
            .iter()
            .rev()
            .find(|(after, _)| *after <= writes);
        for (sector, value) in found.iter().enumerate() {
            let least = promised.map_or(0, |(_, least)| least[sector]);
            let allowed = self.accepted[sector].iter().skip(least);
            let mut allowed = allowed.filter(|(_, before)| *before <= writes);
            if !allowed.any(|(allowed, _)| allowed == value) {
                return Err(format!(
                    "sector {sector} holds {value} after {writes} writes"
                ));
            }
        }
        Ok(())
    }
}

/// A device that was written and flushed.
struct Used {
    config: Config,
    tape: Arc<Tape>,
    promises: Promises,
    sectors: u64,
}

impl Used {
    /// Its bytes before it was used.
    fn blank(&self) -> Vec<u8> {
        vec![0; self.config.image_layout(0).unwrap().bytes as usize]
    }

    /// `plant`: flushes count as answered before they are. `lies`: what the device wants to last, does not.
    fn new(pairs: &[&str], count: u64, plant: bool, lies: bool) -> Result<Self, String> {
        let mut all = vec![
            "device.capacity_bytes=256KiB",
            "flash.page_bytes=1024",
            "flash.dies=2",
            "flash.planes_per_die=1",
            "flash.pages_per_block=4",
            "flash.spare_bytes_per_sector=16",
            "buffer.capacity_bytes=8KiB",
        ];
        all.extend(pairs);
        let (config, _) = configuration(&settings(&all)).unwrap();
        let size = config.image_layout(0).unwrap().bytes as usize;
        let tape = Arc::new(Tape {
            bytes: Mutex::new(vec![0; size]),
            lies,
            ..Tape::default()
        });
        let mut device = live(&config, &tape);
        let sectors_of = device.sectors();
        let mut promises = Promises {
            accepted: vec![vec![(0, 0)]; sectors_of as usize],
            promised: Vec::new(),
        };
        let lasts = || {
            // As a server does before it answers.
            tape.syncs.lock().unwrap().push(tape.writes());
            let marked = tape.marked.load(Ordering::Relaxed);
            tape.synced.store(marked, Ordering::Relaxed);
            tape.writes()
        };
        let mut random = Random::new(7);
        for value in 1..=count {
            let length = 1 + random.below(6);
            let first = random.below(sectors_of - length);
            let range = first..first + length;
            if random.below(6) == 0 {
                let newest = promises.accepted.iter().map(|all| all.len() - 1);
                let least: Vec<usize> = newest.collect();
                let before = tape.writes();
                ask(&mut device, RequestKind::Flush, 0..0, false, 0)?;
                let after = lasts();
                let promised = if plant { before } else { after };
                promises.promised.push((promised, least));
                continue;
            }
            let kind = match random.below(5) {
                0 => RequestKind::WriteZeroes,
                _ => RequestKind::Write,
            };
            let fua = random.below(10) == 0;
            let now = tape.writes();
            for sector in range.clone() {
                let value = if kind == RequestKind::Write { value } else { 0 };
                promises.accepted[sector as usize].push((value, now));
            }
            ask(&mut device, kind, range.clone(), fua, value)?;
            if fua {
                let last = promises.promised.last();
                let mut least =
                    last.map_or(vec![0; sectors_of as usize], |(_, least)| least.clone());
                for sector in range {
                    least[sector as usize] = promises.accepted[sector as usize].len() - 1;
                }
                promises.promised.push((lasts(), least));
            }
        }
        // Nothing is lost that the device knows itself.
        let newest = promises.accepted.iter().map(|all| all[all.len() - 1].0);
        assert!(
            sectors(&device) == newest.collect::<Vec<u64>>(),
            "{pairs:?}"
        );
        drop(device);
        Ok(Self {
            config,
            tape,
            promises,
            sectors: sectors_of,
        })
    }

    /// Opens `bytes`, what is left after `writes` writes, and holds them against what was promised; then it goes on if it `lives`,
    /// and is opened once more.
    fn open(
        &self,
        bytes: Vec<u8>,
        writes: usize,
        lives: bool,
        random: &mut Random,
    ) -> Result<(), String> {
        let tape = Tape::of(bytes);
        let mut device = live(&self.config, &tape);
        let mut found = sectors(&device);
        self.promises.check(&found, writes)?;
        if !lives {
            return Ok(());
        }
        for round in 0..40 {
            let (at, value) = (random.below(self.sectors - 4), 1_000_000 + round);
            ask(&mut device, RequestKind::Write, at..at + 4, false, value)
                .map_err(|why| format!("{why} after {writes} writes"))?;
            found[at as usize..at as usize + 4].fill(value);
        }
        ask(&mut device, RequestKind::Flush, 0..0, false, 0)?;
        drop(device);
        match sectors(&live(&self.config, &tape)) == found {
            true => Ok(()),
            false => Err(format!("it is another after {writes} writes")),
        }
    }
}

/// Cut off after each of the writes to its file, and in the midst of some.
fn cut_off_anywhere(pairs: &[&str], plant: bool) -> Result<(), String> {
    let used = Used::new(pairs, 250, plant, false)?;
    let written = used.tape.written.lock().unwrap().clone();
    let mut bytes = used.blank();
    let mut random = Random::new(8);
    for (number, (offset, part)) in written.iter().enumerate() {
        used.open(bytes.clone(), number, number % 16 == 0, &mut random)?;
        if number % 3 == 0 {
            let mut bytes = bytes.clone();
            let length = random.below(part.len() as u64) as usize;
            put(&mut bytes, *offset, &part[..length]);
            used.open(bytes, number, false, &mut random)?;
        }
        put(&mut bytes, *offset, part);
    }
    Ok(())
}

/// The machine crashes at some moments: of the writes behind the last sync any may be missing, or be there in part.
fn crash_anywhere(pairs: &[&str], crashes: u64, lies: bool) -> Result<(), String> {
    let used = Used::new(pairs, 600, false, lies)?;
    let written = used.tape.written.lock().unwrap().clone();
    let syncs = used.tape.syncs.lock().unwrap().clone();
    let mut random = Random::new(9);
    let mut moments: Vec<usize> = (0..crashes)
        .map(|_| random.below(written.len() as u64 + 1) as usize)
        .collect();
    moments.sort_unstable();
    let (mut lasting, mut bytes) = (0, used.blank());
    for (number, moment) in moments.into_iter().enumerate() {
        let last = syncs.iter().copied().filter(|sync| *sync <= moment);
        for (offset, part) in &written[lasting..last.clone().max().unwrap_or(0).max(lasting)] {
            put(&mut bytes, *offset, part);
        }
        lasting = last.max().unwrap_or(0).max(lasting);
        let mut bytes = bytes.clone();
        let percent = [10, 50, 90][random.below(3) as usize];
        for (offset, part) in &written[lasting..moment] {
            if random.below(100) < percent {
                let in_part = random.below(10) == 0;
                let most = part.len() as u64 + 1;
                let length = if in_part {
                    random.below(most)
                } else {
                    most - 1
                };
                put(&mut bytes, *offset, &part[..length as usize]);
            }
        }
        used.open(bytes, moment, number % 8 == 0, &mut random)?;
    }
    Ok(())
}

#[test]
fn a_crash_of_the_machine_keeps_what_was_promised() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let layer = format!("ftl.kind={}", row.name);
        for scheme in ["buffer.kind=lru", "buffer.kind=bplru"] {
            if let Err(why) = crash_anywhere(&[&layer, scheme], 300, false) {
                panic!("{layer} {scheme}: {why}");
            }
        }
    }
}

#[test]
fn erases_that_nothing_lasts_before_are_found() {
    let layers = ["page", "fast"].map(|layer| format!("ftl.kind={layer}"));
    for layer in layers {
        let found = crash_anywhere(&[&layer, "buffer.kind=lru"], 1_000, true);
        assert!(found.is_err(), "{layer}");
    }
}

#[test]
fn cut_off_after_any_write_it_is_what_a_loss_of_power_leaves() {
    for row in FTLS.iter().filter(|row| row.has_flash) {
        let layer = format!("ftl.kind={}", row.name);
        for scheme in ["buffer.kind=lru", "buffer.kind=bplru"] {
            if let Err(why) = cut_off_anywhere(&[&layer, scheme], false) {
                panic!("{layer} {scheme}: {why}");
            }
        }
    }
}

#[test]
fn a_flush_that_is_answered_before_it_is_written_is_found() {
    assert!(cut_off_anywhere(&["buffer.kind=lru"], true).is_err());
}

#[test]
fn a_file_that_takes_no_more_ends_the_device_and_keeps_what_was_promised() {
    let (config, _) = configuration(&settings(&["device.capacity_bytes=1MiB"])).unwrap();
    let size = config.image_layout(0).unwrap().bytes as usize;
    let tape = Tape::of(vec![0; size]);
    let mut rig = Rig::with(&[]);
    rig.pairs = vec!["device.capacity_bytes=1MiB"];
    rig.pace = Pace::Model;
    let of_server = tape.clone();
    let running = rig.start_over(move || (Media::Image(of_server, 0), None));
    let mut client = running.client();
    client.write(0, &[7; 4096]);
    client.flush();
    client.write(4096, &[8; 4096]);
    *tape.fault.lock().unwrap() = Some(Fault::Full);
    let full = ErrorCode::NoSpace as u32;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    *tape.fault.lock().unwrap() = None;
    assert_eq!(client.error((wire::CMD_FLUSH, 0), (0, 0), &[]), full);
    assert!(running.stop().broken.is_some());
    let device = live(&config, &tape);
    let mut bytes = Vec::new();
    device.read(0, 8, &mut bytes).unwrap();
    assert!(bytes == [7; 4096]);
}

fn with_bytes(path: &Path, offset: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

#[test]
fn opened_again_it_holds_what_was_written_and_how_worn_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let rig = Rig::with(&["buffer.kind=fab", "ftl.kind=fast"]);
    let mut random = Random::new(3);
    let mut model = vec![0; kit::BYTES as usize];
    let mut erases = 0.0;
    for round in 0..6u8 {
        // What is not said is as it was.
        let rig = if round % 2 == 0 {
            &rig
        } else {
            &Rig {
                pairs: vec!["buffer.capacity_bytes=32KiB"],
                ..Rig::default()
            }
        };
        let running = rig.start_at(Place::Image(&path));
        let mut client = running.client();
        assert!(client.read(0, kit::BYTES as u32) == model, "round {round}");
        for _ in 0..300 {
            let at = 512 * random.below(kit::BYTES / 512 - 16);
            client.done((wire::CMD_WRITE, 0), (at, 4608), &[round + 1; 4608]);
            model[at as usize..at as usize + 4608].fill(round + 1);
        }
        client.done((wire::CMD_WRITE, FUA), (0, 512), &[round; 512]);
        model[..512].fill(round);
        let ended = running.stop();
        assert!(ended.unsaved.is_none() && ended.broken.is_none());
        let mean = match ended.metrics.get("wear.erase_mean") {
            Some(destage_sim::metrics::Number::Real(mean)) => mean,
            other => panic!("{other:?}"),
        };
        assert!(mean > erases, "round {round}: {mean} after {erases}");
        erases = mean;
    }
}

#[test]
fn another_device_and_what_is_no_image_are_refused_by_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let base = [
        "device.capacity_bytes=1MiB",
        "flash.dies=2",
        "flash.pages_per_block=8",
    ];
    let with = |pairs: &[&str]| settings(&[&base[..], pairs].concat());
    #[track_caller]
    fn refused(settings: &Settings, path: &Path) -> String {
        let opened = open(settings, Place::Image(path), false);
        let error = opened.err().expect("it is refused").to_string();
        assert_eq!(error.lines().count(), 1);
        error
    }
    let text = refused(&with(&["sim.precondition=sequential_fill"]), &path);
    assert!(text.contains("expected none"), "{text}");
    assert!(!path.exists());
    drop(open(&with(&[]), Place::Image(&path), false).unwrap());
    let first = open(&with(&[]), Place::Image(&path), false).unwrap();
    assert!(refused(&with(&[]), &path).contains("somebody else uses it"));
    drop(first);
    for (pair, expected) in [
        (
            "flash.dies=4",
            "flash.dies: the image was made with 2, and 4 is asked for",
        ),
        (
            "flash.page_bytes=8192",
            "flash.page_bytes: the image was made with 4096, and 8192",
        ),
        (
            "ftl.kind=bast",
            "ftl.kind: the image was made with page, and bast",
        ),
        (
            "ftl.reserve_percent=30",
            "ftl.reserve_percent: the image was made with 15, and 30",
        ),
        (
            "device.capacity_bytes=64MiB",
            "flash.blocks_per_plane: the image was made with",
        ),
    ] {
        let text = refused(&with(&[pair]), &path);
        assert!(text.contains(expected), "{text}");
    }
    assert!(open(&settings(&[]), Place::Image(&path), false).is_ok());

    let length = std::fs::metadata(&path).unwrap().len();
    let copy = |name: &str| {
        let copy = folder.path().join(name);
        std::fs::copy(&path, &copy).unwrap();
        copy
    };
    let short = copy("short");
    OpenOptions::new()
        .write(true)
        .open(&short)
        .unwrap()
        .set_len(length - 4096)
        .unwrap();
    let text = refused(&with(&[]), &short);
    assert!(
        text.contains(&format!("has {} bytes", length - 4096)),
        "{text}"
    );
    let stub = copy("stub");
    OpenOptions::new()
        .write(true)
        .open(&stub)
        .unwrap()
        .set_len(100)
        .unwrap();
    assert!(refused(&with(&[]), &stub).contains("has 100 bytes"));
    let spoilt = copy("spoilt");
    with_bytes(&spoilt, 40, b"9");
    assert!(refused(&with(&[]), &spoilt).contains("the header is damaged"));
    let newer = copy("newer");
    with_bytes(&newer, 14, b"2");
    let text = refused(&with(&[]), &newer);
    assert!(text.contains("is an image of version \"2\""), "{text}");
    let other = folder.path().join("other");
    std::fs::write(&other, vec![b'x'; 8192]).unwrap();
    assert!(refused(&with(&[]), &other).contains("is no image"));
}

#[test]
fn a_page_that_is_not_what_was_programmed_is_an_error_and_not_other_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    let rig = Rig::with(&["buffer.kind=nocache"]);
    let running = rig.start_at(Place::Image(&path));
    let mut client = running.client();
    client.write(0, &[b'q'; 4096]);
    client.write(4096, &[b'r'; 4096]);
    running.stop();
    let bytes = std::fs::read(&path).unwrap();
    let at = bytes
        .windows(4096)
        .position(|window| window == [b'q'; 4096]);
    with_bytes(&path, at.unwrap() as u64 + 100, b"z");
    let running = rig.start_at(Place::Image(&path));
    let mut client = running.client();
    let io = ErrorCode::Io as u32;
    assert_eq!(client.error((wire::CMD_READ, 0), (0, 512), &[]), io);
    assert_eq!(client.read(4096, 4096), [b'r'; 4096]);
    client.write(0, &[b's'; 4096]);
    assert_eq!(client.read(0, 4096), [b's'; 4096]);
    running.stop();
}

#[test]
fn what_a_cut_takes_back_is_taken_back_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    // With two spare blocks in a die page mapping may find no room after a cut.
    let roomy = "ftl.reserve_percent=40";
    for (layer, more) in [
        ("ftl.kind=page", roomy),
        ("ftl.kind=fast", "device.vwc=on"),
        ("ftl.kind=bast", "device.vwc=on"),
    ] {
        let path = folder.path().join(layer);
        let rig = Rig {
            pace: Pace::Model,
            ..Rig::with(&["buffer.kind=lru", layer, more])
        };
        let mut random = Random::new(9);
        for round in 0..12u8 {
            let running = rig.start_at(Place::Image(&path));
            let mut client = running.client();
            let mut operator = destage_serve::control::Operator::connect(&running.control).unwrap();
            for cookie in 0..90 {
                let at = 512 * random.below(kit::BYTES / 512 - 16);
                let data = vec![round + 1; 8192];
                client
                    .send((wire::CMD_WRITE, 0), cookie, (at, 8192), &data)
                    .unwrap();
            }
            for _ in 0..20 + 5 * round {
                assert_eq!(client.receive(|_| 0).unwrap().error, 0);
            }
            operator.ask("cut").unwrap();
            let restored = operator.ask("restore").unwrap();
            assert_eq!(restored["bad_sectors"], 0);
            let read = running
                .client()
                .told((wire::CMD_READ, 0), (0, kit::BYTES as u32), &[]);
            let ended = running.stop();
            assert!(read.error == 0, "{layer} {round}: {:?}", ended.broken);
            let found = read.data;
            let running = rig.start_at(Place::Image(&path));
            assert!(
                running.client().read(0, kit::BYTES as u32) == found,
                "{layer} {round}"
            );
            running.stop();
        }
    }
}
