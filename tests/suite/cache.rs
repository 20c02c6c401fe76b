//! Cache registers: closed forms to the nanosecond, random streams against a straight-line model, and what they do not go with.

use std::collections::VecDeque;

use destage_base::time::{TICKS_PER_NS, TICKS_PER_US};
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_sim::settings::Settings;
use destage_tests::{run_timed, single_pages};
use destage_trace::{Operation, Request};

const US: Ticks = TICKS_PER_US;

/// Dies without a buffer: 40 us read, 200 us program, 10 us a page on the channel.
const DEVICE: &[&str] = &[
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=256",
    "flash.summary_page=false",
    "ftl.reserve_percent=40",
    "flash.pages_per_block=64",
    "flash.read_us=40",
    "flash.program_us=200",
    "flash.spare_bytes_per_sector=0",
    "flash.parallel_units=1",
    "flash.wearout=ignore",
    "host.bus_ns_per_sector=0",
    "host.queue_depth=100000",
    "host.attribution=request",
    "host.scheduler=fifo",
    "sim.window=complete",
    "sim.write_order=strict",
    "sim.clock=exact",
];
const TRANSFER_10_US: &str = "flash.transfer_ns_per_byte=2.44140625";
const TRANSFER_60_US: &str = "flash.transfer_ns_per_byte=14.6484375";

fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let (responses, result) = run_timed(DEVICE, pairs, requests);
    (responses, result.metrics)
}

/// Responses in microseconds to requests of one page each on one die.
fn on_one_die(pairs: &[&str], of: &[(Ticks, u64, Operation)]) -> Vec<u64> {
    let all = [&["flash.dies=1"], pairs].concat();
    let (responses, _) = run(&all, &single_pages(of));
    responses.iter().map(|response| response / 1000).collect()
}

#[test]
fn a_die_reads_while_the_page_before_leaves() {
    let three = [0, 1, 2].map(|page| (0, page, Operation::Read));
    let plain = on_one_die(&[TRANSFER_10_US, "flash.channels=1"], &three);
    assert_eq!(plain, [50, 100, 150]);
    let cached = [TRANSFER_10_US, "flash.cache_read=true"];
    assert_eq!(on_one_die(&cached, &three), [50, 90, 130]);
    // Each page takes 3 us from register to register, in which the cells rest.
    let busy = [cached[0], cached[1], "flash.cache_read_busy_us=3"];
    assert_eq!(on_one_die(&busy, &three), [53, 96, 139]);
    // The command of the next is on the channel in that time.
    let command = [busy[0], busy[1], busy[2], "flash.command_ns=1000"];
    assert_eq!(on_one_die(&command, &three), [54, 97, 140]);
    // Where data take longer than cells, they leave one page behind the other.
    let slow = [TRANSFER_60_US, "flash.cache_read=true"];
    assert_eq!(on_one_die(&slow, &three), [100, 160, 220]);
    let slow_busy = [slow[0], slow[1], "flash.cache_read_busy_us=3"];
    assert_eq!(on_one_die(&slow_busy, &three), [103, 166, 229]);
}

#[test]
fn a_die_programs_while_the_next_page_comes() {
    let three = [0, 1, 2].map(|page| (0, page, Operation::Write));
    let plain = on_one_die(&[TRANSFER_10_US, "flash.channels=1"], &three);
    assert_eq!(plain, [210, 420, 630]);
    let cached = [TRANSFER_10_US, "flash.cache_program=true"];
    assert_eq!(on_one_die(&cached, &three), [210, 410, 610]);
    let busy = [cached[0], cached[1], "flash.cache_program_busy_us=5"];
    assert_eq!(on_one_die(&busy, &three), [215, 420, 625]);
    // A register for each direction does not change the other.
    let reads = [TRANSFER_10_US, "flash.cache_read=true"];
    assert_eq!(on_one_die(&reads, &three), plain);
}

#[test]
fn a_read_behind_a_program_waits_for_its_cells_and_a_program_for_the_register() {
    let of = [
        (0, 0, Operation::Write),
        (0, 9, Operation::Read),
        (0, 1, Operation::Write),
    ];
    let both = [
        TRANSFER_10_US,
        "flash.cache_read=true",
        "flash.cache_program=true",
    ];
    // Read 210 to 250, its data until 260; then those of the program until 270.
    assert_eq!(on_one_die(&both, &of), [210, 260, 470]);
}

/// A channel, and what is booked on it.
#[derive(Default)]
struct Line {
    held: u64,
    booked: Vec<(u64, u64)>,
}

