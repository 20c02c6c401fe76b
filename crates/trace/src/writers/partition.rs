//! Writes the requests of many volumes: all requests to one file, and the requests of each volume also to a
//! separate file.
//!
//! Requests of all volumes are collected in a table. A full table is passed to a second thread, while the first
//! thread fills another table. The second thread appends the table to the file of all requests, sorts it by
//! volume, and appends the requests of each volume to the volume's file, as separate zstd frames. Only one file
//! is open at a time. Memory is needed only for the tables and for a few numbers for each volume. All files
//! have the compact format.

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

/// The largest number of requests in a table, which then occupies 64 MiB. With a thousand volumes, a table has
/// on average two thousand requests of each volume.
const ROOM: usize = 1 << 21;
/// The largest number of requests in a frame. With this limit a reader needs little memory to decompress a
/// frame.
const FRAME: usize = 1 << 16;

/// The error of a file of a partition that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {cause}", file.display())]
pub struct Unwritten {
    /// The path of the file.
    pub file: PathBuf,
    /// The error of the operating system.
    pub cause: io::Error,
}

/// A file of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The path of the file, relative to the folder of the partition.
    pub file: String,
    /// The number of requests in the file.
    pub requests: u64,
    /// The number of writes in the file.
    pub writes: u64,
    /// The number of sectors that the writes in the file write. A sector that is written twice counts twice.
    pub written_sectors: u64,
    /// The sector after the last sector that any request touches.
    pub end_sector: u64,
    /// SHA-256 of the decompressed file, in hexadecimal; equal to [`crate::Reader::digest`].
    pub digest: String,
}

/// All files of a partition.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The requests of all volumes, in the order of their arrival.
    pub all: Part,
    /// The requests of each volume, by the number of the volume.
    pub volumes: BTreeMap<u32, Part>,
}

/// Writes a partition.
pub struct PartitionWriter {
    waiting: Vec<Request>,
    room: usize,
    /// Sends full tables to the second thread; `None` after the end.
    full: Option<SyncSender<Vec<Request>>>,
    empty: Receiver<Vec<Request>>,
    thread: Option<JoinHandle<Result<Parts, Unwritten>>>,
}

impl PartitionWriter {
    /// Begins a partition in `folder`, which must be empty.
    ///
    /// # Errors
    /// If the files cannot be created.
    pub fn new(folder: &Path) -> Result<Self, Unwritten> {
        Self::with_room(folder, ROOM)
    }

    /// Does the same as [`Self::new`], with tables of at most `room` requests.
    fn with_room(folder: &Path, room: usize) -> Result<Self, Unwritten> {
        let mut files = Files::new(folder)?;
        let (full, filled) = sync_channel::<Vec<Request>>(0);
        let (emptied, empty) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            for mut requests in filled {
                files.add(&mut requests)?;
                requests.clear();
                // The table is dropped if another empty table already waits, or if the first thread has ended.
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

    /// Adds `requests`, which must be in order of arrival.
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
    /// If a file cannot be written.
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
            // The thread stops receiving tables early only after an error, which `end` returns.
            _ => self.end().map(|_| ()),
        }
    }

    /// Ends the stream of tables, waits for the thread, and returns its result.
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

/// All files of a partition, as the second thread writes them.
struct Files {
    folder: PathBuf,
    packer: zstd::bulk::Compressor<'static>,
    packed: Vec<u8>,
    all: Growing,
    volumes: BTreeMap<u32, Growing>,
}

/// A file to which requests are still appended.
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

    /// The uncompressed bytes that must be appended for `requests`. If `last` is set, they include the end
    /// mark.
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

/// The path of the file of all requests.
const ALL: &str = "all.compact";
/// The folder of the files of the volumes.
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

    /// Appends each of `requests` to the file of all requests and to the file of its volume. Changes the order
    /// of `requests`.
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
        // The sort is stable, so the requests of a volume stay in the order of their arrival.
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

/// Appends a frame with `requests` to `file` in `folder`.
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
