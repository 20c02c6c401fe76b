//! Compares the write amplification of greedy garbage collection with an independent simulation: the table
//! `paper/simop.csv` of SSD-iq (Haas et al., VLDB 18(11), 2025; gabriel-haas/ssdiq-pub).

use destage::{Effort, Grid, Input, Settings, compare};

/// The fraction of the flash that holds data, and the pages programmed for each page written, while uniformly random
/// pages are written.
const TABLE: [(f64, f64); 6] = [
    (0.3, 1.038838),
    (0.5, 1.254278),
    (0.7, 1.873485),
    (0.8, 2.688969),
    (0.85, 3.512788),
    (0.9, 5.170586),
];
const BLOCKS: f64 = 1024.0;
const PAGES_PER_BLOCK: f64 = 256.0;

#[test]
fn greedy_collection_programs_as_many_pages_as_an_independent_simulation() {
    for (fill, expected) in TABLE {
        // As there, collection begins when no block is free, and moved pages share the open block with new ones.
        let mut settings = Settings::new();
        for pair in [
            "ftl.kind=page",
            "ftl.gc_policy=greedy",
            "ftl.separate_gc_block=false",
            "ftl.gc_low=1",
            "flash.dies=1",
            "flash.planes_per_die=1",
            "flash.blocks_per_plane=1024",
            "flash.pages_per_block=256",
            "flash.page_bytes=4096",
            "sim.costing=op_count",
            "sim.precondition=random_fill:5",
            "buffer.kind=nocache",
        ] {
            settings.set_pair(pair).unwrap();
        }
        let reserve = format!("ftl.reserve_percent={}", 100.0 * (1.0 - fill));
        settings.set_pair(&reserve).unwrap();
        let pages = (BLOCKS * fill).floor() * PAGES_PER_BLOCK;
        let workload = format!(
            "uniform:requests=500000,footprint_pages={pages},write_percent=100,max_pages=1,page_bytes=4096"
        );
        let input = Input::workload(&workload, &[]).unwrap();
        let combinations = Grid::new(settings).combinations().unwrap();
        let results = compare(&[input], &combinations, &Effort::default()).unwrap();
        let found = results.runs[0].metric("waf.host").unwrap().unwrap();
        let error = found / expected - 1.0;
        assert!(error.abs() < 0.01, "{fill}: {found}, there {expected}");
    }
}
