//! `destage serve`: serves the device live.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use clap::ArgMatches;
use destage::json;
use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_serve::address::{Place, socket_address};
use destage_serve::device::{Front, Pace};
use destage_serve::media::{self, Opened};
use destage_serve::server::{Ended, Recorder, ServeError, Server, Settings, Sockets};
use destage_serve::write_log::WriteLog;
use destage_sim::error::SimError;
use destage_sim::observer::{Observer, Response};
use destage_sim::run::live::{Ask, Broken, Live};
use destage_sim::settings::Config;
use destage_trace::Request;
use destage_trace::writers::{OutputForm, Packing, TraceWriter};
use serde_json::{Map, Value};

use crate::choices;
use crate::errors::{Failure, first_of, report_line, warn};
use crate::fio::Job;
use crate::interrupt;
use crate::logs::Logs;
use crate::output::report::check_distinct;
use crate::output::{self, numbers};
use crate::run::metrics_table;
use crate::serve_args::{PaceArgument, ServeArguments};
use crate::trace_file::form_of;
use destage::files::{PendingFile, unwritable};

/// Runs the command.
pub(crate) fn run(arguments: &ServeArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let device = choices::of_device(&arguments.device, None, &arguments.cache.short(), typed)?;
    let on = match (&arguments.image, &arguments.backing) {
        (Some(path), _) => media::Place::Image(path),
        (None, Some(path)) => media::Place::Backing(path),
        (None, None) => media::Place::Ram,
    };
    let outputs = [
        ("--record", &arguments.logs.record),
        ("--write-log", &arguments.logs.write_log),
        ("--response-log", &arguments.logs.response_log),
        ("--destage-log", &arguments.logs.destage_log),
        ("--fio-json", &arguments.logs.fio_json),
    ];
    let outputs: Vec<_> = outputs
        .iter()
        .filter_map(|(option, path)| Some((*option, path.as_ref()?)))
        .collect();
    let bytes = arguments.image.iter().chain(&arguments.backing);
    let inputs = choices::files(bytes.clone(), &arguments.device.settings, None, &device)?;
    check_distinct(&outputs, &inputs)?;
    let record = arguments.logs.record.as_deref();
    let form = record.map(form_of_record).transpose()?;
    let in_use = bytes.chain(outputs.iter().map(|(_, path)| *path)).cloned();
    let mut settings = Settings {
        place: place(arguments)?,
        control: arguments.control.clone(),
        export: arguments.export.clone(),
        read_only: arguments.read_only,
        anywhere: arguments.listen_anywhere,
        about: String::new(),
        in_use: in_use.collect(),
    };
    let sockets = Sockets::new(&settings).map_err(failure)?;
    let Opened {
        config,
        notes,
        media,
        sync,
    } = media::open(&device, on, arguments.read_only).map_err(Failure::input)?;
    settings.about = about(&config);
    if !arguments.noise.quiet {
        for note in notes {
            report_line(&format!("destage: note: {note}"));
        }
    }
    let mut logs = Logs::create(
        arguments.logs.response_log.as_ref(),
        arguments.logs.destage_log.as_ref(),
        None,
    )?;
    let job = Job {
        name: "live".to_owned(),
        engine: "nbd",
        depth: u64::from(config.typed.host.queue_depth),
    };
    logs = logs.with_fio(arguments.logs.fio_json.as_ref(), job)?;
    let mut recorded = record.map(PendingFile::create).transpose()?;
    let writer = match (&mut recorded, form, record) {
        (Some(file), Some((form, packing)), Some(path)) => {
            let writer = TraceWriter::new(form, packing, file);
            Some(writer.map_err(|cause| unwritable(path, &cause))?)
        }
        _ => None,
    };
    let recording = RefCell::new(Recording { writer, count: 0 });
    let log_path = arguments.logs.write_log.as_deref();
    // The log has the bytes of the clients.
    let mut logged = log_path.map(PendingFile::create_private).transpose()?;
    let write_log = logged.as_mut().map(WriteLog::new).transpose();
    let write_log =
        write_log.map_err(|cause| unwritable(log_path.unwrap_or(Path::new("")), &cause))?;
    let write_log = RefCell::new(Logging {
        log: write_log,
        outcome: Ok(()),
    });

    destage_memory::doing(format!("serving {}", about(&config)));
    let live = Live::on(&config, media, Box::new(Watcher(&mut logs)));
    let live = live.map_err(|error| match (&error, on) {
        (SimError::Image(_), media::Place::Image(path)) => {
            Failure::input(format!("{}: {error}", path.display()))
        }
        _ => error.into(),
    })?;
    let pace = pace(arguments.pace);
    let recorder: Option<Recorder<'_>> = record.or(log_path).map(|_| {
        Box::new(|ask: &Ask<'_>, at: Ticks| {
            write_log.borrow_mut().take(ask);
            recording.borrow_mut().take(&ask.as_request(at))
        }) as _
    });
    let front = Front::lasting(live, pace, sync);
    let server = Server::on(sockets, &settings, front, recorder).map_err(failure)?;
    let stopper = server.stopper();
    interrupt::on_interrupt(move || stopper.stop());
    announce(&server.address().to_string())?;
    let ended = server.run().map_err(failure)?;

    let mut outcomes = Vec::new();
    if let Some(path) = record {
        let finished = recording.into_inner().finish(path);
        let result = ended.recording.as_ref();
        let result = result.map_err(|cause| unwritable(path, cause).into());
        let has_requests = result.and(finished);
        outcomes.push(has_requests.and_then(|has_requests| keep(has_requests, recorded, path)));
    }
    if let Some(path) = log_path {
        let result = write_log.into_inner().finish();
        let result = result.map_err(|cause| unwritable(path, &cause));
        let result = result.and_then(|()| logged.map_or(Ok(()), PendingFile::commit));
        outcomes.push(result.map_err(Failure::from));
    }
    match logs.finish() {
        Ok(files) => outcomes.extend(
            files
                .into_iter()
                .map(|file| file.commit().map_err(Failure::from)),
        ),
        Err(error) => outcomes.push(Err(error)),
    }
    let shown = show(&config, &ended, arguments.json);
    let lost = match ended.unsaved {
        Some(_) => "; what was written since the last flush that was answered may be lost",
        None => "",
    };
    // A loss of data is worse than a log that could not be written.
    let verdict = match (ended.broken, ended.unsaved) {
        (None, None) => Ok(()),
        (None, Some(why)) => Err(Failure::input(format!("the last flush: {why}{lost}"))),
        (Some(why @ (Broken::Full(_) | Broken::Unkept(_) | Broken::Damaged)), _) => {
            Err(Failure::input(format!("{why}{lost}")))
        }
        (Some(why), _) => Err(Failure::Internal(format!("internal error: {why}{lost}"))),
    };
    outcomes.insert(0, verdict);
    outcomes.push(shown);
    first_of(outcomes)
}

