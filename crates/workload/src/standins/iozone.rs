//! `standin-iozone`: IOzone's automatic mode, in place of the trace that comes with the SSD extension of DiskSim.
//!
//! Small files first; then records of 256 KiB, in short loops and in any order through files, some of which begin on a
//! block and some not; and four times large files from end to end with pieces of records between. The time after a
//! request goes with its size. Counts, lengths and gaps were set so that five schemes evict and respond as on the trace.

use super::streams::{Stream, Table, make, streams};
use crate::Workload;
use crate::shared::{FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS};
use destage_base::parameter::Parameter;

pub(crate) const WORKLOAD: Workload = Workload {
    name: TABLE.name,
    about: "Stand-in for IOzone in automatic mode: files written from end to end and in any order, again and again.",
    parameters: &[
        Parameter {
            default: "100000",
            source: "trace ssd-iozone-aligned2-100K",
            ..REQUESTS
        },
        Parameter {
            default: "4212868",
            source: "trace ssd-iozone-aligned2-100K: the last page",
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        Parameter {
            default: "9.4",
            source: "what the table comes to; trace ssd-iozone-aligned2-100K: 936 s",
            ..MEAN_INTERARRIVAL_MS
        },
    ],
    make: |values, seed| make(&TABLE, values, seed),
};

const TABLE: Table = Table {
    name: "standin-iozone",
    streams: STREAMS,
    area_pages: 300_000,
    mean_ms: 9.4,
};

const STREAMS: &[Stream] = streams! {
    WRITE  4600, 0.0 to 12.0, turn 4, times 1.0, run 64 to 4096 align 16 passes 3 step 0, gap 10.0 1.0 0.0068, sectors 12 of 8, 28 of 16, 17 of 32, 12 of 24, 9 of 64, 8 of 128, 6 of 256;
    WRITE   900, 0.0 to 12.0, turn 1, times 1.0, run 16 to 16 align 8 passes 1000 step 8, gap 20.0 80.0 0.0, sectors 1 of 8;
    WRITE   500, 12.0 to 100.0, turn 1, times 1.0, run 320 to 320 align 8 passes 1000 step 8, gap 20.0 80.0 0.0, sectors 1 of 8;
    WRITE   950, 0.0 to 100.0, turn 1, times 1.0, run 8000 to 8000 align 8 passes 1 step 0, gap 20.0 80.0 0.0, sectors 1 of 8;
    WRITE 11500, 2.0 to 100.0, turn 30, times 1.0, run 3584 to 3584 align 32 passes 40 step 0, gap 10.0 4.0 0.0115, sectors 1 of 512;
    WRITE 23000, 4.0 to 100.0, turn 40, times 1.0, run 32768 to 131072 align 128 passes 6 step 512, gap 10.0 4.0 0.0125, sectors 1 of 512;
    WRITE 49830, 4.0 to 100.0, turn 40, times 1.0, run 32768 to 131072 align 512 passes 6 step 512, gap 27.0 0.3 0.0115, sectors 1 of 512;
    WRITE   300, 9.0 to 13.0, turn 8, times 1.0, run 32768 to 131072 align 32 passes 2 step 0, gap 0.0 0.5 0.0066, sectors 2 of 8192, 1 of 2048, 1 of 6144;
    WRITE   620, 20.0 to 25.0, turn 8, times 1.0, run 32768 to 262144 align 32 passes 2 step 0, gap 0.0 0.5 0.0066, sectors 3 of 8192, 1 of 2048, 1 of 6144;
    WRITE  1250, 40.0 to 50.0, turn 8, times 1.0, run 65536 to 524288 align 32 passes 2 step 0, gap 0.0 0.5 0.0066, sectors 3 of 8192, 1 of 2048, 1 of 6144;
    WRITE  2250, 80.0 to 90.0, turn 8, times 1.0, run 131072 to 1048576 align 32 passes 2 step 0, gap 0.0 0.5 0.0066, sectors 3 of 8192, 1 of 2048, 1 of 6144;
    WRITE   480, 20.0 to 25.0, turn 4, times 1.0, run 128 to 384 align 128 passes 1 step 0, gap 0.0 10.0 0.0068, sectors 1 of 384;
    WRITE  1040, 40.0 to 50.0, turn 4, times 1.0, run 128 to 384 align 128 passes 1 step 0, gap 0.0 10.0 0.0068, sectors 1 of 384;
    WRITE  2400, 80.0 to 90.0, turn 4, times 1.0, run 128 to 384 align 128 passes 1 step 0, gap 0.0 10.0 0.0068, sectors 1 of 384;
    WRITE   330, 74.0 to 77.0, turn 4, times 1.0, run 8 to 8 align 8 passes 1 step 0, gap 0.0 8.0 0.0, sectors 1 of 8;
    WRITE   100, 4.0 to 20.0, turn 4, times 1.0, run 16 to 24 align 8 passes 1 step 0, gap 10.0 8.0 0.0, sectors 1 of 24;
};
