//! `destage trace convert`, `cut`, `merge`, `anonymize`, `scale`, `generate`: write traces that are made from other
//! traces or from workloads.

use std::path::{Path, PathBuf};

use destage::{Config, Facts, Input, Settings};
use destage_base::Ticks;
use destage_base::parameter::{Kind, Parameter, Value};
use destage_sim::check::InputKind;
use destage_trace::request::SECTOR_BYTES;
use destage_trace::transform::{Cut, Ratio, Regions, Scale};
use destage_trace::{ReadOptions, Reader, Request, require_second_pass};

use crate::args::{
    AnonymizeArguments, ConvertArguments, CutArguments, GenerateArguments, MergeArguments, Reading,
    ScaleArguments, SettingArguments, Written,
};
use crate::choices;
use crate::errors::{Failure, warn};
use crate::interrupt;
use crate::progress::Progress;
use crate::trace_file::TraceFile;

/// The beginning of the names of settings that say how a trace is read.
const TRACE: &str = "trace.";
const SEED: &str = "sim.seed";

/// Runs `trace convert`.
pub(crate) fn convert(arguments: &ConvertArguments) -> Result<(), Failure> {
    let (config, files) = config(&arguments.settings, [&arguments.trace], &[TRACE])?;
    let stream = Stream::open(&arguments.trace, &config, &arguments.reading)?;
    stream.rewrite(&arguments.written, &files, |request| {
        Ok(Step::Keep(*request))
    })
}

/// Runs `trace cut`.
pub(crate) fn cut(arguments: &CutArguments) -> Result<(), Failure> {
    let (config, files) = config(&arguments.settings, [&arguments.trace], &[TRACE])?;
    let time =
        |option, text: &Option<String>| text.as_deref().map(|text| ticks(option, text)).transpose();
    let cut = Cut {
        from: time("--from", &arguments.from)?,
        until: time("--until", &arguments.until)?,
        volumes: arguments.volumes.clone(),
        sectors: arguments.sectors.as_deref().map(range).transpose()?,
    };
    let mut first = None;
    let stream = Stream::open(&arguments.trace, &config, &arguments.reading)?;
    stream.rewrite(&arguments.written, &files, |request| {
        if cut.is_over(request.arrival) {
            return Ok(Step::End);
        }
        let Some(mut kept) = cut.keep(request) else {
            return Ok(Step::Drop);
        };
        if arguments.rebase {
            kept.arrival -= *first.get_or_insert(kept.arrival);
        }
        Ok(Step::Keep(kept))
    })
}

/// Runs `trace scale`.
pub(crate) fn scale(arguments: &ScaleArguments) -> Result<(), Failure> {
    let used = [TRACE, "flash.page_bytes"];
    let (config, files) = config(&arguments.settings, [&arguments.trace], &used)?;
    let ratio = |option: &str, text: &Option<String>| match text {
        None => Ok(Ratio::ONE),
        Some(text) => text.parse::<Ratio>().map_err(|expected| {
            Failure::input(format!(
                "{option} {text:?}: not usable; expected {expected}"
            ))
        }),
    };
    let scale = Scale {
        time: ratio("--time", &arguments.time)?,
        address: ratio("--address", &arguments.address)?,
        page_sectors: config.typed.flash.page_bytes / SECTOR_BYTES,
    };
    let stream = Stream::open(&arguments.trace, &config, &arguments.reading)?;
    let name = stream.name.clone();
    stream.rewrite(&arguments.written, &files, |request| {
        let Request {
            line,
            arrival,
            sector,
            ..
        } = *request;
        scale.apply(request).map(Step::Keep).ok_or_else(|| {
            Failure::input(format!(
                "{name}: request {line}: arrival {arrival} (ticks of 0.1 ns), sector {sector}: too large after scaling (limits: 2^64 ticks, 2^64 bytes); expected a smaller --time or --address"
            ))
        })
    })
}

