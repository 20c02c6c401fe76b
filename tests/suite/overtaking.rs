//! Tests of reads that overtake programs, erases and garbage collection: closed forms to the nanosecond, and
//! rules that hold for every stream.

use destage_base::parameter::Values;
use destage_base::time::TICKS_PER_US;
use destage_base::{Random, Ticks};
use destage_buffer::{Buffer, BufferConfig, SchemeConfig};
use destage_device::{
    BatchStep, Device, DeviceConfig, Driver, Handover, Note, Progress, RequestKind, ServiceOrder,
    Span, Token, Transaction, Work,
};
use destage_ftl::FtlConfig;
use destage_nand::{Geometry, Operations, Timing};
use destage_sim::metrics::Metrics;
use destage_tests::{ONE_DIE, run_timed, single_pages};
use destage_trace::{Operation, Request};

const US: Ticks = TICKS_PER_US;
const ONE_BY_ONE: &str = "flash.channels=1";

/// Settings in addition to [`ONE_DIE`].
const DEVICE: &[&str] = &[
    "flash.blocks_per_plane=16",
    "flash.pages_per_block=8",
    "flash.suspend_us=5",
];

/// Response times in nanoseconds, and the metrics.
fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let (responses, result) = run_timed(&[&ONE_DIE, DEVICE].concat(), pairs, requests);
    (responses, result.metrics)
}

fn responses(pairs: &[&str], requests: &[Request]) -> Vec<u64> {
    run(pairs, requests).0
}

#[test]
fn a_read_goes_ahead_of_writes_that_wait_but_not_of_one_of_its_page() {
    let mixed = single_pages(&[
        (0, 0, Operation::Write),
        (0, 1, Operation::Write),
        (0, 2, Operation::Write),
        (US, 9, Operation::Read),
        (US, 2, Operation::Read),
    ]);
    let arrival = responses(&[], &mixed);
    assert_eq!(arrival, [210_000, 420_000, 630_000, 679_000, 729_000]);
    // Page 9 is read after the first program. Page 2 is read only after the program of page 2.
    let first = responses(&["flash.scheduling=reads_first"], &mixed);
    assert_eq!(first, [210_000, 470_000, 680_000, 259_000, 729_000]);
    // The response times are the same if commands are timed one by one.
    let timed = responses(&["flash.scheduling=reads_first", ONE_BY_ONE], &mixed);
    assert_eq!(timed, first);
}

#[test]
fn what_waits_has_its_turn_after_so_many_reads() {
    let mut all = vec![(0, 0, Operation::Write), (0, 1, Operation::Write)];
    all.extend((0..5).map(|page| (US, 20 + page, Operation::Read)));
    let of = |bound: &str| {
        responses(
            &["flash.scheduling=reads_first", bound],
            &single_pages(&all),
        )
    };
    let two = of("flash.read_starvation_limit=2");
    assert_eq!(two[..2], [210_000, 310_000 + 210_000]);
    assert_eq!(two[2..], [259_000, 309_000, 569_000, 619_000, 669_000]);
    assert_eq!(of("flash.read_starvation_limit=5")[1], 460_000 + 210_000);
}

#[test]
fn a_read_interrupts_a_program_as_femu_has_it() {
    // The program runs from 10 to 210 us. A read that arrives at 50 us runs from 55 to 95 us, and its data are
    // transferred until 105 us.
    let one = single_pages(&[
        (0, 0, Operation::Write),
        (50 * US, 9, Operation::Read),
        (50 * US, 1, Operation::Write),
    ]);
    let ahead = ["flash.scheduling=reads_first", ONE_BY_ONE];
    let waits = responses(&ahead, &one);
    // The second program waits for the read, too.
    assert_eq!(waits, [210_000, 210_000, 420_000]);
    let keeps = responses(&[ahead[0], ahead[1], "flash.suspend=keeps_end"], &one);
    // The die is busy until 255 us. By then the data of the second program have been transferred.
    assert_eq!(keeps, [210_000, 55_000, 405_000]);
    let moves = responses(&[ahead[0], ahead[1], "flash.suspend=moves_end"], &one);
    // The second program is issued at 255 us.
    assert_eq!(moves, [255_000, 55_000, 415_000]);
}

