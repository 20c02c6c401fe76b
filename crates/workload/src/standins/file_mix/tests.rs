//! Tests which file is removed.

use super::*;
use destage_base::parameter::Value;

/// A mix with five files, and the slots of these files in the order in which they were made.
fn five(removed: &str) -> (Vec<u64>, FileMix, Random, Disk) {
    let mut values = Values::defaults(BROWSER_CACHE.parameters);
    values.set("removed", Value::Text(removed.to_owned()));
    // No step writes the large file, so it is not made. Most steps append to a file.
    values.set("hot_percent", Value::Number(0.0));
    values.set("append_percent", Value::Number(94.0));
    let mut mix = file_mix(
        BROWSER_CACHE.name,
        SizeLaw::LogNormal,
        &Parameters::from_values(&values),
    )
    .unwrap();
    let (mut random, mut disk) = (Random::new(1), Disk::new(1, 1));
    mix.begin(&mut disk);
    for _ in 0..5 {
        mix.create(&mut random, &mut disk);
    }
    let slots = mix.files.iter().map(|file| file.slot).collect();
    (slots, mix, random, disk)
}

#[test]
fn a_cache_gives_up_its_oldest_file_and_a_temporary_file_is_the_latest() {
    for (removed, expected) in [("oldest", [0, 1, 2, 3, 4]), ("latest", [4, 3, 2, 1, 0])] {
        let (slots, mut mix, mut random, mut disk) = five(removed);
        let before: Vec<u64> = mix.files.iter().map(|file| file.bytes).collect();
        mix.until = [0.0, 0.0, 1.0, 1.0];
        for _ in 0..20 {
            mix.step(&mut random, &mut disk);
        }
        let after: Vec<u64> = mix.files.iter().map(|file| file.bytes).collect();
        assert!(
            before
                .iter()
                .zip(&after)
                .all(|(before, after)| before < after)
        );
        let gone: Vec<u64> = (0..5)
            .map(|_| mix.take_removed(&mut random).unwrap().slot)
            .collect();
        assert_eq!(gone, expected.map(|index| slots[index]), "{removed}");
        assert!(mix.take_removed(&mut random).is_none());
    }
}

#[test]
fn room_is_made_by_the_oldest_file_or_by_any_but_not_always_by_the_latest() {
    let first = |removed: &str, seed| {
        let (slots, mut mix, _, _) = five(removed);
        let file = mix.take_for_room(&mut Random::new(seed)).unwrap();
        slots.iter().position(|slot| *slot == file.slot).unwrap()
    };
    let gone = |removed| (0..50).map(|seed| first(removed, seed)).collect::<Vec<_>>();
    assert_eq!(gone("oldest"), [0; 50]);
    for removed in ["latest", "random"] {
        let gone = gone(removed);
        assert!(
            (0..5).all(|index| gone.contains(&index)),
            "{removed} {gone:?}"
        );
    }
}
