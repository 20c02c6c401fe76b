//! Compares the block-level schemes with results that are published or were worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::{Bench, Completion, Operation, Record};
use destage_base::Lpn;
use destage_base::parameter::Values;
use destage_buffer::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use destage_buffer::view::NoDevice;
use destage_buffer::{COMMON, DestageCause, SchemeConfig, SchemeRow, destage::Slot, find};

/// The write sequence of BPLRU (FAST 2008), Table 1.
const S1: &[u64] = &[0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
/// `S1` with the writes of 12 and 16 swapped. The rows that the table prints follow this order.
const S1_AS_PRINTED: &[u64] = &[0, 4, 8, 16, 12, 1, 5, 9, 13, 17, 2, 6, 10, 14];
/// A stream on which the schemes destage in different orders. It contains runs of pages, a hot page, and rewrites
/// of older pages.
const S2: &[u64] = &[
    0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
];

fn values(row: &SchemeRow, parameters: &str) -> Values {
    let rows = || COMMON.iter().chain(row.parameters);
    let mut values = Values::defaults(rows());
    for word in parameters.split_whitespace() {
        let (name, value) = word.split_once('=').unwrap();
        let row = rows().find(|row| row.name == name).unwrap();
        values.set(row.name, row.read(value).unwrap());
    }
    values
}

/// A bench for `scheme`, which is the name of a scheme and its parameters in one text, such as `clc alpha=0.5`.
fn bench(scheme: &str, capacity: u32) -> Bench {
    let (name, parameters) = scheme.split_once(' ').unwrap_or((scheme, ""));
    let row = find(name).unwrap();
    Bench::new(row, capacity, &values(row, parameters), Completion::AtOnce)
}

/// The records of `stream` and of the final drain, for a buffer of eight pages with clusters of four pages.
fn records(scheme: &str, stream: &[u64]) -> Vec<Record> {
    let mut bench = bench(scheme, 8);
    for page in stream {
        bench.apply(&Operation::Write(vec![*page]));
    }
    bench.apply(&Operation::Drain);
    bench.records
}

fn text(pages: &[u64]) -> String {
    let pages: Vec<_> = pages.iter().map(u64::to_string).collect();
    format!("[{}]", pages.join(" "))
}

/// The destages as text, in the form of the specification's tables. Each cluster is in brackets, a bar precedes
/// the records of the drain, and padding pages are left out.
fn destages(scheme: &str, stream: &[u64]) -> String {
    let records = records(scheme, stream);
    let half = |drained: bool| -> String {
        let half = records
            .iter()
            .filter(|record| (record.cause == DestageCause::Drain) == drained);
        half.map(|record| text(&record.pages)).collect()
    };
    format!("{} | {}", half(false), half(true))
}

#[test]
fn common_streams() {
    let by_block = "[12][16][0 1][8 9] | [17][2][4 5 6][10][13 14]";
    let by_block_2 = "[0 1 2 3][4 5][12 13][16][8 9][20 21][24][28] | [0 1 2 3][6][20][32][17]";
    let by_size = "[0 1][4 5][8 9] | [12 13 14][16 17][2][6][10]";
    let by_size_2 = "[0 1 2 3][4 5][12 13][8 9][0 1 2][20 21] | [16 17][24][28][3][6][32]";
    let cases = [
        ("block-lru", S1, by_block),
        ("block-lru", S2, by_block_2),
        ("bplru", S1, by_block),
        (
            "bplru",
            S2,
            "[0 1 2 3][4 5][12 13][16][8 9][0 1 2 3] | [24][28][6][20 21][32][17]",
        ),
        ("fab", S1, by_size),
        ("fab", S2, by_size_2),
        ("clc alpha=0", S1, by_size),
        ("clc alpha=0", S2, by_size_2),
        ("clc alpha=1", S1, by_block),
        ("clc alpha=1", S2, by_block_2),
        ("clc", S1, "[0 1][4 5][8 9] | [16 17][2][6][10][12 13 14]"),
        (
            "clc",
            S2,
            "[0 1 2 3][4 5][12 13][8 9][20 21][0 1 2 3] | [24][28][6][20][32][16 17]",
        ),
        (
            "clc alpha=0.5",
            S1,
            "[12][0 1][4 5][16 17] | [2][6][8 9 10][13 14]",
        ),
        (
            "clc alpha=0.5",
            S2,
            "[0 1 2 3][4 5][12 13][8 9][20 21][16][24][0 1 2 3] | [28][6][20][32][17]",
        ),
        ("lb-clock", S1, by_size),
        (
            "lb-clock",
            S2,
            "[0 1 2 3][4 5][8 9][12 13][16][0 1 2 3] | [24][28][20 21][6][32][17]",
        ),
    ];
    for (scheme, stream, expected) in cases {
        assert_eq!(destages(scheme, stream), expected, "{scheme}");
    }
}

/// A minimal translation layer with log blocks (BAST) that only counts merges.
///
/// The layer has two log blocks of four pages. Each log block belongs to one data block and stores the writes to
/// this data block in order. Before a write to a data block whose log block is full, the layer merges this log
/// block. Before the layer gives a data block a new log block while both are in use, it merges the log block that
/// was opened first.
#[derive(Default)]
struct LogBlocks {
    /// The open log blocks, oldest first. Each entry has the number of the data block and the pages programmed
    /// into the log block.
    open: Vec<(u64, Vec<u64>)>,
    /// All merges so far. Each entry has the number of the data block, and whether the log block could replace
    /// the data block (a switch merge).
    merges: Vec<(u64, bool)>,
    programs: usize,
}

impl LogBlocks {
    fn write(&mut self, page: u64) {
        self.programs += 1;
        let block = page / 4;
        if let Some(own) = self
            .open
            .iter()
            .position(|log| log.0 == block && log.1.len() == 4)
        {
            self.merge(own);
        }
        if !self.open.iter().any(|log| log.0 == block) {
            if self.open.len() == 2 {
                self.merge(0);
            }
            self.open.push((block, Vec::new()));
        }
        self.open
            .iter_mut()
            .find(|log| log.0 == block)
            .unwrap()
            .1
            .push(page);
    }

    fn merge(&mut self, log: usize) {
        let (block, pages) = self.open.remove(log);
        self.merges
            .push((block, pages.iter().copied().eq(block * 4..block * 4 + 4)));
    }

    /// Writes the pages and padding pages of `records`; returns, for each record, the blocks that were merged.
    fn take(&mut self, records: &[Record]) -> Vec<Vec<u64>> {
        let mut merged = Vec::new();
        for record in records {
            let before = self.merges.len();
            let mut pages = record.pages.clone();
            pages.extend(record.pads.iter().map(|pad| pad.0));
            pages.sort_unstable();
            for page in pages {
                self.write(page);
            }
            merged.push(self.merges[before..].iter().map(|merge| merge.0).collect());
        }
        merged
    }
}

/// BPLRU (FAST 2008), Table 1: the writes cause 12 merges with page-level LRU and 7 merges with block-level LRU.
#[test]
fn merges_of_table_1_of_bplru() {
    let run = |scheme: &str| {
        let mut logs = LogBlocks::default();
        logs.take(&records(scheme, S1));
        logs
    };
    let blocks = |logs: &LogBlocks| logs.merges.iter().map(|merge| merge.0).collect::<Vec<_>>();

    let by_page = run("lru");
    assert_eq!(blocks(&by_page), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]);
    assert_eq!(by_page.open, [(2, vec![10]), (3, vec![14])]);

    let by_block = run("block-lru");
    assert_eq!(by_block.merges.len(), 7);
    assert_eq!(by_block.open, [(2, vec![10]), (3, vec![13, 14])]);

    let promoting = "block-lru touch_order=promote_first";
    assert_eq!(run(promoting).merges.len(), 6);
    assert_eq!(
        destages(promoting, S1).replace(" | ", ""),
        "[16][0 1][8 9][17][2][4 5 6][10][12 13 14]"
    );

    for padded in ["bplru", "bplru comp=false", "block-lru pad=true"] {
        let logs = run(padded);
        assert_eq!(records(padded, S1).len(), 9);
        assert_eq!(logs.programs, 36);
        // In the end each of the two open log blocks contains a whole block. If a log block were merged as soon
        // as it is full, there would be nine merges.
        assert_eq!(logs.merges.len(), 7);
        assert!(logs.merges.iter().all(|merge| merge.1));
        assert!(logs.open.iter().all(|log| log.1.len() == 4));
    }
}

