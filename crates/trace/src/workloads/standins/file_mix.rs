//! Stand-ins for applications that make, change and remove files: one machine and a set of parameters for each.
//!
//! Step by step, one of: a small write somewhere in one large file that is always there (a registry, an index), a
//! whole file read, a piece put at the end of a file, a file removed, or else a new file. When there are more files
//! than allowed, or the volume is full, one is removed first. Choices of a file are uniform, except that `removed` says
//! which file goes: a cache gives up what is oldest, and a temporary file is the latest.
//!
//! Draws, per step and in this order: what is done; then the place in the large file, or the file and the size of the
//! piece, or the size of the new file and the files that have to make room, where these are drawn at random; and per
//! request the gap.

use super::super::files::{Disk, File, FileSystem, ext, ext::Ext, fat::Fat, ntfs::Ntfs};
use super::super::shared::{REQUESTS, contradiction, pick};
use super::super::{Requests, Workload};
use super::parameters::{
    BLOCK_BYTES, CHECKPOINT_COMMITS, COMMIT_PAGES, FileSizes, GAP_MS, MAX_FILE_BYTES,
    MAX_REQUEST_PAGES, MEAN_FILE_BYTES, MEDIAN_FILE_BYTES, MIN_FILE_BYTES, VOLUME_PAGES,
};
use super::{Activity, requests};
use crate::error::TraceError;
use destage_base::Random;
use destage_base::parameter::{Kind, Parameter, Value, Values};
use std::collections::VecDeque;

const PERCENT: Kind = Kind::Number {
    min: 0.0,
    max: 100.0,
};

const FILE_SYSTEM: Parameter = Parameter {
    name: "file_system",
    kind: Kind::Choice(&["fat", "ext3", "ntfs"]),
    default: "ntfs",
    unit: "",
    about: "The file system; checkpoint_commits has no meaning for fat.",
    source: "",
};
const LIVE_FILES: Parameter = Parameter {
    name: "live_files",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 24,
    },
    default: "500",
    unit: "files",
    about: "Files there are at most; one more, and another is removed.",
    source: "",
};
const DIRECTORY_FILES: Parameter = Parameter {
    name: "directory_files",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 32,
    },
    default: "100",
    unit: "files",
    about: "New files that go to a directory before another one is made, up to as many directories as live files need.",
    source: "",
};
const HOT_PERCENT: Parameter = Parameter {
    name: "hot_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that write somewhere in the large file.",
    source: "",
};
const READ_PERCENT: Parameter = Parameter {
    name: "read_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that read a whole file.",
    source: "",
};
const APPEND_PERCENT: Parameter = Parameter {
    name: "append_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that put a piece at the end of a file, as long as it stays below max_file_bytes.",
    source: "",
};
const REMOVE_PERCENT: Parameter = Parameter {
    name: "remove_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that remove a file; what all these leave makes new files.",
    source: "",
};
const REMOVED: Parameter = Parameter {
    name: "removed",
    kind: Kind::Choice(&["random", "oldest", "latest"]),
    default: "random",
    unit: "",
    about: "Which file is removed. Where room is needed, latest means a random one.",
    source: "",
};
const PROCESSES: Parameter = Parameter {
    name: "processes",
    kind: Kind::Integer {
        min: 1,
        max: ext::COLOURS,
    },
    default: "1",
    unit: "processes",
    about: "Processes that make files in turn: ext3 gives each its own sixteenth of a group to begin with.",
    source: "",
};
const WAIT_COMMITS: Parameter = Parameter {
    name: "wait_commits",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 10,
    },
    default: "1",
    unit: "commits",
    about: "Write-backs that a changed page waits for, on ntfs.",
    source: "",
};
const MAX_READ_PAGES: Parameter = Parameter {
    name: "max_read_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 15,
    },
    default: "16",
    unit: "pages",
    about: "Largest read.",
    source: "Windows XP: 64 KiB",
};
const HOT_FILE_BYTES: Parameter = Parameter {
    name: "hot_file_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 40,
    },
    default: "4MiB",
    unit: "bytes",
    about: "Size of the large file.",
    source: "",
};
const HOT_WRITE_BYTES: Parameter = Parameter {
    name: "hot_write_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 30,
    },
    default: "4KiB",
    unit: "bytes",
    about: "Size of a write to it.",
    source: "",
};
const APPEND_BYTES: Parameter = Parameter {
    name: "append_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 30,
    },
    default: "4KiB",
    unit: "bytes",
    about: "Largest piece put at the end of a file; sizes from one byte on are equally likely.",
    source: "",
};

