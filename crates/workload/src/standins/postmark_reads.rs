//! `standin-postmark-reads`: PostMark. It replaces the PostMark trace that comes with the SSD extension of DiskSim.
//!
//! The first tenth of the requests writes the initial files. After that, files are read and further files are made.
//! The first lengths of runs of pages were those of the trace. Small pieces are written in bursts between the runs. The
//! counts, lengths and gaps were adjusted until the evictions and response times of five buffer schemes agreed
//! with those on the trace.

use super::streams::{Stream, Table, make, streams};
use crate::Workload;
use crate::shared::{FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS};
use destage_base::parameter::Parameter;

pub(crate) const WORKLOAD: Workload = Workload {
    name: TABLE.name,
    about: "Stand-in for the PostMark trace that comes with the SSD extension of DiskSim: large files are written and then read, with bursts of small writes in between; hardly any page is written again.",
    parameters: &[
        Parameter {
            default: "62257",
            source: "trace ssd-postmark-aligned2",
            ..REQUESTS
        },
        Parameter {
            default: "2900000",
            source: "so that as many different pages are written as in the trace",
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        Parameter {
            default: "7.9",
            source: "the sum of the table; trace ssd-postmark-aligned2: 490 s",
            ..MEAN_INTERARRIVAL_MS
        },
    ],
    make: |values, seed| make(&TABLE, values, seed),
};

const TABLE: Table = Table {
    name: "standin-postmark-reads",
    streams: STREAMS,
    area_pages: 2_900_000,
    mean_ms: 7.9,
};

const STREAMS: &[Stream] = streams! {
    WRITE   140, 0.0 to 9.6, turn 1, times 1.0, run 1500 to 1500 align 1 passes 1000000 step 1, gap 20.0 11.5 0.0, sectors 1 of 8;
    WRITE    24, 0.0 to 9.6, turn 12, times 1.0, run 8 to 8 align 8 passes 1 step 0, gap 85.0 8.0 0.0, sectors 1 of 8;
    WRITE    32, 0.0 to 9.6, turn 12, times 1.0, run 16 to 24 align 8 passes 1 step 0, gap 85.0 4.0 0.0, sectors 1 of 24;
    WRITE    99, 0.0 to 9.6, turn 12, times 1.0, run 32 to 56 align 8 passes 1 step 0, gap 85.0 4.0 0.0, sectors 1 of 56;
    WRITE   146, 0.0 to 9.6, turn 12, times 1.0, run 64 to 120 align 8 passes 1 step 0, gap 85.0 8.0 0.0, sectors 1 of 120;
    WRITE   330, 0.0 to 9.6, turn 1, times 1.0, run 128 to 2048 align 8 passes 1 step 0, gap 30.0 23.0 0.0, sectors 1 of 2048;
    WRITE  1020, 0.0 to 9.6, turn 2, times 1.0, run 8192 to 130000 align 8 passes 1 step 0, gap 20.0 28.75 0.0, sectors 2 of 2048, 1 of 8192;
    WRITE  1479, 0.0 to 9.6, turn 3, times 1.0, run 8192 to 130000 align 8 passes 1 step 0, gap 10.0 51.75 0.0, sectors 2 of 2048, 1 of 8192;
    WRITE   900, 9.6 to 100.0, turn 1, times 1.0, run 1500 to 1500 align 1 passes 1000000 step 1, gap 20.0 100.0 0.0, sectors 1 of 8;
    WRITE   116, 9.6 to 100.0, turn 12, times 1.0, run 8 to 8 align 8 passes 1 step 0, gap 85.0 120.0 0.0, sectors 1 of 8;
    WRITE    91, 9.6 to 100.0, turn 12, times 1.0, run 16 to 24 align 8 passes 1 step 0, gap 85.0 4.0 0.0, sectors 1 of 24;
    WRITE   124, 9.6 to 100.0, turn 12, times 1.0, run 32 to 56 align 8 passes 1 step 0, gap 85.0 4.0 0.0, sectors 1 of 56;
    WRITE   209, 9.6 to 100.0, turn 12, times 1.0, run 64 to 120 align 8 passes 1 step 0, gap 85.0 8.0 0.0, sectors 1 of 120;
    WRITE   195, 9.6 to 100.0, turn 1, times 1.0, run 128 to 512 align 8 passes 1 step 0, gap 30.0 5.75 0.0, sectors 1 of 512;
    WRITE   664, 9.6 to 100.0, turn 2, times 1.0, run 700 to 2048 align 8 passes 1 step 0, gap 30.0 9.2 0.0, sectors 1 of 2048;
    WRITE  1520, 9.6 to 100.0, turn 2, times 1.0, run 8192 to 65536 align 8 passes 1 step 0, gap 20.0 9.2 0.0, sectors 5 of 2048, 1 of 8192;
    WRITE   850, 9.6 to 100.0, turn 3, times 1.0, run 8192 to 65536 align 8 passes 1 step 0, gap 10.0 11.5 0.0, sectors 5 of 2048, 1 of 8192;
    READ   1920, 0.0 to 9.6, turn 3, times 1.0, run 1024 to 8192 align 8 passes 1 step 0, gap 10.0 20.7 0.0, sectors 1 of 192, 1 of 8192;
    READ   3485, 9.6 to 100.0, turn 2, times 1.0, run 8 to 120 align 8 passes 1 step 0, gap 10.0 13.8 0.0, sectors 1 of 120;
    READ  48956, 9.6 to 100.0, turn 10, times 1.0, run 512 to 14000 align 8 passes 1 step 0, gap 0.0 4.37 0.0, sectors 4 of 128, 1 of 64;
};
