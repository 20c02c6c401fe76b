//! An image: a file that stores the flash of a device. The contents survive the end of the process.
//!
//! The file begins with a header of text: the parameters of the device, one per line, then a checksum. The layout of
//! `destage_nand::medium::image` follows the header. The file is sparse: pages that were never programmed use no
//! space. An image can only be opened with the parameters of the device that made it, because a device with other
//! parameters would read other contents from the file.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use destage::files::make_private;
use destage_device::backed::Fault;
use destage_nand::medium::image::{Damage, Mark, Marks};
use destage_nand::medium::{Store, digest};
use destage_sim::error::SimError;
use destage_sim::settings::{Config, Origin, Settings};
use rustix::fs::SeekFrom;

use super::disk::lock;
use super::{MediaError, fault_of};
use crate::configuration;
use crate::device::Sync;

/// The number of bytes of the header.
pub(super) const BASE: u64 = 4096;
const MAGIC: &str = "destage image";
const VERSION: &str = "2";
/// The parameter with the size of a device. The size determines the number of blocks.
const CAPACITY: &str = "device.capacity_bytes";
const BLOCKS: &str = "flash.blocks_per_plane";

/// The parameters outside `ftl.*` that determine the layout. All parameters of the translation layer (`ftl.*`)
/// determine the layout too.
const DECISIVE: [&str; 8] = [
    "flash.dies",
    "flash.planes_per_die",
    BLOCKS,
    "flash.pages_per_block",
    "flash.page_bytes",
    "flash.summary_page",
    "flash.cell_mode",
    "flash.bits_per_cell",
];

/// An open image, whose file stays locked while this value exists.
#[derive(Debug)]
pub struct Image {
    file: File,
    state: Arc<State>,
}

/// The state that the store shares with the function that syncs the file.
#[derive(Debug)]
struct State {
    /// The marks in the file. A mark records which programs are durable. The lock allows only one sync at a time. So
    /// a mark is written only after the previous mark is durable.
    marks: Mutex<Marks>,
    /// The error of the first write or sync that failed. After this error, nothing more is written.
    fault: OnceLock<Fault>,
    /// Whether a sync has failed. Then the system may have dropped data. It reports this to one sync only, so every
    /// later sync counts as failed too.
    has_dropped: AtomicBool,
    /// See [`Store::mark`].
    marked: Mutex<Mark>,
    /// See [`Store::synced`].
    synced: AtomicU64,
}

impl State {
    fn sync(&self, file: &File) -> io::Result<()> {
        let mut marks = taken(&self.marks);
        if self.has_dropped.load(Ordering::Acquire) {
            return Err(io::Error::other("an earlier sync has failed"));
        }
        let marked = *taken(&self.marked);
        if let Err(error) = file.sync_data() {
            self.has_dropped.store(true, Ordering::Release);
            let _ = self.fault.set(fault_of(&error));
            return Err(error);
        }
        if self.fault.get().is_some() {
            // An earlier write has failed, so no new mark may be written. The data before that write are durable now.
            return Ok(());
        }
        self.synced.fetch_max(marked.program, Ordering::AcqRel);
        if let Some((at, mark)) = marks.next(marked)
            && let Err(error) = file.write_all_at(&mark, at)
        {
            // Without a newer mark, damage to later writes would not be detected.
            let _ = self.fault.set(fault_of(&error));
        }
        Ok(())
    }
}

/// Locks `mutex`. The data are consistent even if another thread has panicked while it held the lock, because every
/// change is made in one step.
fn taken<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Image {
    /// The function that makes written bytes durable.
    ///
    /// # Errors
    /// If the system cannot duplicate the handle of the file.
    pub fn sync(&self) -> io::Result<Sync> {
        let file = self.file.try_clone()?;
        let state = Arc::clone(&self.state);
        Ok(Box::new(move || state.sync(&file)))
    }
}

impl Store for Image {
    fn read(&self, offset: u64, out: &mut [u8]) {
        if self.file.read_exact_at(out, offset).is_err() {
            out.fill(0);
        }
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        if self.state.fault.get().is_none()
            && let Err(error) = self.file.write_all_at(bytes, offset)
        {
            let _ = self.state.fault.set(fault_of(&error));
        }
    }