#[test]
fn reads_join_a_suspension_and_their_number_is_limited() {
    let chain = single_pages(&[
        (0, 0, Operation::Write),
        (20 * US, 20, Operation::Read),
        (30 * US, 21, Operation::Read),
        (150 * US, 22, Operation::Read),
    ]);
    let pairs = |limit| {
        [
            "flash.scheduling=reads_first",
            ONE_BY_ONE,
            "flash.suspend=moves_end",
            limit,
        ]
    };
    // Reads run from 25 to 65, 65 to 105, and again from 155 to 195 us. The program ends at 210 + 45 + 40 + 45 us.
    let many = responses(&pairs("flash.suspend_limit=2"), &chain);
    assert_eq!(many, [340_000, 55_000, 85_000, 55_000]);
    // The third read would be a second suspension, so it begins after the program has ended, at 295 us.
    let one = responses(&pairs("flash.suspend_limit=1"), &chain);
    assert_eq!(one, [295_000, 55_000, 85_000, 195_000]);
    // Only one read may overtake the operation in service.
    let bounded = [
        "flash.scheduling=reads_first",
        ONE_BY_ONE,
        "flash.suspend=moves_end",
        "flash.read_starvation_limit=1",
    ];
    let bounded = responses(&bounded, &chain);
    assert_eq!(bounded[..2], [255_000, 55_000]);
}

#[test]
fn an_erase_that_is_interrupted_has_its_status_later() {
    // Block after block is overwritten, so that a write must wait for an erase without copies.
    let mut all: Vec<_> = (0..400_u64)
        .map(|write| (write * 5000 * US, write % 8, Operation::Write))
        .collect();
    let pairs = [
        "flash.scheduling=reads_first",
        "flash.channels=1",
        "flash.status_ns=1000",
        "sim.precondition=none",
    ];
    let plain = responses(&pairs, &single_pages(&all));
    let at = (0..all.len()).find(|index| plain[*index] > 2_000_000);
    let at = at.expect("a write that waits for an erase");
    assert_eq!(plain[at], 2_001_000 + 210_000);
    let arrival = all[at].0;
    all.insert(at + 1, (arrival + 100 * US, 3, Operation::Read));
    let of = |suspend: &str| {
        let pairs: Vec<&str> = pairs.iter().copied().chain([suspend]).collect();
        let seen = responses(&pairs, &single_pages(&all));
        [seen[at], seen[at + 1]]
    };
    // The data of the read are transferred until 155 us after the arrival of the write. Then the status of the
    // read is transferred.
    assert_eq!(of("flash.suspend=never")[0], 2_001_000 + 51_000 + 210_000);
    assert_eq!(of("flash.suspend=moves_end"), [2_256_000, 56_000]);
    assert_eq!(of("flash.suspend=keeps_end"), [2_245_000, 56_000]);
}

#[test]
fn garbage_collection_comes_last_while_there_is_room() {
    let mut random = Random::new(5);
    let mut all = Vec::new();
    for burst in 0..60_u64 {
        for _ in 0..10 {
            all.push((burst * 40_000 * US, random.below(60), Operation::Write));
        }
    }
    let of = |order: &str| {
        run(
            &[
                order,
                ONE_BY_ONE,
                "ftl.gc_low=10",
                "flash.blocks_per_plane=32",
            ],
            &single_pages(&all),
        )
    };
    let mean = |of: &[u64]| of.iter().sum::<u64>() / of.len() as u64;
    let (first, _) = of("flash.scheduling=reads_first");
    let (last, _) = of("flash.scheduling=garbage_last");
    // With `garbage_last`, garbage is collected only in the gap after a burst.
    assert!(
        mean(&last) * 3 < mean(&first) * 2,
        "{} {}",
        mean(&last),
        mean(&first)
    );
}