/// A scheme that a test drives without a `Buffer`, so that the test can see the order of the clusters.
struct Bare {
    scheme: Box<dyn Scheme>,
    capacity: usize,
    held: Vec<Entry>,
    writes: u64,
}

impl Bare {
    fn new(name: &str, capacity: u32) -> Self {
        let row = find(name).unwrap();
        Self {
            scheme: (row.build)(&SchemeConfig::new(capacity, 4, &values(row, ""))),
            capacity: capacity as usize,
            held: Vec::new(),
            writes: 0,
        }
    }

    /// Writes `page`; returns the pages that were destaged for this write.
    fn write(&mut self, page: u64) -> String {
        self.writes += 1;
        let access = Access {
            kind: AccessKind::Write,
            virtual_time: self.writes,
            now: self.writes,
            request: self.writes,
            request_pages: 1,
        };
        if let Some(entry) = self.held.iter().find(|entry| entry.page.0 == page) {
            self.scheme.touch(*entry, &access);
            return String::new();
        }
        let mut victim = Victim::default();
        if self.held.len() == self.capacity {
            self.scheme
                .evict(Need::Evict(Lpn(page)), &access, &NoDevice, &mut victim);
            self.held.retain(|entry| !victim.entries.contains(entry));
        }
        let free = (0..)
            .map(Slot)
            .find(|slot| self.held.iter().all(|entry| entry.slot != *slot));
        let entry = Entry {
            page: Lpn(page),
            slot: free.unwrap(),
        };
        self.held.push(entry);
        self.scheme.insert(entry, &access);
        let pages: Vec<_> = victim.entries.iter().map(|entry| entry.page.0).collect();
        if pages.is_empty() {
            String::new()
        } else {
            text(&pages)
        }
    }

