//! Tests of the path from host to buffer: closed forms to the nanosecond, random streams compared with a naive
//! model, and the link of MQSim.

mod explained;
mod reference;

use crate::direct::{DirectConfig, Pins, run};
use destage_base::Random;
use destage_base::Ticks;
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US};
use destage_nand::media::dispatch::{CommandTimes, DispatchConfig, Order, Rules, Together};
use destage_nand::media::{Cells, PlaneGaps};
use destage_sim::engine::Replay;
use destage_sim::metrics::Metrics;
use destage_sim::wire::Wire;
use destage_tests::{page_requests, run_timed};
use destage_trace::{Operation, Request};

use reference::Drive;

const US: Ticks = TICKS_PER_US;
const NS: Ticks = TICKS_PER_NS;

/// Four dies under a buffer that accepts every write at once. A page takes 40 us to read, 200 us to program, and
/// 10 us to transfer on the channel.
const DEVICE: &[&str] = &[
    "buffer.kind=lru",
    "buffer.capacity_bytes=8MiB",
    "flash.dies=4",
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=64",
    "flash.read_us=40",
    "flash.program_us=200",
    "flash.transfer_ns_per_byte=2.44140625",
    "flash.spare_bytes_per_sector=0",
    "flash.parallel_units=1",
    "flash.wearout=ignore",
    "host.bus_ns_per_sector=0",
    "host.queue_depth=64",
    "host.attribution=request",
    "host.scheduler=fifo",
    "sim.window=complete",
    "sim.write_order=strict",
    "sim.clock=exact",
];

fn run_on(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let (responses, result) = run_timed(DEVICE, pairs, requests);
    (responses, result.metrics)
}

/// Response times in nanoseconds.
fn responses(pairs: &[&str], of: &[(Ticks, u64, u32, Operation)]) -> Vec<u64> {
    run_on(pairs, &page_requests(of)).0
}

#[test]
fn a_request_is_on_a_core_before_the_buffer_has_it() {
    let three = [0, 1, 2].map(|page| (0, page, 1, Operation::Write));
    assert_eq!(responses(&[], &three), [0, 0, 0]);
    let one = ["device.firmware_ns=1000"];
    assert_eq!(responses(&one, &three), [1000, 2000, 3000]);
    let two = ["device.firmware_ns=1000", "device.firmware_cores=2"];
    assert_eq!(responses(&two, &three), [1000, 1000, 2000]);
    let pages = ["device.firmware_ns=1000", "device.firmware_page_ns=100"];
    let mixed = [
        (0, 0, 4, Operation::Write),
        (0, 10, 1, Operation::Read),
        (0, 0, 2, Operation::Trim),
    ];
    assert_eq!(responses(&pages, &mixed), [1400, 2500 + 50_000, 3500]);
    let reads = [pages[0], pages[1], "device.firmware_read_ns=3000"];
    assert_eq!(responses(&reads, &mixed), [1400, 4500 + 50_000, 5500]);
}

/// Units of two pages: the second page, and the fourth and the sixth, which one request brings, complete a unit each. A read
/// completes none.
#[test]
fn a_write_that_completes_a_program_unit_takes_longer_on_the_core() {
    let pairs = [
        "device.firmware_cores=64",
        "device.firmware_ns=1000",
        "device.firmware_program_ns=300",
        "flash.program_unit=2",
        "ftl.kind=striped",
        "flash.summary_page=false",
    ];
    let of = [
        (0, 0, 1, Operation::Write),
        (10 * US, 1, 1, Operation::Write),
        (20 * US, 0, 2, Operation::Read),
        (30 * US, 2, 4, Operation::Write),
        (40 * US, 6, 1, Operation::Write),
    ];
    let times = responses(&pairs, &of);
    assert_eq!(times[..2], [1000, 1300]);
    assert_eq!(times[3..], [1600, 1000]);
    // Each page is a unit of its own.
    let alone = responses(&pairs[..3], &of);
    assert_eq!(alone[..2], [1300, 1300]);
    assert_eq!(alone[3..], [2200, 1300]);
    // No other time of the firmware is needed.
    assert_eq!(responses(&[pairs[0], pairs[2]], &of)[3], 1200);
}

