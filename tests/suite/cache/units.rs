//! Tests of cache registers with program units. The pages of a unit are transferred while the previous unit is
//! being programmed.

use super::{Flash, TRANSFER_10_US, US, any_flash, hold_to_model, on_one_die, run, stream};
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_tests::single_pages;
use destage_trace::Operation;

/// Response times in microseconds on one die with units of three pages and blocks of four units.
fn units(pairs: &[&'static str], of: &[(Ticks, u64)]) -> Vec<u64> {
    let device = [
        TRANSFER_10_US,
        "flash.pages_per_block=12",
        "flash.program_unit=3",
        "flash.first_pass_us=50",
    ];
    let all: Vec<_> = of
        .iter()
        .map(|(time, page)| (*time, *page, Operation::Write))
        .collect();
    on_one_die(&[&device[..], pairs].concat(), &all)
}

const CACHED: &str = "flash.cache_program=true";

#[test]
fn a_unit_comes_while_the_one_before_is_programmed() {
    let six = [0, 1, 2, 3, 4, 5].map(|page| (0, page));
    assert_eq!(units(&[], &six), [230, 230, 230, 460, 460, 460]);
    // The second unit is transferred from 30 to 60 us and programmed from 230 us on.
    assert_eq!(units(&[CACHED], &six), [230, 230, 230, 430, 430, 430]);
    let busy = [CACHED, "flash.cache_program_busy_us=5"];
    assert_eq!(units(&busy, &six), [235, 235, 235, 440, 440, 440]);
}

#[test]
fn each_pass_leaves_the_register_to_the_next() {
    let six = [0, 1, 2, 3, 4, 5].map(|page| (0, page));
    let two = "flash.program_passes=2";
    // The first passes of the two units end at 80 and 160 us. The data of the first unit are transferred again
    // until 190 us, and then the second pass of this unit runs. A unit of fillers is programmed next, and lets
    // the second unit have its second pass.
    assert_eq!(units(&[two], &six), [390, 390, 390, 700, 700, 700]);
    // The first passes of the two units end at 80 and 130 us. Meanwhile the data of the first unit are
    // transferred again, and the second pass of this unit begins at 130 us. The unit of fillers follows: its data
    // are transferred until 360 us, and its first pass ends at 410 us. Meanwhile the data of the second unit are
    // transferred again.
    assert_eq!(units(&[two, CACHED], &six), [330, 330, 330, 610, 610, 610]);
}

#[test]
fn no_filler_comes_while_a_unit_is_programmed() {
    let four = [(0, 0), (0, 1), (0, 2), (0, 3)];
    // The fourth page has been transferred to the die at 40 us. The fillers of its unit are transferred from 230
    // us on.
    assert_eq!(units(&[CACHED], &four), [230, 230, 230, 450]);
    // A page that arrives before the fillers joins the unit in place of a filler.
    let five = [(0, 0), (0, 1), (0, 2), (0, 3), (100 * US, 4)];
    assert_eq!(units(&[CACHED], &five), [230, 230, 230, 440, 340]);
}

#[test]
fn random_streams_of_units_end_when_a_straight_line_model_says() {
    let mut random = Random::new(5);
    let mut differs = 0;
    for seed in 0..24 {
        let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let (unit, passes) = (one_of(&[2, 4]), one_of(&[1, 2]));
        let gap = one_of(&[20, 60, 200]) * US;
        let flash = Flash {
            unit,
            passes,
            block_pages: 8,
            ..any_flash(&mut random)
        };
        let requests = stream(200 + seed, gap);
        hold_to_model(&flash, &["flash.blocks_per_plane=2048"], &requests);
        let without = Flash {
            program: None,
            ..flash.clone()
        };
        let [with, without] =
            [&flash, &without].map(|flash| super::straight::responses(flash, &requests));
        differs += u32::from(with != without);
    }
    assert!(differs > 8, "{differs} streams know of the register");
}

/// Dies that also collect garbage and read and write the map complete all requests. Cache registers change the
/// numbers of host and filler programs by less than 10 %, or by less than 100.
#[test]
fn collections_and_maps_go_on_beside_units() {
    let mut random = Random::new(8);
    let all: Vec<_> = (0..6000)
        .map(|index| {
            let what = match random.below(8) {
                0..3 => Operation::Read,
                3 => Operation::Trim,
                _ => Operation::Write,
            };
            (index * 200 * US, random.below(1000), what)
        })
        .collect();
    let requests = single_pages(&all);
    let orders = [
        &["flash.scheduling=arrival"][..],
        &["flash.scheduling=reads_first", "flash.suspend=moves_end"],
        &["flash.scheduling=garbage_last", "flash.suspend=keeps_end"],
    ];
    let layers = [
        &["ftl.kind=page"][..],
        &["ftl.kind=dftl"],
        &["ftl.kind=pslc"],
        &["ftl.kind=page", "ftl.map_unit_bytes=1024"],
    ];
    for layer in layers {
        for passes in ["flash.program_passes=1", "flash.program_passes=2"] {
            for order in orders {
                let device = [
                    "flash.dies=2",
                    "flash.blocks_per_plane=32",
                    "flash.channels=1",
                    "flash.program_unit=4",
                    "flash.first_pass_us=50",
                    "flash.bits_per_cell=2",
                    "buffer.kind=lru",
                    "buffer.capacity_bytes=256KiB",
                    "sim.drain=true",
                    TRANSFER_10_US,
                    passes,
                ];
                let device = [&device[..], layer, order].concat();
                let count = |metrics: &Metrics, name: &str| {
                    metrics.get(name).map_or(0.0, |number| number.as_f64())
                };
                let (_, alone) = run(&device, &requests);
                let registers = [CACHED, "flash.cache_read=true"];
                let (seen, with) = run(&[&device[..], &registers].concat(), &requests);
                assert_eq!(seen.len(), requests.len());
                assert!(count(&alone, "flash.erases") > 10.0, "{layer:?}");
                let programs = ["host", "pad"].map(|cause| {
                    let name = format!("flash.programs.{cause}");
                    [&with, &alone].map(|metrics| count(metrics, &name))
                });
                for [with, alone] in programs {
                    let differs = (with - alone).abs();
                    assert!(
                        differs < 0.1 * alone.max(1000.0),
                        "{layer:?} {with} {alone}"
                    );
                }
                assert!(count(&with, "flash.utilization_max") <= 1.0);
            }
        }
    }
}
