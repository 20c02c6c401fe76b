//! Tests the sequence of IOzone and the volume that it writes to.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use super::*;
use volume::Write;

fn all(volume: &mut Volume) -> Vec<Write> {
    std::iter::from_fn(|| volume.pop()).collect()
}

#[test]
fn what_a_file_leaves_is_free_at_the_second_checkpoint() {
    let mut volume = Volume::new(0.0);
    let mut places = Vec::new();
    for now_ms in [0.0, 1000.0, 5001.0, 10_001.0] {
        volume.now_ms = now_ms;
        volume.commit(false);
        volume.make(128);
        all(&mut volume);
        volume.write(0, 128);
        places.push(all(&mut volume)[0].sector);
    }
    let first = places[0];
    assert_eq!(places, [first, first + 128, first + 256, first]);
}

#[test]
fn a_file_in_pieces_is_written_in_as_many_requests() {
    let mut volume = Volume::new(0.0);
    volume.make(128);
    // A cluster of another file is between the clusters that the first file frees and the other free clusters.
    volume.grow_another();
    volume.remove();
    volume.now_ms = 10_000.0;
    volume.commit(false);
    volume.make(256);
    all(&mut volume);
    volume.write(64, 128);
    let sizes: Vec<u64> = all(&mut volume).iter().map(|write| write.sectors).collect();
    assert_eq!(sizes, [64, 64]);
}

#[test]
fn a_random_write_hits_as_many_records_as_chance_has_it() {
    let mut iozone = Iozone::new(1);
    (iozone.file, iozone.record) = (64 * MIB, 64 * KIB);
    let hit = iozone.draw().into_iter().filter(|hit| *hit).count();
    // The expected number of different records is 1024 times 1 - 1/e.
    assert!((620..=674).contains(&hit), "{hit}");
}

#[test]
fn records_go_up_within_files_and_the_course_begins_again() {
    let mut iozone = Iozone::new(1);
    let mut course = Vec::new();
    loop {
        course.push((iozone.file / KIB, iozone.record / KIB));
        iozone.run();
        for write in all(&mut iozone.volume) {
            assert!(write.sectors > 0 && write.sector + write.sectors <= CLUSTERS * CLUSTER);
        }
        if (iozone.file, iozone.record) == (FILES.0, RECORDS.0) {
            break;
        }
    }
    assert_eq!(
        course[..6],
        [(64, 4), (64, 8), (64, 16), (64, 32), (64, 64), (128, 4)]
    );
    assert_eq!(course[80..83], [(16384, 16384), (32768, 64), (32768, 128)]);
    assert_eq!(course.len(), 81 + 5 * 9);
    assert_eq!(course.last(), Some(&(512 * 1024, 16 * 1024)));
    // The second course begins on an empty volume. Its first file must therefore have the same address as in a new
    // run.
    let mut fresh = Iozone::new(2);
    for iozone in [&mut iozone, &mut fresh] {
        iozone.run();
    }
    let first = |iozone: &mut Iozone| {
        let writes = all(&mut iozone.volume);
        writes
            .iter()
            .find(|write| write.sectors == 128)
            .unwrap()
            .sector
    };
    assert_eq!(first(&mut iozone), first(&mut fresh));
}
