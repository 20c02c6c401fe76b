//! The flash of a device in a file that lasts.
//!
//! The first bytes describe the device in words: parameter by parameter, then a sum. They are followed by the layout of
//! `destage_nand::medium::image`. The file is sparse: pages that were never programmed take no room. It is opened again only as the same device,
//! since another device would read other contents out of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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

/// Bytes of the header.
pub(super) const BASE: u64 = 4096;
const MAGIC: &str = "destage image";
const VERSION: &str = "2";
/// The size that the device was made by, which its blocks decide.
const CAPACITY: &str = "device.capacity_bytes";
const BLOCKS: &str = "flash.blocks_per_plane";

/// Parameters that determine the layout; so do all parameters of the layer.
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

/// An open image. It is locked for as long.
#[derive(Debug)]
pub struct Image {
    file: File,
    state: Arc<State>,
}

/// The state that the threads that sync the file share.
#[derive(Debug)]
struct State {
    /// The file's record of durable data. One sync at a time: a mark is written when the one before it is durable.
    marks: Mutex<Marks>,
    /// The failed write or sync: nothing is written any more.
    fault: OnceLock<Fault>,
    /// See [`Store::mark`].
    marked: Mutex<Mark>,
    /// See [`Store::synced`].
    synced: AtomicU64,
}

impl State {
    fn sync(&self, file: &File) -> io::Result<()> {
        let mut marks = taken(&self.marks);
        let marked = *taken(&self.marked);
        if let Err(error) = file.sync_data() {
            // The system may have dropped data that it could not write.
            let _ = self.fault.set(fault_of(&error));
            return Err(error);
        }
        if self.fault.get().is_some() {
            // Something before has not been written.
            return Ok(());
        }
        self.synced.fetch_max(marked.program, Ordering::AcqRel);
        if let Some((at, mark)) = marks.next(marked)
            && let Err(error) = file.write_all_at(&mark, at)
        {
            // Later writes would go unnoticed if they were damaged.
            let _ = self.fault.set(fault_of(&error));
        }
        Ok(())
    }
}

/// The data that `mutex` guards: each change of them is complete.
fn taken<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Image {
    /// The function that makes written bytes durable.
    ///
    /// # Errors
    /// If the system has no room for it.
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
            // It is noted.
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
            // Holes cannot be told from data here.
            Err(_) => return Some(range),
        };
        let end = rustix::fs::seek(&self.file, SeekFrom::Hole(start)).unwrap_or(range.end);
        (start < range.end).then(|| start..end.min(range.end))
    }

    fn fault(&self) -> Option<Fault> {
        self.state.fault.get().copied()
    }
}

/// The image at `path`, or a new one if there is no file, and its device under `settings`: parameters that are not set have the values with which the
/// image was made.
///
/// # Errors
/// If the file cannot be used, is no image, or is that of another device.
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
    // The number of blocks follows from the others, if the device was asked for by its size.
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
            synced: AtomicU64::new(0),
        }),
    }
}

/// Bytes that no image begins with.
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

/// The parameters that determine the layout, with their values.
fn facts(config: &Config) -> BTreeMap<String, String> {
    let all = config.parameters().into_iter();
    let decisive = all.filter(|(key, _)| key.starts_with("ftl.") || DECISIVE.contains(&&**key));
    decisive
        .map(|(key, value)| (key, destage::csv::setting(&value)))
        .collect()
}

/// `settings`, where parameters that are not set get the values with which the image was made.
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

/// The parameters in a header; or the error in it.
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

/// A new image of `bytes` bytes, with `parts` at their offsets, which is there as a whole or not at all. It is for its owner alone.
fn make(path: &Path, parts: &[(u64, &[u8])], bytes: u64) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(name);
    // A file that exists already is not this device's own, and stays.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let made = (|| {
        lock(&file)?;
        file.set_len(bytes)?;
        for (offset, part) in parts {
            file.write_all_at(part, *offset)?;
        }
        file.sync_all()?;
        // A file that another program has made meanwhile is not replaced.
        std::fs::hard_link(&beside, path)
    })();
    let _ = std::fs::remove_file(&beside);
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    if made.is_ok()
        && let Ok(folder) = File::open(folder.unwrap_or(Path::new(".")))
    {
        folder.sync_all()?;
    }
    made.map(|()| file)
}