#[test]
fn firmware_that_is_a_delay_has_a_core_for_each_request() {
    let pairs = [
        "device.firmware_cores=64",
        "device.firmware_ns=4000",
        "device.firmware_page_ns=460",
        "device.firmware_read_ns=21040",
    ];
    let at_once = [
        (0, 0, 1, Operation::Write),
        (0, 9, 1, Operation::Read),
        (0, 4, 2, Operation::Write),
    ];
    assert_eq!(responses(&pairs, &at_once), [4460, 21_500 + 50_000, 4920]);
}

#[test]
fn the_core_is_behind_the_bus() {
    let two = [0, 1].map(|page| (0, page, 1, Operation::Write));
    let pairs = ["device.firmware_ns=1000", "host.bus_ns_per_sector=100"];
    // The page of the second request is on the bus while the first request is on the core.
    assert_eq!(responses(&pairs, &two), [1800, 2800]);
}

/// The three ways to time flash commands: as a sum, booked in advance, and from queues.
const TIMINGS: [&[&str]; 3] = [
    &[],
    &["flash.channels=2"],
    &["flash.scheduling=commands_arrival"],
];

#[test]
fn a_program_occupies_the_dram() {
    let of = [
        (0, 0, 1, Operation::Write),
        (5 * US, 1, 1, Operation::Write),
        (200 * US, 2, 1, Operation::Write),
    ];
    for timing in TIMINGS {
        let pairs = ["buffer.kind=nocache", "device.dram_program_ns=30000"];
        let with = |pairs: &[&str]| responses(&[pairs, timing].concat(), &of);
        assert_eq!(with(&pairs[..1]), [210_000, 210_000, 210_000], "{timing:?}");
        // The program of the first page occupies the DRAM until 30 us.
        assert_eq!(with(&pairs), [210_000, 235_000, 210_000], "{timing:?}");
    }
}

#[test]
fn a_command_waits_for_a_slot() {
    let of = [
        (0, 0, 1, Operation::Write),
        (0, 1, 1, Operation::Write),
        (100 * US, 2, 1, Operation::Write),
    ];
    for timing in TIMINGS {
        let with = |slots: &str| {
            let pairs = ["buffer.kind=nocache", slots];
            responses(&[&pairs[..], timing].concat(), &of)
        };
        let free = with("device.command_slots=3");
        assert_eq!(free, [210_000, 210_000, 210_000], "{timing:?}");
        assert_eq!(free, with("device.command_slots=0"), "{timing:?}");
        // The third command gets a slot when the first two are answered, 110 us after it was sent.
        let two = with("device.command_slots=2");
        assert_eq!(two, [210_000, 210_000, 320_000], "{timing:?}");
        let one = with("device.command_slots=1");
        assert_eq!(one, [210_000, 420_000, 530_000], "{timing:?}");
        // A link takes the same path to the slots.
        let link = ["host.link_lane_gb_per_s=1000", "device.command_slots=1"];
        let pairs = [&["buffer.kind=nocache"], &link[..], timing].concat();
        let by_link = responses(&pairs, &of);
        assert!(by_link[1] > 400_000 && by_link[2] > 500_000, "{by_link:?}");
    }
}

#[test]
fn reads_take_longer_while_the_drive_is_loaded() {
    let of = [
        (100 * US, 8, 1, Operation::Write),
        (100 * US, 9, 1, Operation::Write),
        (900 * US, 8, 1, Operation::Read),
        (1500 * US, 8, 1, Operation::Read),
        (2500 * US, 9, 1, Operation::Read),
    ];
    for timing in TIMINGS {
        let read = |pages: &str| {
            let pairs = [
                "buffer.kind=nocache",
                "flash.read_loaded_percent=50",
                "device.load_window_us=1000",
                pages,
            ];
            let all = responses(&[&pairs[..], timing].concat(), &of);
            [all[2], all[3], all[4]]
        };
        // Two pages were written in the first millisecond. The cells take 60 us in the second one, and 40 us otherwise.
        let loaded = read("device.loaded_pages=2");
        assert_eq!(loaded, [50_000, 70_000, 50_000], "{timing:?}");
        let never = read("device.loaded_pages=3");
        assert_eq!(never, [50_000, 50_000, 50_000], "{timing:?}");
    }
}

