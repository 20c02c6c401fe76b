//! What the cross-crate tests share: running one configuration on requests, and finding outside data.

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

/// A file of the outside data: reference results and recorded traces, which are not part of the project. They lie in the
/// folder that `DESTAGE_SHARED` names, else in `shared` beside the project.
///
/// A test that calls this carries `#[ignore = "needs recorded traces"]` or `#[ignore = "needs the reference's files"]`, so
/// that it is never counted as passed where the data are absent: `make test` runs it where they are there, and else lists it.
///
/// # Panics
/// If the file is not there.
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
