//! Stand-ins, which are workloads that are fitted to a trace, and their differences from the trace under several
//! schemes.

use std::sync::Arc;

use destage_sim::settings::{Origin, Settings, kind_of};
use destage_trace::Request;
use destage_workload::fitted::{self, Fitter, Profile};

use crate::compare::{Effort, compare};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Grid;
use crate::input::{Input, Reading};
use crate::record::Record;

/// The schemes under which trace and stand-in are compared. The method of fitting counts hits of BPAC as uses of a
/// block, so BPAC has the same setting here.
pub const SCHEMES: [&str; 5] = [
    "lru",
    "block-lru",
    "fab",
    "bplru",
    "bpac:bird_update=any,bpac_ages=all,evict_hot_with_cluster=true,bpac_cover=0.98",
];
const SIZES: [&str; 3] = ["1MiB", "4MiB", "16MiB"];

/// A stand-in, with its differences from the trace to which it was fitted.
pub struct Fit {
    /// The fitted parameters of the stand-in.
    pub profile: Profile,
    /// The results of the trace, for comparison with other stand-ins.
    pub trace: Figures,
    /// The differences, one row for each scheme and size.
    pub residuals: Vec<Residual>,
}

/// The results of one input under each of [`SCHEMES`] with 1, 4 and 16 MiB, and without a buffer.
pub struct Figures {
    /// Runs without flash, which give the numbers of evictions and of destaged pages.
    counts: Vec<Record>,
    /// Runs on the profile `disksim-ssd`, which give response times. The size of the device is chosen from the input.
    times: Vec<Record>,
}

/// The results of the trace and of the stand-in under one scheme. Runs without flash give the numbers of evictions
/// and of destaged pages. Runs on the profile `disksim-ssd`, with a device whose size is chosen from the input, give
/// response times. In each pair, the first value is that of the trace.
#[derive(Clone, Debug)]
pub struct Residual {
    /// The name of the scheme; [`SCHEMES`] has the parameters of the scheme.
    pub scheme: String,
    /// The size of the buffer in bytes; `None` for `nocache`.
    pub size_bytes: Option<u64>,
    /// The metric `buffer.evictions`.
    pub evictions: Option<(f64, f64)>,
    /// The metric `buffer.destaged_pages`.
    pub destaged_pages: Option<(f64, f64)>,
    /// The metric `response.mean_ms`.
    pub response_mean_ms: Option<(f64, f64)>,
}

impl Residual {
    /// The difference of the stand-in's value from the trace's value, in percent of the trace's value; `None` if
    /// the trace's value is 0.
    #[must_use]
    pub fn percent((real, standin): (f64, f64)) -> Option<f64> {
        (real != 0.0).then(|| (standin / real - 1.0) * 100.0)
    }

