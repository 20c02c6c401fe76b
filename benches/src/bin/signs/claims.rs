//! What the BPLRU paper (Kim and Ahn, FAST 2008) says of its workloads, and the stand-ins it is looked at on.
//!
//! `paper` is the published figure in short; where only an order was published it is that order in words. The settings
//! of `over` are those that matter most for the result and were not published, one changed at a time.

/// Which way a figure goes, of the scheme looked at against the other one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    More,
    Less,
    /// Nothing was published.
    Open,
}

/// A size of the buffer, and what is to be expected there.
pub struct At {
    pub mib: u64,
    pub paper: &'static str,
    pub throughput: Sign,
    pub erases: Sign,
}

/// A comparison of `bplru` with another scheme on a workload.
pub struct Claim {
    /// The workload's number in the paper, and where the claim stands.
    pub paper: &'static str,
    pub workload: &'static str,
    pub against: &'static str,
    pub at: &'static [At],
    pub over: &'static [&'static str],
}

const fn at(mib: u64, paper: &'static str, throughput: Sign, erases: Sign) -> At {
    At {
        mib,
        paper,
        throughput,
        erases,
    }
}

use Sign::{Less, More, Open};

/// Of uniform random writes: FAB is faster from some size on, BPLRU erases less.
const IOMETER: &[At] = &[
    at(1, "fewer erases", Open, Less),
    at(4, "slower, fewer erases", Less, Less),
    at(16, "slower, fewer erases", Less, Less),
];
/// Of W2 and W3: slower with a small buffer, faster with a large one, fewer erases always.
const CROSSING: &[At] = &[
    at(1, "slightly slower, fewer erases", Less, Less),
    at(2, "slightly slower, fewer erases", Less, Less),
    at(4, "slightly slower, fewer erases", Less, Less),
    at(8, "fewer erases", Open, Less),
    at(16, "faster, fewer erases", More, Less),
];

/// Of W9 on each of its file systems.
const POSTMARK: &[At] = &[at(4, "faster", More, Open), at(16, "faster", More, Open)];
const POSTMARK_OVER: &[&str] = &[
    "commit_pages=16",
    "commit_pages=1024",
    "live_files=1000",
    "live_files=20000",
];
/// Of W1.
const OFFICE_OVER: &[&str] = &[
    "wait_commits=1",
    "commit_pages=64",
    "commit_pages=1024",
    "hot_percent=0",
    "requests=100000",
];
/// Of W5.
const MP3_OVER: &[&str] = &["commit_pages=16", "commit_pages=4096"];