/// Says that clients can connect at `address`. Fails if this cannot be printed, because clients wait for this line.
fn announce(address: &str) -> Result<(), Failure> {
    output::print(&format!("ready {address}\n")).map_err(|failure| match failure {
        Failure::BrokenPipe => Failure::input(
            "standard output: was closed before the line \"ready\"; expected a reader of that line",
        ),
        other => other,
    })
}

/// Gives the recorded trace its name `path`, unless it has no requests.
fn keep(has_requests: bool, file: Option<PendingFile>, path: &Path) -> Result<(), Failure> {
    match file.filter(|_| has_requests) {
        Some(file) => Ok(file.commit()?),
        None => {
            warn(format!(
                "--record {}: no request arrived, and a trace without requests could not be read; no file was written",
                path.display()
            ));
            Ok(())
        }
    }
}

/// The format and the compression of the file `--record`. A format without flushes is refused, because clients send
/// flushes.
fn form_of_record(path: &Path) -> Result<(&'static OutputForm, Packing), Failure> {
    let (form, packing) = form_of("--record", path, None)?;
    if !form.stores_all() {
        return Err(Failure::input(format!(
            "--record {}: the format {} has no flushes, and clients send flushes; expected another format, such as .csv",
            path.display(),
            form.name
        )));
    }
    Ok((form, packing))
}

