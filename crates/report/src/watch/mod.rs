//! A recording of the beginning of a run, and the page that shows the recording. The page is one file that needs no
//! other file. The recording can also be written as a timeline for other programs.
//!
//! The template of the page is `page/page.html`. Styles, scripts and the recording are inserted into the template.
//! [`destage_sim::watch`] defines which events are recorded, and the limits of a recording.

mod data;
mod timeline;

use destage_sim::observer::Observer;
use destage_sim::watch::{MOST_PAGES, Recording, watched_run};

use destage::Combination;
use destage::CutOutcome;
use destage::CutPlan;
use destage::Error;
use destage::Input;
use destage::Outcome;
use destage::Progress;
use destage::Record;
use destage::internal::single;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/watch.css");
/// The scripts, in the order in which the browser runs them. Each script uses the scripts before it.
const SCRIPTS: [&str; 5] = [
    include_str!("page/recording.js"),
    include_str!("page/words.js"),
    include_str!("page/buffer.js"),
    include_str!("page/dies.js"),
    include_str!("page/player.js"),
];

/// A run with a recording of its beginning.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The results of the run, equal to those of [`run`](destage::run()); up to the power loss if the power failed.
    pub outcome: Outcome,
    /// The recorded events.
    pub recording: Recording,
    /// The name of the scheme, its rule, and its source. Rule and source are texts of the scheme's row.
    scheme: [&'static str; 3],
}

impl Watched {
    fn new(outcome: Outcome, recording: Recording, combination: &Combination) -> Self {
        let scheme = combination.config.scheme;
        Self {
            outcome,
            recording,
            scheme: [scheme.name, scheme.about, scheme.source],
        }
    }

    /// The recording as a timeline, as JSON in the trace event format of Chrome, which Perfetto opens. The timeline
    /// has the requests, the pages that leave the buffer, and the work of each die. Equal inputs give equal
    /// timelines.
    #[must_use]
    pub fn to_timeline(&self) -> String {
        timeline::of(self).to_string()
    }

    /// The page that shows the recording. Equal inputs give equal pages.
    #[must_use]
    pub fn to_html(&self) -> String {
        // A `<` is escaped, because it could begin the end tag of the script element.
        let data = data::of(self).to_string().replace('<', "\\u003c");
        let heading = format!("{} at work", self.scheme[0]);
        let title = format!("{heading} on {}", self.outcome.record.trace);
        let mut page = String::with_capacity(data.len() + (1 << 16));
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            page.push_str(before);
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            match name {
                "title" => page.push_str(&escaped(&title)),
                "heading" => page.push_str(&escaped(&heading)),
                "style" => page.push_str(STYLE),
                "data" => page.push_str(&data),
                _ => SCRIPTS.iter().for_each(|script| page.push_str(script)),
            }
            rest = after;
        }
        page.push_str(rest);
        page
    }
}

/// `text`, escaped for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Simulates `input` under `combination`, as [`run`](destage::run()) does, and records the beginning of the run.
///
/// # Errors
/// The errors of [`run`](destage::run()), or an error if the run has no times, or if the buffer has more pages than can
/// be drawn.
pub fn watch(
    input: &Input,
    combination: &Combination,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<Watched, Error> {
    check_size(combination)?;
    let ((result, recording), config, manifest) =
        single(input, combination, progress, observer, watched_run)?;
    Ok(Watched::new(
        Outcome {
            manifest,
            record: Record::new(input, combination, &config, Ok(result)),
        },
        recording,
        combination,
    ))
}

/// Simulates `input` under `combination` until `plan` cuts the power, as [`cut`](destage::cut()) does, and records the
/// beginning of the run. The recording ends at the power loss, unless it reaches a bound before.
///
/// # Errors
/// The errors of [`cut`](destage::cut()) and of [`watch`].
pub fn watch_cut(
    input: &Input,
    combination: &Combination,
    plan: &CutPlan,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<(CutOutcome, Watched), Error> {
    check_size(combination)?;
    let mut recording = Recording::new(combination.config.geometry().dies);
    let watched = Some(&mut recording);
    let cut = destage::cut(input, combination, plan, watched, progress, observer)?;
    let outcome = Outcome {
        manifest: cut.manifest.clone(),
        record: cut.record.clone(),
    };
    Ok((cut, Watched::new(outcome, recording, combination)))
}

/// Returns an error if the buffer has more pages than can be drawn.
fn check_size(combination: &Combination) -> Result<(), Error> {
    let config = &combination.config;
    let page_bytes = config.typed.flash.page_bytes;
    let pages = config.typed.buffer.capacity_bytes / page_bytes;
    if pages > u64::from(MOST_PAGES) {
        return Err(Error::Input(format!(
            "watching: a buffer of {pages} pages is too large to be drawn; expected at most {MOST_PAGES} pages, {} KiB",
            u64::from(MOST_PAGES) * page_bytes / 1024
        )));
    }
    Ok(())
}