/// Runs `trace anonymize`.
pub(crate) fn anonymize(arguments: &AnonymizeArguments) -> Result<(), Failure> {
    let used = [TRACE, SEED];
    let (config, files) = config(&arguments.settings, [&arguments.trace], &used)?;
    require_second_pass(&arguments.trace, "anonymize", "")?;
    let sectors = region_sectors(&arguments.region_bytes)?;
    let mut regions = Regions::new(sectors);
    let mut stream = Stream::open(&arguments.trace, &config, &arguments.reading)?;
    let progress = Progress::new(arguments.written.noise, None);
    while stream.reader.fill(&mut stream.batch)? {
        interrupt::check()?;
        progress.advance(stream.batch.len() as u64);
        stream.batch.iter().for_each(|request| regions.add(request));
    }
    drop(progress);
    let seed = config.typed.sim.seed;
    let anonymizer = regions.shuffled(seed).ok_or_else(|| {
        Failure::input(format!(
            "{}: with regions of {}, the new addresses would exceed 2^64 bytes; expected a smaller --region-bytes",
            stream.name, arguments.region_bytes
        ))
    })?;
    let stream = Stream::open(&arguments.trace, &config, &arguments.reading)?;
    let name = stream.name.clone();
    stream.rewrite(&arguments.written, &files, |request| {
        anonymizer.apply(request).map(Step::Keep).ok_or_else(|| {
            Failure::input(format!(
                "{name}: the file changed while it was read twice; expected a file that no other program writes to"
            ))
        })
    })
}

/// Runs `trace merge`.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<(), Failure> {
    let (config, files) = config(&arguments.settings, &arguments.traces, &[TRACE])?;
    let options = choices::reading(&arguments.reading).options(&config)?;
    let inputs: Vec<&Path> = arguments.traces.iter().map(PathBuf::as_path).collect();
    destage::check_read_once(inputs.iter().copied())?;
    let file = TraceFile::create(&arguments.written, &files)?;
    let readers = inputs
        .iter()
        .map(|path| Reader::open(path, &options))
        .collect::<Result<_, _>>()?;
    let mut merge = arguments.joined.merge(readers);
    file.fill(|| Ok(merge.take()?))?;
    for reader in merge.readers() {
        let facts = Facts::of_reader(reader.origin(), reader, &options);
        warn_about(&facts);
    }
    Ok(())
}

/// Runs `trace generate`.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<(), Failure> {
    let workload = arguments.workload.as_str();
    let mut settings = choices::plain(&arguments.settings, Some(workload))?;
    choices::remove_unused(&mut settings, &[TRACE, SEED])?;
    let config = settings.resolve()?;
    for (key, reason) in config.without_effect_on(InputKind::Generated, None) {
        if key.starts_with(TRACE) {
            warn(format!("{key} was set, but has no effect: {reason}"));
        }
    }
    let input = Input::workload(workload, &arguments.settings.set)?;
    let input = input.read(choices::slice(&arguments.slice))?;
    let files = choices::files(&[], &arguments.settings, Some(workload), &settings)?;
    let file = TraceFile::create(&arguments.written, &files)?;
    let mut source = input.open(&config)?;
    let (mut batch, mut next) = (Vec::new(), 0);
    file.fill(|| {
        if next == batch.len() {
            next = 0;
            if !source.fill(&mut batch)? {
                return Ok(None);
            }
        }
        next += 1;
        Ok(Some(batch[next - 1]))
    })?;
    // A job file sets how the host sends its requests. A trace cannot hold this.
    let mut host = Settings::new();
    input.set_host(&mut host);
    let set: Vec<String> = host
        .keys()
        .filter_map(|key| Some(format!("--set {key}={}", host.text(key)?)))
        .collect();
    if !set.is_empty() && !arguments.written.noise.quiet {
        warn(format!(
            "{workload}: the trace does not hold how its requests wait for each other; a run of the trace needs {}",
            set.join(" ")
        ));
    }
    Ok(())
}

/// What happens to a request.
enum Step {
    Keep(Request),
    Drop,
    /// This request and all later ones are left out.
    End,
}

/// A trace that is read in order to write another one.
struct Stream {
    name: String,
    reader: Reader,
    options: ReadOptions,
    batch: Vec<Request>,
}

impl Stream {
    fn open(path: &Path, config: &Config, reading: &Reading) -> Result<Self, Failure> {
        let options = ReadOptions {
            digest: false,
            ..choices::reading(reading).options(config)?
        };
        destage_memory::doing(format!("reading {}", path.display()));
        Ok(Self {
            name: path.display().to_string(),
            reader: Reader::open(path, &options)?,
            options,
            batch: Vec::new(),
        })
    }

