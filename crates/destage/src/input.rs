//! The trace or workload that is simulated, and how it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use destage_base::parameter::{Parameter, Value, Values};
use destage_sim::settings::{Config, Origin, Settings, split_kind};
use destage_sim::source::Source;
use destage_trace::{
    BadLines, FORMATS, Operation, ReadOptions, Reader, Request, TraceError, can_be_read_again,
    format, injected, placed,
};
use destage_workload::fitted::{self, Profile};
use destage_workload::jobs::{self, JobFile, Plan};
use destage_workload::{Requests, WORKLOADS, Workload};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// Where requests come from.
#[derive(Clone)]
pub struct Input {
    kind: Kind,
    reading: Reading,
}

#[derive(Clone)]
enum Kind {
    /// A file, or standard input.
    Trace(PathBuf),
    /// A synthetic workload.
    Workload(Generator),
    /// Requests of the caller.
    Requests(String, Arc<Vec<Request>>),
    /// Requests that a function of the caller makes again for each reading.
    Made(Made),
    /// The requests read for another input.
    Decoded(Box<Input>, Arc<Vec<Request>>),
}

/// Requests that a function makes.
#[derive(Clone)]
struct Made {
    name: String,
    requests: u64,
    make: Arc<dyn Fn() -> Result<Requests, Error> + Send + Sync>,
}

/// A workload with its parameters.
#[derive(Clone)]
struct Generator {
    text: String,
    what: What,
    values: Values,
}

/// The arguments that a workload's parameters come from.
const WORKLOAD: &str = "workload";
const SETTING: &str = "setting";

/// The source of the requests.
#[derive(Clone)]
enum What {
    /// A row of the registry.
    Row(&'static Workload),
    /// A profile from a file.
    Fitted {
        profile: Arc<Profile>,
        /// SHA-256 of the file.
        digest: String,
    },
    /// Jobs from a file of fio's.
    Jobs {
        plan: Arc<Plan>,
        /// SHA-256 of the file.
        digest: String,
    },
}

/// How an input is read, beside its `trace.*` parameters. Default: the whole trace, and a bad line is an error.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The trace's format, a name from [`FORMATS`]; found from the content if not given.
    pub format: Option<String>,
    /// Only this many requests, after those skipped.
    pub limit: Option<u64>,
    /// Leave out the first this many requests.
    pub skip: u64,
    /// Drop reads.
    pub writes_only: bool,
    /// A malformed line is skipped, counted and reported. Otherwise it is an error.
    pub skip_bad_lines: bool,
}

impl Reading {
    /// How `config` and this have a trace read.
    ///
    /// # Errors
    /// If there is no such format, or a `trace.*` parameter is not usable.
    pub fn options(&self, config: &Config) -> Result<ReadOptions, Error> {
        let mut options = config.read_options()?;
        options.limit = self.limit;
        options.skip = self.skip;
        options.writes_only = self.writes_only;
        if let Some(name) = &self.format {
            let format = format::find(name).ok_or_else(|| {
                if let Some(reason) = format::left_out(name) {
                    return Error::argument("format", format!(" {name}: {reason}"));
                }
                let names = FORMATS.iter().map(|format| format.name);
                Error::unknown_argument(
                    "format",
                    format!(" {name:?}: no such trace format"),
                    name,
                    names,
                )
            })?;
            options.format = Some(format);
        }
        options.bad_lines = match self.skip_bad_lines {
            false => BadLines::Stop,
            true => BadLines::Skip,
        };
        Ok(options)
    }
}