impl Line {
    fn place(&self, earliest: u64, length: u64) -> u64 {
        let mut start = earliest.max(self.held);
        let over = |start: u64| {
            let mut booked = self.booked.iter();
            booked.find(|(begin, end)| start < *end && *begin < start + length)
        };
        while let Some((_, end)) = over(start) {
            start = *end;
        }
        start
    }
    fn now(&mut self, earliest: u64, length: u64) -> u64 {
        if length == 0 {
            return earliest;
        }
        self.held = self.place(earliest, length) + length;
        self.held
    }
    fn later(&mut self, earliest: u64, length: u64) -> u64 {
        if length == 0 {
            return earliest;
        }
        let start = self.place(earliest, length);
        self.booked.push((start, start + length));
        start + length
    }
}

/// Odd times, so that few things happen at once.
const READ: u64 = 400_137;
const PROGRAM: u64 = 2_000_331;
const DATA: [(u64, &str); 2] = [
    (110_240, "flash.transfer_ns_per_byte=2.69140625"),
    (610_240, "flash.transfer_ns_per_byte=14.8984375"),
];

#[derive(Clone, Debug)]
struct Flash {
    dies: u64,
    channels: u64,
    command: u64,
    status: u64,
    data: u64,
    /// Times between the registers, where there are any.
    read: Option<u64>,
    program: Option<u64>,
}

#[derive(Clone, Default)]
struct Die {
    queue: VecDeque<usize>,
    /// When the next may be issued, the cells are free, and the cache register is.
    next: u64,
    cells: u64,
    cache: u64,
    /// How many commands had begun before its latest: at one moment the die goes first whose end was known first.
    rank: u64,
}

/// Responses in ticks: each time the die whose next request may be issued first.
fn straight(flash: &Flash, requests: &[Request]) -> Vec<u64> {
    let mut dies = vec![Die::default(); flash.dies as usize];
    let mut lines: Vec<Line> = (0..flash.channels).map(|_| Line::default()).collect();
    let mut responses = vec![0; requests.len()];
    let mut issued = 0;
    for (index, request) in requests.iter().enumerate() {
        dies[(request.sector / 8 % flash.dies) as usize]
            .queue
            .push_back(index);
    }
    loop {
        let first = |die: &Die| {
            die.queue
                .front()
                .map(|index| die.next.max(requests[*index].arrival))
        };
        let ready =
            (0..dies.len()).filter_map(|die| Some((first(&dies[die])?, dies[die].rank, die)));
        let Some((now, _, number)) = ready.min() else {
            return responses;
        };
        let line = &mut lines[number % flash.channels as usize];
        let die = &mut dies[number];
        issued += 1;
        die.rank = issued;
        let index = die.queue.pop_front().expect("a request");
        let there = line.now(now, flash.command);
        let done = if requests[index].operation == Operation::Read {
            let read = there.max(die.cells) + READ;
            let moved = read.max(die.cache) + flash.read.unwrap_or(0);
            let left = line.later(moved, flash.data);
            let done = line.later(left, flash.status);
            (die.cells, die.cache) = (moved, left);
            die.next = if flash.read.is_some() { read } else { done };
            done
        } else {
            let loaded = line.now(there.max(die.cache), flash.data);
            let moved = loaded.max(die.cells) + flash.program.unwrap_or(0);
            let done = moved + PROGRAM;
            (die.cells, die.cache) = (done, moved);
            die.next = if flash.program.is_some() { moved } else { done };
            done
        };
        responses[index] = done - requests[index].arrival;
    }
}

