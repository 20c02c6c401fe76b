//! Tests that each transform of a trace changes only what it is meant to change.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Folder, options};
use destage_base::Random;
use destage_trace::transform::{Clocks, Cut, Merge, Ratio, Regions, Scale, Volumes};
use destage_trace::{Collector, Operation, Reader, Request};

fn request(arrival: u64, volume: u32, sector: u64, sectors: u32, operation: Operation) -> Request {
    Request {
        arrival,
        sector,
        sectors,
        volume,
        operation,
        ..Request::BLANK
    }
}

fn requests() -> Vec<Request> {
    let mut random = Random::new(3);
    (0..3000)
        .map(|index| {
            let operation = [Operation::Read, Operation::Write, Operation::Trim];
            let operation = operation[random.below(3) as usize];
            let sector = random.below(300) * 100 + 5_000_000;
            let sectors = 1 + random.below(80) as u32;
            request(
                1000 + index * 7,
                random.below(3) as u32 * 40,
                sector,
                sectors,
                operation,
            )
        })
        .collect()
}

#[test]
fn parts_by_address_make_up_the_whole() {
    let all = requests();
    let part = |sectors| Cut {
        sectors: Some(sectors),
        ..Cut::default()
    };
    let (low, high) = (part((0, 5_015_037)), part((5_015_037, u64::MAX)));
    let mut split = 0;
    for request in &all {
        let parts = [low.keep(request), high.keep(request)];
        let sectors: u32 = parts.iter().flatten().map(|part| part.sectors).sum();
        assert_eq!(sectors, request.sectors, "{request:?}");
        split += usize::from(parts.iter().flatten().count() == 2);
    }
    assert!(split > 0);
    let flush = request(0, 0, 0, 0, Operation::Flush);
    assert_eq!(low.keep(&flush), Some(flush));
}

#[test]
fn parts_by_time_and_volume_end_before_their_end() {
    let cut = Cut {
        from: Some(10),
        until: Some(20),
        volumes: vec![1, 3],
        ..Cut::default()
    };
    let kept = |arrival, volume| {
        cut.keep(&request(arrival, volume, 0, 8, Operation::Write))
            .is_some()
    };
    assert!(kept(10, 1) && kept(19, 3));
    assert!(!kept(9, 1) && !kept(20, 1) && !kept(15, 2));
    assert!(cut.is_over(20) && !cut.is_over(19));
}

#[test]
fn ratios_are_exact() {
    for (text, value, expected) in [
        ("2", 21, Some(42)),
        ("0.1", 29, Some(2)),
        ("3/7", 14, Some(6)),
        ("1.000", u64::MAX, Some(u64::MAX)),
        ("1.5", u64::MAX, None),
    ] {
        assert_eq!(text.parse::<Ratio>().unwrap().of(value), expected, "{text}");
    }
    for wrong in [
        "", "0", "-1", "1/0", "x", "1e3", ".5", "1.", "0.0", "1/2/3", "+1",
    ] {
        assert!(wrong.parse::<Ratio>().is_err(), "{wrong}");
    }
    let scale = Scale {
        time: "1/2".parse().unwrap(),
        address: "0.5".parse().unwrap(),
        page_sectors: 8,
    };
    let scaled = scale
        .apply(&request(9, 0, 8 * 11 + 3, 20, Operation::Write))
        .unwrap();
    assert_eq!(
        (scaled.arrival, scaled.sector, scaled.sectors),
        (4, 8 * 5 + 3, 20)
    );
}

#[test]
fn merged_traces_are_in_order_and_keep_their_volumes_apart() {
    let folder = Folder::new();
    let files = [
        folder.file("a", "0.0 0 0 8 0\n2.0 5 0 8 0\n4.0 0 0 8 0\n"),
        folder.file("b", "1.0 0 8 8 0\n2.0 0 16 8 0\n"),
    ];
    let merged = |volumes| {
        let open = |path| Reader::open(path, &options("disksim")).unwrap();
        let mut merge = Merge::new(
            files.iter().map(|path| open(path)).collect(),
            volumes,
            Clocks::Own,
        );
        let mut all = Vec::new();
        while let Some(request) = merge.take().unwrap() {
            all.push((request.arrival / common::MS, request.volume, request.sector));
        }
        all
    };
    assert_eq!(
        merged(Volumes::Apart),
        [(0, 0, 0), (1, 1, 8), (2, 2, 0), (2, 1, 16), (4, 0, 0)]
    );
    assert_eq!(
        merged(Volumes::Same),
        [(0, 0, 0), (1, 0, 8), (2, 5, 0), (2, 0, 16), (4, 0, 0)]
    );
}