impl Input {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            reading: Reading::default(),
        }
    }

    /// The trace file at `path`, plain or compressed; `-` is standard input.
    #[must_use]
    pub fn trace(path: impl AsRef<Path>) -> Self {
        Self::new(Kind::Trace(path.as_ref().to_owned()))
    }

    /// The workload `NAME[:k=v,...]`; NAME may be a file `.toml` of [`fit`](crate::fit()), or a file `.fio`, a job file of fio. Those of `pairs`,
    /// `KEY=VALUE` each, that begin with `workload.` are also parameters of the workload.
    ///
    /// # Errors
    /// If there is no such workload, parameter or value.
    pub fn workload(text: &str, pairs: &[String]) -> Result<Self, Error> {
        Self::workload_from(Path::new(""), text, pairs)
    }

    /// As [`Input::workload`]; a file is looked for from `folder` on.
    ///
    /// # Errors
    /// As of [`Input::workload`].
    pub fn workload_from(folder: &Path, text: &str, pairs: &[String]) -> Result<Self, Error> {
        let generator = Generator::new(folder, text, pairs)?;
        Ok(Self::new(Kind::Workload(generator)))
    }

    /// Requests in memory, in the order of their arrival; `name` stands for them in results and errors.
    #[must_use]
    pub fn requests(name: &str, requests: impl Into<Vec<Request>>) -> Self {
        Self::new(Kind::Requests(name.to_owned(), Arc::new(requests.into())))
    }

    /// `requests` requests that `make` makes again, and equal, for each reading, in the order of their arrival; `name` stands for them in
    /// results and errors.
    pub(crate) fn made(
        name: &str,
        requests: u64,
        make: impl Fn() -> Result<Requests, Error> + Send + Sync + 'static,
    ) -> Self {
        Self::new(Kind::Made(Made {
            name: name.to_owned(),
            requests,
            make: Arc::new(make),
        }))
    }

    /// The data of `input`, all of whose requests are `requests`: reading it again takes no time.
    pub(crate) fn decoded(&self, requests: Vec<Request>) -> Self {
        Self::new(Kind::Decoded(Box::new(self.clone()), Arc::new(requests)))
    }

    /// This input, read as `reading` says.
    ///
    /// # Errors
    /// If a format is given for an input that is no trace.
    pub fn read(mut self, reading: Reading) -> Result<Self, Error> {
        if let (Kind::Workload(generator), Some(format)) = (&self.kind, &reading.format) {
            return Err(Error::argument(
                "format",
                format!(
                    " {format}: {} is generated and has no format; expected a format only for a trace",
                    generator.name()
                ),
            ));
        }
        self.reading = reading;
        Ok(self)
    }

    /// The path, workload or name as given.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Trace(path) => path.display().to_string(),
            Kind::Workload(generator) => generator.text.clone(),
            Kind::Requests(name, _) => name.clone(),
            Kind::Made(made) => made.name.clone(),
            Kind::Decoded(of, _) => of.name(),
        }
    }

    /// The workload's parameters by dotted name; nothing for others.
    #[must_use]
    pub fn parameters(&self) -> BTreeMap<String, Value> {
        let generator = match &self.kind {
            Kind::Workload(generator) => generator,
            Kind::Decoded(of, _) => return of.parameters(),
            Kind::Trace(_) | Kind::Requests(..) | Kind::Made(_) => return BTreeMap::new(),
        };
        let values = generator.values.iter();
        let mut parameters: BTreeMap<_, _> = values
            .map(|(name, value)| (format!("workload.{name}"), value.clone()))
            .collect();
        let kind = Value::Text(generator.name().to_owned());
        parameters.insert("workload.kind".to_owned(), kind);
        parameters
    }

    /// Everything that determines the requests of a workload, except the seed: its parameters, and the content of its file if it has one.
    #[must_use]
    pub fn identity(&self) -> serde_json::Value {
        let mut parameters = self.parameters();
        if let Kind::Workload(Generator {
            what: What::Fitted { digest, .. } | What::Jobs { digest, .. },
            ..
        }) = &self.kind
        {
            // The file may be called anything.
            parameters.remove("workload.kind");
            parameters.insert("workload.sha256".to_owned(), Value::Text(digest.clone()));
        }
        crate::json::parameters(&parameters)
    }

    /// Sets in `settings` how the host sends its requests, unless the user has set that: for a job file `host.replay` and `host.queue_depth`, for all
    /// other inputs nothing.
    pub fn set_host(&self, settings: &mut Settings) {
        let Some(plan) = self.plan() else { return };
        let replay = match plan.has_rates() {
            true => "trace",
            false => "closed",
        };
        let origin = || Origin::Input(self.name());
        settings.offer("host.replay", replay, origin());
        settings.offer("host.queue_depth", &plan.depth().to_string(), origin());
    }

    /// Notes of a job file for a reader of results; one sentence each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remarks = self.plan().map_or(&[][..], |plan| plan.remarks());
        let sentence = |remark: &String| format!("{}: {remark}", self.name());
        remarks.iter().map(sentence).collect()
    }

    /// The jobs, of a job file.
    fn plan(&self) -> Option<&Plan> {
        match &self.kind {
            Kind::Workload(Generator {
                what: What::Jobs { plan, .. },
                ..
            }) => Some(plan),
            Kind::Decoded(of, _) => of.plan(),
            _ => None,
        }
    }

    /// How it is read under `config`.
    ///
    /// # Errors
    /// As of [`Reading::options`].
    pub fn options(&self, config: &Config) -> Result<ReadOptions, Error> {
        self.reading.options(config)
    }

    /// How many requests there will be, where that is known beforehand.
    #[must_use]
    pub fn expected_requests(&self) -> Option<u64> {
        let all = match &self.kind {
            Kind::Trace(_) => return self.reading.limit,
            Kind::Workload(generator) => destage_workload::requests_of(&generator.values),
            Kind::Requests(_, requests) | Kind::Decoded(_, requests) => requests.len() as u64,
            Kind::Made(made) => made.requests,
        };
        let all = all.saturating_sub(self.reading.skip);
        Some(self.reading.limit.map_or(all, |limit| limit.min(all)))
    }

    /// The second half of `requests` of its requests; `None` if that is not even one.
    pub(crate) fn second_half(&self, requests: u64) -> Option<Self> {
        let half = requests / 2;
        let mut behind = self.clone();
        behind.reading.skip += half;
        behind.reading.limit = behind.reading.limit.map(|limit| limit.saturating_sub(half));
        (half > 0).then_some(behind)
    }

    /// This input without the requests that are `left_out`. An input that is not in memory loses none.
    pub(crate) fn without(&self, left_out: impl Fn(&Request) -> bool) -> Self {
        let Kind::Decoded(of, all) = &self.kind else {
            return self.clone();
        };
        let stays = |request: &&Request| !left_out(request);
        of.decoded(all.iter().filter(stays).copied().collect())
    }

    /// `windows` excerpts of `requests` of its requests each, at even distances; for an input that is not in memory, one excerpt of the same length
    /// at its beginning.
    pub(crate) fn excerpt(&self, windows: u64, requests: u64) -> Self {
        if let Kind::Decoded(of, all) = &self.kind {
            let (windows, length) = (count(windows), count(requests));
            let begin = |window: usize| window * (all.len() / windows);
            let window = |window: usize| all[begin(window)..].iter().take(length).copied();
            return of.decoded((0..windows).flat_map(window).collect());
        }
        let requests = windows * requests;
        let mut beginning = self.clone();
        let limit = self.reading.limit.unwrap_or(u64::MAX);
        beginning.reading.limit = Some(limit.min(requests));
        beginning
    }

    /// An upper bound of the number of requests, estimated from the size of the file; `None` for a pipe.
    pub(crate) fn requests_at_most(&self) -> Option<u64> {
        /// Bytes of a request in a file, compressed, at least, nearly always.
        const LEAST: u64 = 4;
        match self.expected_requests() {
            Some(requests) => Some(requests),
            None => self.bytes().map(|bytes| bytes / LEAST),
        }
    }

    /// The file that it reads, if it reads one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Trace(path) => Some(path),
            _ => None,
        }
    }

    /// An error if there is no such file. An input that can be read only once is left alone.
    pub(crate) fn check_exists(&self) -> Result<(), Error> {
        match &self.kind {
            Kind::Trace(path) if path.as_os_str() != "-" => match path.metadata() {
                Ok(_) => Ok(()),
                Err(cause) => Err(Error::Trace(TraceError::Open {
                    file: path.display().to_string(),
                    cause,
                })),
            },
            _ => Ok(()),
        }
    }

    /// Bytes of the file, if it is one.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace(path) => {
                let data = path.metadata().ok()?;
                data.is_file().then_some(data.len())
            }
            _ => None,
        }
    }

    /// Whether it can be read more than once: data that come through a pipe are gone after the first time.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match &self.kind {
            Kind::Trace(path) => can_be_read_again(path),
            Kind::Workload(_) | Kind::Requests(..) | Kind::Made(_) | Kind::Decoded(..) => true,
        }
    }

    /// Why a run under `config`, which has to know the requests beforehand, cannot begin.
    pub(crate) fn read_only_once(&self, config: &Config) -> Error {
        let what = match config.scheme.needs_future {
            true => "a scheme that knows the coming writes",
            false => "trace.addr_map=shrink",
        };
        Error::Input(format!(
            "{}: {what} reads the trace twice; expected a regular file",
            self.name()
        ))
    }

    /// The requests one after the other, in bounded memory, for a pass before the main one.
    pub(crate) fn open_first(&self, config: &Config) -> Result<Source<'static>, Error> {
        let options = ReadOptions {
            digest: false,
            ..self.options(config)?
        };
        self.source(config, &options)
    }

    /// The requests for a pass that looks at few of them. A trace that can be sifted at the speed of memory gets no digest, which would take
    /// longer than the pass itself.
    pub(crate) fn open_sifted(&self, config: &Config) -> Result<Source<'static>, Error> {
        let source = self.open(config)?;
        match source.reader().is_some_and(Reader::can_be_sifted) {
            true => self.open_first(config),
            false => Ok(source),
        }
    }

    /// The requests one after the other, in bounded memory; generated ones are fixed by `sim.seed` of `config`.
    ///
    /// # Errors
    /// An error in the trace or the workload's parameters.
    pub fn open(&self, config: &Config) -> Result<Source<'static>, Error> {
        self.source(config, &self.options(config)?)
    }

    /// The requests of a workload for `seed`; `None` if it is no workload.
    pub(crate) fn generated(&self, seed: u64) -> Result<Requests, Error> {
        match &self.kind {
            Kind::Workload(generator) => generator.requests(seed),
            _ => Ok(Box::new(std::iter::empty())),
        }
    }

    /// The requests, read ahead on another thread where the machine has a core for it and the input may be long.
    pub(crate) fn open_ahead(&self, config: &Config) -> Result<Source<'static>, Error> {
        /// Fewer requests take less time than it takes to start a thread.
        const LONG: u64 = 1 << 15;
        let source = self.open(config)?;
        let is_made = matches!(
            self.kind,
            Kind::Trace(_) | Kind::Workload(_) | Kind::Made(_)
        );
        let is_long = self.requests_at_most().is_some_and(|most| most >= LONG);
        let has_core = available_parallelism().is_ok_and(|cores| cores.get() > 1);
        Ok(match is_made && is_long && has_core {
            true => source.ahead(),
            false => source,
        })
    }

    fn source(&self, config: &Config, options: &ReadOptions) -> Result<Source<'static>, Error> {
        Ok(match &self.kind {
            Kind::Trace(path) => Source::reading(self.name(), Reader::open(path, options)?),
            Kind::Workload(generator) => {
                let requests = generator.requests(config.typed.sim.seed)?;
                Source::generated(self.name(), sliced(requests, options))
            }
            Kind::Requests(name, requests) => {
                let requests = match placed(name, requests, options)? {
                    Some(placed) => placed.into(),
                    None => Arc::clone(requests),
                };
                let requests = (0..requests.len()).map(move |index| requests[index]);
                Source::generated(name, sliced(Box::new(requests), options))
            }
            Kind::Made(made) => Source::generated(&made.name, sliced((made.make)()?, options)),
            // The changes of `options` were made when it was read.
            Kind::Decoded(of, requests) => {
                let requests = Arc::clone(requests);
                let first = count(options.skip).min(requests.len());
                let last = match options.limit {
                    Some(limit) => first.saturating_add(count(limit)).min(requests.len()),
                    None => requests.len(),
                };
                let requests = (first..last).map(move |index| requests[index]);
                Source::generated(of.name(), Box::new(requests))
            }
        })
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Refuses a trace that is named twice and can be read only once: a pipe, or standard input.
///
/// # Errors
/// If a trace is named twice and can be read only once.
pub fn check_read_once<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    let mut known = BTreeSet::new();
    for path in paths {
        if !known.insert(path) && !can_be_read_again(path) {
            return Err(Error::Input(format!(
                "{}: is named twice, but can be read only once; expected it once, or a regular file",
                path.display()
            )));
        }
    }
    Ok(())
}

