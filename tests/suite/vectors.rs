//! Response times of one and of two requests on a fresh reference device, worked out by hand from the rules of
//! the model: read 25 us, program 200 us, 105.6 us per page on the channel, 0.2384 us per sector on the host
//! bus, and a summary page (213.2 us) for each block that is filled.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::time::{TICKS_PER_MS, TICKS_PER_NS};
use destage_tests::{Responses, run_reference};
use destage_trace::{Operation, Request};

fn request(arrival_ms: u64, sector: u64, sectors: u32, operation: Operation) -> Request {
    Request {
        arrival: arrival_ms * TICKS_PER_MS,
        sector,
        sectors,
        operation,
        ..Request::BLANK
    }
}

/// Response times in ms, rounded to 1e-6 ms.
fn responses(requests: &[Request]) -> Vec<String> {
    let mut responses = Responses::default();
    run_reference(&[], requests, &mut responses);
    let nanoseconds = |ticks: u64| (ticks + TICKS_PER_NS / 2) / TICKS_PER_NS;
    responses
        .by_index
        .iter()
        .map(|ticks| format!("{:.6}", nanoseconds(ticks.unwrap()) as f64 / 1e6))
        .collect()
}

#[test]
fn one_request_alone() {
    use Operation::{Read, Write};
    for (sector, sectors, operation, expected) in [
        (800, 8, Read, "0.132507"),
        (800, 8, Write, "0.307507"),
        (0, 64, Read, "0.145858"),
        (0, 64, Write, "0.320858"),
        (0, 128, Read, "0.291715"),
        (0, 128, Write, "0.641715"),
    ] {
        assert_eq!(
            responses(&[request(10, sector, sectors, operation)]),
            [expected]
        );
    }
}

#[test]
fn two_requests_at_once() {
    use Operation::{Read, Write};
    for (first, second, expected) in [
        (Write, Write, ["0.320858", "0.626458"]),
        (Read, Read, ["0.145858", "0.276458"]),
        (Write, Read, ["0.320858", "0.466715"]),
        (Read, Write, ["0.145858", "0.436200"]),
    ] {
        let pair = [request(10, 0, 64, first), request(10, 6400, 64, second)];
        assert_eq!(responses(&pair), expected);
    }
}

#[test]
fn every_64th_write_of_a_page_seals_a_block() {
    let writes: Vec<_> = (0..512)
        .map(|step| request(10 + step, 0, 8, Operation::Write))
        .collect();
    let responses = responses(&writes);
    let count = |time: &str| {
        responses
            .iter()
            .filter(|response| *response == time)
            .count()
    };
    assert_eq!((count("0.307507"), count("0.520707")), (504, 8));
}
