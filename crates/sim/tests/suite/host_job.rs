//! Tests of the thread of the host that issues the requests of a closed loop, and of pages that are read again.

use destage_sim::observer::{Observer, Response};
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// The ticks of 1 us.
const MICROSECOND: u64 = 10_000;
/// The time in which the modelled flash reads a page, in microseconds.
const READ: u64 = 25;
const REQUESTS: u64 = 300;

/// When each request arrived and how long its response took, in ticks.
#[derive(Default)]
struct Times(Vec<(u64, u64)>);

impl Observer for Times {
    fn wants_responses(&self) -> bool {
        true
    }

    fn response(&mut self, response: &Response) {
        let time = response.response.expect("every request is answered");
        self.0.push((response.arrival, time));
    }
}

/// The times of single reads of different pages, without a buffer. Each read is on the next of 64 dies; only the cells
/// take time.
fn reads(pairs: &[&str]) -> Vec<(u64, u64)> {
    let one = |page: u64| Request {
        sector: page * 8,
        sectors: 8,
        operation: Operation::Read,
        ..Request::BLANK
    };
    let requests: Vec<_> = (0..REQUESTS).map(one).collect();
    let mut settings = Settings::new();
    let device = [
        "buffer.kind=nocache",
        "flash.dies=64",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=16",
        "flash.pages_per_block=64",
        "flash.transfer_ns_per_byte=0",
        "flash.read_us=25",
        "host.bus_ns_per_sector=0",
        "host.replay=closed",
    ];
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    let config = settings.resolve().unwrap();
    let mut times = Times::default();
    let source = Source::memory("test".to_owned(), &requests);
    run(&config, source, &Prepass::default(), &mut times).unwrap();
    times.0
}

#[test]
fn one_request_at_a_time_waits_for_nothing_but_the_thread_waits_for_it() {
    let times = reads(&["host.queue_depth=1", "host.job_ns=7000"]);
    for (index, (arrival, response)) in times.iter().enumerate() {
        assert_eq!(*response, READ * MICROSECOND);
        assert_eq!(*arrival, index as u64 * (READ + 7) * MICROSECOND);
    }
    assert_eq!(times.len() as u64, REQUESTS);
}

/// Sixteen requests take 7 us of the thread each, and a read is faster than fifteen of these. So the thread is always
/// busy, and a request waits until the fifteen others were sent again.
#[test]
fn a_busy_thread_limits_the_rate_and_answers_wait_for_it() {
    let times = reads(&["host.queue_depth=16", "host.job_ns=7000"]);
    // The first sixteen requests arrive together, so the thread begins to send others when it collects their answers.
    let steady: Vec<_> = times.iter().filter(|(arrival, _)| *arrival > 0).collect();
    for (arrival, response) in &steady {
        assert_eq!(*response, 15 * 7 * MICROSECOND);
        assert_eq!((arrival - READ * MICROSECOND) % (7 * MICROSECOND), 0);
    }
    assert_eq!(steady.len() as u64, REQUESTS - 16);
}

#[test]
fn reads_have_a_time_of_their_own() {
    let times = reads(&[
        "host.queue_depth=1",
        "host.job_ns=7000",
        "host.job_read_ns=3000",
    ]);
    assert_eq!(times[10].0, 10 * (READ + 3) * MICROSECOND);
    let alone = reads(&["host.queue_depth=1"]);
    assert_eq!(alone[10].0, 10 * READ * MICROSECOND);
}

/// With one request outstanding, the thread has nothing to do until the answer arrives, so it sleeps each time. With sixteen,
/// it sleeps once, before the first answer.
#[test]
fn a_thread_that_waited_for_an_answer_takes_longer() {
    let pairs = ["host.job_ns=7000", "host.job_sleep_ns=5000"];
    let one = reads(&[&pairs[..], &["host.queue_depth=1"]].concat());
    for (index, (arrival, response)) in one.iter().enumerate() {
        assert_eq!(*response, READ * MICROSECOND);
        assert_eq!(*arrival, index as u64 * (READ + 12) * MICROSECOND);
    }
    let sixteen = reads(&[&pairs[..], &["host.queue_depth=16"]].concat());
    let awake = reads(&[pairs[0], "host.queue_depth=16"]);
    for (with, without) in sixteen.iter().zip(&awake).skip(16) {
        assert_eq!(*with, (without.0 + 5 * MICROSECOND, without.1));
    }
}

/// Each page is either read once or read again, as many pages as the parameter says, and a page stays what it is.
#[test]
fn some_pages_are_read_again() {
    let pairs = [
        "host.queue_depth=1",
        "flash.dies=1",
        "flash.read_retry_percent=10",
        "flash.read_retry_us=40",
    ];
    let times = reads(&pairs);
    let again = |(_, response): &&(u64, u64)| *response == (READ + 40) * MICROSECOND;
    let once = |(_, response): &&(u64, u64)| *response == READ * MICROSECOND;
    let count = times.iter().filter(again).count();
    assert!((25..=35).contains(&count), "{count} of {REQUESTS}");
    assert_eq!(count + times.iter().filter(once).count(), times.len());
    assert_eq!(times, reads(&pairs));
    let all = reads(&["flash.read_retry_percent=100", "host.queue_depth=1"]);
    assert!(
        all.iter()
            .all(|(_, time)| *time == (READ + 50) * MICROSECOND)
    );
}
