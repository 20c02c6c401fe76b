//! The requests of many volumes: all of them in one file, and those of each volume in a file of its own.
//!
//! Requests gather in a table, whatever their volume. A full table goes to a second thread while another one is filled: that thread appends it to the
//! file of all requests, sorts it by volume, and appends each volume's requests to its file, as a zstd frame of its own. One file is open at a time,
//! and memory is that of the tables and of a few numbers for each volume, whatever their number. All files are of the compact form.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

use super::ZSTD_LEVEL;
use super::compact::CompactWriter;
use crate::digest::hexadecimal;
use crate::request::{Operation, Request};

/// Requests in a table: 64 MiB of them. With a thousand volumes that is two thousand for each.
const ROOM: usize = 1 << 21;
/// Most requests in a frame, so that a reader needs little memory.
const FRAME: usize = 1 << 16;

/// A file of a partition cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {cause}", file.display())]
pub struct Unwritten {
    /// The file.
    pub file: PathBuf,
    /// Why not.
    pub cause: io::Error,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it is, from the folder of the partition on.
    pub file: String,
    /// How many requests it has.
    pub requests: u64,
    /// How many of them are writes.
    pub writes: u64,
    /// Sectors that these write, each time.
    pub written_sectors: u64,
    /// The sector after the last one that any of the requests touches.
    pub end_sector: u64,
    /// SHA-256 of the unpacked file, in hexadecimal, as [`crate::Reader::digest`] gives it.
    pub digest: String,
}

/// All files of a partition.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The requests of all volumes, in the order of their arrival.
    pub all: Part,
    /// The requests of each volume, by its number.
    pub volumes: BTreeMap<u32, Part>,
}

/// A partition being written.
pub struct PartitionWriter {
    waiting: Vec<Request>,
    room: usize,
    /// Until the end.
    full: Option<SyncSender<Vec<Request>>>,
    empty: Receiver<Vec<Request>>,
    thread: Option<JoinHandle<Result<Parts, Unwritten>>>,
}

