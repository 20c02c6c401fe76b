//! Stand-ins for applications that make, change and remove files. One generator serves all these applications; each
//! application has its own set of parameters.
//!
//! Each step is one of the following. It writes a small piece at a random position of a large file that always
//! exists, such as a registry or an index. Or it reads a whole file, appends a piece to a file, removes a file, or
//! makes a new file. If the number of files would exceed its limit, or the volume is full, a file is removed before
//! the step continues. Files are chosen at random with equal probability, except for removal. The parameter `removed`
//! selects the file to remove: a cache removes its oldest file, and a temporary file is the latest file.
//!
//! For each step, the random draws are in this order. The first is the kind of step. The next draws depend on the kind,
//! and are made only for values that are random: the position in the large file; the file and the size of the piece; or
//! the size of the new file and the files that are removed to make space for it. The last are the gaps, one for each
//! request of the step.

mod rows;

pub(crate) use rows::{BROWSER_CACHE, KERNEL_COMPILE, OFFICE_INSTALL, PCMARK, POSTMARK};

use self::rows::{FileSystemKind, Parameters, SizeLaw};
use super::parameters::FileSizes;
use super::{Activity, requests};
use crate::Requests;
use crate::WorkloadError;
use crate::files::{Disk, File, FileSystem, ext::Ext, fat::Fat, ntfs::Ntfs};
use crate::shared::{Arrivals, FOOTPRINT_PAGES, contradiction, pick};
use destage_base::parameter::Values;
use destage_base::{Random, choices};
use std::collections::VecDeque;

struct FileMix {
    system: Box<dyn FileSystem>,
    sizes: FileSizes,
    /// The cumulative shares of the steps that write the large file, read, append and remove, as numbers from 0 to 1.
    until: [f64; 4],
    hot_bytes: u64,
    hot_write_bytes: u64,
    append_bytes: u64,
    live_files: u64,
    directory_files: u64,
    directories: Vec<usize>,
    made: u64,
    hot: Option<File>,
    /// The files. They are in the order in which they were made if `removed` depends on this order. They are boxed,
    /// because the removal of a file moves the files behind it.
    files: VecDeque<Box<File>>,
    removed: Removed,
}

choices! {
    /// The file that is removed.
    enum Removed {
        Random = "random",
        Oldest = "oldest",
        Latest = "latest",
    }
}

fn make(
    name: &'static str,
    law: SizeLaw,
    values: &Values,
    seed: u64,
) -> Result<Requests, WorkloadError> {
    let own = Parameters::from_values(values);
    let arrivals = Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?;
    let disk = Disk::new(own.max_request_pages, own.max_read_pages);
    Ok(requests(arrivals, seed, disk, file_mix(name, law, &own)?))
}

fn file_mix(name: &'static str, law: SizeLaw, own: &Parameters) -> Result<FileMix, WorkloadError> {
    let (pages, page_bytes) = (own.footprint_pages, own.page_bytes);
    let (commit, checkpoint) = (own.commit_pages, own.checkpoint_commits);
    let system = match own.file_system {
        FileSystemKind::Fat => Fat::new(pages, page_bytes, commit).map(boxed),
        FileSystemKind::Ext3 => Ext::new(pages, page_bytes, commit, checkpoint)
            .map(|system| boxed(system.used_by(own.processes))),
        FileSystemKind::Ntfs => Ntfs::new(pages, page_bytes, commit, checkpoint)
            .map(|system| boxed(system.waiting(own.wait_commits))),
    };
    let most = own.max_file_bytes;
    let sizes = match law {
        SizeLaw::LogNormal => {
            FileSizes::log_normal(own.mean_file_bytes, own.median_file_bytes, most)
        }
        SizeLaw::Uniform => FileSizes::uniform(name, own.min_file_bytes, most)?,
    };
    let (hot_bytes, append_bytes) = (own.hot_file_bytes, own.append_bytes);
    // An append to a file needs up to `append_bytes` more, even when the volume is full.
    let needed = hot_bytes + sizes.max + append_bytes + 8 * page_bytes.max(32 << 10);
    let Some(system) = system.filter(|system| system.fits(needed)) else {
        let expected = format!("room for the file system and files of {needed} bytes");
        let footprint = FOOTPRINT_PAGES.name;
        return Err(contradiction(name, footprint, pages, expected));
    };
    let mut until = [0.0; 4];
    let mut sum = 0.0;
    let removed = own.remove_percent;
    let steps = [
        own.hot_percent,
        own.read_percent,
        own.append_percent,
        removed,
    ];
    for (until, percent) in until.iter_mut().zip(steps) {
        sum += percent;
        *until = sum / 100.0;
    }
    if sum >= 100.0 {
        let expected = "less than 100 minus hot_percent, read_percent and append_percent";
        return Err(contradiction(name, "remove_percent", removed, expected));
    }
    Ok(FileMix {
        system,
        sizes,
        until,
        hot_bytes,
        hot_write_bytes: own.hot_write_bytes.min(hot_bytes),
        append_bytes,
        live_files: own.live_files,
        directory_files: own.directory_files,
        directories: Vec::new(),
        made: 0,
        hot: None,
        files: VecDeque::new(),
        removed: own.removed,
    })
}

