//! A recording of the beginning of a run, and the page that shows it: one file that needs nothing else. Or a timeline for other programs.
//!
//! The page is `page/page.html` with styles, scripts and the recording put into it. [`destage_sim::watch`] says what is recorded, and how much at
//! most.

mod data;
mod timeline;

use destage_sim::observer::Observer;
use destage_sim::watch::{MOST_PAGES, Recording, watched_run};

use destage::Combination;
use destage::Error;
use destage::Input;
use destage::Outcome;
use destage::Progress;
use destage::Record;
use destage::internal::single;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/watch.css");
/// In the order in which they are read; each uses those before it.
const SCRIPTS: [&str; 5] = [
    include_str!("page/recording.js"),
    include_str!("page/words.js"),
    include_str!("page/buffer.js"),
    include_str!("page/dies.js"),
    include_str!("page/player.js"),
];

/// A run, and its beginning.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The results that [`run`](destage::run()) would have given.
    pub outcome: Outcome,
    /// What happened.
    pub recording: Recording,
    /// The scheme's name, and the texts of its row: its rule, and its source.
    scheme: [&'static str; 3],
}

impl Watched {
    /// A timeline in the trace event format of Chrome, as JSON, for Perfetto: requests, pages that leave, the work of each die. It is equal
    /// for equal inputs.
    #[must_use]
    pub fn to_timeline(&self) -> String {
        timeline::of(self).to_string()
    }

    /// The page. It is equal for equal inputs.
    #[must_use]
    pub fn to_html(&self) -> String {
        // Within a script element only this could end it.
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

/// `text` as HTML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Simulates `input` under `combination`, as [`run`](destage::run()) does, and records the beginning.
///
/// # Errors
/// As of [`run`](destage::run()), and that the run knows no time or the buffer has too many pages to be shown.
pub fn watch(
    input: &Input,
    combination: &Combination,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<Watched, Error> {
    let config = &combination.config;
    let page_bytes = config.typed.flash.page_bytes;
    let pages = config.typed.buffer.capacity_bytes / page_bytes;
    if pages > u64::from(MOST_PAGES) {
        return Err(Error::Input(format!(
            "watching: a buffer of {pages} pages is too large to be drawn; expected at most {MOST_PAGES} pages, {} KiB",
            u64::from(MOST_PAGES) * page_bytes / 1024
        )));
    }
    let scheme = config.scheme;
    let ((result, recording), config, manifest) =
        single(input, combination, progress, observer, watched_run)?;
    Ok(Watched {
        outcome: Outcome {
            manifest,
            record: Record::new(input, combination, &config, Ok(result)),
        },
        recording,
        scheme: [scheme.name, scheme.about, scheme.source],
    })
}