impl PartitionWriter {
    /// Begins files in `folder`, which is empty.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn new(folder: &Path) -> Result<Self, Unwritten> {
        Self::with_room(folder, ROOM)
    }

    /// [`Self::new`] with tables of `room` requests.
    fn with_room(folder: &Path, room: usize) -> Result<Self, Unwritten> {
        let mut files = Files::new(folder)?;
        let (full, filled) = sync_channel::<Vec<Request>>(0);
        let (emptied, empty) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            for mut requests in filled {
                files.add(&mut requests)?;
                requests.clear();
                // One empty buffer that waits is enough, and the thread that fills buffers may not come back for another.
                let _ = emptied.try_send(requests);
            }
            files.finish()
        });
        Ok(Self {
            waiting: Vec::new(),
            room,
            full: Some(full),
            empty,
            thread: Some(thread),
        })
    }

    /// Adds `requests`, in the order of their arrival.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&mut self, mut requests: &[Request]) -> Result<(), Unwritten> {
        while !requests.is_empty() {
            let room = self.room - self.waiting.len();
            let (now, later) = requests.split_at(room.min(requests.len()));
            self.waiting.extend_from_slice(now);
            requests = later;
            if self.waiting.len() == self.room {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Ends all files.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn finish(mut self) -> Result<Parts, Unwritten> {
        self.hand_over()?;
        self.end()
    }

    fn hand_over(&mut self) -> Result<(), Unwritten> {
        let next = self.empty.try_recv();
        let next = next.unwrap_or_else(|_| Vec::with_capacity(self.room));
        let table = std::mem::replace(&mut self.waiting, next);
        let taken = self.full.as_ref().map(|full| full.send(table));
        match taken {
            Some(Ok(())) => Ok(()),
            // The receiver of tables ends early only because of a failure.
            _ => self.end().map(|_| ()),
        }
    }

    /// The thread's result once there are no more tables.
    fn end(&mut self) -> Result<Parts, Unwritten> {
        self.full = None;
        let said = self.thread.take().and_then(|thread| thread.join().ok());
        said.unwrap_or_else(|| {
            Err(Unwritten {
                file: PathBuf::from(ALL),
                cause: io::Error::other("the thread that writes has ended"),
            })
        })
    }
}

/// The files, and their writers.
struct Files {
    folder: PathBuf,
    packer: zstd::bulk::Compressor<'static>,
    packed: Vec<u8>,
    all: Growing,
    volumes: BTreeMap<u32, Growing>,
}

/// A file of which a part is written.
struct Growing {
    part: Part,
    digest: Sha256,
}

impl Growing {
    fn new(file: String) -> Self {
        Self {
            part: Part {
                file,
                requests: 0,
                writes: 0,
                written_sectors: 0,
                end_sector: 0,
                digest: String::new(),
            },
            digest: Sha256::new(),
        }
    }

    /// The bytes that follow the requests so far when `requests` are added, uncompressed; the end too if they are the `last`.
    fn bytes(&mut self, requests: &[Request], last: bool) -> io::Result<Vec<u8>> {
        let part = &mut self.part;
        let bytes = Vec::with_capacity(requests.len() * 8 + 64);
        let mut writer = match part.requests {
            0 => CompactWriter::new(bytes)?,
            total => CompactWriter::resumed(bytes, total),
        };
        for request in requests {
            writer.write(request)?;
            part.requests += 1;
            part.end_sector = part.end_sector.max(request.end());
            if request.operation == Operation::Write {
                part.writes += 1;
                part.written_sectors += u64::from(request.sectors);
            }
        }
        let bytes = match last {
            true => writer.finish()?,
            false => writer.suspend()?.0,
        };
        self.digest.update(&bytes);
        Ok(bytes)
    }

    fn finish(self) -> Part {
        Part {
            digest: hexadecimal(&self.digest.finalize()),
            ..self.part
        }
    }
}

/// Where the file of all requests is.
const ALL: &str = "all.compact";
/// The folder of the others.
const VOLUMES: &str = "volumes";

impl Files {
    fn new(folder: &Path) -> Result<Self, Unwritten> {
        let volumes = folder.join(VOLUMES);
        let refused = |cause| Unwritten {
            file: volumes.clone(),
            cause,
        };
        std::fs::create_dir_all(&volumes).map_err(refused)?;
        let packer = || {
            let mut packer = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
            packer.include_checksum(true)?;
            Ok(packer)
        };
        Ok(Self {
            packer: packer().map_err(refused)?,
            folder: folder.to_owned(),
            packed: Vec::new(),
            all: Growing::new(ALL.to_owned()),
            volumes: BTreeMap::new(),
        })
    }

    /// Adds `requests` to all files that they belong to; they are in another order then.
    fn add(&mut self, requests: &mut [Request]) -> Result<(), Unwritten> {
        let Self {
            folder,
            packer,
            packed,
            all,
            volumes,
        } = self;
        for frame in requests.chunks(FRAME) {
            append(folder, all, frame, false, packer, packed)?;
        }
        // Stable: requests of a volume stay in the order of their arrival.
        requests.sort_by_key(|request| request.volume);
        for of_volume in requests.chunk_by(|one, next| one.volume == next.volume) {
            let volume = of_volume[0].volume;
            let file = volumes
                .entry(volume)
                .or_insert_with(|| Growing::new(format!("{VOLUMES}/{volume}.compact")));
            for frame in of_volume.chunks(FRAME) {
                append(folder, file, frame, false, packer, packed)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Parts, Unwritten> {
        let Self {
            folder,
            packer,
            packed,
            all,
            volumes,
        } = &mut self;
        for file in volumes.values_mut().chain([all]) {
            append(folder, file, &[], true, packer, packed)?;
        }
        let volumes = self.volumes.into_iter();
        Ok(Parts {
            all: self.all.finish(),
            volumes: volumes
                .map(|(volume, file)| (volume, file.finish()))
                .collect(),
        })
    }
}

/// Adds a frame of `requests` to `file` in `folder`.
fn append(
    folder: &Path,
    file: &mut Growing,
    requests: &[Request],
    last: bool,
    packer: &mut zstd::bulk::Compressor<'_>,
    packed: &mut Vec<u8>,
) -> Result<(), Unwritten> {
    let path = folder.join(&file.part.file);
    let mut put = || {
        let bytes = file.bytes(requests, last)?;
        packed.clear();
        packed.reserve(zstd::compress_bound(bytes.len()));
        packer.compress_to_buffer(&bytes, packed)?;
        let mut out = File::options().create(true).append(true).open(&path)?;
        out.write_all(packed)
    };
    put().map_err(|cause| Unwritten {
        file: path.clone(),
        cause,
    })
}

#[cfg(test)]
mod tests;
