//! Tests of fleets: the content of the folder of a fleet, and the agreement of curves with separate simulations.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use destage::sim::metrics::rows;
use destage::trace::transform::{Clocks, Merge, Volumes};
use destage::trace::{ReadOptions, Reader, Request, writers};
use destage::{Effort, Error, Facts, Grid, Input, Metrics, Number, Settings, compare};
use destage_study::fleet::{Fleet, FleetPlan, FleetReport, Partition, PreparedFleet};
use destage_study::{Shard, Store};

const WORKLOAD: &str =
    "fleet:requests=30000,volumes=20,footprint_pages=2048,max_pages=3,mean_interarrival_ms=0.001";
const WHOLE: Shard = Shard { index: 1, of: 1 };

/// The requests of the workload. Arrival times are rounded down to multiples of 100 000 ticks, so that some
/// requests arrive at the same time.
fn requests() -> Vec<Request> {
    let input = Input::workload(WORKLOAD, &[]).unwrap();
    let config = Settings::new().resolve().unwrap();
    let mut source = input.open(&config).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while source.fill(&mut batch).unwrap() {
        all.extend(batch.iter().map(|request| Request {
            arrival: request.arrival / 100_000 * 100_000,
            ..*request
        }));
    }
    all
}

fn partition(place: &Path, requests: &[Request]) -> Fleet {
    let mut partition = Partition::create(place).unwrap();
    for batch in requests.chunks(777) {
        partition.add(batch).unwrap();
    }
    let facts = Facts::of_requests("fleet");
    partition.commit(&[facts], std::iter::empty()).unwrap()
}

fn plan(buffers: &[&str], sizes: &[&str]) -> FleetPlan {
    let owned = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    FleetPlan {
        settings: Settings::new(),
        buffers: Some(owned(buffers)),
        sizes: (!sizes.is_empty()).then(|| owned(sizes)),
    }
}

fn report(fleet: &PreparedFleet, store: &Store) -> FleetReport {
    fleet
        .carry_out_part(store, WHOLE, &Effort::default())
        .unwrap();
    fleet.report(store).unwrap()
}

fn count(metrics: &Metrics, name: &str) -> u64 {
    match metrics.get(name) {
        Some(Number::Integer(count)) => count,
        other => panic!("{name}: {other:?}"),
    }
}

/// Simulates the scheme `buffer` on `input` with each of `sizes`, and returns the metrics of each run.
fn runs(input: &Input, buffer: &str, sizes: &[u64], pairs: &[&str]) -> Vec<Metrics> {
    let mut settings = Settings::new();
    for pair in ["ftl.kind=none"].iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    let sizes = sizes.iter().map(u64::to_string);
    let combinations = Grid::new(settings)
        .buffers([buffer])
        .sizes(sizes)
        .combinations()
        .unwrap();
    let results = compare(
        std::slice::from_ref(input),
        &combinations,
        &Effort::default(),
    )
    .unwrap();
    results.runs.into_iter().map(|run| run.metrics).collect()
}

const COUNTS: [&str; 5] = [
    rows::HOST_PAGE_WRITES.name,
    rows::BUFFER_WRITE_HITS.name,
    rows::BUFFER_EVICTIONS.name,
    rows::BUFFER_DESTAGED_PAGES.name,
    rows::BUFFER_DIRTY_AT_END.name,
];

