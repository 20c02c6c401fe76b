//! Functions that the cross-crate tests share: running requests on one configuration, and finding outside data.

use std::path::{Path, PathBuf};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_NS;
use destage_sim::observer::{Observer, Response};
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// The root folder of the project.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The path of a file of the outside data: reference results and recorded traces, which are not part of the
/// project. They are in the folder that `DESTAGE_SHARED` names, or else in the folder `shared` next to the
/// project's folder.
///
/// A test that calls this function must have `#[ignore = "needs recorded traces"]` or `#[ignore = "needs
/// reference results"]`, so that the test does not count as passed without the data. `make test` runs such tests
/// if the data exist, and otherwise lists them.
///
/// # Panics
/// If the file does not exist.
#[must_use]
pub fn outside(file: &str) -> PathBuf {
    let folder =
        std::env::var_os("DESTAGE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let path = folder.join(file);
    assert!(
        path.is_file(),
        "there is no {}; set DESTAGE_SHARED to the folder that holds oracle/ and traces/",
        path.display()
    );
    path
}

/// The response time of each request, in ticks, by its position in the trace.
#[derive(Default)]
pub struct Responses {
    /// `None` for a request that did not complete.
    pub by_index: Vec<Option<Ticks>>,
}

impl Observer for Responses {
    fn wants_responses(&self) -> bool {
        true
    }
    fn response(&mut self, response: &Response) {
        let index = response.index as usize;
        if self.by_index.len() <= index {
            self.by_index.resize(index + 1, None);
        }
        self.by_index[index] = response.response;
    }
}

/// Runs `requests` on the profile of the reference device (`disksim-ssd`), with the settings `pairs` (`key=value`)
/// changed.
///
/// # Panics
/// If a setting is wrong or the run fails.
pub fn run_reference(
    pairs: &[String],
    requests: &[Request],
    observer: &mut dyn Observer,
) -> RunResult {
    let mut settings = Settings::new();
    let configured = settings
        .load_profile("disksim-ssd")
        .and_then(|()| pairs.iter().try_for_each(|pair| settings.set_pair(pair)))
        .and_then(|()| settings.resolve());
    let config = configured.unwrap_or_else(|error| panic!("{error}"));
    match run(
        &config,
        Source::memory("requests", requests),
        &Prepass::default(),
        observer,
    ) {
        Ok((result, _)) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Requests for pages of 4 KiB, each given as arrival, first page, number of pages, operation.
#[must_use]
pub fn page_requests(of: &[(Ticks, u64, u32, Operation)]) -> Vec<Request> {
    of.iter()
        .zip(1..)
        .map(|((arrival, page, pages, operation), line)| Request {
            arrival: *arrival,
            sector: page * 8,
            sectors: pages * 8,
            operation: *operation,
            line,
            ..Request::BLANK
        })
        .collect()
}

/// Requests for one page of 4 KiB each, given as arrival, page, operation.
#[must_use]
pub fn single_pages(of: &[(Ticks, u64, Operation)]) -> Vec<Request> {
    let pages = of
        .iter()
        .map(|(arrival, page, what)| (*arrival, *page, 1, *what));
    page_requests(&pages.collect::<Vec<_>>())
}

/// Settings of one die with round times: 40 us to read, 200 us to program, 2 ms to erase, 10 us to transfer 4 KiB on
/// the channel. A test adds the number of blocks and pages.
pub const ONE_DIE: [&str; 18] = [
    "flash.dies=1",
    "flash.planes_per_die=1",
    "flash.read_us=40",
    "flash.program_us=200",
    "flash.erase_us=2000",
    "flash.transfer_ns_per_byte=2.44140625",
    "flash.spare_bytes_per_sector=0",
    "flash.summary_page=false",
    "flash.parallel_units=1",
    "flash.wearout=ignore",
    "host.bus_ns_per_sector=0",
    "host.queue_depth=1024",
    "host.scheduler=fifo",
    "host.attribution=request",
    "ftl.reserve_percent=40",
    "sim.write_order=strict",
    "sim.window=complete",
    "sim.clock=exact",
];

/// Runs `requests` on the profile of the reference device with the settings of `device`, then `pairs` changed.
/// Returns the response time of each request in nanoseconds, and the result.
///
/// # Panics
/// If a setting is wrong, the run fails, or a request does not complete.
#[must_use]
pub fn run_timed(device: &[&str], pairs: &[&str], requests: &[Request]) -> (Vec<u64>, RunResult) {
    let pairs: Vec<String> = device
        .iter()
        .chain(pairs)
        .map(|pair| (*pair).to_owned())
        .collect();
    let mut seen = Responses::default();
    let result = run_reference(&pairs, requests, &mut seen);
    let ticks = seen.by_index.into_iter();
    let responses = ticks.map(|ticks| ticks.expect("a request that completed") / TICKS_PER_NS);
    (responses.collect(), result)
}
