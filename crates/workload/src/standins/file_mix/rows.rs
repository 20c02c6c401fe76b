//! The workloads that use the file mix, one for each application, and their common parameters.

use super::{Removed, make};
use crate::Workload;
use crate::files::ext;
use crate::shared::REQUESTS;
use crate::standins::parameters::{
    BLOCK_BYTES, CHECKPOINT_COMMITS, COMMIT_PAGES, GAP_MS, MAX_FILE_BYTES, MAX_REQUEST_PAGES,
    MEAN_FILE_BYTES, MEDIAN_FILE_BYTES, MIN_FILE_BYTES, VOLUME_PAGES,
};
use destage_base::parameter::{Field, Kind, Parameter};
use destage_base::{choices, parameters};

const PERCENT: Kind = Kind::Number {
    min: 0.0,
    max: 100.0,
};

choices! {
    /// The file system of a mix.
    pub(super) enum FileSystemKind {
        Fat = "fat",
        Ext3 = "ext3",
        Ntfs = "ntfs",
    }
}

const FILE_SYSTEM: Parameter = Parameter {
    name: "file_system",
    kind: FileSystemKind::KIND,
    default: "ntfs",
    unit: "",
    about: "The file system; checkpoint_commits has no meaning for fat.",
    source: "",
    ..Parameter::BLANK
};
const LIVE_FILES: Parameter = Parameter {
    name: "live_files",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 24,
    },
    default: "500",
    unit: "files",
    about: "Most files in the volume; a file beyond that number replaces another.",
    source: "",
    ..Parameter::BLANK
};
const DIRECTORY_FILES: Parameter = Parameter {
    name: "directory_files",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 32,
    },
    default: "100",
    unit: "files",
    about: "New files that go to a directory before another directory is made, up to as many directories as live files need.",
    source: "",
    ..Parameter::BLANK
};
const HOT_PERCENT: Parameter = Parameter {
    name: "hot_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that write somewhere in the large file.",
    source: "",
    ..Parameter::BLANK
};
const READ_PERCENT: Parameter = Parameter {
    name: "read_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that read a whole file.",
    source: "",
    ..Parameter::BLANK
};
const APPEND_PERCENT: Parameter = Parameter {
    name: "append_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that put a piece at the end of a file, as long as it stays below max_file_bytes.",
    source: "",
    ..Parameter::BLANK
};
const REMOVE_PERCENT: Parameter = Parameter {
    name: "remove_percent",
    kind: PERCENT,
    default: "0",
    unit: "%",
    about: "Share of steps that remove a file; the remaining steps make new files.",
    source: "",
    ..Parameter::BLANK
};
const REMOVED: Parameter = Parameter {
    name: "removed",
    kind: Removed::KIND,
    default: "random",
    unit: "",
    about: "Which file is removed. If a file is removed to make room, latest chooses a random one.",
    source: "",
    ..Parameter::BLANK
};
const PROCESSES: Parameter = Parameter {
    name: "processes",
    kind: Kind::Integer {
        min: 1,
        max: ext::COLOURS,
    },
    default: "1",
    unit: "processes",
    about: "Number of processes that make files in turn: ext3 gives each its own sixteenth of a group to begin with.",
    source: "",
    ..Parameter::BLANK
};
const WAIT_COMMITS: Parameter = Parameter {
    name: "wait_commits",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 10,
    },
    default: "1",
    unit: "commits",
    about: "Number of write-backs during which a changed page stays in memory, on ntfs.",
    source: "",
    ..Parameter::BLANK
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
    ..Parameter::BLANK
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
    ..Parameter::BLANK
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
    ..Parameter::BLANK
};
const APPEND_BYTES: Parameter = Parameter {
    name: "append_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 30,
    },
    default: "4KiB",
    unit: "bytes",
    about: "Largest piece appended to a file; sizes from one byte up to it are equally likely.",
    source: "",
    ..Parameter::BLANK
};

parameters! {
    /// The parameters that the workloads of this machine can have.
    pub(super) struct Parameters {
        requests: u64 as REQUESTS;
        page_bytes: u64 as BLOCK_BYTES;
        footprint_pages: u64 as VOLUME_PAGES;
        mean_interarrival_ms: f64 as GAP_MS;
        file_system: FileSystemKind as FILE_SYSTEM;
        mean_file_bytes: u64 as MEAN_FILE_BYTES;
        median_file_bytes: u64 as MEDIAN_FILE_BYTES;
        min_file_bytes: u64 as MIN_FILE_BYTES;
        max_file_bytes: u64 as MAX_FILE_BYTES;
        live_files: u64 as LIVE_FILES;
        directory_files: u64 as DIRECTORY_FILES;
        hot_percent: f64 as HOT_PERCENT;
        read_percent: f64 as READ_PERCENT;
        append_percent: f64 as APPEND_PERCENT;
        remove_percent: f64 as REMOVE_PERCENT;
        removed: Removed as REMOVED;
        processes: u64 as PROCESSES;
        hot_file_bytes: u64 as HOT_FILE_BYTES;
        hot_write_bytes: u64 as HOT_WRITE_BYTES;
        append_bytes: u64 as APPEND_BYTES;
        commit_pages: u64 as COMMIT_PAGES;
        wait_commits: u64 as WAIT_COMMITS;
        checkpoint_commits: u64 as CHECKPOINT_COMMITS;
        max_request_pages: u64 as MAX_REQUEST_PAGES;
        max_read_pages: u64 as MAX_READ_PAGES;
    }
}