#[test]
fn pages_pass_the_dram_one_after_the_other() {
    let dram = ["device.dram_access_ns=26", "device.dram_ns_per_byte=0.25"];
    // A page takes 26 + 1024 ns in the DRAM. A page that is read from flash is first written to the DRAM and then
    // read from it.
    let of = [
        (0, 0, 2, Operation::Write),
        (10 * US, 0, 2, Operation::Read),
        (100 * US, 9, 1, Operation::Read),
    ];
    assert_eq!(responses(&[], &of), [0, 0, 50_000]);
    assert_eq!(responses(&dram, &of), [2100, 2100, 52_100]);
    // Without a buffer, the first two programs begin at 1050 and 2100 ns, and their pages occupy the DRAM until 4200
    // ns.
    let three = [
        (0, 0, 1, Operation::Write),
        (0, 1, 1, Operation::Write),
        (2200 * NS, 2, 1, Operation::Write),
    ];
    let pairs = [dram[0], dram[1], "buffer.kind=nocache"];
    let waits = 4200 + 1050 - 2200;
    assert_eq!(
        responses(&pairs, &three),
        [211_050, 212_100, waits + 210_000]
    );
    // With batches the same number of pages passes through the DRAM.
    let (_, alone) = run_on(&pairs, &page_requests(&three));
    let batches = [
        &pairs[..],
        &["flash.planes_per_die=2", "flash.parallel_units=2"],
    ]
    .concat();
    let (_, batched) = run_on(&batches, &page_requests(&three));
    let share = |metrics: &Metrics| {
        let iops = metrics.get("throughput.iops").expect("a rate").as_f64();
        let share = metrics.get("device.dram_utilization").expect("a share");
        share.as_f64() / iops
    };
    assert!((share(&alone) - 2.0 * 1050e-9).abs() < 1e-15);
    assert!((share(&batched) - share(&alone)).abs() < 1e-15);
}

#[test]
fn requests_and_data_cross_the_link_in_packets() {
    let of = [
        (0, 9, 1, Operation::Read),
        (100 * US, 0, 1, Operation::Write),
        (200 * US, 0, 1, Operation::Trim),
    ];
    let link = ["host.link_lane_gb_per_s=1"];
    // Times in ns of the messages: doorbell 8, question 8, entry 25, question for data 8, data 1248, completion
    // 11.
    let (read, write) = (8 + 8 + 25 + 50_000 + 1248 + 11, 8 + 8 + 25 + 8 + 1248 + 11);
    assert_eq!(responses(&link, &of), [read, write, 52]);
    let fast = [link[0], "host.link_lanes=16", "host.link_payload_bytes=512"];
    // The data are 8 packets of 540 bytes.
    assert_eq!(responses(&fast, &of)[1], 2 + 2 + 7 + 2 + 270 + 3);
    // With a link, the bus setting has no effect.
    let bus = [link[0], "host.bus_ns_per_sector=1000"];
    assert_eq!(responses(&bus, &of), [read, write, 52]);
}

/// Requests of one page each, all at time 0: `counts[v]` requests of volume `v`, volume after volume.
fn volumes(counts: &[u32]) -> Vec<Request> {
    let all: u32 = counts.iter().sum();
    let pages: Vec<_> = (0..u64::from(all))
        .map(|page| (0, page, 1, Operation::Write))
        .collect();
    let mut requests = page_requests(&pages);
    let volumes = (0..).zip(counts);
    let of = volumes.flat_map(|(volume, count)| (0..*count).map(move |_| volume));
    for (request, volume) in requests.iter_mut().zip(of) {
        request.volume = volume;
    }
    requests
}

/// The order in which requests are served. The device serves one request at a time, in 1000 ns.
fn order(pairs: &[&str], requests: &[Request]) -> Vec<usize> {
    let mut all = vec!["device.firmware_ns=1000", "host.queue_depth=1"];
    all.extend(pairs);
    let (responses, _) = run_on(&all, requests);
    let mut order: Vec<usize> = (0..responses.len()).collect();
    order.sort_by_key(|index| responses[*index]);
    let times = order.iter().map(|index| responses[*index]);
    assert!(times.eq((1..=responses.len() as u64).map(|place| 1000 * place)));
    order
}