    fn write_all(&mut self, pages: &[u64]) {
        for page in pages {
            assert_eq!(self.write(*page), "", "{page} does not fit");
        }
    }

    /// The clusters, most recently used first.
    fn order(&self) -> String {
        let mut clusters: Vec<Vec<u64>> = Vec::new();
        self.scheme.candidates(&mut |entry| {
            match clusters.last_mut() {
                Some(last) if last[0] / 4 == entry.page.0 / 4 => last.push(entry.page.0),
                _ => clusters.push(vec![entry.page.0]),
            }
            true
        });
        clusters.iter().rev().map(|pages| text(pages)).collect()
    }
}

/// BPLRU (FAST 2008), Table 1, row by row. Each row has the page written, the pages destaged for this write, the
/// contents of the buffer afterwards, and the blocks merged.
#[test]
fn rows_of_table_1_of_bplru() {
    let rows = [
        (9, "", "[8 9][4 5][0 1][12][16]", vec![]),
        (13, "[16]", "[12 13][8 9][4 5][0 1]", vec![]),
        (17, "[0 1]", "[17][12 13][8 9][4 5]", vec![]),
        (2, "", "[2][17][12 13][8 9][4 5]", vec![]),
        (6, "[4 5]", "[6][2][17][12 13][8 9]", vec![4]),
        (10, "", "[8 9 10][6][2][17][12 13]", vec![]),
        (14, "[12 13]", "[14][8 9 10][6][2][17]", vec![0]),
    ];
    let mut bare = Bare::new("block-lru", 8);
    bare.write_all(&S1_AS_PRINTED[..7]);
    let records = records("block-lru", S1_AS_PRINTED);
    let mut logs = LogBlocks::default();
    let mut next = records.iter();
    for (page, destaged, order, merged) in rows {
        assert_eq!(
            (bare.write(page).as_str(), bare.order().as_str()),
            (destaged, order),
            "{page}"
        );
        if !destaged.is_empty() {
            let record = next.next().unwrap();
            assert_eq!(text(&record.pages), destaged);
            assert_eq!(logs.take(std::slice::from_ref(record)), [merged], "{page}");
        }
    }
    let drained = next.as_slice();
    let pages: String = drained.iter().map(|record| text(&record.pages)).collect();
    assert_eq!(pages, "[17][2][6][8 9 10][14]");
    assert_eq!(logs.take(drained).concat(), [1, 3, 4, 0, 1]);
    assert_eq!(logs.merges.len(), 7);
}

/// BPLRU (FAST 2008), Figure 3.
#[test]
fn a_hit_moves_the_whole_block() {
    let mut bare = Bare::new("bplru", 8);
    bare.write_all(&[5, 6, 12, 0, 1, 8, 9, 15]);
    assert_eq!(bare.order(), "[12 15][8 9][0 1][5 6]");
    assert_eq!(bare.write(15), "");
    assert_eq!(bare.order(), "[12 15][8 9][0 1][5 6]");
    assert_eq!(bare.write(16), "[5 6]");

    let mut bare = Bare::new("bplru", 8);
    bare.write_all(&[5, 6, 12, 15, 0, 1, 8, 9]);
    assert_eq!(bare.order(), "[8 9][0 1][12 15][5 6]");
    bare.write(15);
    assert_eq!(bare.order(), "[12 15][8 9][0 1][5 6]");
}