#[test]
fn every_point_is_what_runs_give() {
    let folder = tempfile::tempdir().unwrap();
    let requests = requests();
    let fleet = partition(&folder.path().join("fleet"), &requests);
    let store = Store::open(&folder.path().join("kept")).unwrap();
    let prepared = fleet
        .prepare(&plan(
            &["lru", "fab", "nocache"],
            &["16KiB..2MiB", "100KiB"],
        ))
        .unwrap();
    let report = report(&prepared, &store);
    let mut by_volume: BTreeMap<u32, Vec<Request>> = BTreeMap::new();
    for request in &requests {
        by_volume.entry(request.volume).or_default().push(*request);
    }
    assert_eq!(report.volumes.len(), by_volume.len());
    // A file with the requests of all volumes. The runs on this file give each volume addresses of its own.
    let whole = folder.path().join("whole.csv");
    let mut text = format!("{}\n", writers::csv::HEADER).into_bytes();
    for request in &requests {
        writers::csv::write(&mut text, request).unwrap();
    }
    std::fs::write(&whole, text).unwrap();
    for curve in &report.fleet {
        let each: Vec<u64> = curve.points.iter().map(|point| point.each_bytes).collect();
        assert_eq!((each.len(), each[0], each[3]), (9, 16 << 10, 100 << 10));
        let all: Vec<u64> = curve.points.iter().map(|point| point.bytes).collect();
        let shared = runs(
            &Input::trace(&whole),
            &curve.buffer,
            &all,
            &["trace.volumes=separate"],
        );
        let of_volumes: Vec<Vec<Metrics>> = by_volume
            .values()
            .map(|requests| {
                let input = Input::requests("volume", requests.clone());
                runs(&input, &curve.buffer, &each, &[])
            })
            .collect();
        for (place, point) in curve.points.iter().enumerate() {
            let at = |runs: &[Metrics], size: usize, name: &str| {
                // A scheme without a buffer is simulated only once, and the result applies to all sizes.
                let run = &runs[size.min(runs.len() - 1)];
                run.get(name).map_or(0, |number| number.as_f64() as u64)
            };
            for name in COUNTS {
                if point.shared.get(name).is_none() {
                    assert_eq!(
                        (curve.buffer.as_str(), point.own.get(name)),
                        ("nocache", None)
                    );
                    continue;
                }
                let own: u64 = of_volumes.iter().map(|runs| at(runs, place, name)).sum();
                let split: u64 = of_volumes
                    .iter()
                    .zip(&point.split_bytes)
                    .map(|(runs, bytes)| {
                        let size = each.iter().position(|size| size == bytes).unwrap();
                        at(runs, size, name)
                    })
                    .sum();
                let found = [&point.own, &point.shared, &point.split].map(|way| count(way, name));
                let expected = [own, at(&shared, place, name), split];
                assert_eq!(
                    found, expected,
                    "{} {name} {}",
                    curve.buffer, point.each_bytes
                );
            }
            assert!(point.split_bytes.iter().sum::<u64>() <= point.bytes);
            let hits = rows::BUFFER_WRITE_HITS.name;
            if point.own.get(hits).is_some() {
                assert!(count(&point.split, hits) >= count(&point.own, hits));
            }
        }
    }
    assert!(
        report.conclusions().len() >= 2,
        "{:?}",
        report.conclusions()
    );
}

#[test]
fn parts_in_any_order_give_the_bytes_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = partition(&folder.path().join("fleet"), &requests());
    let prepared = || fleet.prepare(&plan(&["lru", "fab"], &[])).unwrap();
    let store = |name: &str| Store::open(&folder.path().join(name)).unwrap();
    let body = |report: &FleetReport| {
        let mut document: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        document.as_object_mut().unwrap().remove("manifest");
        document.to_string()
    };
    let alone = body(&report(&prepared(), &store("alone")));
    let mut made = 0;
    for index in [3, 1, 5, 2, 4] {
        let shard = Shard { index, of: 5 };
        let missing = prepared()
            .report(&store("parts"))
            .err()
            .unwrap()
            .to_string();
        assert!(missing.contains("curves are missing"), "{missing}");
        let share = prepared()
            .carry_out_part(&store("parts"), shard, &Effort::default())
            .unwrap();
        assert_eq!((share.runs, share.made), (42, share.own));
        made += share.made;
        // Curves that have results are not computed again.
        let again = prepared()
            .carry_out_part(&store("parts"), shard, &Effort::default())
            .unwrap();
        assert_eq!(again.made, 0);
    }
    assert_eq!(made, 42);
    assert_eq!(body(&prepared().report(&store("parts")).unwrap()), alone);
    let names = |name: &str| {
        let entries = folder.path().join(name).join("runs").read_dir().unwrap();
        let file = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_owned(),
                std::fs::read(path).unwrap(),
            )
        };
        entries.map(file).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(names("alone"), names("parts"));
    // A truncated result file is ignored, so its curve is computed again.
    let (first, _) = names("parts").pop_first().unwrap();
    std::fs::write(folder.path().join("parts/runs").join(first), "{").unwrap();
    let share = prepared()
        .carry_out_part(&store("parts"), WHOLE, &Effort::default())
        .unwrap();
    assert_eq!(share.made, 1);
    assert_eq!(body(&prepared().report(&store("parts")).unwrap()), alone);
}

