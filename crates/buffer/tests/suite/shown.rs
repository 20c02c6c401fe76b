//! Tests that `Buffer::show` lists every resident page exactly once, at every step, for every scheme of the
//! registry.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{
    Bench, Completion, Operation, for_every_row, is_resident, random_operations, variants,
};
use destage_base::{Lpn, Random};
use destage_buffer::resident::State;
use destage_buffer::shown::{Frame, Shown};
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, BufferConfig, Outlet, SchemeConfig, find};

/// The pages that `shown` lists. Panics if a page is listed twice, if a group has more pages than places, or if a
/// group has pages of another block.
fn pages_of(shown: &Shown, name: &str) -> BTreeSet<Lpn> {
    let mut pages = BTreeSet::new();
    for group in shown.lists.iter().flat_map(|list| &list.groups) {
        let held: Vec<Lpn> = group.pages.iter().map(|page| page.entry.page).collect();
        match group.frame {
            Frame::Row => {}
            Frame::Places(places) => assert!(held.len() <= places as usize, "{name}"),
            Frame::Block { first, pages } => {
                assert!(held.is_sorted(), "{name}: {held:?}");
                let block = first.0..first.0 + u64::from(pages);
                assert!(held.iter().all(|page| block.contains(&page.0)), "{name}");
                assert!(!held.is_empty(), "{name}: an empty block");
            }
        }
        for page in held {
            assert!(pages.insert(page), "{name}: {page} is shown twice");
        }
    }
    pages
}

fn check(buffer: &Buffer, range: u64, name: &str) -> usize {
    let shown = buffer.show();
    let unshown = shown
        .lists
        .iter()
        .find(|list| list.name.contains("does not show"));
    assert_eq!(unshown, None, "{name}");
    let resident: BTreeSet<Lpn> = (0..range)
        .filter(|page| is_resident(buffer, *page))
        .map(Lpn)
        .collect();
    assert_eq!(pages_of(&shown, name), resident, "{name}");
    for page in shown.pages() {
        assert_eq!(
            buffer.find(page.entry.page),
            Some(page.entry.slot),
            "{name}"
        );
        let state = buffer.state(page.entry.slot);
        assert!(!matches!(state, State::Free | State::Leaving), "{name}");
    }
    resident.len()
}

#[test]
fn every_row_shows_every_page_once_at_every_step() {
    let seen = AtomicUsize::new(0);
    for_every_row(|row| {
        for (name, values) in variants(row) {
            for (seed, capacity, pages) in [(1, 1, 20), (2, 5, 20), (3, 40, 120)] {
                let operations = random_operations(&mut Random::new(seed), pages, 400);
                let completion = Completion::Random(Random::new(seed));
                let mut bench =
                    Bench::for_operations(row, capacity, &values, completion, &operations);
                for (number, operation) in operations.iter().enumerate() {
                    bench.apply(operation);
                    if number % 16 == 0 {
                        bench.apply(&Operation::Idle);
                    }
                    // The check also covers 64 pages that the stream never uses. None of these pages may be
                    // resident.
                    seen.fetch_add(check(&bench.buffer, pages + 64, &name), Ordering::Relaxed);
                }
            }
        }
    });
    assert!(seen.into_inner() > 100_000);
}

/// The lists of `scheme` after writes of single pages, with four pages to a block and two dies. Each line has the
/// name of the list, the group and its pages.
fn drawn(scheme: &str, capacity: u32, set: &[(&str, &str)], writes: &[u64]) -> Vec<String> {
    let row = find(scheme).unwrap();
    let mut values = variants(row).remove(0).1;
    for (name, word) in set {
        let parameter = row.parameters.iter().find(|one| one.name == *name).unwrap();
        values.set(parameter.name, parameter.read(word).unwrap());
    }
    let config = BufferConfig::new(capacity, 4);
    let scheme = (row.build)(&SchemeConfig {
        dies: 2,
        ..SchemeConfig::new(capacity, 4, &values)
    });
    let mut buffer = Buffer::new(config, scheme);
    for page in writes {
        buffer.begin_request(1);
        Outlet::new(&mut buffer, &NoDevice, |_| {}).write(Lpn(*page), 0);
    }
    let mut lines = Vec::new();
    for list in buffer.show().lists {
        for group in &list.groups {
            let pages: Vec<String> = group
                .pages
                .iter()
                .map(|page| format!("{}{}", page.entry.page, page.mark))
                .collect();
            lines.push(format!(
                "{}: {} [{}]",
                list.name,
                group.label,
                pages.join(" ")
            ));
        }
    }
    lines
}

#[test]
fn lists_are_drawn_as_the_papers_draw_them() {
    assert_eq!(drawn("lru", 8, &[], &[1, 2, 1, 3]), ["Recency:  [3 1 2]"]);
    // Block 0 was written from its first page to its last, so it is evicted before block 2, which is older.
    assert_eq!(
        drawn("bplru", 16, &[], &[9, 0, 1, 2, 3, 5]),
        [
            "Recency of blocks:  [5]",
            "Recency of blocks:  [9]",
            "Recency of blocks: written in full: leaves early [0 1 2 3]"
        ]
    );
    assert_eq!(
        drawn("epo", 8, &[], &[0, 1, 2, 4, 2]),
        ["Die 0:  [2 4 0]", "Die 1:  [1]"]
    );
    assert_eq!(
        drawn("apu-lfu", 4, &[], &[0, 2, 0, 1]),
        ["Sets: set 0 [02 21]", "Sets: set 1 [11]"]
    );
    // Page 1 was hit, so it is hot, and its hit made block 0 random. Block 2 was last used more than three writes
    // ago.
    assert_eq!(
        drawn("bpac", 16, &[("bpac_bird_thd", "3")], &[8, 0, 1, 1, 4, 5]),
        [
            "P-list: hot pages:  [1]",
            "B-list: size-independent: 2 pages, sequential [4 5]",
            "B-list: size-independent: 1 pages, random [0]",
            "B-list: size-dependent: 1 pages, sequential [8]"
        ]
    );
}