#[test]
fn work_is_conserved_and_nothing_waits_beyond_the_bound() {
    let mut random = Random::new(9);
    let mut all = Vec::new();
    let mut time = 0;
    for _ in 0..4000 {
        time += random.below(300) * US;
        let operation = match random.below(10) {
            0..6 => Operation::Read,
            _ => Operation::Write,
        };
        all.push((time, random.below(60), operation));
    }
    let all = single_pages(&all);
    let counts = |metrics: &Metrics| {
        let count = |name| metrics.get(name).expect("a count").as_f64();
        // Each copy of a page includes a read.
        let host_reads = count("flash.reads") - count("flash.programs.copy");
        (host_reads, count("flash.programs.host"))
    };
    let (_, before) = run(&[ONE_BY_ONE], &all);
    for suspend in ["never", "keeps_end", "moves_end"] {
        for order in ["reads_first", "garbage_last"] {
            for bound in ["1", "4", "1000"] {
                let pairs = [
                    format!("flash.suspend={suspend}"),
                    format!("flash.scheduling={order}"),
                    format!("flash.read_starvation_limit={bound}"),
                    ONE_BY_ONE.to_owned(),
                ];
                let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
                let (seen, metrics) = run(&pairs, &all);
                // All requests complete, and each page is read or programmed exactly once.
                assert_eq!(seen.len(), all.len());
                assert_eq!(counts(&metrics), counts(&before), "{pairs:?}");
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Running {
    /// A die is executing the operation, and may become free before the operation ends.
    Page(Token),
    /// The operation has already released its die, or occupies its die until the operation ends.
    Other(Token),
}

/// A driver that ends operations in random order, lets some dies accept reads during a step, and records which
/// operations begin.
struct Noting {
    random: Random,
    running: Vec<Running>,
    /// Whether a step releases its die early for the next operation. If so, reads wait only for operations that
    /// have not begun.
    hands_over: bool,
    /// For each die: in `waiting`, the number of waiting operations that are not reads; in `reads`, the number of
    /// reads that began since the last such operation began.
    waiting: Vec<u32>,
    reads: Vec<u32>,
    most: u32,
    answered: usize,
}

impl Noting {
    fn read_begins(&mut self, die: u32, in_midst: bool) {
        let die = die as usize;
        if in_midst && !self.hands_over || self.waiting[die] > 0 {
            self.reads[die] += 1;
            self.most = self.most.max(self.reads[die]);
        } else {
            self.reads[die] = 0;
        }
    }
}

impl Driver for Noting {
    fn begin(
        &mut self,
        die: u32,
        transaction: Transaction,
        _: &Operations,
        _: Ticks,
        token: Token,
    ) -> Progress {
        let running = match transaction {
            Transaction::Page(operation) => {
                if matches!(operation.work(), Work::HostRead(_)) {
                    self.read_begins(die, false);
                } else {
                    self.waiting[die as usize] -= 1;
                    self.reads[die as usize] = 0;
                }
                Running::Page(token)
            }
            Transaction::ReadBetween(_) => {
                self.read_begins(die, true);
                Running::Other(token)
            }
            Transaction::Collection | Transaction::Fillers => {
                self.reads[die as usize] = 0;
                Running::Other(token)
            }
        };
        self.running.push(running);
        Progress::Running
    }
    fn serve_batch(&mut self, _: u32, _: BatchStep<'_>) {
        panic!("no batches here");
    }
    fn takes_read(&self, die: u32) -> bool {
        die.is_multiple_of(2)
    }
    fn answer(&mut self, _: u32) {
        self.answered += 1;
    }
    fn wake_after(&mut self, _: Ticks, _: u32) {}
    fn note(&mut self, note: &Note<'_>) {
        if let Note::Queued(operation, die) = *note
            && !matches!(operation.work(), Work::HostRead(_))
        {
            self.waiting[die as usize] += 1;
        }
    }
}

#[test]
fn no_more_reads_go_ahead_than_may() {
    for (seed, bound) in [(1, 1), (2, 3), (3, 8)] {
        // The bound is never exceeded, and it is reached.
        assert_eq!(most_reads_ahead(seed, bound, false), bound);
        assert_eq!(most_reads_ahead(seed, bound, true), bound);
    }
}

/// The most reads in a row that overtook other operations on any of four dies, two of which accept reads during a
/// step.
fn most_reads_ahead(seed: u64, bound: u32, hands_over: bool) -> u32 {
    let layer = destage_ftl::find("page").expect("page mapping");
    let values = Values::defaults(layer.parameters);
    let geometry = Geometry {
        dies: 4,
        planes: 1,
        blocks_per_plane: 32,
        pages_per_block: 8,
        summary_page: false,
        page_bytes: 4096,
    };
    let timing = Timing {
        read: 1,
        program: 1,
        erase: 1,
        one_bit: [0; 2],
        page_transfer: 1,
        sector_transfer: 1,
    };
    let ftl = (layer.build)(&FtlConfig {
        geometry,
        erase_dates: timing,
        copy_back: false,
        parallel_units: 1,
        units_per_page: 1,
        program_unit: 1,
        program_passes: 1,
        bits_per_cell: 1,
        endurance: 1000,
        retire: false,
        power_may_fail: false,
        filled: true,
        seed: 1,
        values: &values,
    });
    let ftl = ftl.unwrap_or_else(|error| panic!("{error:?}"));
    let pages = ftl.pages();
    let scheme = destage_buffer::find("nocache").expect("no buffer");
    let buffer = BufferConfig::new(0, 8);
    let scheme = (scheme.build)(&SchemeConfig::new(0, 8, &Values::default()));
    let config = DeviceConfig {
        service: ServiceOrder::ReadsFirst,
        reads_ahead: bound,
        handover: match hands_over {
            true => Handover::OfFixedDies,
            false => Handover::Never,
        },
        ..DeviceConfig::new(4, 32)
    };
    let mut device = Device::new(config, Buffer::new(buffer, scheme), ftl);
    let mut driver = Noting {
        random: Random::new(seed),
        running: Vec::new(),
        hands_over,
        waiting: vec![0; 4],
        reads: vec![0; 4],
        most: 0,
        answered: 0,
    };
    let (mut sent, mut now) = (0, 0);
    while driver.answered < 20_000 {
        now += 1;
        let may_send = sent < 20_000 && sent - driver.answered < 64;
        if may_send && (driver.running.is_empty() || driver.random.below(2) == 0) {
            // A read does not overtake an earlier write of the same page, and would not count. So reads and
            // writes use different pages.
            let (kind, first) = match driver.random.below(3) {
                0 => (RequestKind::Write, 0),
                _ => (RequestKind::Read, pages / 2),
            };
            let asked = destage_device::Request {
                kind,
                span: Span::whole(first + driver.random.below(pages / 2), 1),
                fua: false,
            };
            let token = (sent % 20_000) as u32;
            sent += 1;
            let done = device.submit(token, &asked, now, &mut driver);
            done.unwrap_or_else(|full| panic!("{full:?}"));
            continue;
        }
        assert!(
            !driver.running.is_empty(),
            "nothing runs, and requests wait"
        );
        let chosen = driver.random.below(driver.running.len() as u64) as usize;
        let leaves = hands_over && driver.random.below(2) == 0;
        let done = match driver.running.swap_remove(chosen) {
            Running::Page(token) if leaves => {
                driver.running.push(Running::Other(token));
                device.free(token, now, &mut driver)
            }
            Running::Page(token) | Running::Other(token) => {
                device.complete(token, now, &mut driver)
            }
        };
        done.unwrap_or_else(|full| panic!("{full:?}"));
    }
    driver.most
}