#[test]
fn a_file_that_is_not_the_one_that_was_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let fleet = partition(&place, &requests());
    let volume = &fleet.contents.volumes[0];
    let other = &fleet.contents.volumes[1];
    std::fs::copy(place.join(&other.file.file), place.join(&volume.file.file)).unwrap();
    let store = Store::open(&folder.path().join("kept")).unwrap();
    let prepared = Fleet::open(&place)
        .unwrap()
        .prepare(&plan(&["lru"], &["1MiB"]))
        .unwrap();
    let error = prepared
        .carry_out_part(&store, WHOLE, &Effort::default())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("is not the file that was written") && text.contains(&volume.file.digest),
        "{text}"
    );
}

#[test]
fn a_folder_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let beside = folder.path().join("fleet.partial");
    let mut first = Partition::create(&place).unwrap();
    first.add(&requests()[..10]).unwrap();
    let refused = |place: &Path| Partition::create(place).err().unwrap().to_string();
    assert!(refused(&place).contains("another process is writing to it"));
    drop(first);
    assert!(!place.exists() && !beside.exists());
    // The temporary folder of a killed process does not prevent a partition with the same name. The test makes
    // such a folder for `copied`: it copies the files of an unfinished partition.
    std::mem::forget(Partition::create(&place).unwrap());
    let copied = folder.path().join("copied.partial");
    std::fs::create_dir_all(copied.join("volumes")).unwrap();
    std::fs::write(copied.join("volumes/3.compact"), "half").unwrap();
    for entry in beside.read_dir().unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copied.join(entry.file_name())).unwrap();
        }
    }
    let other = folder.path().join("copied");
    partition(&other, &requests());
    assert!(!copied.exists());
    let names = other.read_dir().unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<_> = names.collect();
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        ["all.compact", "fleet.json", "volumes"]
    );
    let place = other;
    assert!(refused(&place).contains("exists already"));
    assert!(refused(&folder.path().join("no/such/fleet")).contains("cannot be written"));
    let error = Fleet::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("expected a folder that `destage trace partition"),
        "{error}"
    );
}

#[test]
fn what_is_beside_the_place_and_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("fleet");
    let beside = folder.path().join("fleet.partial");
    let refused = || {
        let error = Partition::create(&place).err().unwrap().to_string();
        assert!(
            error.contains(
                "fleet.partial: exists already, and an interrupted partition did not leave it"
            ),
            "{error}"
        );
        assert!(!place.exists());
    };
    // A folder, a file or a link of the user may have the temporary name. They are not changed, not even a folder
    // that contains a file called `lock`.
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("thesis.txt"), "precious").unwrap();
    std::fs::write(beside.join("lock"), "").unwrap();
    refused();
    let text = std::fs::read_to_string(beside.join("thesis.txt")).unwrap();
    assert_eq!(text, "precious");
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&beside, &elsewhere).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("elsewhere", &beside).unwrap();
        refused();
        assert!(beside.symlink_metadata().unwrap().is_symlink());
        std::fs::remove_file(&beside).unwrap();
    }
    std::fs::write(&beside, "precious").unwrap();
    refused();
    assert_eq!(std::fs::read_to_string(&beside).unwrap(), "precious");
    assert!(elsewhere.join("thesis.txt").exists());
}

