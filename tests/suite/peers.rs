//! Reproduces errors of other simulators, as described in docs/MODEL_LIMITS.md. Each case runs with the rules of
//! the other simulator and with our rules.

use crate::direct::{DirectConfig, Pins, run};
use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_nand::media::dispatch::{CommandTimes, DispatchConfig, Order, Rules, Together};
use destage_nand::media::{Cells, PlaneGaps};
use destage_sim::engine::Replay;
use destage_tests::page_requests;
use destage_trace::{Operation, Request};

const NS: Ticks = TICKS_PER_NS;

/// One chip with MQSim's defaults and `planes` planes.
fn mqsim(planes: u32) -> DirectConfig {
    DirectConfig {
        flash: DispatchConfig {
            channels: 1,
            dies_per_channel: 1,
            planes,
            cells: Cells {
                read: vec![75_000 * NS],
                program: vec![750_000 * NS],
                erase: 3_800_000 * NS,
            },
            command: CommandTimes {
                read: 290 * NS,
                program: 361 * NS,
                erase: 0,
            },
            gaps: PlaneGaps {
                read: 360 * NS,
                program: 455 * NS,
                erase: 0,
            },
            ready: 20 * NS,
            status: 0,
            rules: Rules {
                order: Order::ReadsFirst(0),
                together: Together::AnyOrder,
                reads_wait: false,
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
        order: "PWCD".parse().expect("an order of digits"),
        link: None,
        replay: Replay::Trace,
        queue_depth: 1,
    }
}

/// Completion times of requests of one page each, in nanoseconds; each request is arrival, page, operation.
fn completions(config: &DirectConfig, of: &[(u64, u64, Operation)]) -> Vec<u64> {
    let pages = of
        .iter()
        .map(|(arrival, page, what)| (arrival * NS, 2 * page, 2, *what));
    let requests = page_requests(&pages.collect::<Vec<_>>());
    let outcome = run(config, &requests).expect("a run");
    let ticks = outcome.completions.iter();
    ticks.map(|ticks| ticks / NS).collect()
}

#[test]
fn mqsim_programs_pages_of_a_block_out_of_order() {
    // Pages 0 and 2 are on plane 0, pages 1 and 3 on plane 1.
    let writes = [0, 2, 1, 3].map(|page| (0, page, Operation::Write));
    let mut config = mqsim(2);
    let any = completions(&config, &writes);
    assert_eq!(any, [774_937, 1_575_266, 2_350_203, 1_575_266]);
    config.flash.rules.together = Together::InOrder;
    let in_order = completions(&config, &writes);
    assert_eq!(in_order, [774_937, 1_549_874, 2_324_811, 3_099_748]);
}

#[test]
fn mqsim_reads_a_page_before_it_is_programmed() {
    let requests = [
        (0, 1, Operation::Write),
        (1, 0, Operation::Write),
        (2, 0, Operation::Read),
    ];
    let mut config = mqsim(1);
    let read_first = completions(&config, &requests);
    assert_eq!(read_first, [774_937, 1_649_760, 874_823]);
    config.flash.rules.reads_wait = true;
    let after = completions(&config, &requests);
    assert_eq!(after, [774_937, 1_549_874, 1_649_760]);
}

#[test]
fn requests_that_are_not_for_flash_are_refused() {
    let flush = Request {
        sectors: 0,
        operation: Operation::Flush,
        line: 7,
        ..Request::BLANK
    };
    let error = run(&mqsim(1), &[flush]).expect_err("no flush").to_string();
    assert_eq!(
        error,
        "line 7: flush of 0 sectors; expected reads and writes of at least one"
    );
    let mut config = mqsim(1);
    config.flash.channels = 0;
    let error = run(&config, &[]).expect_err("no channel").to_string();
    assert_eq!(error, "channels: 0; expected at least 1");
    let wrong = "CWDD".parse::<crate::direct::place::Order>();
    assert!(wrong.is_err_and(|text| text.contains("C, W, D and P")));
}