/// The distribution of the sizes of new files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeLaw {
    LogNormal,
    Uniform,
}

/// Declares a workload by its name, its distribution of file sizes, and the defaults of its parameters.
macro_rules! row {
    ($row:ident, $name:literal, $law:ident, $about:literal, $($parameter:ident = $default:literal, $source:literal;)*) => {
        pub(crate) const $row: Workload = Workload {
            name: $name,
            about: $about,
            parameters: &[
                BLOCK_BYTES,
                DIRECTORY_FILES,
                $(Parameter { default: $default, source: $source, ..$parameter }),*
            ],
            make: |values, seed| make($name, SizeLaw::$law, values, seed),
        };
    };
}

row! {
    OFFICE_INSTALL, "standin-office-install", LogNormal,
    "Stand-in for installing an office package to NTFS (BPLRU W1): large files once, and a registry, a log and the file table again and again.",
    REQUESTS = "20000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks";
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
    HOT_FILE_BYTES = "4MiB", "";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "4KiB", "";
    COMMIT_PAGES = "256", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer writes an eighth of the waiting pages";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    BROWSER_CACHE, "standin-browser-cache", LogNormal,
    "Stand-in for a browser's cache on NTFS (BPLRU W2): 100 MB of many small files, and an index rewritten with each.",
    REQUESTS = "10000", "BPLRU (FAST 2008), W2: 100 MB";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks";
    GAP_MS = "5", "";
    FILE_SYSTEM = "ntfs", "BPLRU (FAST 2008), W2";
    MEAN_FILE_BYTES = "13000", "estimate: objects of web pages of that time";
    MEDIAN_FILE_BYTES = "4000", "estimate";
    MAX_FILE_BYTES = "2MB", "estimate";
    LIVE_FILES = "1000000", "nothing is removed";
    HOT_PERCENT = "75", "fitted to the order that BPLRU (FAST 2008) has of BPLRU and FAB";
    READ_PERCENT = "0", "BPLRU (FAST 2008), section 4: writes only";
    APPEND_PERCENT = "0", "";
    REMOVE_PERCENT = "0", "estimate: 100 MB are below a cache's limit";
    REMOVED = "oldest", "a cache above its limit removes the least recently used files";
    HOT_FILE_BYTES = "32MiB", "fitted to the same order";
    HOT_WRITE_BYTES = "512", "estimate";
    APPEND_BYTES = "4KiB", "";
    COMMIT_PAGES = "64", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer writes an eighth of the waiting pages";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    PCMARK, "standin-pcmark", LogNormal,
    "Stand-in for PCMark05's disk tests on NTFS (BPLRU W3): files of all sizes made, changed and removed, and small writes to one large file.",
    REQUESTS = "30000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks";
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
    HOT_FILE_BYTES = "4MiB", "";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "32KiB", "estimate";
    COMMIT_PAGES = "128", "estimate: 1 s";
    WAIT_COMMITS = "8", "Windows Internals: each second the lazy writer writes an eighth of the waiting pages";
    CHECKPOINT_COMMITS = "5", "NTFS: every 5 s";
    MAX_REQUEST_PAGES = "16", "Windows XP: 64 KiB";
    MAX_READ_PAGES = "16", "Windows XP: 64 KiB";
}
row! {
    KERNEL_COMPILE, "standin-kernel-compile-ext3", LogNormal,
    "Stand-in for compiling Linux on ext3 (BPLRU W8): object files and lists of their dependencies, many of them temporary, with commits between few files.",
    REQUESTS = "20000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks";
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
    HOT_FILE_BYTES = "4MiB", "";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "16KiB", "";
    COMMIT_PAGES = "128", "estimate: the output of a compiler in 5 s";
    CHECKPOINT_COMMITS = "6", "Linux: 30 s over 5 s";
    MAX_REQUEST_PAGES = "32", "Linux 2.6: 128 KiB";
    MAX_READ_PAGES = "32", "Linux 2.6: 128 KiB";
}
row! {
    POSTMARK, "standin-postmark", Uniform,
    "Stand-in for PostMark on FAT, ext3 or NTFS (BPLRU W9): a pool of small files that come, grow and go.",
    REQUESTS = "50000", "";
    VOLUME_PAGES = "261120", "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks";
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
    HOT_FILE_BYTES = "4MiB", "";
    HOT_WRITE_BYTES = "4KiB", "";
    APPEND_BYTES = "9770", "PostMark's default";
    COMMIT_PAGES = "64", "estimate";
    CHECKPOINT_COMMITS = "6", "";
    MAX_REQUEST_PAGES = "16", "";
    MAX_READ_PAGES = "16", "";
}