/// A stand-in's row: where it differs from its fellows.
macro_rules! row {
    ($row:ident, $name:literal, $about:literal, $($parameter:ident = $default:literal, $source:literal;)*) => {
        pub(in super::super) const $row: Workload = Workload {
            name: $name,
            about: $about,
            parameters: &[
                BLOCK_BYTES,
                DIRECTORY_FILES,
                HOT_FILE_BYTES,
                $(Parameter { default: $default, source: $source, ..$parameter }),*
            ],
            make: |values, seed| make($name, values, seed),
        };
    };
}

row! {
    OFFICE_INSTALL, "standin-office-install",
    "Stand-in for installing an office package to NTFS (BPLRU W1): large files once, and a registry, a log and the file table again and again.",
    REQUESTS = "20000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less what its log blocks take";
    GAP_MS = "1", "";
    FILE_SYSTEM = "ntfs", "BPLRU (FAST 2008), W1";
    MEAN_FILE_BYTES = "250000", "estimate";
    MEDIAN_FILE_BYTES = "30000", "estimate";
    MAX_FILE_BYTES = "20MB", "estimate";
    LIVE_FILES = "100000", "nothing is removed";
    HOT_PERCENT = "30", "estimate";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "5", "estimate";
    REMOVE_PERCENT = "5", "estimate: temporary files";
    REMOVED = "latest", "temporary files";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "4KiB", "";
    COMMIT_PAGES = "256", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer takes an eighth of what waits";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    BROWSER_CACHE, "standin-browser-cache",
    "Stand-in for a browser's cache on NTFS (BPLRU W2): many small files made and removed, and an index rewritten each time.",
    REQUESTS = "50000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less what its log blocks take";
    GAP_MS = "5", "";
    FILE_SYSTEM = "ntfs", "BPLRU (FAST 2008), W2";
    MEAN_FILE_BYTES = "13000", "estimate: objects of web pages of that time";
    MEDIAN_FILE_BYTES = "4000", "estimate";
    MAX_FILE_BYTES = "2MB", "estimate";
    LIVE_FILES = "10000", "estimate: some 130 MB";
    HOT_PERCENT = "45", "estimate: the index changes with nearly every file";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "0", "";
    REMOVE_PERCENT = "5", "estimate";
    REMOVED = "oldest", "a cache above its limit gives up what was not used for longest";
    HOT_WRITE_BYTES = "512", "estimate";
    APPEND_BYTES = "4KiB", "";
    COMMIT_PAGES = "64", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer takes an eighth of what waits";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    PCMARK, "standin-pcmark",
    "Stand-in for PCMark05's disk tests on NTFS (BPLRU W3): files of all sizes made, changed and removed, and small writes to one large file.",
    REQUESTS = "30000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less what its log blocks take";
    GAP_MS = "2", "";
    FILE_SYSTEM = "ntfs", "estimate";
    MEAN_FILE_BYTES = "100000", "estimate";
    MEDIAN_FILE_BYTES = "12000", "estimate";
    MAX_FILE_BYTES = "10MB", "estimate";
    LIVE_FILES = "4000", "estimate: some 400 MB";
    HOT_PERCENT = "35", "estimate";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "20", "estimate";
    REMOVE_PERCENT = "10", "estimate";
    REMOVED = "random", "";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "32KiB", "estimate";
    COMMIT_PAGES = "128", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer takes an eighth of what waits";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    KERNEL_COMPILE, "standin-kernel-compile-ext3",
    "Stand-in for compiling Linux on ext3 (BPLRU W8): object files and lists of what they depend on, many of them temporary, with commits between few files.",
    REQUESTS = "20000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less what its log blocks take";
    GAP_MS = "20", "";
    FILE_SYSTEM = "ext3", "BPLRU (FAST 2008), W8";
    MEAN_FILE_BYTES = "22000", "estimate: objects and lists of dependencies";
    MEDIAN_FILE_BYTES = "7000", "estimate";
    MAX_FILE_BYTES = "8MB", "estimate: the linked kernel";
    LIVE_FILES = "20000", "";
    HOT_PERCENT = "0", "";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "5", "estimate: archives";
    REMOVE_PERCENT = "35", "estimate: temporary files";
    REMOVED = "latest", "temporary files: lists of dependencies before they are put in order";
    PROCESSES = "16", "fs/ext3/inode.c; a compiler, an assembler and a shell for every file";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "16KiB", "";
    COMMIT_PAGES = "128", "estimate: what a compiler makes in 5 s";
    CHECKPOINT_COMMITS = "6", "Linux: 30 s over 5 s";
    MAX_REQUEST_PAGES = "32", "Linux 2.6: 128 KiB";
    MAX_READ_PAGES = "32", "Linux 2.6: 128 KiB";
}
row! {
    POSTMARK, "standin-postmark",
    "Stand-in for PostMark on FAT, ext3 or NTFS (BPLRU W9): a pool of small files that come, grow and go.",
    REQUESTS = "50000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less what its log blocks take";
    GAP_MS = "1", "";
    FILE_SYSTEM = "fat", "BPLRU (FAST 2008), W9: FAT16, ext3 and NTFS";
    MIN_FILE_BYTES = "500", "PostMark's default";
    MAX_FILE_BYTES = "9770", "PostMark's default: 9.77 kB";
    LIVE_FILES = "5000", "estimate";
    HOT_PERCENT = "0", "";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "34", "PostMark's default: as many pieces as files made and removed";
    REMOVE_PERCENT = "33", "PostMark's default";
    REMOVED = "random", "PostMark";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "9770", "PostMark's default";
    COMMIT_PAGES = "64", "estimate";
    CHECKPOINT_COMMITS = "6", "";
    MAX_REQUEST_PAGES = "16", "";
    MAX_READ_PAGES = "16", "";
}
row! {
    POSTMARK_READS, "standin-postmark-reads",
    "Stand-in for the PostMark trace that comes with the SSD extension of DiskSim: large files, four reads in five requests, hardly a rewrite.",
    REQUESTS = "62257", "trace ssd-postmark-aligned2";
    VOLUME_PAGES = "1760000", "from the trace's 1532457 different pages written: what the file table's zone leaves free";
    GAP_MS = "7.9", "trace ssd-postmark-aligned2: 490 s";
    FILE_SYSTEM = "ntfs", "trace ssd-postmark-aligned2, by its layout";
    MEAN_FILE_BYTES = "1800kB", "";
    MEDIAN_FILE_BYTES = "700kB", "";
    MAX_FILE_BYTES = "32MB", "";
    LIVE_FILES = "2300", "";
    HOT_PERCENT = "0", "";
    READ_PERCENT = "33", "from the trace's 83.2 % of reads";
    APPEND_PERCENT = "0", "";
    REMOVE_PERCENT = "10", "";
    REMOVED = "random", "PostMark";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "4KiB", "";
    COMMIT_PAGES = "4096", "";
    CHECKPOINT_COMMITS = "5", "";
    MAX_REQUEST_PAGES = "1024", "trace ssd-postmark-aligned2: 4 MiB";
    MAX_READ_PAGES = "25", "from the trace's mean read of 198 sectors";
}

