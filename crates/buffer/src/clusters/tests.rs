//! Tests that [`Clusters`] behaves like an ordered map.

use alloc::collections::BTreeMap;

use destage_base::Random;

use super::*;

/// The model is an ordered map from pages to slots. After each step, clusters and model must agree.
#[test]
fn agrees_with_an_ordered_map() {
    for (seed, cluster_pages, pages) in [
        (1, 1, 20),
        (2, 4, 60),
        (3, 3, 60),
        (4, 64, 200),
        (5, 7, 5000),
    ] {
        let mut random = Random::new(seed);
        let mut clusters = Clusters::<u64>::new(4, cluster_pages);
        let mut model: BTreeMap<u64, u32> = BTreeMap::new();
        let mut marks: BTreeMap<u64, u64> = BTreeMap::new();
        let mut free: Vec<u32> = (0..300).collect();
        let mut out = Vec::new();
        let block_of = |page: u64| page / u64::from(cluster_pages);
        for step in 1..100_000 {
            let page = random.below(pages);
            let block = block_of(page);
            let held = model.get(&page).copied();
            let found = clusters.find(Lbn(block));
            match (random.below(8), held) {
                (0..6, None) if !free.is_empty() => {
                    let slot = free.swap_remove(random.below(free.len() as u64) as usize);
                    let place = clusters.insert(Entry {
                        page: Lpn(page),
                        slot: Slot(slot),
                    });
                    model.insert(page, slot);
                    if found.is_none() {
                        assert_eq!(*clusters.data(place.cluster), 0);
                        *clusters.data_mut(place.cluster) = step;
                        marks.insert(block, step);
                    }
                    assert_eq!(
                        (place.pages == 1, place),
                        (found.is_none(), clusters.place(Slot(slot)))
                    );
                }
                (6, Some(slot)) => {
                    let before = clusters.place(Slot(slot));
                    let after = clusters.remove(Slot(slot));
                    assert_eq!(
                        (before.cluster, before.pages - 1),
                        (after.cluster, after.pages)
                    );
                    model.remove(&page);
                    free.push(slot);
                }
                (7, _) if random.below(10) == 0 && found.is_some() => {
                    out.clear();
                    clusters.take(found.unwrap(), &mut out);
                    let entries: Vec<_> = model
                        .iter()
                        .filter(|(page, _)| block_of(**page) == block)
                        .map(|(page, slot)| Entry {
                            page: Lpn(*page),
                            slot: Slot(*slot),
                        })
                        .collect();
                    assert_eq!(out, entries);
                    model.retain(|page, _| block_of(*page) != block);
                    free.extend(out.iter().map(|entry| entry.slot.0));
                }
                _ => {}
            }
            let left = model
                .keys()
                .filter(|page| block_of(**page) == block)
                .count();
            assert_eq!(clusters.find(Lbn(block)).is_some(), left > 0);
            if let Some(cluster) = clusters.find(Lbn(block)) {
                assert_eq!(clusters.block(cluster), Lbn(block));
                assert_eq!(clusters.pages(cluster) as usize, left);
                assert_eq!(
                    clusters.is_complete(cluster),
                    left == cluster_pages as usize
                );
                assert_eq!(clusters.data(cluster), &marks[&block]);
                let mut shown = Vec::new();
                assert!(clusters.visit_pages(cluster, &mut |entry| {
                    shown.push(entry.page.0);
                    true
                }));
                assert!(
                    shown
                        .iter()
                        .eq(model.keys().filter(|page| block_of(**page) == block))
                );
            }
            assert_eq!(clusters.len(), model.len());
            assert_eq!(
                clusters.contains(Slot(held.unwrap_or(299))),
                model.values().any(|slot| *slot == held.unwrap_or(299))
            );
        }
        let mut blocks: Vec<_> = model.keys().map(|page| block_of(*page)).collect();
        blocks.dedup();
        assert_eq!(clusters.count(), blocks.len());
        // Numbers are used again, so there are never more clusters than the 300 slots.
        assert!(clusters.clusters.len() <= 300);
    }
}