    fn each(&self) -> [(&'static str, Option<(f64, f64)>); 3] {
        [
            ("buffer.evictions", self.evictions),
            ("buffer.destaged_pages", self.destaged_pages),
            ("response.mean_ms", self.response_mean_ms),
        ]
    }
}

impl Fit {
    /// The text of the stand-in's file: comments, the profile, and the table `residuals`.
    #[must_use]
    pub fn text(&self, source: &str) -> String {
        let head = format!(
            "A stand-in that `destage trace fit` fitted to {source}: the order of writes and reads, over\n\
             numbered blocks. It contains no address and no time of the trace; flushes and trims are left out.\n\
             Residuals are [trace, stand-in with seed 1, difference in %]; response times with profile disksim-ssd."
        );
        let mut text = self.profile.text(&head);
        for row in &self.residuals {
            let size = row
                .size_bytes
                .map_or(String::new(), |bytes| format!("-{}MiB", bytes >> 20));
            text.push_str(&format!("\n[residuals.{}{size}]\n", row.scheme));
            for (metric, values) in row.each() {
                if let Some((real, standin)) = values {
                    let percent = Residual::percent((real, standin));
                    let percent =
                        percent.map_or(String::new(), |percent| format!(", {percent:.1}"));
                    text.push_str(&format!(
                        "\"{metric}\" = [{real:.6}, {standin:.6}{percent}]\n"
                    ));
                }
            }
        }
        text
    }
}

/// Fits a stand-in to `input`, which is read with `settings`. All requests of the input are in memory at the same
/// time.
///
/// # Errors
/// If the input cannot be read, or has neither reads nor writes.
pub fn fit(input: &Input, settings: &Settings, effort: &Effort<'_>) -> Result<(Fit, Facts), Error> {
    let config = settings.resolve()?;
    destage_memory::doing(format!("fitting a stand-in to {}", input.name()));
    let (mut fitter, mut batch) = (Fitter::default(), Vec::new());
    let mut source = input.open(&config)?;
    while source.fill(&mut batch)? {
        batch.iter().for_each(|request| fitter.add(request));
    }
    let facts = Facts::of_source(&source, &input.options(&config)?);
    let requests = fitter.requests().to_vec();
    let none = || {
        Error::Input(format!(
            "{}: no reads or writes; expected some",
            input.name()
        ))
    };
    let profile = Arc::new(fitter.finish().ok_or_else(none)?);
    let standin = fitted::requests(&profile, &fitted::defaults(&profile), config.typed.sim.seed);
    let standin: Vec<Request> = standin.collect();
    let inputs = [
        Input::requests("trace", requests),
        Input::requests("stand-in", standin),
    ]
    .map(|input| input.read(Reading::default()));
    let [real, standin] = inputs;
    let (real, standin) = (real?, standin?);
    let trace = figures(&real, effort)?;
    let residuals = trace.beside(&figures(&standin, effort)?);
    let profile = Arc::unwrap_or_clone(profile);
    Ok((
        Fit {
            profile,
            trace,
            residuals,
        },
        facts,
    ))
}

/// The results of `input` under each of [`SCHEMES`] with 1, 4 and 16 MiB, and without a buffer.
///
/// # Errors
/// An error in the input.
pub fn figures(input: &Input, effort: &Effort<'_>) -> Result<Figures, Error> {
    let mut none = Settings::new();
    none.set_pair("ftl.kind=none")?;
    let mut device = Settings::new();
    device.load_profile("disksim-ssd")?;
    device.set(
        "flash.blocks_per_plane",
        "auto",
        Origin::Given("trace fit".to_owned()),
    );
    let run = |settings: Settings, schemes: Vec<&str>| -> Result<Vec<Record>, Error> {
        let grid = Grid::new(settings).buffers(schemes).sizes(SIZES);
        Ok(compare(std::slice::from_ref(input), &grid.combinations()?, effort)?.runs)
    };
    Ok(Figures {
        counts: run(none, SCHEMES.to_vec())?,
        times: run(device, std::iter::once("nocache").chain(SCHEMES).collect())?,
    })
}

impl Figures {
    /// The differences of `standin` from this trace: one row for each scheme and size, and one without a buffer.
    #[must_use]
    pub fn beside(&self, standin: &Self) -> Vec<Residual> {
        let residual = |row: &Record| {
            let number = |runs: &[Record], name: &str| {
                let mut same = runs.iter().filter(|other| {
                    other.buffer == row.buffer && other.capacity() == row.capacity()
                });
                same.next()?.number(name)
            };
            let count = |name| Some((number(&self.counts, name)?, number(&standin.counts, name)?));
            let time = |name| Some((number(&self.times, name)?, number(&standin.times, name)?));
            Residual {
                scheme: kind_of(&row.buffer).to_owned(),
                size_bytes: row.capacity(),
                evictions: count("buffer.evictions"),
                destaged_pages: count("buffer.destaged_pages"),
                response_mean_ms: time("response.mean_ms"),
            }
        };
        self.times.iter().map(residual).collect()
    }
}