    /// Writes the requests that `step` keeps or changes. `files` are the files that the command reads.
    fn rewrite(
        mut self,
        written: &Written,
        files: &[PathBuf],
        mut step: impl FnMut(&Request) -> Result<Step, Failure>,
    ) -> Result<(), Failure> {
        let file = TraceFile::create(written, files)?;
        let mut next = 0;
        file.fill(|| {
            loop {
                if next == self.batch.len() {
                    next = 0;
                    if !self.reader.fill(&mut self.batch)? {
                        return Ok(None);
                    }
                }
                let request = self.batch[next];
                next += 1;
                match step(&request)? {
                    Step::Keep(request) => return Ok(Some(request)),
                    Step::Drop => {}
                    Step::End => return Ok(None),
                }
            }
        })?;
        let facts = Facts::of_reader(&self.name, &self.reader, &self.options);
        warn_about(&facts);
        Ok(())
    }
}

/// Prints the warnings about a trace and its times. What is made of the trace may no longer show that the times are
/// wrong.
pub(crate) fn warn_about(facts: &Facts) {
    facts.warnings().iter().for_each(warn);
    facts.warnings_of_times().iter().for_each(warn);
}

/// The configuration of a command that reads `traces` and uses settings whose names begin with one of `used`, and all
/// files that the command reads.
fn config<'a>(
    arguments: &SettingArguments,
    traces: impl IntoIterator<Item = &'a PathBuf>,
    used: &[&str],
) -> Result<(Config, Vec<PathBuf>), Failure> {
    let mut settings = choices::plain(arguments, None)?;
    choices::remove_unused(&mut settings, used)?;
    let files = choices::files(traces, arguments, None, &settings)?;
    Ok((settings.resolve()?, files))
}

/// The ticks of a time such as `2.5s`; an error if the time is not a whole number of ticks.
fn ticks(option: &str, text: &str) -> Result<Ticks, Failure> {
    // In ticks of 0.1 ns. `ms` precedes `s`, because the text of a time in ms also ends in `s`.
    const UNITS: [(&str, Ticks); 4] = [
        ("ns", 10),
        ("us", 10_000),
        ("ms", 10_000_000),
        ("s", 10_000_000_000),
    ];
    let exact = || {
        let (number, ticks) = UNITS
            .iter()
            .find_map(|(unit, ticks)| Some((text.strip_suffix(unit)?.trim_end(), ticks)))?;
        if number.trim_start_matches(['0', '.']).is_empty() && number.starts_with('0') {
            return Some(0);
        }
        number.parse::<Ratio>().ok()?.of(*ticks)
    };
    exact().ok_or_else(|| {
        Failure::input(format!(
            "{option} {text:?}: not usable; expected a time such as 10s, 250ms, 3us or 0.5ns"
        ))
    })
}

/// The first sector, and the sector after the last, of a range such as `100..200`.
fn range(text: &str) -> Result<(u64, u64), Failure> {
    let bounds = || {
        let (first, end) = text.split_once("..")?;
        let (first, end) = (first.parse().ok()?, end.parse().ok()?);
        (first < end).then_some((first, end))
    };
    bounds().ok_or_else(|| {
        Failure::input(format!(
            "--sectors {text:?}: not usable; expected the first sector and the one after the last, such as 0..2048"
        ))
    })
}

/// The size of a region in sectors.
fn region_sectors(text: &str) -> Result<u64, Failure> {
    const ROW: Parameter = Parameter {
        name: "--region-bytes",
        kind: Kind::Bytes {
            min: SECTOR_BYTES,
            max: 1 << 50,
        },
        default: "4MiB",
        unit: "bytes",
        about: "",
        source: "",
        ..Parameter::BLANK
    };
    match ROW.read(text) {
        Ok(Value::Integer(bytes)) if bytes.is_multiple_of(SECTOR_BYTES) => Ok(bytes / SECTOR_BYTES),
        Ok(_) => Err(Failure::input(format!(
            "--region-bytes {text:?}: not usable; expected a multiple of {SECTOR_BYTES}"
        ))),
        Err(expected) => Err(Failure::input(format!(
            "--region-bytes {text:?}: not usable; expected {expected}"
        ))),
    }
}