pub(crate) fn pace(argument: PaceArgument) -> Pace {
    match argument {
        PaceArgument::None => Pace::None,
        PaceArgument::Model => Pace::Model,
    }
}

fn place(arguments: &ServeArguments) -> Result<Place, Failure> {
    match (&arguments.unix, &arguments.tcp) {
        (Some(path), _) => Ok(Place::unix(path)),
        (None, Some(text)) => {
            let address = socket_address(text).map_err(|why| {
                Failure::input(format!(
                    "--tcp {text}: {why}; expected HOST:PORT, such as 127.0.0.1:10809"
                ))
            })?;
            Ok(Place::Tcp(address))
        }
        (None, None) => Err(Failure::input("expected --unix SOCKET or --tcp HOST:PORT")),
    }
}

pub(crate) fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::System(_) => Failure::Internal(error.to_string()),
        other => Failure::input(other),
    }
}

/// A line about the device, for clients.
fn about(config: &Config) -> String {
    let buffer = if config.keeps_pages() {
        let bytes = numbers::bytes(config.typed.buffer.capacity_bytes);
        format!("{} of {bytes}", config.scheme.name)
    } else {
        config.scheme.name.to_owned()
    };
    format!("destage: {buffer} over {}", config.ftl_row.name)
}

/// Prints the results in the same form as the results of a run.
fn show(config: &Config, ended: &Ended, as_json: bool) -> Result<(), Failure> {
    if !as_json {
        return output::show(&metrics_table(&ended.metrics).text());
    }
    let mut document = Map::new();
    document.insert(
        "parameters".to_owned(),
        json::parameters(&config.parameters()),
    );
    document.insert("metrics".to_owned(), json::metrics(&ended.metrics));
    output::print(&json::text(&Value::Object(document)))
}

/// The logs of a live device. If a log cannot be written, the device continues, and the error is reported at the end.
struct Watcher<'l>(&'l mut Logs);

impl Observer for Watcher<'_> {
    fn wants_responses(&self) -> bool {
        self.0.wants_responses()
    }

    fn response(&mut self, response: &Response) {
        self.0.response(response);
    }

    fn wants_destages(&self) -> bool {
        self.0.wants_destages()
    }

    fn destage(&mut self, now: Ticks, record: &Destage) {
        self.0.destage(now, record);
    }
}

/// The log of the clients' writes.
struct Logging<'f> {
    log: Option<WriteLog<&'f mut PendingFile>>,
    /// The first error of the log.
    outcome: io::Result<()>,
}

impl Logging<'_> {
    fn take(&mut self, ask: &Ask<'_>) {
        if let (Some(log), Ok(())) = (&mut self.log, &self.outcome) {
            self.outcome = log.take(ask);
        }
    }

    fn finish(self) -> io::Result<()> {
        self.outcome?;
        self.log.map_or(Ok(()), WriteLog::finish)
    }
}

/// The trace of the clients' requests.
struct Recording<'f> {
    writer: Option<TraceWriter<'f>>,
    count: u64,
}

impl Recording<'_> {
    fn take(&mut self, request: &Request) -> io::Result<()> {
        self.count += 1;
        match &mut self.writer {
            Some(writer) => writer.write(request),
            None => Ok(()),
        }
    }

    /// Ends the trace. Returns whether the trace contains a request.
    fn finish(self, path: &Path) -> Result<bool, Failure> {
        if let Some(writer) = self.writer {
            writer.finish().map_err(|cause| unwritable(path, &cause))?;
        }
        Ok(self.count > 0)
    }
}