/// BPLRU (FAST 2008), Figure 4.
#[test]
fn a_victim_is_padded_to_a_whole_block() {
    for (unwritten, expected, reads, fills) in [
        (None, "drain 12 15 +13 +14", 2, 0),
        (Some(13), "drain 12 15 ~13 +14", 1, 1),
    ] {
        let mut bench = bench("bplru", 8);
        bench.device.unwritten.extend(unwritten);
        bench.run(&[Operation::Write(vec![12, 15]), Operation::Drain]);
        assert_eq!(bench.log, [expected]);
        let counts = bench.buffer.counts();
        assert_eq!((counts.pads.read, counts.pads.filled), (reads, fills));
        let mut logs = LogBlocks::default();
        logs.take(&bench.records);
        assert_eq!(logs.open, [(3, vec![12, 13, 14, 15])]);
        logs.merge(0);
        assert_eq!(logs.merges, [(3, true)]);
    }
}

/// BPLRU (FAST 2008), Figure 5.
#[test]
fn a_block_written_in_sequence_becomes_the_next_victim() {
    let in_order = [0, 1, 8, 9, 10, 5, 11];
    let out_of_order = [0, 1, 9, 8, 10, 5, 11];
    let cases = [
        ("strict", in_order, "[5][0 1][8 9 10 11]"),
        ("strict", out_of_order, "[8 9 10 11][5][0 1]"),
        ("complete", out_of_order, "[5][0 1][8 9 10 11]"),
    ];
    for (detector, stream, order) in cases {
        let row = find("bplru").unwrap();
        let mut bare = Bare::new("bplru", 100);
        let values = values(row, &format!("seq_detect={detector}"));
        bare.scheme = (row.build)(&SchemeConfig::new(100, 4, &values));
        bare.write_all(&stream);
        assert_eq!(bare.order(), order, "{detector}");
    }
}

/// An ascending, aligned stream is evicted in full blocks. So no page is read for padding, and every merge is a
/// switch merge.
#[test]
fn a_sequential_stream_needs_no_padding() {
    for (scheme, capacity) in [
        ("bplru", 8),
        ("bplru", 13),
        ("bplru header_uses_node=true", 10),
    ] {
        let mut bench = bench(scheme, capacity);
        let pages: Vec<u64> = (0..400).collect();
        for count in [1, 7, 400] {
            for run in pages.chunks(count) {
                bench.apply(&Operation::Write(run.to_vec()));
            }
        }
        bench.apply(&Operation::Drain);
        assert_eq!(bench.buffer.counts().pads.read, 0);
        assert!(bench.records.iter().all(|record| record.pages.len() == 4));
        let mut logs = LogBlocks::default();
        logs.take(&bench.records);
        assert!(logs.merges.iter().all(|merge| merge.1));
    }
}

/// With blocks of one page, block-level LRU evicts in the same order as page LRU. `bplru` does so only if its
/// compensation of sequential blocks is off.
#[test]
fn blocks_of_one_page_make_page_lru() {
    let mut random = destage_base::Random::new(11);
    let mut page = || {
        let range = 40 - random.below(39);
        random.below(range)
    };
    let stream: Vec<u64> = (0..20_000).map(|_| page()).collect();
    let pages = |scheme: &str| -> Vec<Vec<u64>> {
        records(scheme, &stream)
            .into_iter()
            .map(|record| record.pages)
            .collect()
    };
    let expected = pages("lru");
    for scheme in [
        "block-lru cluster_pages=1",
        "bplru comp=false cluster_pages=1",
    ] {
        assert_eq!(pages(scheme), expected, "{scheme}");
    }
    assert_ne!(pages("bplru cluster_pages=1"), expected);
}

/// With `alpha=0` no cluster is size-independent, and CLC evicts like FAB. With `alpha=1` all clusters are
/// size-independent, and CLC evicts like block-level LRU.
#[test]
fn limits_of_clc() {
    let mut random = destage_base::Random::new(12);
    let stream: Vec<u64> = (0..50_000).map(|_| random.below(48)).collect();
    assert_eq!(records("clc alpha=0", &stream), records("fab", &stream));
    assert_eq!(
        records("clc alpha=1", &stream),
        records("block-lru", &stream)
    );
    assert_ne!(records("clc alpha=0.5", &stream), records("fab", &stream));
    assert_ne!(
        records("clc alpha=0.5", &stream),
        records("block-lru", &stream)
    );
}
