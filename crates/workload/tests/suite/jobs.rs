//! Tests that job files give the requests that fio issues, and that invalid job files are refused.

use destage_base::parameter::{Value, Values};
use destage_base::time::TICKS_PER_MS;
use destage_trace::{Operation, Request};
use destage_workload::jobs::{JobFileError, PARAMETERS, Plan};

fn plan_with(text: &str, pairs: &[(&'static str, Value)]) -> Result<Plan, JobFileError> {
    let mut values = Values::defaults(PARAMETERS);
    for (name, value) in pairs {
        values.set(name, value.clone());
    }
    Plan::new(&text.parse()?, &values)
}

fn plan(text: &str) -> Plan {
    plan_with(text, &[]).unwrap()
}

/// All requests of a job with `options`.
fn job(options: &str) -> Vec<Request> {
    plan(&format!("[a]\nioengine=libaio\n{options}\n"))
        .make(1)
        .collect()
}

/// The operation, the offset on the device and the length of each request, in the notation of `fio --write_iolog`.
/// Offset and length are in KiB. A flush is written as `sync`.
fn shown(requests: &[Request]) -> String {
    let one = |request: &Request| {
        let place = format!("{} {}", request.sector / 2, request.sectors / 2);
        match request.operation {
            Operation::Read => format!("read {place}"),
            Operation::Write => format!("write {place}"),
            Operation::Trim => format!("trim {place}"),
            Operation::Flush => "sync".to_owned(),
        }
    };
    requests.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The expected requests are those that fio 3.33 issues with the same options and its engine `null`. They were
/// recorded with `--write_iolog`.
#[test]
fn requests_in_order_are_those_of_fio() {
    for (options, of_fio) in [
        ("rw=write\nsize=20k\nbs=8k", "write 0 8; write 8 8"),
        (
            "rw=write\nsize=20k\nio_size=50k\nbs=8k",
            "write 0 8; write 8 8; write 0 8; write 8 8; write 0 8; write 8 8",
        ),
        (
            "rw=write\nsize=16k\nbs=4k\nfsync=3\nloops=2\nend_fsync=1",
            "write 0 4; write 4 4; write 8 4; sync; write 12 4; sync; write 0 4; write 4 4; sync; write 8 4; write 12 4; sync",
        ),
        (
            "rw=rw\nrwmixread=0\nbs=4k\nsize=24k\nfsync=2",
            "write 0 4; write 4 4; sync; write 8 4; write 12 4; sync; write 16 4; write 20 4",
        ),
        (
            "rw=read\nbs=4k\nsize=16k\nend_fsync=1\nfsync=2",
            "read 0 4; read 4 4; read 8 4; read 12 4",
        ),
        (
            "rw=write\nbs=4k\nsize=12k\noffset=3k",
            "write 3 4; write 7 4; write 11 4",
        ),
        (
            "rw=write ; a comment\nsize=10k # another\nbs=4k\nnumber_ios=1",
            "write 0 4",
        ),
    ] {
        assert_eq!(shown(&job(options)), of_fio, "{options}");
    }
    // The reads of a job visit its region in order. Its writes do so too, independently of the reads.
    let mixed = job("rw=rw\nbs=8k,4k\nsize=64k\nrwmixread=25\noffset=8k");
    for (operation, step) in [(Operation::Read, 16), (Operation::Write, 8)] {
        let mut places = mixed
            .iter()
            .filter(|request| request.operation == operation);
        let first = places.next().unwrap();
        assert_eq!(first.sector, 16);
        let next = places.map(|request| request.sector).zip(1..);
        assert!(
            next.map(|(sector, turn)| sector - 16 - turn * step)
                .all(|off| off == 0)
        );
    }
    let sectors: u32 = mixed.iter().map(|request| request.sectors).sum();
    assert!((113..=128).contains(&sectors), "{sectors}");
}

/// The letters r, w and s stand for a read, a write and a flush. The string is a recording of fio 3.33 with
/// `--rw=rw --bs=4k --size=64k --fsync=2`. The order of reads and writes follows from the generator of fio, so only the
/// places of the flushes are compared.
#[test]
fn mixed_jobs_flush_where_fio_does() {
    let flushed = |kinds: &str, every: usize| {
        let (mut all, mut writes) = (String::new(), 0_usize);
        for kind in kinds.chars().filter(|kind| *kind != 's') {
            if writes > 0 && writes.is_multiple_of(every) {
                all.push('s');
            }
            all.push(kind);
            writes += usize::from(kind == 'w');
        }
        all
    };
    let of_fio = "rrrwrrwswwsrswrwsrsrsr";
    assert_eq!(flushed(of_fio, 2), of_fio);
    for every in [1, 2, 10] {
        let text = format!("[a]\nrw=rw\nsize=1m\nfsync={every}\n");
        let plan = plan(&text);
        let letter = |request: Request| match request.operation {
            Operation::Read => 'r',
            Operation::Write => 'w',
            Operation::Trim => 't',
            Operation::Flush => 's',
        };
        let ours: String = plan.make(1).map(letter).collect();
        assert_eq!(flushed(&ours, every), ours, "{every}");
        assert_eq!(ours.replace('s', "").len(), 256, "{every}");
        assert!(plan.requests() >= ours.len() as u64, "{every}");
    }
}

#[test]
fn random_requests_come_once_each_before_any_comes_again() {
    let requests = job("rw=randwrite\nbs=4k\nsize=400k\nio_size=800k");
    assert_eq!(requests.len(), 200);
    for pass in requests.chunks(100) {
        let mut places: Vec<_> = pass.iter().map(|request| request.sector / 8).collect();
        assert!(!places.is_sorted());
        places.sort_unstable();
        assert_eq!(places, (0..100).collect::<Vec<_>>());
    }
    let order = |pass: &[Request]| {
        pass.iter()
            .map(|request| request.sector)
            .collect::<Vec<_>>()
    };
    assert_ne!(order(&requests[..100]), order(&requests[100..]));
    let again = job("rw=randwrite\nbs=4k\nsize=400k\nnorandommap");
    let mut places = order(&again);
    places.sort_unstable();
    places.dedup();
    // The number of different blocks in 100 draws from 100 blocks is 63 on average.
    assert!((50..77).contains(&places.len()), "{}", places.len());
    let skewed = job("rw=randwrite\nbs=4k\nsize=4m\nrandom_distribution=zipf:1.1");
    let mut counts = std::collections::BTreeMap::<u64, u64>::new();
    skewed
        .iter()
        .for_each(|request| *counts.entry(request.sector).or_default() += 1);
    assert!(*counts.values().max().unwrap() > 100 && counts.len() < 600);
}

#[test]
fn lengths_are_drawn_from_what_is_asked_for() {
    let ranged = job("rw=randwrite\nbsrange=4k-12k\nsize=1m");
    let mut lengths: Vec<_> = ranged.iter().map(|request| request.sectors).collect();
    lengths.sort_unstable();
    lengths.dedup();
    assert_eq!(lengths, [8, 16, 24]);
    assert!(
        ranged
            .iter()
            .all(|request| request.end() <= 2048 && request.sector % 8 == 0)
    );
    let split = job("rw=write\nbssplit=4k/75:64k/25\nsize=40m");
    let short = split.iter().filter(|request| request.sectors == 8).count() as f64;
    assert!(
        (0.72..0.78).contains(&(short / split.len() as f64)),
        "{short} of {}",
        split.len()
    );
    assert_eq!(
        split.iter().map(|request| request.sectors).sum::<u32>(),
        40 << 11
    );
}

const TWO: &str = "
[global]
ioengine=libaio
size=1m
[fast]
rw=write
iodepth=3
[slow]
rw=randread
filename=x
numjobs=2
offset_increment=1m
";

#[test]
fn jobs_side_by_side_ask_in_proportion_to_what_they_keep_under_way() {
    let plan = plan(TWO);
    assert_eq!(
        (plan.depth(), plan.has_rates(), plan.requests()),
        (5, false, 768)
    );
    let requests: Vec<_> = plan.make(3).collect();
    assert_eq!(requests.len(), 768);
    assert!(requests.iter().all(|request| request.arrival == 0));
    assert!(
        requests
            .iter()
            .zip(1..)
            .all(|(request, line)| request.line == line)
    );
    let writes = requests[..100]
        .iter()
        .filter(|request| request.operation == Operation::Write);
    assert_eq!(writes.count(), 60);
    // The files follow one another. First is a file of 1 MiB that only the writer uses, then a file of 2 MiB that the
    // readers share.
    let end = |operation| {
        let of = requests
            .iter()
            .filter(|request| request.operation == operation);
        let ends = of.map(|request| (request.sector, request.end()));
        ends.fold((u64::MAX, 0), |(first, last), (begin, end)| {
            (first.min(begin), last.max(end))
        })
    };
    assert_eq!(end(Operation::Write), (0, 2048));
    assert_eq!(end(Operation::Read), (2048, 6144));
    // Another seed gives other random requests.
    assert_ne!(requests, plan.make(4).collect::<Vec<_>>());
    assert_eq!(requests, plan.make(3).collect::<Vec<_>>());
    let alone = plan_with(TWO, &[("job", Value::Text("fast".to_owned()))]).unwrap();
    assert_eq!((alone.depth(), alone.requests()), (3, 256));
}

#[test]
fn a_group_begins_when_all_before_it_have_ended() {
    let text = "[a]\nioengine=libaio\niodepth=2\nrw=write\nsize=8k\n[b]\nioengine=posixaio\niodepth=2\nstonewall\nrw=read\nsize=8k\n";
    let requests: Vec<_> = plan(text).make(1).collect();
    assert_eq!(
        shown(&requests),
        "write 0 4; write 4 4; read 1024 4; read 1028 4"
    );
}

#[test]
fn rates_become_times() {
    let every = |options: &str| -> Vec<u64> {
        let arrivals = job(options)
            .into_iter()
            .map(|request| request.arrival / TICKS_PER_MS);
        arrivals.collect()
    };
    assert_eq!(every("rw=write\nsize=16k\nrate_iops=100"), [0, 10, 20, 30]);
    // 4096 bytes at 409600 bytes/s take 10 ms.
    assert_eq!(every("rw=write\nsize=16k\nrate=400k"), [0, 10, 20, 30]);
    // Reads and writes each have the rate, whatever the mix; so fio 3.33 issues 1500 reads and 1500 writes in 1.5 s.
    let mixed = job("rw=randrw\nrwmixread=70\nsize=40m\nnumber_ios=3000\nrate_iops=1000");
    for operation in [Operation::Read, Operation::Write] {
        let of = mixed
            .iter()
            .filter(|request| request.operation == operation);
        let arrivals: Vec<u64> = of.map(|request| request.arrival / TICKS_PER_MS).collect();
        assert_eq!(arrivals, (0..1500).collect::<Vec<_>>());
    }
    assert!(mixed.is_sorted_by_key(|request| request.arrival));
    // fio 3.33 issues 64 reads and 128 writes.
    let bytes = job("rw=rw\nrwmixread=90\nbs=8k,4k\nsize=1m\nrate=8m");
    let reads = bytes
        .iter()
        .filter(|request| request.operation == Operation::Read);
    assert_eq!((reads.count(), bytes.len()), (64, 192));
    let only_reads = every("rw=rw\nrwmixread=100\nsize=16k\nrate_iops=100");
    assert_eq!(only_reads, [0, 10, 20, 30]);
    let poisson = every("rw=write\nsize=40m\nrate_iops=1000\nrate_process=poisson");
    assert!(poisson.is_sorted());
    let mean = *poisson.last().unwrap() as f64 / (poisson.len() - 1) as f64;
    assert!((0.97..1.03).contains(&mean), "{mean}");
    let waiting = "[a]\nrw=write\nsize=8k\nrate_iops=100\n[b]\nwait_for_previous\nrw=write\nsize=8k\nrate_iops=100\n";
    let arrivals = plan(waiting)
        .make(1)
        .map(|request| request.arrival / TICKS_PER_MS);
    assert_eq!(arrivals.collect::<Vec<_>>(), [0, 10, 10, 20]);
}

#[test]
fn what_only_time_ends_goes_on_as_long_as_it_is_asked() {
    let text = "[a]\nioengine=libaio\nrw=write\nsize=8k\ntime_based\nruntime=60\nramp_time=5\n";
    let endless = plan(text);
    assert_eq!(endless.requests(), 100_000);
    assert_eq!(endless.make(1).take(5).count(), 5);
    let [first, second] = endless.remarks() else {
        panic!("{:?}", endless.remarks())
    };
    assert!(first.starts_with("line 6: runtime=60 "), "{first}");
    assert!(second.starts_with("line 7: ramp_time=5 "), "{second}");
    let few = plan_with(text, &[("requests", Value::Integer(7))]).unwrap();
    assert_eq!(few.make(1).count(), 7);
    let at_once = plan("[a]\nrw=write\nsize=8k\niodepth=32\n");
    assert_eq!(at_once.depth(), 1);
    assert!(
        at_once.remarks()[0].contains("psync waits"),
        "{:?}",
        at_once.remarks()
    );
}

#[test]
fn files_without_a_size_are_as_large_as_is_said() {
    let text = "[a]\nioengine=libaio\nrw=write\nfilename=/dev/sdx\noffset=50%\nsize=25%\nbs=1m\n";
    let wrong = plan_with(text, &[]).unwrap_err();
    assert_eq!((wrong.line, &*wrong.text), (5, "offset=50%"));
    let sized = plan_with(text, &[("file_bytes", Value::Integer(16 << 20))]).unwrap();
    let requests: Vec<_> = sized.make(1).collect();
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[0].sector, 16384);
    let whole = text.replace("size=25%\n", "");
    let sized = plan_with(&whole, &[("file_bytes", Value::Integer(16 << 20))]).unwrap();
    assert_eq!(sized.requests(), 8);
}

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    for (text, line, written, expected) in [
        ("", 1, "", "a job"),
        ("[global]\nbs=4k\n", 2, "", "a job"),
        ("rw=read\n", 1, "rw=read", "a section"),
        ("[a\nrw=read\n", 1, "[a", "a section"),
        ("[a]\nsize=1m\nrw=readish\n", 3, "rw=readish", "one of read"),
        (
            "[a]\nsize=1m\nrw=randrw:8\n",
            3,
            "rw=randrw:8",
            "one of read",
        ),
        (
            "[a]\nsize=1m\nverify=crc32c\n",
            3,
            "verify=crc32c",
            "0, or no such option: the effect of verify is not simulated",
        ),
        (
            "[a]\nsize=1m\nthinktime=2ms\n",
            3,
            "thinktime=2ms",
            "0, or no such option",
        ),
        (
            "[a]\nsize=1m\nzonemode=zbd\n",
            3,
            "zonemode=zbd",
            "an option that is understood",
        ),
        (
            "[a]\nsize=1m\nfnord\n",
            3,
            "fnord",
            "an option that is understood",
        ),
        ("[a]\nsize=${SIZE}\n", 2, "size=${SIZE}", "variables"),
        (
            "[a]\ninclude b.fio\n",
            2,
            "include b.fio",
            "the text of that file",
        ),
        ("[a]\nrw=read\n", 1, "[a]", "size=BYTES"),
        ("[a]\nsize=much\n", 2, "size=much", "bytes"),
        ("[a]\nsize=10KiB\n", 2, "size=10KiB", "bytes"),
        (
            "[a]\nsize=1k\n",
            2,
            "size=1k",
            "at least a request of 4096 bytes",
        ),
        ("[a]\nsize=1m\nbs=100\n", 3, "bs=100", "multiples of 512"),
        (
            "[a]\nsize=1m\nbs=10KiB\n",
            3,
            "bs=10KiB",
            "; write 10k for 10 times 1024 bytes: fio takes 10KiB for 10 times 1000",
        ),
        (
            "[a]\nsize=1m\nbssplit=4k/60:8k/50\n",
            3,
            "bssplit=4k/60:8k/50",
            "100",
        ),
        (
            "[a]\nsize=1m\niodepth=0\n",
            3,
            "iodepth=0",
            "a whole number from 1",
        ),
        (
            "[a]\nsize=1m\nioengine=rados\n",
            3,
            "ioengine=rados",
            "an engine",
        ),
        (
            "[a]\nsize=1m\nfilename=a:b\n",
            3,
            "filename=a:b",
            "one file",
        ),
        ("[a]\nsize=1m\nnrfiles=4\n", 3, "nrfiles=4", "from 1 to 1"),
        ("[a]\nsize=1m\nloops=2\nio_size=2m\n", 3, "loops=2", "1: "),
        (
            "[a]\nsize=1m\nrandom_distribution=pareto:0.2\n",
            3,
            "random_distribution=pareto:0.2",
            "zipf:THETA",
        ),
        (
            "[a]\nsize=1m\nrate_iops=9\n[b]\nsize=1m\n",
            4,
            "[b]",
            "rate",
        ),
        (
            "[a]\nsize=1m\n[b]\nsize=1m\nstonewall\nnumjobs=2\n",
            5,
            "stonewall",
            "1 before, 2 after",
        ),
    ] {
        let error = plan_with(text, &[])
            .err()
            .unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (error.line, &*error.text),
            (line, written),
            "{text}: {error}"
        );
        assert!(error.expected.contains(expected), "{text}: {error}");
    }
    let job = plan_with(TWO, &[("job", Value::Text("none".to_owned()))]).unwrap_err();
    assert_eq!(job.expected, "one of fast, slow");
}
