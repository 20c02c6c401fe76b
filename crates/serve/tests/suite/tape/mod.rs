//! A file in RAM that records its writes, and a device whose flash is in this file.
#![allow(dead_code, reason = "every test program uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a test says where it failed")]

use std::ops::Range;
use std::sync::{Arc, Mutex};

use destage_device::RequestKind;
use destage_device::backed::Fault;
use destage_nand::medium::Store;
use destage_nand::medium::image::{Layout, Mark, Marks};
use destage_sim::observer::Silent;
use destage_sim::run::live::{Ask, Live, Media};
use destage_sim::settings::{Config, Settings};

pub fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    settings
}

/// A file in RAM that records what was written to it.
#[derive(Default)]
pub struct Tape {
    pub bytes: Mutex<Vec<u8>>,
    pub written: Mutex<Vec<(u64, Vec<u8>)>>,
    pub fault: Mutex<Option<Fault>>,
    /// For each sync, the number of writes before it.
    pub syncs: Mutex<Vec<usize>>,
    pub marked: Mutex<Mark>,
    pub synced: Mutex<u64>,
    /// The marks, which record which programs are durable; `None` if the mark in the bytes is damaged.
    pub marks: Mutex<Option<Marks>>,
    /// Whether the syncs that the device itself requests do nothing.
    pub lies: bool,
}

/// The bytes of a new store.
pub fn blank(config: &Config) -> Vec<u8> {
    let layout = config.image_layout(0).unwrap();
    let mut bytes = vec![0; layout.bytes as usize];
    let (at, mark) = Marks::new(&layout).head();
    put(&mut bytes, at, &mark);
    bytes
}

impl Tape {
    pub fn of(config: &Config, bytes: Vec<u8>) -> Self {
        let layout: Layout = config.image_layout(0).unwrap();
        let read = |at: u64, out: &mut [u8]| {
            out.copy_from_slice(&bytes[at as usize..at as usize + out.len()]);
        };
        let marks = Marks::find(&layout, read);
        Self {
            marks: Mutex::new(marks),
            marked: Mutex::new(marks.map_or(Mark::default(), |marks| marks.latest())),
            bytes: Mutex::new(bytes),
            ..Self::default()
        }
    }

    /// Syncs the file, as a server does before it answers a flush.
    pub fn make_last(&self) {
        self.syncs.lock().unwrap().push(self.writes());
        let marked = *self.marked.lock().unwrap();
        *self.synced.lock().unwrap() = marked.program;
        let mut marks = self.marks.lock().unwrap();
        if let Some((at, mark)) = marks.as_mut().and_then(|marks| marks.next(marked)) {
            self.write(at, &mark);
        }
    }

    pub fn writes(&self) -> usize {
        self.written.lock().unwrap().len()
    }
}

pub fn put(bytes: &mut [u8], offset: u64, part: &[u8]) {
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
            self.make_last();
        }
    }

    fn mark(&self, mark: Mark) {
        *self.marked.lock().unwrap() = mark;
    }

    fn synced(&self) -> u64 {
        *self.synced.lock().unwrap()
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

pub fn live(config: &Config, tape: &Arc<Tape>) -> Live<'static> {
    opened(config, tape).unwrap()
}

/// The device in `tape`, or the reason why it is refused.
pub fn opened(config: &Config, tape: &Arc<Tape>) -> Result<Live<'static>, String> {
    let media = Media::Image(tape.clone(), 0);
    Live::on(config, media, Box::new(Silent)).map_err(|error| error.to_string())
}

/// Carries out one request. A write fills its sectors with `value`.
pub fn ask(
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
    match completion.fault {
        None => Ok(()),
        Some(fault) => Err(format!("{fault:?}")),
    }
}

/// The value that fills each sector.
pub fn sectors(live: &Live<'_>) -> Result<Vec<u64>, String> {
    let mut bytes = Vec::new();
    let read = live.read(0, live.sectors() as u32, &mut bytes);
    read.map_err(|fault| format!("it cannot be read: {fault:?}"))?;
    let values = bytes
        .chunks(512)
        .map(|sector| {
            let value = u64::from_le_bytes(sector[..8].try_into().unwrap());
            assert!(
                sector == value.to_le_bytes().repeat(64),
                "a sector of two versions"
            );
            value
        })
        .collect();
    Ok(values)
}
