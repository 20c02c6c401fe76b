//! The trace or the workload that is simulated, and the way in which it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use destage_base::parameter::{Parameter, Value, Values};
use destage_sim::check::InputKind;
use destage_sim::settings::{Config, Origin, Settings, kind_of, split_kind};
use destage_sim::source::Source;
use destage_trace::{
    BadLines, FORMATS, Operation, ReadOptions, Reader, Request, Slice, TraceError,
    allows_second_pass, format, injected, placed,
};
use destage_workload::fitted::{self, Profile};
use destage_workload::jobs::{self, JobFile, Plan};
use destage_workload::{Requests, WORKLOADS, Workload};
use sha2::{Digest, Sha256};

use crate::error::Error;

/// The source of requests.
#[derive(Clone)]
pub struct Input {
    kind: Kind,
    reading: Reading,
    /// The number of requests at the beginning that are left out of those that `reading` gives.
    left_out: u64,
}

#[derive(Clone)]
enum Kind {
    /// A trace file, or standard input.
    Trace(PathBuf),
    /// A synthetic workload.
    Workload(Generator),
    /// Requests that the caller passes in memory, with a name.
    Requests(String, Arc<Vec<Request>>),
    /// Requests that a function of the caller generates again for each reading.
    Made(Made),
    /// The decoded requests of another input, in memory.
    Decoded(Box<Input>, Arc<Vec<Request>>),
}

/// Requests that a function generates.
#[derive(Clone)]
struct Made {
    name: String,
    requests: u64,
    make: Arc<dyn Fn() -> Result<Requests, Error> + Send + Sync>,
}

/// A synthetic workload with its parameters.
#[derive(Clone)]
struct Generator {
    text: String,
    what: What,
    values: Values,
}

/// The names, for error messages, of the arguments that set parameters of a workload.
const WORKLOAD: &str = "workload";
const SETTING: &str = "setting";

/// The kind of a workload.
#[derive(Clone)]
enum What {
    /// A workload of the registry.
    Row(&'static Workload),
    /// A stand-in from a profile file.
    Fitted {
        profile: Arc<Profile>,
        /// The SHA-256 of the file, in hexadecimal digits.
        digest: String,
    },
    /// Jobs from a job file of fio.
    Jobs {
        plan: Arc<Plan>,
        /// The SHA-256 of the file, in hexadecimal digits.
        digest: String,
    },
}

/// The requests that are read of an input, and the format of the input. The `trace.*` parameters are further options
/// of reading. By default the whole input is read, and a bad line is an error.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The format of the trace, a name from [`FORMATS`]; `None` recognises the format by the content.
    pub format: Option<String>,
    /// The number of requests to read after the skipped ones; `None` for all.
    pub limit: Option<u64>,
    /// The number of requests to skip at the beginning.
    pub skip: u64,
    /// Whether reads are dropped.
    pub writes_only: bool,
    /// Whether a malformed line is skipped, counted and reported. If false, a malformed line is an error.
    pub skip_bad_lines: bool,
}

