//! A block device or a file that is measured, with one thread for each command in flight.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use destage::Error;
use destage::drive::{Action, Command, Done, Target};
use destage_base::Ticks;

use super::blank::{self, Pool};
use super::ends::{Clock, Ends};

/// The alignment in memory, in bytes, of buffers for transfers that bypass the system's page cache.
const ALIGN: usize = 4096;
/// The stack size of a thread in bytes.
const STACK: usize = 64 << 10;

/// An open block device or file.
pub struct Disk {
    name: String,
    identity: String,
    file: Arc<File>,
    bytes: u64,
    ends: Ends,
    pool: Pool,
    /// The channel to the thread of each tag.
    workers: Vec<Sender<(Command, Buffer)>>,
    buffers: Vec<Option<Buffer>>,
    returned: std::sync::mpsc::Receiver<(u32, Buffer)>,
    returns: Sender<(u32, Buffer)>,
}

/// A buffer that contains a range with the alignment [`ALIGN`].
#[derive(Default)]
struct Buffer(Vec<u8>);

impl Buffer {
    /// An aligned part of `bytes` bytes. The buffer grows if it is too small.
    fn part(&mut self, bytes: usize) -> &mut [u8] {
        if self.0.len() < bytes + ALIGN {
            self.0 = vec![0; bytes + ALIGN];
        }
        let from = self.0.as_ptr().align_offset(ALIGN).min(ALIGN);
        &mut self.0[from..from + bytes]
    }
}

impl Disk {
    /// Opens `path`, and bypasses the system's page cache if the file system allows it. If the drive holds data that
    /// a measurement would overwrite, a sentence that says so is returned too.
    ///
    /// # Errors
    /// If `path` is neither a block device nor a file, cannot be read and written, or is in use.
    pub fn open(path: &Path) -> Result<(Self, Option<String>), Error> {
        let name = path.display().to_string();
        let wrong = |what: String| Error::Input(format!("{name}: {what}"));
        let failed = |cause: io::Error| {
            wrong(format!(
                "{cause}; expected a block device or a file that can be read and written"
            ))
        };
        let data = path.metadata().map_err(failed)?;
        let kind = data.file_type();
        let is_block = kind.is_block_device();
        if !is_block && !kind.is_file() {
            return Err(wrong(
                "is neither a block device nor a file; expected one of them, or the URI of an NBD server".to_owned(),
            ));
        }
        let mut file = opened(path, is_block).map_err(|cause| match cause.kind() {
            io::ErrorKind::ResourceBusy => wrong(
                "is mounted, or the system uses it; expected a drive that nothing uses".to_owned(),
            ),
            _ => failed(cause),
        })?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(wrong(
                    "another program uses it; expected a drive that nothing uses".to_owned(),
                ));
            }
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let bytes = file.seek(SeekFrom::End(0)).map_err(failed)? / 4096 * 4096;
        let ends = ends(&file, bytes).map_err(failed)?;
        let holds = partitions(is_block.then(|| data.rdev())).or_else(|| blank::holds(&ends));
        let (returns, returned) = channel();
        let disk = Self {
            name,
            identity: identity(&data, is_block),
            file: Arc::new(file),
            bytes,
            ends: Ends::new(),
            pool: Pool::new(),
            workers: Vec::new(),
            buffers: Vec::new(),
            returned,
            returns,
        };
        Ok((disk, holds))
    }

    /// Starts the thread for the commands of the next tag.
    fn hire(&mut self) -> Result<(), Error> {
        let (sender, commands) = channel::<(Command, Buffer)>();
        let (file, clock) = (Arc::clone(&self.file), self.ends.clock);
        let (ends, returns) = (self.ends.sender.clone(), self.returns.clone());
        let name = self.name.clone();
        let worker = std::thread::Builder::new().stack_size(STACK);
        let started = worker.spawn(move || {
            for (command, mut buffer) in commands {
                let end = act(&file, clock, command, &mut buffer);
                let end =
                    end.map_err(|cause| format!("{name}: {cause}; expected a drive that works"));
                // Sending fails after the end of the measurement, because the receiver is gone.
                let _ = returns.send((command.tag, buffer));
                if ends.send(end).is_err() {
                    return;
                }
            }
        });
        started.map_err(|cause| Error::Input(format!("no thread more: {cause}")))?;
        self.workers.push(sender);
        self.buffers.push(Some(Buffer::default()));
        Ok(())
    }
}

