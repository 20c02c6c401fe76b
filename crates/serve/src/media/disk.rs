//! A file or block device that lies behind the buffer.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, IoSlice, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use destage::files::sync_folder_of;
use destage_device::backed::{Backing, Fault};
use rustix::fs::OFlags;

use super::{MediaError, fault_of};
use crate::device::Sync;

/// The number of slices that are written in one call. Every system accepts this number.
const SLICES_MAX: usize = 1024;
/// The zeros of one write. Zeros overwrite a range that the system cannot discard.
const ZEROS: &[u8] = &[0; 1 << 16];

/// An open file or block device, which stays locked while this value exists.
#[derive(Debug)]
pub struct Disk {
    file: File,
    bytes: u64,
}

impl Disk {
    /// Opens the file or block device at `path`. `capacity` is the requested size in bytes. A missing file is made
    /// with this size, and a shorter file is extended to this size. Only the owner can access a new file. The device
    /// offers whole sectors of 512 bytes. Bytes after the last whole sector stay unchanged.
    ///
    /// # Errors
    /// If the file cannot be opened, is locked by another program, is too small, or does not have the size
    /// `capacity`; or if a block device that is to be written is mounted, or is used exclusively in another way.
    pub fn open(path: &Path, capacity: Option<u64>, read_only: bool) -> Result<Self, MediaError> {
        let found = std::fs::metadata(path).ok();
        let is_device = |found: &Metadata| found.file_type().is_block_device();
        let is_device = found.as_ref().is_some_and(is_device);
        let failed = |cause| MediaError::File {
            path: path.to_owned(),
            cause,
            expected: match is_device {
                true => "a disk that can be read and written, and is neither mounted nor in use",
                false => "a file or disk that can be read and written; --capacity makes a file",
            },
        };
        let unfit = |why: String| MediaError::Unfit {
            path: path.to_owned(),
            why,
        };
        let too_small = || {
            let why = "is smaller than a sector of 512 bytes; expected a larger file or disk, or --capacity";
            unfit(why.to_owned())
        };
        if capacity.is_some_and(|bytes| bytes < 512) {
            return Err(too_small());
        }
        let mut options = OpenOptions::new();
        options.read(true).write(!read_only).truncate(false);
        if is_device && !read_only {
            // The system then refuses a disk that is mounted or in use, under whatever name. A lock covers one name.
            options.custom_flags(OFlags::EXCL.bits() as i32);
        } else {
            options.create(capacity.is_some() && !read_only).mode(0o600);
        }
        let mut file = options.open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if !(kind.is_file() || kind.is_block_device()) {
            return Err(unfit(
                "is neither a file nor a block device; expected one of them".to_owned(),
            ));
        }
        lock(&file).map_err(failed)?;
        let mut bytes = file.seek(SeekFrom::End(0)).map_err(failed)?;
        if let Some(wanted) = capacity
            && wanted != bytes
        {
            if bytes > wanted || !kind.is_file() || read_only {
                return Err(unfit(format!(
                    "has {bytes} bytes, but --capacity is {wanted}; expected no --capacity, or a file that is not longer"
                )));
            }
            file.set_len(wanted).map_err(failed)?;
            bytes = wanted;
        }
        if found.is_none() {
            sync_folder_of(path).map_err(failed)?;
        }
        let bytes = bytes / 512 * 512;
        if bytes == 0 {
            return Err(too_small());
        }
        Ok(Self { file, bytes })
    }

    /// The number of bytes that the disk offers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The function that makes written bytes durable.
    ///
    /// # Errors
    /// If the system cannot duplicate the handle of the file.
    pub fn sync(&self) -> io::Result<Sync> {
        let file = self.file.try_clone()?;
        Ok(Box::new(move || file.sync_data()))
    }

    /// How many of the `wanted` bytes from `offset` on lie within the disk.
    fn within(&self, offset: u64, wanted: u64) -> u64 {
        wanted.min(self.bytes.saturating_sub(offset))
    }

    fn write_parts(&self, mut offset: u64, parts: &[&[u8]]) -> io::Result<()> {
        let mut all: Vec<IoSlice<'_>> = Vec::with_capacity(parts.len());
        let mut end = offset;
        for part in parts {
            let length = self.within(end, part.len() as u64);
            end += length;
            all.push(IoSlice::new(&part[..length as usize]));
        }
        let mut left = &mut all[..];
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            let count = left.len().min(SLICES_MAX);
            let written = match rustix::io::pwritev(&self.file, &left[..count], offset) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            offset += written as u64;
            IoSlice::advance_slices(&mut left, written);
        }
        Ok(())
    }
}

impl Backing for Disk {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Fault> {
        let length = self.within(offset, out.len() as u64) as usize;
        let (inside, behind) = out.split_at_mut(length);
        behind.fill(0);
        let read = self.file.read_exact_at(inside, offset);
        read.map_err(|error| fault_of(&error))
    }

    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<(), Fault> {
        let written = self.write_parts(offset, parts);
        written.map_err(|error| fault_of(&error))
    }

    fn discard(&self, offset: u64, bytes: u64) -> Result<(), Fault> {
        let bytes = self.within(offset, bytes);
        if bytes == 0 {
            return Ok(());
        }
        if make_hole(&self.file, offset, bytes).is_ok() {
            return Ok(());
        }
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let length = (end - at).min(ZEROS.len() as u64);
            self.write(at, &[&ZEROS[..length as usize]])?;
            at += length;
        }
        Ok(())
    }

    fn hole(&self, offset: u64) -> (bool, u64) {
        let seek = |from| rustix::fs::seek(&self.file, from);
        match seek(rustix::fs::SeekFrom::Data(offset)) {
            Err(rustix::io::Errno::NXIO) => (true, self.bytes),
            Ok(data) if data > offset => (true, data.min(self.bytes)),
            Ok(_) => (
                false,
                seek(rustix::fs::SeekFrom::Hole(offset)).unwrap_or(self.bytes),
            ),
            // Either a block device, or a file system that does not report holes.
            Err(_) => (false, self.bytes),
        }
    }
}

/// Makes a hole in `file`.
#[cfg(target_os = "linux")]
fn make_hole(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, hole, offset, bytes)?)
}

/// This function always fails, because no portable call makes a hole.
#[cfg(not(target_os = "linux"))]
fn make_hole(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks `file` against other programs that lock the file in the same way.
pub(super) fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("the file is already in use"),
        TryLockError::Error(cause) => cause,
    })
}