#[test]
fn random_streams_end_when_a_straight_line_model_says() {
    let mut random = Random::new(3);
    for seed in 0..24_u64 {
        let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let with = one_of(&[0, 1, 2]);
        let flash = Flash {
            dies: 4,
            channels: one_of(&[1, 2, 4]),
            command: one_of(&[0, 3001, 10_007]),
            status: one_of(&[0, 2003]),
            data: one_of(&[DATA[0].0, DATA[1].0]),
            read: (with != 1).then(|| one_of(&[0, 30_011])),
            program: (with != 0).then(|| one_of(&[0, 50_021])),
        };
        let gap = one_of(&[20, 60, 200]) * US;
        let (mut time, mut stream) = (0, Random::new(100 + seed));
        let mut written = 0;
        let all: Vec<_> = (0..400)
            .map(|_| {
                time += stream.below(gap);
                match stream.below(2) {
                    0 => (time, 2000 + stream.below(4000), Operation::Read),
                    _ => {
                        written += 1;
                        (time, stream.below(4) + 4 * written, Operation::Write)
                    }
                }
            })
            .collect();
        let requests = single_pages(&all);
        let ticks = |ticks: u64| ticks as f64 / TICKS_PER_NS as f64;
        let us = |ticks: Option<u64>| ticks.unwrap_or(0) as f64 / US as f64;
        let pairs = [
            "flash.dies=4".to_owned(),
            format!("flash.channels={}", flash.channels),
            format!("flash.command_ns={}", ticks(flash.command)),
            format!("flash.status_ns={}", ticks(flash.status)),
            DATA[usize::from(flash.data == DATA[1].0)].1.to_owned(),
            format!("flash.read_us={}", us(Some(READ))),
            format!("flash.program_us={}", us(Some(PROGRAM))),
            format!("flash.cache_read={}", flash.read.is_some()),
            format!("flash.cache_read_busy_us={}", us(flash.read)),
            format!("flash.cache_program={}", flash.program.is_some()),
            format!("flash.cache_program_busy_us={}", us(flash.program)),
        ];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let (seen, metrics) = run(&pairs, &requests);
        let expected: Vec<u64> = straight(&flash, &requests)
            .into_iter()
            .map(|ticks| ticks / TICKS_PER_NS)
            .collect();
        let differs = seen
            .iter()
            .zip(&expected)
            .position(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{flash:?}");
        let busiest = metrics
            .get("flash.utilization_max")
            .expect("a share")
            .as_f64();
        assert!(busiest <= 1.0, "{busiest}");
    }
}

#[test]
fn collections_go_on_beside_registers() {
    let mut random = Random::new(8);
    let all: Vec<_> = (0..6000)
        .map(|index| {
            let what = match random.below(4) {
                0 => Operation::Read,
                _ => Operation::Write,
            };
            (index * 100 * US, random.below(1200), what)
        })
        .collect();
    let requests = single_pages(&all);
    let device = [
        "flash.dies=2",
        "flash.blocks_per_plane=16",
        "flash.channels=1",
        TRANSFER_10_US,
    ];
    let (_, alone) = run(&device, &requests);
    for order in ["flash.order=arrival", "flash.order=reads_first"] {
        let registers = ["flash.cache_read=true", "flash.cache_program=true", order];
        let (seen, with) = run(&[&device[..], &registers].concat(), &requests);
        assert_eq!(seen.len(), requests.len());
        for name in ["flash.erases", "flash.programs.host", "flash.pages_moved"] {
            assert_eq!(with.get(name), alone.get(name), "{name}");
        }
        let mean = |metrics: &Metrics| metrics.get("response.mean_ms").expect("a mean").as_f64();
        assert!(mean(&with) < mean(&alone), "{order}");
        assert!(alone.get("flash.erases").expect("erases").as_f64() > 50.0);
    }
}

#[test]
fn what_they_do_not_go_with_is_named() {
    for (pairs, says) in [
        (
            &["flash.cache_read=true", "flash.dispatch=arrival"][..],
            "flash.dispatch=off",
        ),
        (
            &[
                "flash.cache_program=true",
                "flash.suspend=moves_end",
                "flash.order=reads_first",
            ],
            "flash.suspend=never",
        ),
        (
            &["flash.cache_program=true", "flash.program_unit=4"],
            "flash.program_unit=1",
        ),
        (
            &["flash.cache_read=true", "flash.parallel_units=2"],
            "flash.parallel_units = 2",
        ),
    ] {
        let mut settings = Settings::new();
        for pair in pairs {
            settings.set_pair(pair).expect("a pair");
        }
        let error = settings.resolve().err().expect(says).to_string();
        assert!(error.contains(says), "{pairs:?}: {error}");
    }
    let mut settings = Settings::new();
    settings.set_pair("flash.cache_read=true").expect("a pair");
    settings.explain();
    let error = settings
        .resolve()
        .err()
        .expect("no explained run")
        .to_string();
    assert!(error.contains("a run is explained only"), "{error}");
    let mut settings = Settings::new();
    for pair in [
        "flash.cache_read=true",
        "ftl.placement=dynamic",
        "flash.blocks_per_plane=64",
    ] {
        settings.set_pair(pair).expect("a pair");
    }
    let config = settings.resolve().unwrap_or_else(|error| panic!("{error}"));
    let error = config
        .ftl_with(false)
        .err()
        .expect("no such layer")
        .to_string();
    assert!(error.contains("chooses the die of each write"), "{error}");
}
