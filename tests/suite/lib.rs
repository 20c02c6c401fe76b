//! What the cross-crate tests share: running one configuration on requests, and finding reference data.

#![allow(
    clippy::print_stderr,
    reason = "a test that is skipped says so where a person sees it"
)]

use std::path::{Path, PathBuf};

use destage_base::Ticks;
use destage_sim::observer::{Observer, Response};
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::Request;

/// The project's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder with reference results and real traces, which are not part of the project: the one that
/// `DESTAGE_SHARED` names, or `shared` beside the project. Says why a test that needs it is skipped.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let folder =
        std::env::var_os("DESTAGE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if folder.join("oracle").is_dir() {
        return Some(folder);
    }
    eprintln!(
        "skipped: no reference data at {}; set DESTAGE_SHARED to the folder that holds oracle/ and traces/",
        folder.display()
    );
    None
}

/// Response times by position in the trace.
#[derive(Default)]
pub struct Responses {
    /// `None` for a request that never completed.
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

/// Runs `requests` on the reference device with `pairs` of `key=value` changed.
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
