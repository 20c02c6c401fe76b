//! The trace or workload, streamed or loaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use destage_base::parameter::{Value, Values};
use destage_sim::prepass::Prepass;
use destage_sim::settings::{Config, split_kind};
use destage_sim::source::Source;
use destage_trace::{
    BadLines, FORMATS, Operation, ReadOptions, Reader, Request, Volumes, format, injected,
};
use destage_workload::{WORKLOADS, Workload};

use crate::args::{OnBadLine, Reading, Slice};
use crate::choices::workload_pair;
use crate::errors::{Failure, warn};
use crate::interrupt;

/// Where requests come from.
pub(crate) enum Input {
    /// A file, or standard input.
    Trace(PathBuf),
    /// A synthetic workload.
    Workload(Generator),
}

/// A workload with its parameters.
pub(crate) struct Generator {
    text: String,
    row: &'static Workload,
    values: Values,
}

/// What is known of an input once it was read.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The path or workload as given.
    pub(crate) name: String,
    /// SHA-256 of the uncompressed trace, if it was read to its end.
    pub(crate) digest: Option<String>,
    /// The format; none for workloads.
    pub(crate) format: Option<&'static str>,
    /// Bad lines skipped.
    pub(crate) skipped_lines: u64,
    /// Requests without length that were dropped.
    pub(crate) dropped_requests: u64,
    /// Requests whose time was moved up.
    pub(crate) clamped_requests: u64,
    first_skipped: Option<String>,
    /// Whether there are requests of several volumes.
    has_volumes: bool,
    /// Whether the requested slice of the trace is empty.
    is_empty: bool,
}

/// An input in memory.
pub(crate) struct Loaded {
    /// Its requests in order.
    pub(crate) requests: Vec<Request>,
    /// What is known of it.
    pub(crate) facts: Facts,
}

impl Input {
    /// The trace or the workload. The argument rules guarantee that exactly one is given.
    pub(crate) fn new(
        trace: Option<&Path>,
        workload: Option<&str>,
        pairs: &[String],
    ) -> Result<Self, Failure> {
        match (trace, workload) {
            (Some(path), _) => Ok(Self::Trace(path.to_owned())),
            (None, Some(text)) => Generator::new(text, pairs).map(Self::Workload),
            (None, None) => Err(Failure::input("expected a TRACE or --workload")),
        }
    }

    /// Refuses what was typed about a trace's lines if there is no trace.
    pub(crate) fn accept(&self, reading: &Reading) -> Result<(), Failure> {
        match (self, &reading.format) {
            (Self::Workload(generator), Some(format)) => Err(Failure::input(format!(
                "--format {format}: {} is generated; expected --format with a TRACE only",
                generator.row.name
            ))),
            _ => Ok(()),
        }
    }

    /// The path or workload as given.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Trace(path) => path.display().to_string(),
            Self::Workload(generator) => generator.text.clone(),
        }
    }

    /// The workload's parameters by dotted name; nothing for a trace.
    pub(crate) fn parameters(&self) -> BTreeMap<String, Value> {
        let Self::Workload(generator) = self else {
            return BTreeMap::new();
        };
        let values = generator.values.iter();
        let mut parameters: BTreeMap<_, _> = values
            .map(|(name, value)| (format!("workload.{name}"), value.clone()))
            .collect();
        let kind = Value::Text(generator.row.name.to_owned());
        parameters.insert("workload.kind".to_owned(), kind);
        parameters
    }

    /// How many requests there will be, where that is known beforehand.
    pub(crate) fn expected_requests(&self, options: &ReadOptions) -> Option<u64> {
        match self {
            Self::Trace(_) => options.limit,
            Self::Workload(generator) => {
                let all = generator
                    .values
                    .integer("requests")
                    .saturating_sub(options.skip);
                Some(options.limit.map_or(all, |limit| limit.min(all)))
            }
        }
    }

    /// The requests one after the other, in bounded memory, and what the configuration needs to know of
    /// them beforehand.
    pub(crate) fn stream(
        &self,
        config: &Config,
        options: &ReadOptions,
    ) -> Result<(Source<'static>, Prepass), Failure> {
        destage_memory::doing(format!("reading {}", self.name()));
        let prepass = if config.needs_prepass() {
            if matches!(self, Self::Trace(path) if path.as_os_str() == "-") {
                return Err(Failure::input(
                    "-: trace.addr_map=shrink and belady read the trace twice; expected a file in place of standard input",
                ));
            }
            let options = ReadOptions {
                digest: false,
                ..options.clone()
            };
            Prepass::of(config, &mut self.source(config, &options)?)?
        } else {
            Prepass::default()
        };
        Ok((self.source(config, options)?, prepass))
    }

    /// The requests one after the other, in bounded memory.
    fn source(&self, config: &Config, options: &ReadOptions) -> Result<Source<'static>, Failure> {
        Ok(match self {
            Self::Trace(path) => Source::reading(self.name(), Reader::open(path, options)?),
            Self::Workload(generator) => {
                let seed = config.global.integer("sim.seed");
                Source::generated(self.name(), generator.requests(seed, options)?)
            }
        })
    }

    /// All requests.
    pub(crate) fn load(&self, config: &Config, options: &ReadOptions) -> Result<Loaded, Failure> {
        destage_memory::doing(format!("reading {}", self.name()));
        let mut requests = Vec::new();
        match self {
            Self::Trace(path) => {
                let mut reader = Reader::open(path, options)?;
                let mut batch = Vec::new();
                while reader.fill(&mut batch)? {
                    interrupt::check()?;
                    requests.extend_from_slice(&batch);
                }
                Ok(Loaded {
                    requests,
                    facts: Facts::of_reader(&self.name(), &reader),
                })
            }
            Self::Workload(generator) => {
                let seed = config.global.integer("sim.seed");
                for request in generator.requests(seed, options)? {
                    if requests.len().is_multiple_of(1 << 16) {
                        interrupt::check()?;
                    }
                    requests.push(request);
                }
                Ok(Loaded {
                    requests,
                    facts: Facts::of_workload(&self.name()),
                })
            }
        }
    }
}