impl Reading {
    /// The options for reading a trace under `config`.
    ///
    /// # Errors
    /// If the format does not exist, or a `trace.*` parameter cannot be used.
    pub fn options(&self, config: &Config) -> Result<ReadOptions, Error> {
        let mut options = config.read_options()?;
        options.slice = Slice {
            skip: self.skip,
            limit: self.limit,
            writes_only: self.writes_only,
        };
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
            left_out: 0,
        }
    }

    /// The trace file at `path`, plain or compressed; `-` is standard input.
    #[must_use]
    pub fn trace(path: impl AsRef<Path>) -> Self {
        Self::new(Kind::Trace(path.as_ref().to_owned()))
    }

    /// The workload `NAME[:k=v,...]`. NAME may also be a `.toml` file of [`fit`](crate::fit()), or a `.fio` file,
    /// which is a job file of fio. `pairs` are `KEY=VALUE` texts. A pair that begins with `workload.` sets a
    /// parameter of the workload.
    ///
    /// # Errors
    /// If the workload or a parameter does not exist, or a value is not allowed.
    pub fn workload(text: &str, pairs: &[String]) -> Result<Self, Error> {
        Self::workload_from(Path::new(""), text, pairs)
    }

    /// Does the same as [`Input::workload`], but the path of a file is relative to `folder`.
    ///
    /// # Errors
    /// The errors of [`Input::workload`].
    pub fn workload_from(folder: &Path, text: &str, pairs: &[String]) -> Result<Self, Error> {
        let generator = Generator::new(folder, text, pairs)?;
        Ok(Self::new(Kind::Workload(generator)))
    }

    /// Requests in memory, in the order of their arrival. `name` is the name of the input in results and errors.
    #[must_use]
    pub fn requests(name: &str, requests: impl Into<Vec<Request>>) -> Self {
        Self::new(Kind::Requests(name.to_owned(), Arc::new(requests.into())))
    }

    /// An input of `requests` requests that `make` generates. They have to be in the order of their arrival, and
    /// equal at each call. `name` is the name of the input in results and errors.
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

    /// This input with `requests`, which are all of its requests in decoded form. Reading the new input decodes
    /// nothing.
    pub(crate) fn decoded(&self, requests: Vec<Request>) -> Self {
        Self::new(Kind::Decoded(Box::new(self.clone()), Arc::new(requests)))
    }

    /// This input with the options `reading`.
    ///
    /// # Errors
    /// If `reading` has a format or skips bad lines, but the input is a workload.
    pub fn read(mut self, reading: Reading) -> Result<Self, Error> {
        if let Kind::Workload(generator) = &self.kind {
            let name = generator.name();
            if let Some(format) = &reading.format {
                let what = format!(
                    " {format}: {name} is generated and has no format; expected a format only for a trace"
                );
                return Err(Error::argument("format", what));
            }
            if reading.skip_bad_lines {
                let what =
                    format!(": {name} is generated and has no lines; expected it only for a trace");
                return Err(Error::argument("skip_bad_lines", what));
            }
        }
        self.reading = reading;
        Ok(self)
    }

    /// The path, the workload or the name as given.
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

    /// The parameters of the workload by dotted name; empty for other inputs.
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

    /// Everything that determines the requests of a workload, except the seed. It has the parameters of the workload,
    /// and the digest of the workload's file if there is one.
    #[must_use]
    pub fn identity(&self) -> serde_json::Value {
        let mut parameters = self.parameters();
        if let Kind::Workload(Generator {
            what: What::Fitted { digest, .. } | What::Jobs { digest, .. },
            ..
        }) = &self.kind
        {
            // The digest identifies the file, whatever its name is.
            parameters.remove("workload.kind");
            parameters.insert("workload.sha256".to_owned(), Value::Text(digest.clone()));
        }
        crate::json::parameters(&parameters)
    }

    /// A job file sets `host.replay` and `host.queue_depth` in `settings`, unless the user has set them. Other inputs
    /// set nothing.
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

    /// Remarks on a job file, for the users of results; one sentence each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remarks = self.plan().map_or(&[][..], |plan| plan.remarks());
        let sentence = |remark: &String| format!("{}: {remark}", self.name());
        remarks.iter().map(sentence).collect()
    }

    /// The jobs of a job file; `None` for other inputs.
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

    /// The options for reading this input under `config`.
    ///
    /// # Errors
    /// The errors of [`Reading::options`].
    pub fn options(&self, config: &Config) -> Result<ReadOptions, Error> {
        self.reading.options(config)
    }

    /// The number of requests, or an upper bound from the limit of a trace; `None` if neither is known before
    /// reading.
    #[must_use]
    pub fn expected_requests(&self) -> Option<u64> {
        let all = match &self.kind {
            Kind::Trace(_) => {
                let limit = self.reading.limit?;
                return Some(limit.saturating_sub(self.left_out));
            }
            Kind::Workload(generator) => destage_workload::requests_of(&generator.values),
            Kind::Requests(_, requests) | Kind::Decoded(_, requests) => requests.len() as u64,
            Kind::Made(made) => made.requests,
        };
        let all = all.saturating_sub(self.reading.skip);
        let all = self.reading.limit.map_or(all, |limit| limit.min(all));
        Some(all.saturating_sub(self.left_out))
    }

    /// The second half of the input; `None` if the first half would have no request. `requests` is the number of
    /// requests of the input.
    pub(crate) fn second_half(&self, requests: u64) -> Option<Self> {
        let half = requests / 2;
        let mut behind = self.clone();
        behind.left_out += half;
        (half > 0).then_some(behind)
    }

    /// This input without the requests for which `left_out` is true. Only an input whose decoded requests are in
    /// memory is filtered. Any other input is returned unchanged.
    pub(crate) fn without(&self, left_out: impl Fn(&Request) -> bool) -> Self {
        let Kind::Decoded(of, all) = &self.kind else {
            return self.clone();
        };
        let stays = |request: &&Request| !left_out(request);
        of.decoded(all.iter().filter(stays).copied().collect())
    }

    /// `windows` excerpts with `requests` requests each, at equal distances. If the decoded requests of the input are
    /// not in memory, the result is one excerpt of the same total length from the beginning.
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

    /// An upper bound on the number of requests. If the number is not known, the bound is estimated from the size of
    /// the file. `None` for a pipe.
    pub(crate) fn requests_at_most(&self) -> Option<u64> {
        /// In nearly every compressed file, a request occupies at least this many bytes.
        const LEAST: u64 = 4;
        match self.expected_requests() {
            Some(requests) => Some(requests),
            None => self.bytes().map(|bytes| bytes / LEAST),
        }
    }

    /// Where the requests come from.
    pub(crate) fn input_kind(&self) -> InputKind {
        match &self.kind {
            Kind::Trace(_) => InputKind::File,
            Kind::Requests(..) => InputKind::Memory,
            Kind::Workload(_) | Kind::Made(_) => InputKind::Generated,
            Kind::Decoded(of, _) => of.input_kind(),
        }
    }

    /// The path of the trace; `None` if the input is not a trace.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Trace(path) => Some(path),
            _ => None,
        }
    }

    /// Returns an error if the trace file does not exist. The file is not opened, because opening an input that can
    /// be read only once might lose data.
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

    /// The size of the trace file in bytes; `None` if the input is not a regular file.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace(path) => {
                let data = path.metadata().ok()?;
                data.is_file().then_some(data.len())
            }
            _ => None,
        }
    }

    /// Whether the input can be read more than once. A pipe can be read only once.
    pub(crate) fn allows_second_pass(&self) -> bool {
        match &self.kind {
            Kind::Trace(path) => allows_second_pass(path),
            Kind::Workload(_) | Kind::Requests(..) | Kind::Made(_) | Kind::Decoded(..) => true,
        }
    }

    /// The error for a run under `config` that has to read the requests twice, but whose input can be read only once.
    pub(crate) fn no_second_pass(&self, config: &Config) -> Error {
        let what = match config.scheme.needs_future() {
            true => "a scheme that knows the coming writes",
            false => "trace.addr_map=shrink",
        };
        Error::Input(format!(
            "{}: {what} reads the trace twice; expected a regular file",
            self.name()
        ))
    }

    /// Opens the input for a first reading, before the requests are simulated in a second one. Memory is bounded, and
    /// no digest is computed.
    pub(crate) fn open_first_pass(&self, config: &Config) -> Result<Source<'static>, Error> {
        let options = ReadOptions {
            digest: false,
            ..self.options(config)?
        };
        self.source(config, &options)
    }

    /// Opens the input for a reading that uses few of its requests. If the reader can skip the other requests at the
    /// speed of memory, no digest is computed, because the digest would take longer than the reading.
    pub(crate) fn open_sifted(&self, config: &Config) -> Result<Source<'static>, Error> {
        let source = self.open(config)?;
        match source.reader().is_some_and(Reader::can_be_sifted) {
            true => self.open_first_pass(config),
            false => Ok(source),
        }
    }

    /// Opens the input for reading in bounded memory. Generated requests depend on `sim.seed` of `config`.
    ///
    /// # Errors
    /// If the trace cannot be read, or the workload cannot be generated.
    pub fn open(&self, config: &Config) -> Result<Source<'static>, Error> {
        let source = self.source(config, &self.options(config)?)?;
        Ok(source.after(self.left_out))
    }

    /// The requests of a workload for `seed`; no requests if the input is not a workload.
    pub(crate) fn generated(&self, seed: u64) -> Result<Requests, Error> {
        match &self.kind {
            Kind::Workload(generator) => generator.requests(seed),
            _ => Ok(Box::new(std::iter::empty())),
        }
    }

    /// Does the same as [`Input::open`]. Another thread reads ahead if the machine has a second core and the input may
    /// be long.
    ///
    /// # Errors
    /// The errors of [`Input::open`].
    pub fn open_ahead(&self, config: &Config) -> Result<Source<'static>, Error> {
        /// With fewer requests, starting a thread costs more time than it saves.
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
            // The options were applied when the requests were decoded.
            Kind::Decoded(of, requests) => {
                let requests = Arc::clone(requests);
                let requests = (0..requests.len()).map(move |index| requests[index]);
                Source::generated(of.name(), Box::new(requests))
            }
        })
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns an error if a trace that can be read only once, such as a pipe or standard input, is named twice.
///
/// # Errors
/// If a trace is named twice, but can be read only once.
pub fn check_read_once<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    let mut known = BTreeSet::new();
    for path in paths {
        if !known.insert(path) && !allows_second_pass(path) {
            return Err(Error::Input(format!(
                "{}: is named twice, but can be read only once; expected it once, or a regular file",
                path.display()
            )));
        }
    }
    Ok(())
}