struct FileMix {
    system: Box<dyn FileSystem>,
    sizes: FileSizes,
    /// Percent of steps: large file, read, append, remove, in sums.
    until: [f64; 4],
    hot_bytes: u64,
    hot_write_bytes: u64,
    append_bytes: u64,
    live_files: u64,
    directory_files: u64,
    directories: Vec<usize>,
    made: u64,
    hot: Option<File>,
    /// In the order in which they were made, unless any may be removed.
    files: VecDeque<File>,
    removed: Removed,
}

/// Which file is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removed {
    Random,
    Oldest,
    Latest,
}

fn make(name: &'static str, values: &Values, seed: u64) -> Result<Requests, TraceError> {
    let number = |name| values.integer(name);
    let disk = Disk::new(number("max_request_pages"), number("max_read_pages"));
    requests(name, values, seed, disk, file_mix(name, values)?)
}

fn file_mix(name: &'static str, values: &Values) -> Result<FileMix, TraceError> {
    let number = |name| values.integer(name);
    // One, for a workload that does not have it.
    let optional = |name| values.get(name).map_or(1, |_| number(name));
    let (pages, page_bytes) = (number("footprint_pages"), number("page_bytes"));
    let (commit, checkpoint) = (number("commit_pages"), number("checkpoint_commits"));
    let system = match values.get("file_system") {
        Some(Value::Text(kind)) if kind == "fat" => Fat::new(pages, page_bytes, commit).map(boxed),
        Some(Value::Text(kind)) if kind == "ext3" => {
            Ext::new(pages, page_bytes, commit, checkpoint)
                .map(|system| boxed(system.used_by(optional("processes"))))
        }
        _ => Ntfs::new(pages, page_bytes, commit, checkpoint)
            .map(|system| boxed(system.waiting(optional("wait_commits")))),
    };
    let sizes = FileSizes::new(name, values)?;
    let hot_bytes = number("hot_file_bytes");
    let hot_write_bytes = number("hot_write_bytes").min(hot_bytes);
    let append_bytes = number("append_bytes");
    // A file that grows while all room is taken needs as much again.
    let needed = hot_bytes + sizes.max + append_bytes + 8 * page_bytes.max(32 << 10);
    let Some(system) = system.filter(|system| system.fits(needed)) else {
        let expected = format!("room for the file system and files of {needed} bytes");
        return Err(contradiction(name, "footprint_pages", pages, expected));
    };
    let mut until = [0.0; 4];
    let mut sum = 0.0;
    for (until, name) in until.iter_mut().zip([
        "hot_percent",
        "read_percent",
        "append_percent",
        "remove_percent",
    ]) {
        sum += values.number(name);
        *until = sum / 100.0;
    }
    if sum >= 100.0 {
        let expected = "less than what hot_percent, read_percent and append_percent leave of 100";
        return Err(TraceError::Workload {
            workload: name,
            parameter: "remove_percent",
            value: values.number("remove_percent").to_string(),
            expected: expected.to_owned(),
        });
    }
    Ok(FileMix {
        system,
        sizes,
        until,
        hot_bytes,
        hot_write_bytes,
        append_bytes,
        live_files: number("live_files"),
        directory_files: number("directory_files"),
        directories: Vec::new(),
        made: 0,
        hot: None,
        files: VecDeque::new(),
        removed: match values.text("removed") {
            "oldest" => Removed::Oldest,
            "latest" => Removed::Latest,
            _ => Removed::Random,
        },
    })
}