    fn sync(&self) {
        if self.state.fault.get().is_none() {
            // The error is recorded in the state.
            let _ = self.state.sync(&self.file);
        }
    }

    fn mark(&self, mark: Mark) {
        *taken(&self.state.marked) = mark;
    }

    fn synced(&self) -> u64 {
        self.state.synced.load(Ordering::Acquire)
    }

    fn written(&self, range: Range<u64>) -> Option<Range<u64>> {
        if range.is_empty() {
            return None;
        }
        let start = match rustix::fs::seek(&self.file, SeekFrom::Data(range.start)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => return None,
            // This file system does not report holes, so the whole range counts as data.
            Err(_) => return Some(range),
        };
        let end = rustix::fs::seek(&self.file, SeekFrom::Hole(start)).unwrap_or(range.end);
        (start < range.end).then(|| start..end.min(range.end))
    }

    fn fault(&self) -> Option<Fault> {
        self.state.fault.get().copied()
    }
}

/// Opens the image at `path`, or makes a new one if the file does not exist. Returns the configuration of the device,
/// notes about the configuration, and the image. Parameters that `settings` do not set have the values with which the
/// image was made.
///
/// # Errors
/// If the file cannot be used, is not an image, or belongs to another device.
pub(super) fn open(
    settings: &Settings,
    path: &Path,
) -> Result<(Config, Vec<String>, Image), MediaError> {
    let failed = |cause| MediaError::File {
        path: path.to_owned(),
        cause,
        expected: "a file that can be read and written, or no file",
    };
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let (config, notes) = configuration(settings)?;
            check(&config)?;
            let layout = config.image_layout(BASE)?;
            let marks = Marks::new(&layout);
            let parts = [(0, &header(&config)[..]), (marks.head().0, &marks.head().1)];
            let file = make(path, &parts, layout.bytes).map_err(failed)?;
            return Ok((config, notes, image(file, marks)));
        }
        Err(cause) => return Err(failed(cause)),
    };
    let unfit = |why: String| MediaError::Unfit {
        path: path.to_owned(),
        why,
    };
    lock(&file).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut bytes = vec![0; BASE as usize];
    let read = file.read_exact_at(&mut bytes, 0);
    let kept = match read {
        Ok(()) => parse(&bytes).map_err(unfit)?,
        Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            return Err(unfit(format!(
                "has {length} bytes, but the header of an image has {BASE}; expected an image, or no file"
            )));
        }
        Err(cause) => return Err(failed(cause)),
    };
    let (config, notes) = configuration(&as_it_was(settings, &kept, path))?;
    check(&config)?;
    let asked = facts(&config);
    // If the size of the device was set, the number of blocks is computed from other parameters. So a difference in
    // the number of blocks is reported last.
    let rank = |key: &str| (key == BLOCKS, key != "ftl.kind");
    let mut in_order: Vec<(&String, &String)> = kept.iter().collect();
    in_order.sort_by_key(|(key, _)| rank(key));
    for (key, of_file) in in_order {
        let of_asked = asked.get(key).map_or("nothing", |text| text);
        if of_file != of_asked {
            return Err(unfit(format!(
                "{key}: the image was made with {of_file}, but the option says {of_asked}; expected {of_file}, or another file"
            )));
        }
    }
    if let Some((key, _)) = asked.iter().find(|(key, _)| !kept.contains_key(*key)) {
        return Err(unfit(format!(
            "{key}: the image was made without this parameter; expected an image of this version"
        )));
    }
    let layout = config.image_layout(BASE)?;
    let expected = layout.bytes;
    if length != expected {
        return Err(unfit(format!(
            "has {length} bytes, but the image of this device has {expected}; expected a complete file"
        )));
    }
    let read = |at, out: &mut [u8]| {
        if file.read_exact_at(out, at).is_err() {
            out.fill(0);
        }
    };
    let marks = Marks::find(&layout, read);
    let marks = marks.ok_or_else(|| unfit(SimError::Image(Damage::NoMark).to_string()))?;
    Ok((config, notes, image(file, marks)))
}

fn image(file: File, marks: Marks) -> Image {
    Image {
        file,
        state: Arc::new(State {
            marked: Mutex::new(marks.latest()),
            marks: Mutex::new(marks),
            fault: OnceLock::new(),
            has_dropped: AtomicBool::new(false),
            synced: AtomicU64::new(0),
        }),
    }
}

