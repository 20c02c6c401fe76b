//! The examples G6 and G7, which were worked out by hand. They check every sampled distance, and not only the
//! victims.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::vec;

use destage_base::parameter::{Value, Values};

use super::*;
use crate::view::NoDevice;

/// Writes `stream` to a buffer of eight pages with clusters of four pages. All clusters may become old. Returns the
/// PIRD and the BIRD samples.
fn samples(stream: &[u64], scope: &str, threshold: f64) -> (Vec<u64>, Vec<u64>) {
    let mut values = Values::defaults(ROW.parameters);
    values.set("bird_scope", Value::Text(scope.to_owned()));
    values.set("bpac_ages", Value::Text("all".to_owned()));
    values.set("bpac_pird_thd", Value::Number(threshold));
    values.set("bpac_bird_thd", Value::Number(threshold));
    let mut bpac = Bpac::new(&SchemeConfig::new(8, 4, &values));
    let mut resident = BTreeMap::new();
    let mut free: Vec<u32> = (0..8).collect();
    for (index, page) in stream.iter().enumerate() {
        let access = Access {
            kind: AccessKind::Write,
            virtual_time: index as u64 + 1,
            now: 0,
            request: 0,
            request_pages: 1,
        };
        let page = Lpn(*page);
        if let Some(slot) = resident.get(&page) {
            bpac.touch(Entry { page, slot: *slot }, &access);
            continue;
        }
        if free.is_empty() {
            let mut victim = Victim::default();
            bpac.evict(Need::Evict(page), &access, &NoDevice, &mut victim);
            for entry in victim.entries {
                assert_eq!(resident.remove(&entry.page), Some(entry.slot));
                free.push(entry.slot.0);
            }
        }
        let slot = Slot(free.pop().unwrap());
        bpac.insert(Entry { page, slot }, &access);
        resident.insert(page, slot);
    }
    (bpac.monitor.pird.samples, bpac.monitor.bird.samples)
}

#[test]
fn the_common_streams_with_fixed_thresholds() {
    let s1 = [0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];
    assert_eq!(samples(&s1, "resident", 4.0), (vec![], vec![4; 5]));
    // Every block is used again after five writes, so each distance is 4. With `history`, this is also true of blocks
    // that were evicted between two uses.
    assert_eq!(samples(&s1, "history", 4.0), (vec![], vec![4; 9]));
    let s2 = [
        0, 1, 2, 3, 20, 4, 20, 5, 8, 20, 12, 13, 16, 9, 21, 20, 24, 28, 0, 1, 2, 3, 6, 20, 32, 17,
    ];
    let bird = vec![0, 0, 0, 1, 0, 4, 0, 0, 0, 12];
    assert_eq!(samples(&s2, "resident", 4.0), (vec![1, 2, 5], bird));
}

#[test]
fn uses_of_one_block_at_10_and_34_are_23_apart() {
    // Page 0 is written at 10 and page 1 at 34. All other writes are to a hot page of another block.
    let mut stream = vec![100; 34];
    stream[9] = 0;
    stream[33] = 1;
    for scope in ["resident", "history"] {
        assert_eq!(samples(&stream, scope, f64::INFINITY).1, [23]);
    }
}