#[test]
fn volumes_of_merged_traces_with_the_same_name_are_the_same() {
    let merged = |contents: [&str; 2]| {
        let folder = Folder::new();
        let open = |(index, content): (usize, &&str)| {
            let path = folder.file(&index.to_string(), content);
            Reader::open(&path, &destage_trace::ReadOptions::default()).unwrap()
        };
        let readers = contents.iter().enumerate().map(open).collect();
        let mut merge = Merge::new(readers, Volumes::Same, Clocks::Own);
        let mut all = Vec::new();
        while let Some(request) = merge.take().unwrap() {
            all.push((request.sector, request.volume));
        }
        all
    };
    let tables = [
        "time,volume,op,offset,bytes\n0,sda,w,0,512\n2000,sdb,w,512,512\n",
        "time,volume,op,offset,bytes\n1000,sdb,w,1024,512\n3000,sda,w,1536,512\n4000,sdc,w,2048,512\n",
    ];
    assert_eq!(merged(tables), [(0, 0), (2, 1), (1, 1), (3, 0), (4, 2)]);
    let logs = [
        "fio version 3 iolog\n0 /dev/a write 0 512\n2 /dev/b write 512 512\n",
        "fio version 3 iolog\n1 /dev/b write 1024 512\n3 /dev/a write 1536 512\n",
    ];
    assert_eq!(merged(logs), [(0, 0), (2, 1), (1, 1), (3, 0)]);
    // A volume of `msr` is a disk of a host.
    let hosts = [
        "128166372003061629,hm,1,Write,0,512,9\n128166372003061829,prn,0,Write,512,512,9\n",
        "128166372003061629,prn,0,Write,1024,512,9\n128166372003061829,hm,1,Write,1536,512,9\n",
    ];
    assert_eq!(merged(hosts), [(0, 1), (2, 1 << 16), (1, 1 << 16), (3, 1)]);
}

#[test]
fn traces_of_one_clock_keep_their_distance() {
    let folder = Folder::new();
    let early = "128166372003061629,hm,1,Write,0,512,9\n128166372003061829,hm,1,Write,512,512,9\n";
    let late = "128166372003061729,hm,2,Read,0,512,9\n";
    let files = [folder.file("late", late), folder.file("early", early)];
    let other = folder.file("other", "0.0 0 0 8 0\n");
    let merged = |files: &[&std::path::Path], clocks| {
        let open = |path: &&std::path::Path| {
            Reader::open(path, &destage_trace::ReadOptions::default()).unwrap()
        };
        let mut merge = Merge::new(files.iter().map(open).collect(), Volumes::Same, clocks);
        let mut all = Vec::new();
        while let Some(request) = merge.take()? {
            all.push((request.arrival / common::US, request.volume));
        }
        Ok::<_, destage_trace::TraceError>(all)
    };
    let both = [files[0].as_path(), files[1].as_path()];
    assert_eq!(
        merged(&both, Clocks::Own).unwrap(),
        [(0, 2), (0, 1), (20, 1)]
    );
    assert_eq!(
        merged(&both, Clocks::Same).unwrap(),
        [(0, 1), (10, 2), (20, 1)]
    );
    // The traces begin 10^9 s apart, and the second one continues for another 10^9 s, which is too long for 64
    // bits.
    let (first, last) = (
        folder.file("first", "1.0,0.1,R,0,0,512\n"),
        folder.file(
            "last",
            "1000000001.0,0.1,R,0,0,512\n2000000001.0,0.1,R,0,0,512\n",
        ),
    );
    let error = merged(&[&first, &last], Clocks::Same)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with(
            "last:2: time is too large: \"1000000000.0000000000 s, delayed by 1000000000.0000000000 s\"; expected a time below 2^64 ticks of 0.1 ns, 58 years"
        ),
        "{error}"
    );
    let error = merged(&[both[0], &other], Clocks::Same).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("other: the clock of this trace (format disksim) cannot be compared with"),
        "{error}"
    );
}

#[test]
fn anonymous_traces_have_the_statistics_of_the_original() {
    let all = requests();
    let layout = |seed| {
        let mut regions = Regions::new(256);
        all.iter().for_each(|request| regions.add(request));
        let anonymizer = regions.shuffled(seed).unwrap();
        let moved: Vec<Request> = all
            .iter()
            .map(|request| anonymizer.apply(request).unwrap())
            .collect();
        moved
    };
    let moved = layout(1);
    assert_eq!(moved, layout(1));
    assert_ne!(moved, layout(2));
    assert_eq!(moved[0].arrival, 0);
    let summary = |requests: &[Request]| {
        let mut collector = Collector::new(4096);
        for request in requests {
            let last = request.end().saturating_sub(1) / 8;
            collector.add_as(request, request.sector / 8..=last);
        }
        let mut summary = collector.finish();
        // The addresses must change, so they are not compared.
        summary.sector_min = None;
        summary.sector_end = None;
        summary
    };
    assert_eq!(summary(&moved), summary(&all));
    // Each page of the original is one page of the result, at the same position in its block.
    let mut pages = std::collections::BTreeMap::new();
    for (one, other) in all.iter().zip(&moved) {
        assert_eq!(one.sector % 256, other.sector % 256);
        for sector in 0..u64::from(one.sectors) {
            let new = (other.volume, other.sector + sector);
            let known = *pages
                .entry((one.volume, one.sector + sector))
                .or_insert(new);
            assert_eq!(known, new);
        }
    }
    let distinct: std::collections::BTreeSet<_> = pages.values().collect();
    assert_eq!(distinct.len(), pages.len());
    assert!(moved.iter().map(Request::end).max() < all.iter().map(Request::end).max());
}