/// Refuses a precondition, because the device starts with the contents of the image.
fn check(config: &Config) -> Result<(), MediaError> {
    let precondition = &config.typed.sim.precondition;
    if precondition != "none" {
        let text = format!(
            "sim.precondition = {precondition}: an image keeps its own contents; expected none"
        );
        return Err(SimError::Config(text).into());
    }
    Ok(())
}

/// The parameters that determine the layout, with their values as text.
fn facts(config: &Config) -> BTreeMap<String, String> {
    let all = config.parameters().into_iter();
    let decisive = all.filter(|(key, _)| key.starts_with("ftl.") || DECISIVE.contains(&&**key));
    decisive
        .map(|(key, value)| (key, value.to_string()))
        .collect()
}

/// Copies `settings`, and gives parameters that are not set the values with which the image was made.
fn as_it_was(settings: &Settings, kept: &BTreeMap<String, String>, path: &Path) -> Settings {
    let mut all = settings.clone();
    let layer = settings.text("ftl.kind");
    let is_other_layer = layer.is_some_and(|layer| kept.get("ftl.kind") != Some(&layer));
    for (key, value) in kept {
        let is_open = settings.text(key).is_none()
            && !(is_other_layer && key.starts_with("ftl."))
            && !(key == BLOCKS && settings.text(CAPACITY).is_some());
        if is_open {
            all.set(key, value, Origin::Given(path.display().to_string()));
        }
    }
    all
}

fn header(config: &Config) -> Vec<u8> {
    let mut text = format!("{MAGIC} {VERSION}\n");
    for (key, value) in facts(config) {
        text += &format!("{key} = {value}\n");
    }
    let sum = digest(text.as_bytes());
    text += &format!("sum = {sum:016x}\n");
    let mut bytes = text.into_bytes();
    bytes.resize(BASE as usize, 0);
    bytes
}

/// Parses the parameters in a header. The error says what is wrong with the header.
fn parse(bytes: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or("");
    let first = text.lines().next().unwrap_or("");
    let Some(version) = first.strip_prefix(MAGIC) else {
        return Err("is not an image; expected an image, or no file".to_owned());
    };
    if version.trim() != VERSION {
        return Err(format!(
            "is an image of version {:?}; expected {VERSION}",
            version.trim()
        ));
    }
    let damaged = || "the header is damaged; expected an unchanged image".to_owned();
    let (words, sum) = text.rsplit_once("sum = ").ok_or_else(damaged)?;
    if sum.trim_end() != format!("{:016x}", digest(words.as_bytes())) {
        return Err(damaged());
    }
    let pairs = words.lines().skip(1).map(|line| line.split_once(" = "));
    let pairs = pairs.map(|pair| pair.map(|(key, value)| (key.to_owned(), value.to_owned())));
    pairs.collect::<Option<_>>().ok_or_else(damaged)
}

/// Makes a new image of `bytes` bytes, with `parts` at their offsets.
fn make(path: &Path, parts: &[(u64, &[u8])], bytes: u64) -> io::Result<File> {
    make_private(path, |file| {
        lock(file)?;
        file.set_len(bytes)?;
        for (offset, part) in parts {
            file.write_all_at(part, *offset)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new image whose file is `file`.
    fn image_in(file: File) -> Image {
        let mut settings = Settings::new();
        settings.set_pair("device.capacity_bytes=1MiB").unwrap();
        let (config, _) = configuration(&settings).unwrap();
        let layout = config.image_layout(BASE).unwrap();
        image(file, Marks::new(&layout))
    }

    #[test]
    fn after_a_sync_that_failed_every_sync_fails() {
        let good = tempfile::tempfile().unwrap();
        // The system cannot sync this file. The device itself asks for the sync, in the thread of the server.
        let failing = image_in(File::open("/dev/null").unwrap());
        Store::sync(&failing);
        assert_eq!(failing.fault(), Some(Fault::Io));
        assert!(failing.state.sync(&good).is_err());
        // A write that failed does not spoil the data that were written before it.
        let full = image_in(File::open("/dev/null").unwrap());
        full.write(0, &[1]);
        assert_eq!(full.fault(), Some(Fault::Io));
        assert!(full.state.sync(&good).is_ok());
    }
}
