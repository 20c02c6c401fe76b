//! Tests of dispatched commands. The tests compare random streams with a naive model, and check rules that must
//! always hold.

mod naive;
mod watched;

use destage_base::{Random, Ticks};
use destage_nand::Kind;
use destage_nand::media::dispatch::{
    CommandTimes, DispatchConfig, Operation, Order, Rules, Suspension, Together,
};
use destage_nand::media::{Cells, PlaneGaps, Registers};
use destage_sample::sampled;

/// The load of a random stream.
struct Load {
    /// Pages of a block. With few pages per block, operations often have equal offsets.
    pages: u32,
    /// The most operations at one instant.
    at_once: u64,
    /// The number of batches of operations.
    batches: u32,
}

/// A random configuration with short times, so that many events coincide.
fn random_config(has_registers: bool, random: &mut Random) -> DispatchConfig {
    let mut time = |least| least + random.below(12);
    let cells = Cells {
        read: vec![time(1), time(1)],
        program: vec![time(10), time(10)],
        erase: time(20),
    };
    let command = CommandTimes {
        read: time(1),
        program: time(1),
        erase: time(1),
    };
    let gaps = PlaneGaps {
        read: time(0),
        program: time(0),
        erase: time(0),
    };
    let ready = time(0);
    let status = time(0).saturating_sub(6);
    let mut moves = || (random.below(3) > 0).then(|| random.below(12).saturating_sub(4));
    let registers = has_registers.then(|| Registers {
        read: moves(),
        program: moves(),
    });
    let rules = Rules {
        order: match random.below(4) {
            0 => Order::Arrival,
            1 => Order::ReadsFirst(0),
            _ => Order::ReadsFirst(1 + random.below(4) as u32),
        },
        together: match random.below(4) {
            0 => Together::Never,
            1 => Together::InOrder,
            2 => Together::Groups(1 + random.below(2) as u32),
            _ => Together::AnyOrder,
        },
        reads_wait: random.below(2) == 0,
    };
    DispatchConfig {
        channels: 1 + random.below(3) as u32,
        dies_per_channel: 1 + random.below(3) as u32,
        planes: 1 + random.below(4) as u32,
        cells,
        command,
        gaps,
        ready,
        status,
        suspension: (!has_registers && rules.order != Order::Arrival && random.below(2) == 0).then(
            || Suspension {
                cost: random.below(4),
                limit: 1 + random.below(3) as u32,
                unit_pages: 1 + random.below(2) as u32,
            },
        ),
        rules,
        registers,
    }
}

/// Bursts of operations with pauses between them: reads, programs in the page order of each plane, and a few
/// erases.
fn random_stream(
    config: &DispatchConfig,
    what: &Load,
    random: &mut Random,
) -> Vec<(Ticks, Vec<Operation>)> {
    let dies = config.channels * config.dies_per_channel;
    let mut given = vec![0; (dies * config.planes) as usize];
    let (mut time, mut token) = (0, 0);
    let reads = 20 + random.below(60);
    let load = 1 + random.below(40);
    (0..what.batches)
        .map(|_| {
            time += random.below(load) * random.below(3);
            let count = 1 + random.below(what.at_once);
            let operations = (0..count).map(|_| {
                let die = random.below(dies.into()) as u32;
                let plane = random.below(config.planes.into()) as u32;
                let given = &mut given[(die * config.planes + plane) as usize];
                let kind = match random.below(100) {
                    draw if draw < reads => Kind::Read,
                    98.. => Kind::Erase,
                    _ => Kind::Program,
                };
                let number: u32 = match kind {
                    Kind::Program => {
                        *given += 1;
                        *given - 1
                    }
                    Kind::Read | Kind::Erase => random.below(u64::from(*given) + 1) as u32,
                };
                token += 1;
                // Some operations belong to garbage collection, and some are copies inside a die.
                let (caches, copied) = (random.below(8) > 0, random.below(16) == 0);
                Operation {
                    kind,
                    die,
                    plane,
                    block: number / what.pages,
                    page: number % what.pages,
                    page_type: number % 2,
                    data: match kind {
                        Kind::Read | Kind::Program if caches || !copied => 1 + random.below(9),
                        _ => 0,
                    },
                    caches: caches && kind != Kind::Erase,
                    loads: kind != Kind::Erase
                        && config.registers.is_none()
                        && random.below(6) == 0,
                    token,
                }
            });
            (time, operations.collect())
        })
        .collect()
}

/// Compares the dispatcher with the model on `seeds` random streams. Every second stream runs with cache
/// registers.
fn compare(seeds: u64, what: &Load) {
    let mut differ = 0;
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let config = random_config(seed % 2 == 1, &mut random);
        let stream = random_stream(&config, what, &mut random);
        let ours = watched::run(&config, &stream);
        let theirs = naive::run(&config, &stream);
        let asked: usize = stream.iter().map(|(_, batch)| batch.len()).sum();
        assert_eq!(ours.len(), asked, "seed {seed}");
        assert_eq!(ours, theirs, "seed {seed}: {config:?}");
        if seed % 4 == 1 {
            let without = DispatchConfig {
                registers: None,
                ..config
            };
            differ += u64::from(watched::run(&without, &stream) != ours);
        }
    }
    let with = seeds / 4;
    assert!(
        4 * differ > 3 * with,
        "{differ} of {with} know of registers"
    );
}

#[test]
fn random_streams_are_as_in_the_model() {
    compare(
        sampled(500, 1500),
        &Load {
            pages: 4,
            at_once: 6,
            batches: 120,
        },
    );
}

#[test]
fn streams_of_which_hundreds_wait_are_as_in_the_model() {
    compare(
        sampled(30, 80),
        &Load {
            pages: 40,
            at_once: 300,
            batches: 6,
        },
    );
}
