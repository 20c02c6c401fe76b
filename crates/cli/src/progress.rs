//! Progress on standard error, for long work.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use destage::Stage;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::args::Noise;
use crate::errors::report_line;
use crate::interrupt;
use crate::output::numbers;

/// The time before a command first shows its progress, and the time between two progress lines.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts simulated requests, from any thread.
pub(crate) struct Progress {
    started: Instant,
    style: Style,
    total: Option<u64>,
    done: AtomicU64,
}

enum Style {
    None,
    /// A bar that redraws itself, once it is shown.
    Bar {
        bar: ProgressBar,
        shown: AtomicBool,
    },
    /// Lines that are printed from time to time, if the output cannot show a bar. The value is the time of the last
    /// line.
    Lines(Mutex<Instant>),
}

impl Progress {
    /// The display of progress that the options select. `total` is the number of requests, if it is known.
    pub(crate) fn new(noise: Noise, total: Option<u64>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let style = match noise {
            Noise { quiet: true, .. } => Style::None,
            _ if terminal => {
                let hidden = ProgressDrawTarget::hidden();
                let bar = ProgressBar::with_draw_target(total, hidden);
                set_style(&bar, total.is_some(), "requests");
                Style::Bar {
                    bar,
                    shown: AtomicBool::new(false),
                }
            }
            Noise { progress: true, .. } => Style::Lines(Mutex::new(Instant::now())),
            _ => Style::None,
        };
        Self {
            started: Instant::now(),
            style,
            total,
            done: AtomicU64::new(0),
        }
    }

    /// Adds `requests` to the number of completed requests.
    pub(crate) fn advance(&self, requests: u64) {
        let done = self.done.fetch_add(requests, Ordering::Relaxed) + requests;
        self.show(Stage::Simulation, done, self.total);
    }

    /// Shows that `done` of `total` units are done. `stage` determines the unit.
    fn show(&self, stage: Stage, done: u64, total: Option<u64>) {
        let (what, unit) = match stage {
            Stage::FirstPass => ("first pass: ", "requests"),
            Stage::Runs => ("", "runs"),
            Stage::Preparation | Stage::Simulation => ("", "requests"),
        };
        match &self.style {
            Style::None => {}
            Style::Bar { bar, shown } => {
                if let Some(total) = total
                    && bar.length() != Some(total)
                {
                    let is_first = bar.length().is_none();
                    bar.set_length(total);
                    if is_first {
                        set_style(bar, true, unit);
                    }
                }
                if bar.message() != what {
                    bar.set_message(what);
                }
                bar.set_position(done);
                if self.started.elapsed() >= PATIENCE && !shown.swap(true, Ordering::Relaxed) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            }
            Style::Lines(last) => {
                // The thread that gets the lock prints. Other threads continue without waiting.
                let Ok(mut last) = last.try_lock() else {
                    return;
                };
                if last.elapsed() >= PATIENCE {
                    *last = Instant::now();
                    let of = total.map_or(String::new(), |total| format!(" of {total}"));
                    let seconds = self.started.elapsed().as_secs_f64();
                    let rate = done as f64 / seconds;
                    report_line(&format!(
                        "destage: {what}{done}{of} {unit} in {seconds:.0} s, {rate:.0}/s"
                    ));
                }
            }
        }
    }

    /// Shows progress before the first request: `done` of the `total` page writes of the precondition.
    fn prepare(&self, done: u64, total: u64) {
        match &self.style {
            Style::None => {}
            Style::Bar { bar, shown } => {
                let percent = 100 * done / total;
                bar.set_message(if done == total {
                    String::new()
                } else {
                    format!("filling the device: {percent} % of {total} pages ")
                });
                if self.started.elapsed() >= PATIENCE && !shown.swap(true, Ordering::Relaxed) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            }
            Style::Lines(last) => {
                let Ok(mut last) = last.try_lock() else {
                    return;
                };
                if done == total || last.elapsed() >= PATIENCE {
                    *last = Instant::now();
                    let seconds = self.started.elapsed().as_secs_f64();
                    report_line(&format!(
                        "destage: device overwritten at random: {done} of {total} pages in {seconds:.0} s"
                    ));
                }
            }
        }
    }
}

/// Reports progress, and stops the work after an interrupt.
impl destage::Progress for Progress {
    fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool {
        match stage {
            Stage::Preparation => self.prepare(done, expected.unwrap_or(done)),
            _ => self.show(stage, done, expected),
        }
        !interrupt::asked()
    }
}

/// Sets the template of the bar, which counts in `unit`.
fn set_style(bar: &ProgressBar, has_total: bool, unit: &str) {
    let template = if has_total {
        format!(
            "{{msg}}{{elapsed}} [{{bar:40}}] {{human_pos}} of {{human_len}} {unit}, {{rate}}, {{eta}} left"
        )
    } else {
        format!("{{msg}}{{elapsed}} {{spinner}} {{human_pos}} {unit}, {{rate}}")
    };
    if let Ok(style) = ProgressStyle::with_template(&template) {
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{}/s", numbers::whole(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate).progress_chars("=> "));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Style::Bar { bar, .. } = &self.style {
            bar.finish_and_clear();
        }
    }
}