fn boxed(system: impl FileSystem + 'static) -> Box<dyn FileSystem> {
    Box::new(system)
}

impl FileMix {
    /// The file at `index`, taken out. The others keep their order, if it says which one is removed.
    fn take(&mut self, index: usize) -> Option<File> {
        match self.removed {
            Removed::Random => self.files.swap_remove_back(index),
            Removed::Oldest | Removed::Latest => self.files.remove(index),
        }
    }

    /// A random file, taken out.
    fn take_random(&mut self, random: &mut Random) -> Option<File> {
        let count = self.files.len() as u64;
        (count > 0)
            .then(|| pick(random, count) as usize)
            .and_then(|index| self.take(index))
    }

    /// The file that is removed next.
    fn take_removed(&mut self, random: &mut Random) -> Option<File> {
        match self.removed {
            Removed::Random => self.take_random(random),
            Removed::Oldest => self.files.pop_front(),
            Removed::Latest => self.files.pop_back(),
        }
    }

    /// The file that makes room for others.
    fn take_for_room(&mut self, random: &mut Random) -> Option<File> {
        match self.removed {
            Removed::Oldest => self.files.pop_front(),
            // What is latest was just made, and is still wanted.
            Removed::Random | Removed::Latest => self.take_random(random),
        }
    }

    /// Removes files until `bytes` more bytes fit, and formats if that does not help.
    fn make_room(&mut self, bytes: u64, random: &mut Random, disk: &mut Disk) {
        while !self.system.fits(bytes) {
            match self.take_for_room(random) {
                Some(file) => self.system.remove(file, disk),
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

    /// Makes the large file, if it is written at all.
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
            self.system.remove(file, disk);
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
        self.files.push_back(file);
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
                let Some(mut file) = self.take(index) else {
                    return;
                };
                if !self.system.fits(bytes) {
                    self.system.remove(file, disk);
                    return;
                }
                if file.bytes + bytes <= self.sizes.max {
                    self.system.append(&mut file, bytes, disk);
                }
                match self.removed {
                    Removed::Random => self.files.push_back(file),
                    Removed::Oldest | Removed::Latest => self.files.insert(index, file),
                }
            }
            (Some(_), _) => {
                if let Some(file) = self.take_removed(random) {
                    self.system.remove(file, disk);
                }
            }
            (None, _) => self.create(random, disk),
        }
    }
}

#[cfg(test)]
mod tests;