/// A user can change a scheme of their own between two runs. The results of such a scheme are therefore stored
/// under the version that the user gives.
#[test]
fn curves_of_a_scheme_of_ones_own_are_kept_by_its_version() {
    use crate::common::own_scheme::NEWEST;
    let folder = tempfile::tempdir().unwrap();
    let fleet = partition(&folder.path().join("fleet"), &requests());
    let store = Store::open(&folder.path().join("kept")).unwrap();
    let mut nameless = plan(&["newest"], &["64KiB"]);
    nameless.settings.add_scheme(&NEWEST).unwrap();
    let Err(error) = fleet.prepare(&nameless) else {
        panic!("nothing tells it from an earlier one of its name");
    };
    let error = error.to_string();
    assert!(
        error.contains("expected a version of the scheme"),
        "{error}"
    );
    let made = |version: &str| {
        let mut plan = plan(&["newest"], &["64KiB"]);
        plan.settings.add_scheme_version(&NEWEST, version).unwrap();
        let prepared = fleet.prepare(&plan).unwrap();
        let share = prepared.carry_out_part(&store, WHOLE, &Effort::default());
        share.unwrap().made
    };
    assert_eq!((made("1"), made("1"), made("2")), (21, 0, 21));
}

#[test]
fn volumes_of_several_traces_say_where_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, host: &str| {
        let line = |at: u64| {
            format!(
                "{},{host},{},Write,{},4096,100\n",
                128_166_372_003_061_629 + at,
                at % 2,
                at * 4096
            )
        };
        let path = folder.path().join(name);
        std::fs::write(&path, (0..100).map(line).collect::<String>()).unwrap();
        path
    };
    let paths = [file("hm.csv", "hm"), file("prn.csv", "prn")];
    let options = ReadOptions::default();
    let readers = paths
        .iter()
        .map(|path| Reader::open(path, &options).unwrap());
    let mut merge = Merge::new(readers.collect(), Volumes::Apart, Clocks::Same);
    let mut partition = Partition::create(&folder.path().join("fleet")).unwrap();
    while let Some(request) = merge.take().unwrap() {
        partition.add(&[request]).unwrap();
    }
    let facts: Vec<_> = merge
        .readers()
        .map(|reader| Facts::of_reader(reader.origin(), reader, &options))
        .collect();
    let fleet = partition.commit(&facts, merge.renumbered()).unwrap();
    let fleet = Fleet::open(&fleet.folder).unwrap();
    let origins: Vec<_> = fleet
        .contents
        .volumes
        .iter()
        .map(|volume| {
            let origin = volume.origin.as_ref().unwrap();
            let name = Path::new(&origin.trace).file_name().unwrap().to_owned();
            (volume.volume, name, origin.volume, volume.file.requests)
        })
        .collect();
    let expected = [
        (0, "hm.csv", 0),
        (1, "prn.csv", 0),
        (2, "hm.csv", 1),
        (3, "prn.csv", 1),
    ];
    let expected = expected.map(|(number, name, there)| (number, name.into(), there, 50));
    assert_eq!(origins, expected);
    assert!(
        fleet
            .contents
            .inputs
            .iter()
            .all(|input| input.digest.is_some())
    );
}

#[test]
fn what_a_fleet_cannot_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = partition(&folder.path().join("fleet"), &requests());
    let refused = |pair: &str, sizes: &[&str]| {
        let mut plan = plan(&["lru"], sizes);
        if !pair.is_empty() {
            plan.settings.set_pair(pair).unwrap();
        }
        match fleet.prepare(&plan) {
            Err(Error::Input(text)) => text,
            Err(other) => other.to_string(),
            Ok(_) => panic!("{pair} {sizes:?}"),
        }
    };
    for pair in [
        "trace.volumes=concatenate",
        "trace.volume_stride=5",
        "buffer.capacity_bytes=1MiB",
        "ftl.kind=page",
    ] {
        let key = pair.split('=').next().unwrap();
        assert!(refused(pair, &[]).starts_with(key), "{pair}");
    }
    assert!(refused("", &["1KiB"]).contains("cannot hold a page"));
    let text = refused("", &["1MiB", "1TiB"]);
    assert!(
        text.contains("of 20 volumes; expected at most 439804651110,"),
        "{text}"
    );
}