impl Generator {
    fn new(text: &str, pairs: &[String]) -> Result<Self, Failure> {
        let (name, given) = split_kind("--workload", text)?;
        let row = destage_workload::find(name).ok_or_else(|| {
            let names = WORKLOADS.iter().map(|row| row.name);
            Failure::unknown(
                format!("--workload {name:?}: no such workload"),
                name,
                names,
            )
        })?;
        let mut values = Values::defaults(row.parameters);
        let from_option = given
            .into_iter()
            .map(|(key, value)| (key, value, "--workload", text));
        let from_pairs = pairs.iter().filter_map(|pair| {
            workload_pair(pair).map(|(key, value)| (key, value, "--set", pair.as_str()))
        });
        for (key, value, option, whole) in from_option.chain(from_pairs) {
            let names = row.parameters.iter().map(|parameter| parameter.name);
            let parameter = row
                .parameters
                .iter()
                .find(|row| row.name == key)
                .ok_or_else(|| {
                    let refusal = format!("{option} {whole}: {name} has no parameter {key:?}");
                    Failure::unknown(refusal, key, names)
                })?;
            let value = parameter.read(value).map_err(|expected| {
                Failure::input(format!(
                    "{option} {whole}: {key}: {value:?}: expected {expected}"
                ))
            })?;
            values.set(parameter.name, value);
        }
        Ok(Self {
            text: text.to_owned(),
            row,
            values,
        })
    }

    /// The slice of the workload's requests that `options` ask for, as a trace would be cut, with what they add.
    fn requests(
        &self,
        seed: u64,
        options: &ReadOptions,
    ) -> Result<Box<dyn Iterator<Item = Request> + Send>, Failure> {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let writes_only = options.writes_only;
        let requests = (self.row.make)(&self.values, seed)?
            .skip(count(options.skip))
            .take(options.limit.map_or(usize::MAX, count))
            .filter(move |request| !writes_only || request.operation != Operation::Read);
        Ok(injected(Box::new(requests), options))
    }
}

impl Facts {
    /// Of a trace that was read.
    pub(crate) fn of_reader(name: &str, reader: &Reader) -> Self {
        let report = reader.report();
        Self {
            name: name.to_owned(),
            digest: reader.digest(),
            format: Some(reader.format().name),
            skipped_lines: report.skipped,
            dropped_requests: report.zero_length,
            clamped_requests: report.clamped,
            first_skipped: reader.first_skipped().map(str::to_owned),
            has_volumes: reader.has_volumes(),
            is_empty: report.requests == 0,
        }
    }

    /// Of a workload.
    pub(crate) fn of_workload(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            digest: None,
            format: None,
            skipped_lines: 0,
            dropped_requests: 0,
            clamped_requests: 0,
            first_skipped: None,
            has_volumes: false,
            is_empty: false,
        }
    }

    /// Of what a run has read.
    pub(crate) fn of_source(source: &Source<'_>) -> Self {
        match source.reader() {
            Some(reader) => Self::of_reader(source.origin(), reader),
            None => Self::of_workload(source.origin()),
        }
    }

    /// The warnings of [`Facts::warn`], and one if volumes share addresses.
    pub(crate) fn warn_of_simulation(&self, options: &ReadOptions) {
        self.warn();
        if self.has_volumes && options.volumes == Volumes::Ignore {
            warn(format!(
                "{}: several volumes lie over one another; trace.volumes=separate or concatenate lays them apart",
                self.name
            ));
        }
    }

    /// Tells the user what was left out of the trace, or changed.
    pub(crate) fn warn(&self) {
        if let Some(first) = &self.first_skipped {
            let lines = self.skipped_lines;
            warn(format!(
                "{}: bad lines skipped: {lines}; the first: {first}",
                self.name
            ));
        }
        if self.is_empty {
            warn(format!(
                "{}: not one request is left of it (--skip, --limit, --writes-only)",
                self.name
            ));
        }
        for (count, what) in [
            (self.dropped_requests, "requests without length dropped"),
            (
                self.clamped_requests,
                "requests moved up to the latest time before them",
            ),
        ] {
            if count > 0 {
                warn(format!("{}: {what}: {count}", self.name));
            }
        }
    }
}

/// `options`, for the requests that are wanted.
pub(crate) fn sliced(options: ReadOptions, slice: &Slice) -> ReadOptions {
    ReadOptions {
        limit: slice.limit,
        skip: slice.skip,
        writes_only: slice.writes_only,
        ..options
    }
}

/// How the trace is to be read: the `trace.*` parameters, and what was typed beside them.
pub(crate) fn read_options(config: &Config, arguments: &Reading) -> Result<ReadOptions, Failure> {
    let mut options = sliced(config.read_options()?, &arguments.slice);
    if let Some(name) = &arguments.format {
        let format = format::find(name).ok_or_else(|| {
            if let Some(reason) = format::left_out(name) {
                return Failure::input(format!("--format {name}: {reason}"));
            }
            let names = FORMATS.iter().map(|format| format.name);
            Failure::unknown(
                format!("--format {name:?}: no such trace format"),
                name,
                names,
            )
        })?;
        options.format = Some(format);
    }
    options.bad_lines = match arguments.on_bad_line {
        OnBadLine::Stop => BadLines::Stop,
        OnBadLine::Skip => BadLines::Skip,
    };
    Ok(options)
}
