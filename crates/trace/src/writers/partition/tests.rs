//! Tests that the files of a partition contain, for each volume, the requests that were written.

use super::*;
use crate::options::ReadOptions;
use crate::reader::Reader;

fn request(arrival: u64, volume: u32, sector: u64) -> Request {
    Request {
        arrival,
        sector,
        sectors: 8,
        volume,
        operation: match arrival % 3 {
            0 => Operation::Read,
            _ => Operation::Write,
        },
        ..Request::BLANK
    }
}

/// Requests of several volumes. One volume has only few requests. Some requests arrive at the same time.
fn requests() -> Vec<Request> {
    let one = |index: u64| {
        let volume = if index.is_multiple_of(97) {
            9_000
        } else {
            (index * index % 7) as u32
        };
        request(index / 3, volume, index * 37 % 1024 * 8)
    };
    (0..5000).map(one).collect()
}

fn read(folder: &Path, part: &Part) -> (Vec<Request>, Option<String>) {
    let path = folder.join(&part.file);
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.fill(&mut batch).unwrap() {
        all.extend(batch.iter().map(|request| Request {
            line: 1,
            ..*request
        }));
    }
    (all, reader.digest())
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("destage-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_file_has_what_came_for_its_volume_whatever_fits_into_a_table() {
    let requests = requests();
    for room in [1, 64, 999, 5000, 1 << 16] {
        let folder = folder("partition");
        let mut writer = PartitionWriter::with_room(&folder, room).unwrap();
        for batch in requests.chunks(701) {
            writer.write(batch).unwrap();
        }
        let parts = writer.finish().unwrap();
        assert_eq!(
            parts.volumes.len(),
            8 - 3,
            "squares modulo 7 are 0, 1, 2 and 4"
        );
        let (all, digest) = read(&folder, &parts.all);
        assert_eq!(all, requests);
        assert_eq!(digest.as_ref(), Some(&parts.all.digest));
        for (volume, part) in &parts.volumes {
            let of_volume = |request: &&Request| request.volume == *volume;
            let expected: Vec<_> = requests.iter().filter(of_volume).copied().collect();
            let (found, digest) = read(&folder, part);
            assert_eq!(found, expected, "room {room}, volume {volume}");
            assert_eq!(digest.as_ref(), Some(&part.digest));
            let writes = expected
                .iter()
                .filter(|one| one.operation == Operation::Write);
            let (writes, ends) = (writes.count() as u64, expected.iter().map(Request::end));
            assert_eq!(
                (
                    part.requests,
                    part.writes,
                    part.written_sectors,
                    Some(part.end_sector)
                ),
                (expected.len() as u64, writes, writes * 8, ends.max())
            );
        }
        assert_eq!(parts.all.requests, 5000);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_folder_that_goes_away_is_an_error_and_no_panic() {
    let folder = folder("partition-gone");
    let mut writer = PartitionWriter::with_room(&folder, 8).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let error = requests()
        .chunks(100)
        .find_map(|batch| writer.write(batch).err())
        .expect("nothing can be written");
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert!(writer.finish().is_err());
}