fn boxed(system: impl FileSystem + 'static) -> Box<dyn FileSystem> {
    Box::new(system)
}

impl FileMix {
    /// Removes the file at `index` from the list `files`. The order of the remaining files is preserved if `removed`
    /// depends on it.
    fn take(&mut self, index: usize) -> Option<Box<File>> {
        match self.removed {
            Removed::Random => self.files.swap_remove_back(index),
            Removed::Oldest | Removed::Latest => self.files.remove(index),
        }
    }

    /// Removes a random file from the list `files`.
    fn take_random(&mut self, random: &mut Random) -> Option<Box<File>> {
        let count = self.files.len() as u64;
        (count > 0)
            .then(|| pick(random, count) as usize)
            .and_then(|index| self.take(index))
    }

    /// Removes from the list `files` the file that a removal step deletes.
    fn take_removed(&mut self, random: &mut Random) -> Option<Box<File>> {
        match self.removed {
            Removed::Random => self.take_random(random),
            Removed::Oldest => self.files.pop_front(),
            Removed::Latest => self.files.pop_back(),
        }
    }

    /// Removes from the list `files` the file that is deleted to make space for new data.
    fn take_for_room(&mut self, random: &mut Random) -> Option<Box<File>> {
        match self.removed {
            Removed::Oldest => self.files.pop_front(),
            // The latest file was just made and is still needed. A random file is deleted instead.
            Removed::Random | Removed::Latest => self.take_random(random),
        }
    }

    /// Deletes files until `bytes` more bytes fit. Formats the volume if no file remains and the bytes still do not
    /// fit.
    fn make_room(&mut self, bytes: u64, random: &mut Random, disk: &mut Disk) {
        while !self.system.fits(bytes) {
            match self.take_for_room(random) {
                Some(file) => self.system.remove(*file, disk),
                None => {
                    self.system.format(disk);
                    self.directories.clear();
                    self.made = 0;
                    self.hot = None;
                    self.begin(disk);
                }
            }
        }
    }

    /// Makes the first directory. Makes the large file too, if there are steps that write it.
    fn begin(&mut self, disk: &mut Disk) {
        self.directories.push(self.system.make_directory());
        if self.until[0] > 0.0 {
            let mut file = self.system.create(self.directories[0]);
            self.system.append(&mut file, self.hot_bytes, disk);
            self.hot = Some(file);
        }
    }

    fn create(&mut self, random: &mut Random, disk: &mut Disk) {
        let bytes = self.sizes.draw(random);
        if self.files.len() as u64 >= self.live_files
            && let Some(file) = self.take_for_room(random)
        {
            self.system.remove(*file, disk);
        }
        self.make_room(bytes, random, disk);
        let turn = self.made / self.directory_files;
        let most = self.live_files.div_ceil(self.directory_files);
        let index = (turn % most) as usize;
        if index == self.directories.len() {
            self.directories.push(self.system.make_directory());
        }
        self.made += 1;
        let mut file = self.system.create(self.directories[index]);
        self.system.append(&mut file, bytes, disk);
        self.files.push_back(Box::new(file));
    }
}

impl Activity for FileMix {
    fn step(&mut self, random: &mut Random, disk: &mut Disk) {
        if self.directories.is_empty() {
            self.begin(disk);
        }
        let drawn = random.unit();
        let kind = self.until.iter().position(|until| drawn < *until);
        match (kind, &self.hot) {
            (Some(0), Some(hot)) => {
                let places = self.hot_bytes / self.hot_write_bytes;
                let offset = pick(random, places) * self.hot_write_bytes;
                self.system
                    .overwrite(hot, offset, self.hot_write_bytes, disk);
            }
            (Some(1..), _) if self.files.is_empty() => self.create(random, disk),
            (Some(1), _) => {
                let index = pick(random, self.files.len() as u64) as usize;
                let file = &self.files[index];
                self.system.read(file, 0, file.bytes, disk);
            }
            (Some(2), _) => {
                let bytes = 1 + pick(random, self.append_bytes);
                let index = pick(random, self.files.len() as u64) as usize;
                if !self.system.fits(bytes) {
                    if let Some(file) = self.take(index) {
                        self.system.remove(*file, disk);
                    }
                    return;
                }
                let place = match self.removed {
                    Removed::Oldest | Removed::Latest => index,
                    // The resulting order is the same as after removing the file and adding it at the end.
                    Removed::Random => {
                        let last = self.files.len() - 1;
                        self.files.swap(index, last);
                        last
                    }
                };
                let file = &mut self.files[place];
                if file.bytes + bytes <= self.sizes.max {
                    self.system.append(file, bytes, disk);
                }
            }
            (Some(_), _) => {
                if let Some(file) = self.take_removed(random) {
                    self.system.remove(*file, disk);
                }
            }
            (None, _) => self.create(random, disk),
        }
    }
}

#[cfg(test)]
mod tests;