#[test]
fn queues_have_turns_by_their_weights() {
    let two = volumes(&[6, 4]);
    assert_eq!(order(&[], &two), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let equal = order(&["host.queues=2"], &two);
    assert_eq!(equal, [0, 6, 1, 7, 2, 8, 3, 9, 4, 5]);
    let weighted = ["host.queues=2", "host.queue_weights=3/1"];
    assert_eq!(order(&weighted, &two), [0, 1, 2, 6, 3, 4, 5, 7, 8, 9]);
    let bursts = ["host.queues=2", "host.queue_burst=2"];
    assert_eq!(order(&bursts, &two), [0, 1, 6, 7, 2, 3, 8, 9, 4, 5]);
    // Requests at positions 0, 2, 4... of the input go to queue 0.
    let dealt = [
        "host.queues=2",
        "host.queue_by=round_robin",
        "host.queue_weights=2/1",
    ];
    assert_eq!(order(&dealt, &two), [0, 2, 1, 4, 6, 3, 8, 5, 7, 9]);
}

#[test]
fn a_queue_has_only_so_many_requests_in_the_device() {
    let two = volumes(&[4, 1]);
    let of = |pairs: &[&str]| {
        let mut all = vec!["device.firmware_ns=1000", "host.queues=2"];
        all.extend(pairs);
        run_on(&all, &two).0
    };
    // By default all requests are in the device at once, and are served in the order of their arrival.
    assert_eq!(of(&[]), [1000, 2000, 3000, 4000, 5000]);
    assert_eq!(
        of(&["host.queue_requests=1"]),
        [1000, 3000, 4000, 5000, 2000]
    );
}

#[test]
fn queues_show_who_suffers_from_whom() {
    // One volume reads a single page now and then, another reads many pages at once.
    let mut all = Vec::new();
    for round in 0..40_u64 {
        let at = round * 2000 * US;
        all.extend((0..40).map(|page| (at, page * 7 % 1500, 1, Operation::Read, 1)));
        all.push((at + 10 * US, 1600 + round, 1, Operation::Read, 0));
    }
    let pages: Vec<_> = all
        .iter()
        .map(|(at, page, count, what, _)| (*at, *page, *count, *what))
        .collect();
    let mut requests = page_requests(&pages);
    for (request, (.., volume)) in requests.iter_mut().zip(&all) {
        request.volume = *volume;
    }
    let of = |pairs: &[&str]| {
        let mut all = vec!["host.queue_depth=4", "host.queues=2", "buffer.kind=nocache"];
        all.extend(pairs);
        let (responses, metrics) = run_on(&all, &requests);
        let get = |name: &str| metrics.get(name).expect(name).as_f64();
        let seldom = requests
            .iter()
            .zip(&responses)
            .filter(|(request, _)| request.volume == 0);
        let mean = seldom
            .map(|(_, response)| *response as f64 / 40e6)
            .sum::<f64>();
        assert!((get("host.queue_mean_ms.0") / mean - 1.0).abs() < 1e-9);
        assert_eq!(
            (get("host.queue_completed.0"), get("host.queue_completed.1")),
            (40.0, 1600.0)
        );
        assert!(get("host.queue_p99_ms.1") <= get("host.queue_max_ms.1"));
        mean
    };
    let alone = of(&["host.queue_by=volume"]);
    let (_, one) = run_on(&["host.queue_depth=4", "buffer.kind=nocache"], &requests);
    assert!(one.get("host.queue_mean_ms.0").is_none());
    let favoured = of(&["host.queue_weights=8/1"]);
    // In a single queue, the rare requests would wait behind forty others.
    let single = one.get("response.mean_ms").expect("a mean").as_f64();
    assert!(
        alone < single / 2.0 && favoured <= alone,
        "{favoured} {alone} {single}"
    );
}

fn random_requests(seed: u64, count: u64, gap: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let (mut time, mut next) = (0, 600);
    let mut volumes = Vec::new();
    let pages: Vec<_> = (0..count)
        .map(|_| {
            if random.below(3) > 0 {
                time += random.below(2 * gap * NS);
            }
            volumes.push(random.below(5) as u32);
            let pages = 1 + random.below(5) as u32;
            // No page is read twice, so all reads go to flash.
            if random.below(2) == 0 {
                let first = next;
                next += u64::from(pages);
                (time, first, pages, Operation::Read)
            } else {
                (time, random.below(500), pages, Operation::Write)
            }
        })
        .collect();
    let mut requests = page_requests(&pages);
    for (request, volume) in requests.iter_mut().zip(volumes) {
        request.volume = volume;
    }
    requests
}

#[test]
fn random_streams_end_when_a_straight_line_model_says() {
    let mut settings = Random::new(7);
    for seed in 0..40 {
        let requests = random_requests(seed, 200, 4000 + settings.below(30_000));
        let weights: Vec<u64> = (0..1 + settings.below(4))
            .map(|_| 1 + settings.below(4))
            .collect();
        let mut one_of = |choices: &[u64]| choices[settings.below(choices.len() as u64) as usize];
        let drive = Drive {
            burst: one_of(&[1, 2, 3]),
            depth: one_of(&[1, 4, 8, 64]) as usize,
            per_queue: one_of(&[1, 3, 64]) as usize,
            by_volume: one_of(&[0, 1]) == 1,
            link: match one_of(&[0, 1, 2]) {
                0 => None,
                1 => Some((4, 1.0, 128, 28)),
                _ => Some((
                    one_of(&[1, 3, 16]),
                    0.5,
                    one_of(&[100, 256]),
                    one_of(&[0, 12]),
                )),
            },
            cores: one_of(&[1, 2, 3]) as usize,
            command: one_of(&[10, 7000, 12_345]),
            read: one_of(&[10, 9000]),
            page: one_of(&[0, 990]),
            dram: 10 * one_of(&[1, 1050, 1306]),
            weights,
            dies: 4,
            flash_read: 50 * US,
        };
        let weights: Vec<String> = drive.weights.iter().map(u64::to_string).collect();
        let (lanes, speed, payload, overhead) = drive.link.unwrap_or((1, 0.0, 1, 0));
        let pairs = [
            "buffer.capacity_bytes=32MiB".to_owned(),
            "flash.blocks_per_plane=256".to_owned(),
            format!("host.queues={}", weights.len()),
            format!("host.queue_weights={}", weights.join("/")),
            format!("host.queue_burst={}", drive.burst),
            format!("host.queue_requests={}", drive.per_queue),
            format!("host.queue_depth={}", drive.depth),
            format!(
                "host.queue_by={}",
                if drive.by_volume {
                    "volume"
                } else {
                    "round_robin"
                }
            ),
            format!("host.link_lane_gb_per_s={speed}"),
            format!("host.link_lanes={lanes}"),
            format!("host.link_payload_bytes={payload}"),
            format!("host.link_overhead_bytes={overhead}"),
            format!("device.firmware_cores={}", drive.cores),
            format!("device.firmware_ns={}", drive.command as f64 / 10.0),
            format!("device.firmware_read_ns={}", drive.read as f64 / 10.0),
            format!("device.firmware_page_ns={}", drive.page as f64 / 10.0),
            format!("device.dram_access_ns={}", drive.dram as f64 / 10.0),
        ];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let (seen, metrics) = run_on(&pairs, &requests);
        let shares = metrics
            .iter()
            .filter(|(name, _)| name.ends_with("_utilization"));
        for (name, share) in shares {
            assert!((0.0..=1.0).contains(&share.as_f64()), "{name}: {share}");
        }
        let expected = reference::completions(&drive, &requests);
        let expected: Vec<u64> = expected
            .iter()
            .zip(&requests)
            .map(|(end, request)| (end - request.arrival) / NS)
            .collect();
        let differs = seen
            .iter()
            .zip(&expected)
            .position(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{drive:?}");
    }
}

#[test]
fn the_link_is_mqsims() {
    let mut random = Random::new(11);
    for (depth, gap) in [(1, 0), (8, 0), (512, 30_000), (512, 90_000)] {
        let mut time = 0;
        let all: Vec<_> = (0..400)
            .map(|_| {
                time += random.below(2 * gap + 1) * NS;
                let what = match random.below(2) {
                    0 => Operation::Read,
                    _ => Operation::Write,
                };
                // Reads and writes use different pages, because in MQSim a read does not wait for an earlier
                // write of the same page.
                let first = random.below(1000) + if what == Operation::Read { 1000 } else { 0 };
                (time, 2 * first, 2, what)
            })
            .collect();
        let requests = page_requests(&all);
        let config = DirectConfig {
            flash: DispatchConfig {
                channels: 2,
                dies_per_channel: 2,
                planes: 1,
                cells: Cells {
                    read: vec![75_000 * NS],
                    program: vec![750_000 * NS],
                    erase: 3_800_000 * NS,
                },
                command: CommandTimes {
                    read: 290 * NS,
                    program: 361 * NS,
                    erase: 290 * NS,
                },
                gaps: PlaneGaps::default(),
                ready: 20 * NS,
                status: 0,
                rules: Rules {
                    order: Order::ReadsFirst(0),
                    together: Together::Never,
                    reads_wait: true,
                },
                registers: None,
                suspension: None,
            },
            pages_per_block: 256,
            page_sectors: 16,
            page_types: 1,
            pins: Pins {
                width_bytes: 1,
                pair: 6 * NS,
            },
            order: "CWDP".parse().expect("an order of digits"),
            link: Some(Wire::mqsim(0.5)),
            replay: if gap == 0 {
                Replay::Closed
            } else {
                Replay::Trace
            },
            queue_depth: depth,
        };
        let theirs = run(&config, &requests).expect("a run").completions;
        let pairs = [
            "buffer.kind=nocache",
            "flash.page_bytes=8192",
            "flash.pages_per_block=256",
            "flash.channels=2",
            "flash.scheduling=commands_reads_first",
            "flash.read_starvation_limit=4294967295",
            "flash.read_us=75",
            "flash.program_us=750",
            "flash.transfer_ns_per_byte=3",
            "flash.command_ns=290",
            "flash.program_command_ns=361",
            "flash.ready_ns=20",
            "host.link_lane_gb_per_s=0.5",
            &format!("host.queue_depth={depth}"),
        ];
        let (ours, _) = run_on(&pairs, &requests);
        let ours = ours
            .iter()
            .zip(&requests)
            .map(|(response, request)| response * NS + request.arrival);
        assert_eq!(ours.collect::<Vec<_>>(), theirs, "depth {depth}, gap {gap}");
    }
}

#[test]
fn a_second_queue_that_nobody_uses_changes_nothing() {
    let requests: Vec<Request> = random_requests(3, 4000, 40_000)
        .into_iter()
        .map(|request| Request {
            volume: 0,
            sector: request.sector % 16_000,
            ..request
        })
        .collect();
    for buffer in ["buffer.kind=nocache", "buffer.kind=bplru"] {
        for depth in ["host.queue_depth=3", "host.queue_depth=1000"] {
            let pairs = [
                buffer,
                depth,
                "buffer.capacity_bytes=256KiB",
                "host.bus_ns_per_sector=238.4",
                "flash.blocks_per_plane=32",
            ];
            let (one, before) = run_on(&pairs, &requests);
            let (two, after) = run_on(&[&pairs[..], &["host.queues=2"]].concat(), &requests);
            assert_eq!(one, two, "{buffer} {depth}");
            for (name, number) in before.iter() {
                assert_eq!(after.get(name), Some(number), "{name}");
            }
        }
    }
}

#[test]
fn servers_say_how_busy_they_were_and_what_that_took() {
    let two = [0, 1].map(|page| (0, page, 1, Operation::Write));
    let pairs = [
        "device.firmware_ns=1000",
        "device.firmware_uj=3",
        "device.dram_access_ns=500",
        "device.dram_uj_per_byte=0.001",
        "host.link_lane_gb_per_s=1000",
        "host.link_uj_per_byte=0.01",
    ];
    let (responses, metrics) = run_on(&pairs, &page_requests(&two));
    // Only data need whole nanoseconds on this link: 4992 bytes on 4 lanes take 1 ns. The two pages cross the
    // link one after the other.
    assert_eq!(responses, [1501, 2501]);
    let get = |name: &str| metrics.get(name).expect(name).as_f64();
    let near = |name: &str, value: f64| {
        assert!(
            (get(name) - value).abs() < 1e-9,
            "{name}: {} {value}",
            get(name)
        );
    };
    near("device.firmware_utilization", 2000.0 / 2501.0);
    near("device.firmware_wait_ms", 999e-6 / 2.0);
    near("device.dram_utilization", 1000.0 / 2501.0);
    near("host.link_in_utilization", 2.0 / 2501.0);
    // Each request has messages of 30 + 100 + 4992 + 30 bytes to the device and 32 + 32 + 44 bytes to the host.
    // The last 30 bytes are still in flight at the end of the run.
    near(
        "energy.link_mj",
        f64::from(2 * (30 + 100 + 4992 + 32 + 32 + 44) + 2 * 30) * 0.01 / 1e3,
    );
    near("energy.firmware_mj", 6e-3);
    near("energy.dram_mj", 2.0 * 4096.0 * 0.001 / 1e3);
    let (_, plain) = run_on(&[], &page_requests(&two));
    for name in [
        "energy.link_mj",
        "energy.dram_mj",
        "device.firmware_utilization",
    ] {
        assert!(plain.get(name).is_none(), "{name}");
    }
}