/// Opens `path` for reading and writing, without the system's page cache if possible.
#[cfg(target_os = "linux")]
fn opened(path: &Path, is_block: bool) -> io::Result<File> {
    use rustix::fs::OFlags;

    let open = |flags: OFlags| {
        let mut options = OpenOptions::new();
        let flags = flags.bits() as i32;
        options
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(path)
    };
    // With `EXCL`, the system refuses a block device that is mounted or belongs to another device, such as a RAID.
    let alone = if is_block {
        OFlags::EXCL
    } else {
        OFlags::empty()
    };
    match open(OFlags::DIRECT | alone) {
        // Some file systems cannot bypass the page cache.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => open(alone),
        outcome => outcome,
    }
}

/// Opens `path` for reading and writing.
#[cfg(not(target_os = "linux"))]
fn opened(path: &Path, _: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(0)
        .open(path)
}

/// The folder in which the system describes the block device `number`.
fn folder_of(number: u64) -> String {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    format!("/sys/dev/block/{major}:{minor}")
}

/// A sentence that says that the block device `number` has partitions; `None` if the system knows no partitions of
/// the device.
fn partitions(number: Option<u64>) -> Option<String> {
    let entries = std::fs::read_dir(folder_of(number?)).ok()?;
    let has_some = entries
        .flatten()
        .any(|entry| entry.path().join("partition").exists());
    has_some.then(|| "has partitions".to_owned())
}

/// The identifier that a block device reports, or the number of a file in its file system. Empty if a block device
/// reports none. The number of the file system is left out, because some file systems have another one after each
/// mount.
fn identity(data: &Metadata, is_block: bool) -> String {
    if !is_block {
        return format!("file {}", data.ino());
    }
    let folder = folder_of(data.rdev());
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).ok();
    let names = ["wwid", "device/wwid", "device/serial"];
    let text = names.into_iter().find_map(read);
    text.unwrap_or_default().trim().to_owned()
}

/// The bytes at both ends of `file`, which has `bytes` bytes.
fn ends(file: &File, bytes: u64) -> io::Result<Vec<u8>> {
    let (mut buffer, mut ends) = (Buffer::default(), Vec::new());
    for (offset, length) in blank::parts(bytes) {
        let part = buffer.part(length);
        file.read_exact_at(part, offset)?;
        ends.extend_from_slice(part);
    }
    Ok(ends)
}

/// Carries out `command`, and records the times at which it begins and ends.
fn act(
    file: &File,
    clock: Clock,
    command: Command,
    buffer: &mut Buffer,
) -> Result<Done, io::Error> {
    let part = buffer.part(command.bytes as usize);
    let begun = clock.now();
    match command.action {
        Action::Read => file.read_exact_at(part, command.offset)?,
        Action::Write => file.write_all_at(part, command.offset)?,
        Action::Flush => file.sync_data()?,
    }
    Ok(Done {
        tag: command.tag,
        begun,
        ended: clock.now(),
    })
}

impl Target for Disk {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn ends(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let ends = ends(&self.file, self.bytes).map_err(|cause| {
            Error::Input(format!(
                "{}: {cause}; expected a drive that works",
                self.name
            ))
        })?;
        Ok(Some(ends))
    }

    fn now(&mut self) -> Ticks {
        self.ends.clock.now()
    }

    fn submit(&mut self, command: Command) -> Result<(), Error> {
        let tag = command.tag as usize;
        while self.workers.len() <= tag {
            self.hire()?;
        }
        for (of, buffer) in self.returned.try_iter() {
            self.buffers[of as usize] = Some(buffer);
        }
        let mut buffer = self.buffers[tag].take().unwrap_or_default();
        if command.action == Action::Write {
            self.pool.fill(buffer.part(command.bytes as usize));
        }
        let sent = self.workers[tag].send((command, buffer));
        sent.map_err(|_| Error::Internal("a thread has ended".to_owned()))
    }

    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error> {
        self.ends.next(until)
    }
}