/// The slice of `requests` that `options` select, as a trace would be cut, with the requests that they insert.
fn sliced(
    requests: Box<dyn Iterator<Item = Request> + Send>,
    options: &ReadOptions,
) -> Box<dyn Iterator<Item = Request> + Send> {
    let writes_only = options.writes_only;
    let requests = requests
        .skip(count(options.skip))
        .take(options.limit.map_or(usize::MAX, count))
        .filter(move |request| !writes_only || request.operation != Operation::Read);
    injected(Box::new(requests), options)
}

/// The name and value of a `KEY=VALUE` that is about the workload.
#[must_use]
pub fn workload_pair(pair: &str) -> Option<(&str, &str)> {
    let (key, value) = pair.split_once('=')?;
    Some((key.trim().strip_prefix("workload.")?, value.trim()))
}

/// The text of a workload's file, and its SHA-256.
fn file_of(path: &Path, what: &str) -> Result<(String, String), Error> {
    /// More than that is neither a profile nor a job file.
    const BYTES_MAX: u64 = 1 << 30;
    let read = || {
        let mut text = String::new();
        let mut file = std::fs::File::open(path)?.take(BYTES_MAX);
        file.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    let text = read().map_err(|error| {
        let wrong = format!(
            " {}: cannot be read: {error}; expected {what}",
            path.display()
        );
        Error::argument(WORKLOAD, wrong)
    })?;
    let digest = destage_trace::hexadecimal(&Sha256::digest(text.as_bytes()));
    Ok((text, digest))
}

/// A workload before its parameters are set.
enum Begun {
    Row(&'static Workload),
    Fitted(Arc<Profile>, String),
    Jobs(JobFile, String),
}

impl Begun {
    /// The meaning of `name`: a row of the registry, or a file in `folder` by its ending.
    fn new(folder: &Path, name: &str) -> Result<Self, Error> {
        let path = folder.join(name);
        let wrong = |error: &dyn std::fmt::Display| {
            Error::argument(WORKLOAD, format!(" {}: {error}", path.display()))
        };
        if name.ends_with(".toml") {
            let (text, digest) = file_of(&path, "a .toml file of `destage trace fit`")?;
            let profile = text.parse::<Profile>().map_err(|error| wrong(&error))?;
            return Ok(Self::Fitted(Arc::new(profile), digest));
        }
        if name.ends_with(".fio") {
            let (text, digest) = file_of(&path, "a job file of fio")?;
            let jobs = text.parse::<JobFile>().map_err(|error| wrong(&error))?;
            return Ok(Self::Jobs(jobs, digest));
        }
        let row = destage_workload::find(name).ok_or_else(|| {
            let names = WORKLOADS.iter().map(|row| row.name);
            let refusal = format!(" {name:?}: no such workload");
            let text = Error::unknown(refusal, name, names);
            let text = format!("{text}, a .toml file of `destage trace fit`, or a .fio job file");
            Error::argument(WORKLOAD, text)
        })?;
        Ok(Self::Row(row))
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self {
            Self::Row(row) => row.parameters,
            Self::Fitted(..) => fitted::PARAMETERS,
            Self::Jobs(..) => jobs::PARAMETERS,
        }
    }

    fn defaults(&self) -> Values {
        match self {
            Self::Row(row) => Values::defaults(row.parameters),
            Self::Fitted(profile, _) => fitted::defaults(profile),
            Self::Jobs(..) => Values::defaults(jobs::PARAMETERS),
        }
    }
}

impl Generator {
    fn new(folder: &Path, text: &str, pairs: &[String]) -> Result<Self, Error> {
        let (name, given) = split_kind(WORKLOAD, text)?;
        let begun = Begun::new(folder, name)?;
        let (parameters, mut values) = (begun.parameters(), begun.defaults());
        let from_option = given
            .into_iter()
            .map(|(key, value)| (key, value, WORKLOAD, text));
        let from_pairs = pairs.iter().filter_map(|pair| {
            workload_pair(pair).map(|(key, value)| (key, value, SETTING, pair.as_str()))
        });
        for (key, value, argument, whole) in from_option.chain(from_pairs) {
            let names = parameters.iter().map(|parameter| parameter.name);
            let parameter = parameters
                .iter()
                .find(|row| row.name == key)
                .ok_or_else(|| {
                    let refusal = format!(" {whole}: {name} has no parameter {key:?}");
                    Error::unknown_argument(argument, refusal, key, names)
                })?;
            let value = parameter.read(value).map_err(|expected| {
                let what = format!(" {whole}: {key}: {value:?}: expected {expected}");
                Error::argument(argument, what)
            })?;
            values.set(parameter.name, value);
        }
        let what = match begun {
            Begun::Row(row) => What::Row(row),
            Begun::Fitted(profile, digest) => What::Fitted { profile, digest },
            Begun::Jobs(file, digest) => {
                let plan = Plan::new(&file, &values).map_err(|error| {
                    let path = folder.join(name);
                    Error::argument(WORKLOAD, format!(" {}: {error}", path.display()))
                })?;
                values.set("requests", Value::Integer(plan.requests()));
                let plan = Arc::new(plan);
                What::Jobs { plan, digest }
            }
        };
        Ok(Self {
            text: text.to_owned(),
            what,
            values,
        })
    }

    /// The workload's name, or its file.
    fn name(&self) -> &str {
        match &self.what {
            What::Row(row) => row.name,
            What::Fitted { .. } | What::Jobs { .. } => {
                self.text.split(':').next().unwrap_or_default()
            }
        }
    }

    /// The workload's requests.
    fn requests(&self, seed: u64) -> Result<Box<dyn Iterator<Item = Request> + Send>, Error> {
        match &self.what {
            What::Row(row) => Ok((row.make)(&self.values, seed)?),
            What::Fitted { profile, .. } => Ok(fitted::requests(profile, &self.values, seed)),
            What::Jobs { plan, .. } => Ok(plan.make(seed)),
        }
    }
}