pub const CLAIMS: &[Claim] = &[
    Claim {
        paper: "W1, 4.2.2",
        workload: "standin-office-install",
        against: "fab",
        at: &[
            at(1, "", Open, Open),
            at(4, "", Open, Open),
            at(8, "", Open, Open),
            at(16, "+43 %, erases -41 %", More, Less),
        ],
        over: OFFICE_OVER,
    },
    Claim {
        paper: "W2, 4.2.2",
        workload: "standin-browser-cache",
        against: "fab",
        at: CROSSING,
        over: &[
            "wait_commits=1",
            "commit_pages=16",
            "commit_pages=256",
            "hot_percent=0",
            "hot_percent=45",
            "hot_file_bytes=4MiB",
            "remove_percent=5",
        ],
    },
    Claim {
        paper: "W3, 4.2.2",
        workload: "standin-pcmark",
        against: "fab",
        at: CROSSING,
        over: &[
            "wait_commits=1",
            "commit_pages=32",
            "commit_pages=512",
            "hot_percent=0",
            "requests=100000",
        ],
    },
    Claim {
        paper: "W4, 4.2.2: 2 KiB",
        workload: "standin-iometer-random:page_bytes=2048,footprint_pages=522240,requests=200000",
        against: "fab",
        at: IOMETER,
        over: &[],
    },
    Claim {
        paper: "W4, 4.2.2: 4 KiB",
        workload: "standin-iometer-random:requests=200000",
        against: "fab",
        at: IOMETER,
        over: &[],
    },
    Claim {
        paper: "W4: 16 KiB, by arithmetic",
        workload: "standin-iometer-random:page_bytes=16384,footprint_pages=65280,requests=50000",
        against: "fab",
        at: &[
            at(1, "faster, fewer erases", More, Less),
            at(4, "faster, fewer erases", More, Less),
            at(16, "faster, fewer erases", More, Less),
        ],
        over: &[],
    },
    Claim {
        paper: "W5, 4.2.2",
        workload: "standin-mp3-fat",
        against: "fab",
        at: &[
            at(1, "does no harm", More, Open),
            at(4, "does no harm", More, Open),
            at(16, "does no harm", More, Open),
        ],
        over: MP3_OVER,
    },
    Claim {
        paper: "W5, 4.2.2",
        workload: "standin-mp3-fat",
        against: "nocache",
        at: &[
            at(1, "prototype: slower", Open, Open),
            at(16, "prototype: slower", Open, Open),
        ],
        over: MP3_OVER,
    },
    Claim {
        paper: "W6, 4.2.2",
        workload: "standin-p2p",
        against: "fab",
        at: &[
            at(1, "much faster", More, Open),
            at(4, "much faster", More, Open),
            at(8, "FAB needs more memory", Open, Open),
            at(16, "FAB needs more memory", Open, Open),
        ],
        over: &[
            "commit_pages=16",
            "peers=4",
            "peers=32",
            "chunk_bytes=16KiB",
        ],
    },
    Claim {
        paper: "W7, 4.2.2",
        workload: "standin-untar-ext3",
        against: "fab",
        at: &[
            at(1, "", Open, Open),
            at(4, "", Open, Open),
            at(8, "", Open, Open),
            at(16, "+39 %", More, Open),
        ],
        over: &[
            "commit_pages=1024",
            "commit_pages=16384",
            "requests=22000",
            "checkpoint_commits=1",
            "directory_files=5",
        ],
    },
    Claim {
        paper: "W8, 4.2.2",
        workload: "standin-kernel-compile-ext3",
        against: "fab",
        at: &[
            at(1, "", Open, Open),
            at(4, "", Open, Open),
            at(8, "", Open, Open),
            at(16, "+23 %", More, Open),
        ],
        over: &[
            "commit_pages=32",
            "commit_pages=512",
            "processes=1",
            "removed=random",
            "append_percent=0",
            "requests=60000",
        ],
    },
    Claim {
        paper: "W9, figure 15: FAT16",
        workload: "standin-postmark:file_system=fat",
        against: "fab",
        at: POSTMARK,
        over: POSTMARK_OVER,
    },
    Claim {
        paper: "W9, figure 15: ext3",
        workload: "standin-postmark:file_system=ext3",
        against: "fab",
        at: POSTMARK,
        over: POSTMARK_OVER,
    },
    Claim {
        paper: "W9, figure 15: NTFS",
        workload: "standin-postmark:file_system=ntfs",
        against: "fab",
        at: POSTMARK,
        over: POSTMARK_OVER,
    },
    Claim {
        paper: "W1, figure 17: padding",
        workload: "standin-office-install",
        against: "bplru:pad=false",
        at: &[
            at(1, "", Open, Open),
            at(4, "", Open, Open),
            at(16, "+26 %", More, Open),
        ],
        over: OFFICE_OVER,
    },
    Claim {
        paper: "W5, figure 18: compensation",
        workload: "standin-mp3-fat",
        against: "bplru:comp=false",
        at: &[
            at(1, "+10 %", More, Open),
            at(4, "less than at 1 MB", Open, Open),
            at(16, "less than at 1 MB", Open, Open),
        ],
        over: MP3_OVER,
    },
];

/// Of `standin-iometer-random` with requests of 2 KiB: buffer in MiB, and the mean of pages in a destage that follows from
/// uniform choice alone, of BPLRU and of FAB.
pub const MEAN_DESTAGE: [(u64, f64, f64); 3] = [(1, 1.12, 1.14), (4, 1.49, 1.98), (16, 2.97, 4.96)];

/// Writes between two flush commands, for figure 16.
pub const FLUSH_EVERY: [u64; 6] = [1, 4, 16, 64, 256, 1024];
