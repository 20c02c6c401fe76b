//! The streams of the first 10000 requests of `standin-financial1`. They imitate the first 10000 requests of the
//! public trace Financial1.
//!
//! The kinds of streams, and first estimates of the counts, were derived from the 19 disks of Financial1. The trace
//! has logs that write each address two or three times before they advance, and small regions that are written again
//! and again. It also has a log that is written twice in requests of 48 KiB, small cold regions, and two regions that
//! are read from start to end. Counts, lengths and gaps were then adjusted until the evictions and response times of
//! five buffer schemes agreed with those on the trace.

use super::streams::{Stream, streams};

/// The streams, one row each.
pub(super) const FINANCIAL1_HEAD: &[Stream] = streams! {
    WRITE  1013, 0.0 to 100.0, turn 1, times 1.0, run 20000 to 20000 align 1 passes 1 step 0, gap 29.0 47.0 0.0, sectors 640 of 7, 110 of 3, 71 of 24;
    WRITE   240, 0.0 to 97.0, turn 1, times 2.4, run 800 to 800 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE   430, 0.0 to 100.0, turn 1, times 3.0, run 68 to 68 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 2;
    WRITE   252, 0.0 to 100.0, turn 1, times 3.0, run 200 to 200 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 2;
    WRITE   630, 0.0 to 100.0, turn 1, times 6.0, run 310 to 310 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE   240, 20.0 to 90.0, turn 110, times 1.0, run 15000 to 15000 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 96;
    WRITE   169, 0.0 to 100.0, turn 1, times 10.0, run 460 to 460 align 1 passes 1000 step 0, gap 29.0 33.0 0.0, sectors 94 of 16, 30 of 15, 19 of 13;
    WRITE   124, 0.0 to 100.0, turn 1, times 3.0, run 640 to 640 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 16, 1 of 13;
    WRITE   108, 0.0 to 85.0, turn 1, times 8.0, run 200 to 200 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 16, 1 of 11;
    WRITE   120, 0.0 to 100.0, turn 1, times 2.0, run 430 to 430 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 2 of 16, 1 of 4;
    WRITE    67, 0.0 to 100.0, turn 1, times 10.0, run 51 to 51 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 16, 1 of 13;
    WRITE   110, 0.0 to 100.0, turn 1, times 2.0, run 170 to 170 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 2;
    WRITE   130, 0.0 to 100.0, turn 1, times 2.0, run 140 to 140 align 1 passes 1000 step 0, gap 29.0 54.0 0.0, sectors 1 of 2;
    WRITE    97, 0.0 to 100.0, turn 1, times 1.0, run 28 to 28 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 5, 1 of 1;
    WRITE   170, 0.0 to 100.0, turn 1, times 1.0, run 18 to 18 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 5, 1 of 1;
    WRITE   160, 0.0 to 100.0, turn 1, times 2.0, run 360 to 360 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE   162, 0.0 to 100.0, turn 1, times 2.0, run 390 to 390 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE   100, 0.0 to 100.0, turn 1, times 1.0, run 7 to 7 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE    85, 0.0 to 100.0, turn 1, times 1.0, run 1100 to 1100 align 1 passes 1000 step 0, gap 29.0 74.0 0.0, sectors 1 of 6;
    WRITE    85, 0.0 to 100.0, turn 1, times 1.0, run 610 to 610 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE   168, 0.0 to 100.0, turn 1, times 2.0, run 280 to 280 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 2;
    WRITE    59, 0.0 to 100.0, turn 1, times 1.0, run 11 to 11 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE    81, 0.0 to 100.0, turn 1, times 1.0, run 12 to 12 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE    81, 0.0 to 100.0, turn 1, times 1.0, run 1 to 1 align 1 passes 1000000 step 1, gap 29.0 28.0 0.0, sectors 1 of 1;
    WRITE   160, 0.0 to 100.0, turn 1, times 1.0, run 3 to 3 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 6;
    WRITE    67, 0.0 to 100.0, turn 1, times 1.0, run 380 to 380 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1;
    WRITE    67, 11.0 to 100.0, turn 1, times 1.0, run 1500 to 1500 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1;
    WRITE    54, 0.0 to 100.0, turn 1, times 1.0, run 43 to 43 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 24;
    WRITE    49, 0.0 to 100.0, turn 1, times 1.0, run 36 to 36 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 24;
    WRITE    54, 0.0 to 100.0, turn 1, times 1.0, run 55 to 55 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 24;
    WRITE    51, 0.0 to 100.0, turn 1, times 1.0, run 35 to 35 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 1;
    WRITE    44, 0.0 to 100.0, turn 1, times 1.0, run 11 to 11 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 11;
    WRITE    39, 0.0 to 100.0, turn 1, times 1.0, run 32 to 32 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1;
    WRITE    38, 0.0 to 100.0, turn 1, times 1.0, run 310 to 310 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 13, 1 of 9, 1 of 2;
    WRITE    24, 0.0 to 100.0, turn 1, times 1.0, run 270 to 270 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 6, 1 of 18;
    WRITE    91, 0.0 to 100.0, turn 1, times 2.0, run 65 to 65 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 5;
    WRITE   210, 0.0 to 100.0, turn 1, times 3.0, run 240 to 240 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 2 of 1, 2 of 4, 1 of 16;
    WRITE   150, 0.0 to 100.0, turn 1, times 1.0, run 16 to 160 align 1 passes 1 step 0, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 8, 1 of 16;
    WRITE   120, 0.0 to 100.0, turn 1, times 1.0, run 16 to 300 align 1 passes 1 step 0, gap 29.0 47.0 0.0, sectors 1 of 1, 1 of 8;
    READ   1435, 0.0 to 100.0, turn 1, times 1.0, run 36000 to 36000 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 16;
    READ   1500, 0.0 to 100.0, turn 1, times 1.0, run 23000 to 23000 align 1 passes 1000 step 0, gap 29.0 47.0 0.0, sectors 1 of 16;
    READ    540, 0.0 to 100.0, turn 1, times 1.0, run 1500 to 1500 align 1 passes 1000000 step 1, gap 29.0 47.0 0.0, sectors 1 of 1;
    READ    590, 12.0 to 100.0, turn 1, times 1.0, run 1000 to 1000 align 1 passes 1000 step 0, gap 29.0 52.0 0.0, sectors 1 of 6, 1 of 1;
    WRITE    70, 0.0 to 100.0, turn 1, times 1.0, run 1 to 30 align 1 passes 1 step 0, gap 29.0 47.0 0.0, sectors 1 of 2, 1 of 4;
    WRITE    50, 0.0 to 100.0, turn 1, times 1.0, run 1 to 60 align 1 passes 1 step 0, gap 29.0 47.0 0.0, sectors 1 of 8;
};
