//! Tests of cache registers. Response times must equal closed forms to the nanosecond, random streams must agree
//! with a naive model, and the settings that cache registers exclude must be refused.

mod queued;
mod straight;
mod suspended;
mod units;

use destage_base::time::{TICKS_PER_NS, TICKS_PER_US};
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_sim::settings::Settings;
use destage_tests::{run_timed, single_pages};
use destage_trace::{Operation, Request};

use self::straight::{FIRST_PASS, Flash, PROGRAM, READ};

const US: Ticks = TICKS_PER_US;

/// A device without a buffer, with 40 us to read and 200 us to program.
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
const READ_BETWEEN_WRITES: [(u64, u64, Operation); 3] = [
    (0, 0, Operation::Write),
    (0, 9, Operation::Read),
    (0, 1, Operation::Write),
];
const TRANSFER_60_US: &str = "flash.transfer_ns_per_byte=14.6484375";

fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let (responses, result) = run_timed(DEVICE, pairs, requests);
    (responses, result.metrics)
}

/// Response times in microseconds of requests of one page each, on one die.
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
    // Each page needs 3 us to move from the page register to the cache register. The cells are idle meanwhile.
    let busy = [cached[0], cached[1], "flash.cache_read_busy_us=3"];
    assert_eq!(on_one_die(&busy, &three), [53, 96, 139]);
    // The command of the next read uses the channel during these 3 us.
    let command = [busy[0], busy[1], busy[2], "flash.command_ns=1000"];
    assert_eq!(on_one_die(&command, &three), [54, 97, 140]);
    // If a transfer takes longer than a read in the cells, the transfers follow each other without a gap.
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
    // The cache register for reads does not affect programs.
    let reads = [TRANSFER_10_US, "flash.cache_read=true"];
    assert_eq!(on_one_die(&reads, &three), plain);
}

#[test]
fn a_read_behind_a_program_waits_for_its_cells_and_a_program_for_the_register() {
    let both = [
        TRANSFER_10_US,
        "flash.cache_read=true",
        "flash.cache_program=true",
    ];
    // The read is in the cells from 210 to 250 us, and its page is transferred until 260 us. Then the data of the
    // second program are transferred until 270 us.
    assert_eq!(on_one_die(&both, &READ_BETWEEN_WRITES), [210, 260, 470]);
}

const DATA: [(u64, &str); 2] = [
    (110_240, "flash.transfer_ns_per_byte=2.69140625"),
    (610_240, "flash.transfer_ns_per_byte=14.8984375"),
];

/// 400 reads and writes of one page each, at random times less than `gap` ticks apart. Each write is to a
/// different page.
fn stream(seed: u64, gap: Ticks) -> Vec<Request> {
    let (mut time, mut random) = (0, Random::new(seed));
    let mut written = 0;
    let all: Vec<_> = (0..400)
        .map(|_| {
            time += random.below(gap);
            match random.below(2) {
                0 => (time, 2000 + random.below(4000), Operation::Read),
                _ => {
                    written += 1;
                    (time, random.below(4) + 4 * written, Operation::Write)
                }
            }
        })
        .collect();
    single_pages(&all)
}

/// Response times in nanoseconds on `flash`, with the settings `more` added.
fn responses(flash: &Flash, more: &[&str], requests: &[Request]) -> Vec<u64> {
    let ticks = |ticks: u64| ticks as f64 / TICKS_PER_NS as f64;
    let us = |ticks: u64| ticks as f64 / US as f64;
    let pairs = [
        format!("flash.dies={}", flash.dies),
        format!("flash.channels={}", flash.channels),
        format!("flash.command_ns={}", ticks(flash.command)),
        format!("flash.status_ns={}", ticks(flash.status)),
        DATA[usize::from(flash.data == DATA[1].0)].1.to_owned(),
        format!("flash.read_us={}", us(READ)),
        format!("flash.program_us={}", us(PROGRAM)),
        format!("flash.first_pass_us={}", us(FIRST_PASS)),
        format!("flash.cache_read={}", flash.read.is_some()),
        format!("flash.cache_read_busy_us={}", us(flash.read.unwrap_or(0))),
        format!("flash.cache_program={}", flash.program.is_some()),
        format!(
            "flash.cache_program_busy_us={}",
            us(flash.program.unwrap_or(0))
        ),
        format!("flash.program_unit={}", flash.unit),
        format!("flash.program_passes={}", flash.passes),
        format!("flash.pages_per_block={}", flash.block_pages),
    ];
    let mut pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    pairs.extend(more);
    let (seen, metrics) = run(&pairs, requests);
    let busiest = metrics
        .get("flash.utilization_max")
        .expect("a share")
        .as_f64();
    assert!(busiest <= 1.0, "{busiest}");
    seen
}

/// Checks that every request ends at the time that the naive model computes.
fn hold_to_model(flash: &Flash, more: &[&str], requests: &[Request]) {
    let seen = responses(flash, more, requests);
    let expected: Vec<u64> = straight::responses(flash, requests)
        .into_iter()
        .map(|ticks| ticks / TICKS_PER_NS)
        .collect();
    let differs = seen
        .iter()
        .zip(&expected)
        .position(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "{flash:?}");
}

/// A random configuration of flash. Cache registers are for reads, for programs or for both; channels are private
/// or shared; transfers are longer or shorter than a read.
fn any_flash(random: &mut Random) -> Flash {
    let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
    let with = one_of(&[0, 1, 2]);
    Flash {
        dies: 4,
        channels: one_of(&[1, 2, 4]),
        command: one_of(&[0, 3001, 10_007]),
        status: one_of(&[0, 2003]),
        data: one_of(&[DATA[0].0, DATA[1].0]),
        read: (with != 1).then(|| one_of(&[0, 30_011])),
        program: (with != 0).then(|| one_of(&[0, 50_021])),
        unit: 1,
        passes: 1,
        block_pages: 64,
    }
}

#[test]
fn random_streams_end_when_a_straight_line_model_says() {
    let mut random = Random::new(3);
    for seed in 0..24 {
        let flash = any_flash(&mut random);
        let gap = [20, 60, 200][random.below(3) as usize] * US;
        hold_to_model(&flash, &[], &stream(100 + seed, gap));
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
    for order in ["flash.scheduling=arrival", "flash.scheduling=reads_first"] {
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
            &[
                "flash.cache_program=true",
                "flash.scheduling=commands_arrival",
                "flash.program_unit=2",
            ][..],
            "and not a unit of several",
        ),
        (
            &[
                "flash.cache_program=true",
                "flash.scheduling=commands_reads_first",
                "flash.suspend=moves_end",
            ],
            "a die with cache registers is not interrupted",
        ),
    ] {
        let mut settings = Settings::new();
        for pair in pairs {
            settings.set_pair(pair).expect("a pair");
        }
        let error = settings.resolve().err().expect(says).to_string();
        assert!(error.contains(says), "{pairs:?}: {error}");
    }
}