/// The `requests` that `options` select, as for a trace, and the requests that `options` insert.
fn sliced(
    requests: Box<dyn Iterator<Item = Request> + Send>,
    options: &ReadOptions,
) -> Box<dyn Iterator<Item = Request> + Send> {
    let Slice {
        skip,
        limit,
        writes_only,
    } = options.slice;
    let requests = requests
        .skip(count(skip))
        .take(limit.map_or(usize::MAX, count))
        .filter(move |request| !writes_only || request.operation != Operation::Read);
    injected(Box::new(requests), options)
}

/// The name and the value of `pair`, a `KEY=VALUE` text, if the key begins with `workload.`.
#[must_use]
pub fn workload_pair(pair: &str) -> Option<(&str, &str)> {
    let (key, value) = pair.split_once('=')?;
    Some((key.trim().strip_prefix("workload.")?, value.trim()))
}

/// The text of a workload's file, and the SHA-256 of the text in hexadecimal digits.
fn file_of(path: &Path, what: &str) -> Result<(String, String), Error> {
    /// No profile and no job file is larger.
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
    /// The workload `name`. If the name ends in `.toml` or `.fio`, it is a file in `folder`; otherwise it is a row of
    /// the registry.
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

    /// The name of the workload, or of its file.
    fn name(&self) -> &str {
        match &self.what {
            What::Row(row) => row.name,
            What::Fitted { .. } | What::Jobs { .. } => kind_of(&self.text),
        }
    }

    /// The requests of the workload for `seed`.
    fn requests(&self, seed: u64) -> Result<Box<dyn Iterator<Item = Request> + Send>, Error> {
        match &self.what {
            What::Row(row) => Ok((row.make)(&self.values, seed)?),
            What::Fitted { profile, .. } => Ok(fitted::requests(profile, &self.values, seed)),
            What::Jobs { plan, .. } => Ok(plan.make(seed)),
        }
    }
}
