//! The test of a program on a device whose power fails again and again. After each failure, the device must still
//! have all data that it has promised to keep.
//!
//! One [`Round`] starts with a new device and an empty file system. The program runs on this file system until the
//! power fails, at a moment that a seed determines. Then the test mounts the device, and compares the contents of the
//! device with its ledger. The test mounts the file system, so that the kernel replays the journal, and then checks
//! the file system. Last, the user's check command decides whether the program's data are complete.
//!
//! ```text
//! server (a thread) <- nbdfuse -> file -> loop device -> file system -> $DESTAGE_DIR
//! ```

mod held;
mod place;
mod tools;

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use destage_base::Random;
use destage_sim::error::SimError;
use destage_sim::observer::Silent;
use destage_sim::run::live::Live;
use destage_sim::settings::Config;
use rustix::process::Signal;
use serde_json::{Value, json};

use self::held::Held;
pub use self::held::abandon;
use self::place::Disk;
pub use self::tools::FileSystem;
use self::tools::tail_of;
use crate::address::{Address, Place};
use crate::control::{Operator, OperatorError};
use crate::device::{Front, Pace};
use crate::server::{Ended, ServeError, Server, Settings, Stopper};

/// The interval at which the test polls processes and the server, which do not notify the test of changes.
const GLANCE: Duration = Duration::from_millis(5);
/// How long the test repeats an order to cut the power while the server refuses the order.
const PATIENCE: Duration = Duration::from_secs(5);
/// The smallest memory limit of a test, in bytes. A smaller one leaves the server no room for the requests of a file
/// system, which would then report errors of the disk.
const MEMORY_MIN: u64 = 64 << 20;
/// The exit codes with which a shell says that it could not run a command.
const CODES_OF_NO_RUN: [i32; 2] = [126, 127];
/// Signals that others send to a program. All other signals are faults of the program itself.
const FROM_OTHERS: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::KILL, Signal::TERM];

/// The subject of the test.
pub struct Trial<'t> {
    /// The configuration of the device.
    pub config: &'t Config,
    /// The relation of model time to wall-clock time.
    pub pace: Pace,
    /// The file system on the device.
    pub file_system: FileSystem,
    /// The program and its arguments.
    pub command: &'t [OsString],
    /// The shell command that checks the data after a cut; `None` for no such check.
    pub check: Option<&'t str>,
}

/// The moment at which the power fails in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// At the write with this number, counted from 1 after the start of the program.
    Write(u64),
    /// At the flush with this number, counted in the same way.
    Flush(u64),
    /// During the page program with this number, counted in the same way.
    Program(u64),
}

impl Moment {
    /// The key of this moment in an order of the control socket, and its number.
    #[must_use]
    pub fn named(self) -> (&'static str, u64) {
        match self {
            Self::Write(number) => ("at_write", number),
            Self::Flush(number) => ("at_flush", number),
            Self::Program(number) => ("at_program", number),
        }
    }
}

/// How many operations a program causes, from its start until all of its data are written to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// The number of writes that the device accepted.
    pub writes: u64,
    /// The number of flushes that the device accepted.
    pub flushes: u64,
    /// The number of page programs.
    pub programs: u64,
}

impl Extent {
    /// The moment of the cut with the number `number`, counted from 0, out of `cuts` cuts. The run of the program is
    /// divided into `cuts` equal parts, and each cut happens in the part with the same number. `seed` selects whether
    /// the cut happens at a write, at a flush or during a page program, and the position within the part.
    ///
    /// # Panics
    /// If `number` is not less than `cuts`.
    #[must_use]
    pub fn moment(&self, seed: u64, number: u32, cuts: u32) -> Moment {
        assert!(number < cuts, "cut {number} of {cuts}");
        let mut random = Random::new(seed);
        let mut all = vec![
            Moment::Write(self.writes),
            Moment::Flush(self.flushes),
            Moment::Program(self.programs),
        ];
        all.retain(|last| last.named().1 > 0);
        if all.is_empty() {
            return Moment::Write(1);
        }
        let kind = all[random.below(all.len() as u64) as usize];
        let mut drawn = |last: u64| {
            let border =
                |number: u32| (u128::from(last) * u128::from(number) / u128::from(cuts)) as u64;
            // If the part contains no such event, the cut happens at the first event after the part.
            let first = border(number);
            1 + first + random.below((border(number + 1) - first).max(1))
        };
        match kind {
            Moment::Write(last) => Moment::Write(drawn(last)),
            Moment::Flush(last) => Moment::Flush(drawn(last)),
            Moment::Program(last) => Moment::Program(drawn(last)),
        }
    }
}

/// The outcome of a round.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// Whether the program had ended, and all data were written, before the moment of the cut. The power was then cut
    /// after the end of the program.
    pub came_late: bool,
    /// The number of sectors that break a promise.
    pub bad_sectors: u64,
    /// Errors that the check of the file system or the user's check command found, one sentence each.
    pub findings: Vec<String>,
}

impl Round {
    /// Whether the round found no error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.bad_sectors == 0 && self.findings.is_empty()
    }
}

/// The reason why a test cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// Something that the test needs is missing.
    #[error("--fs {file_system}: needs {what}")]
    Missing {
        /// The name of the file system.
        file_system: &'static str,
        /// What is missing.
        what: String,
    },
    /// A program that the test needs has failed.
    #[error("{0}")]
    Tool(String),
    /// The tested program has failed although the power was on.
    #[error("{0}")]
    Program(String),
    /// The memory limit is too small for a test.
    #[error("a memory limit of {0} bytes is too small for a crash test; expected at least 64MiB")]
    Memory(u64),
    /// The user has interrupted the test.
    #[error("interrupted")]
    Interrupted,
    /// The server has failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The device cannot be made, or has failed.
    #[error(transparent)]
    Device(#[from] SimError),
    /// The control socket has failed, or the server has refused an order.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A call of the system has failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The server has ended unexpectedly, which is a bug of this program.
    #[error("the server has ended")]
    Gone,
}

/// A function that returns whether the user has interrupted the test.
#[derive(Clone, Copy)]
pub struct Stop<'s>(pub &'s dyn Fn() -> bool);

impl Stop<'_> {
    fn check(&self) -> Result<(), CrashError> {
        match (self.0)() {
            true => Err(CrashError::Interrupted),
            false => Ok(()),
        }
    }
}

/// The server, which runs in a separate thread.
struct Serving {
    address: Address,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<Ended, ServeError>>>,
}

impl Serving {
    fn start(trial: &Trial<'_>, folder: &Path) -> Result<Self, CrashError> {
        let limit = destage_memory::limit();
        if limit < MEMORY_MIN {
            return Err(CrashError::Memory(limit));
        }
        let (config, pace) = (trial.config.clone(), trial.pace);
        let settings = Settings {
            place: Place::Unix(folder.join("socket")),
            control: Some(folder.join("control")),
            export: String::new(),
            read_only: false,
            anywhere: false,
            about: "destage crash".to_owned(),
            in_use: Vec::new(),
        };
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let live = match Live::new(&config, Box::new(Silent)) {
                Ok(live) => live,
                Err(error) => {
                    let _ = tell.send(Err(CrashError::from(error)));
                    return Err(io::Error::other("no device").into());
                }
            };
            match Server::bind(&settings, Front::new(live, pace), None) {
                Ok(server) => {
                    let _ = tell.send(Ok((server.address().clone(), server.stopper())));
                    server.run()
                }
                Err(error) => {
                    let _ = tell.send(Err(error.into()));
                    Err(io::Error::other("no server").into())
                }
            }
        });
        let (address, stopper) = told.recv().map_err(|_| CrashError::Gone)??;
        Ok(Self {
            address,
            stopper,
            thread: Some(thread),
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An armed cut.
struct Waiting {
    stream: UnixStream,
    has_come: Cell<bool>,
}

impl Waiting {
    /// Whether the power has failed. Then the server has answered the order, or has closed the connection.
    fn is_over(&self) -> bool {
        let mut answer = [0; 512];
        if !self.has_come.get() {
            let read = (&self.stream).read(&mut answer);
            let is_coming = read.is_err_and(|cause| cause.kind() == io::ErrorKind::WouldBlock);
            self.has_come.set(!is_coming);
        }
        self.has_come.get()
    }
}

/// The served device with its file system, and the temporary folder of the round. The fields are dropped in their
/// order, so the disk is released before the server ends.
struct Stage<'t> {
    trial: &'t Trial<'t>,
    stop: Stop<'t>,
    disk: Option<Disk>,
    operator: Operator,
    serving: Serving,
    folder: PathBuf,
    _folder: Held,
    seed: u64,
}

impl<'t> Stage<'t> {
    /// Makes a new device, with an empty file system that is mounted.
    fn set(trial: &'t Trial<'t>, seed: u64, stop: Stop<'t>) -> Result<Self, CrashError> {
        let folder = tempfile::Builder::new()
            .prefix("destage-crash-")
            .tempdir()?
            .keep();
        let held = Held::folder(folder.clone());
        std::fs::create_dir(folder.join("notes"))?;
        let serving = Serving::start(trial, &folder)?;
        let operator = Operator::connect(&folder.join("control"))?;
        let mut stage = Self {
            trial,
            stop,
            disk: None,
            operator,
            serving,
            folder,
            _folder: held,
            seed,
        };
        stage.attach()?;
        if let Some(disk) = &mut stage.disk {
            disk.make()?;
            disk.mount().map_err(CrashError::Tool)?;
        }
        Ok(stage)
    }

    fn attach(&mut self) -> Result<(), CrashError> {
        if self.trial.file_system != FileSystem::None {
            let uri = self.serving.address.to_string();
            let kind = self.trial.file_system;
            self.disk = Some(Disk::attach(kind, &uri, &self.folder, self.stop)?);
        }
        Ok(())
    }

    fn detach(&mut self) {
        if let Some(disk) = self.disk.take() {
            disk.detach();
        }
    }

    /// The number of writes, flushes and page programs of the device up to now.
    fn extent(&mut self) -> Result<Extent, CrashError> {
        let stats = self.operator.ask("stats")?;
        let count = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(0);
        let metrics = stats.get("metrics");
        Ok(Extent {
            writes: count(stats.get("writes")),
            flushes: count(stats.get("flushes")),
            programs: count(metrics.and_then(|metrics| metrics.get("flash.programs"))),
        })
    }

    /// Arms a cut at `moment`.
    fn arm(&mut self, moment: Moment) -> Result<Waiting, CrashError> {
        let (key, number) = moment.named();
        let mut order = json!({"do": "cut", "seed": self.seed});
        order[key] = number.into();
        let mut stream = UnixStream::connect(self.folder.join("control"))?;
        stream.write_all(format!("{order}\n").as_bytes())?;
        stream.set_nonblocking(true)?;
        while !self.is("armed", &Value::Bool(true))? {
            sleep(GLANCE);
        }
        Ok(Waiting {
            stream,
            has_come: Cell::new(false),
        })
    }

    /// Whether the statistics of the server have `value` under `name`.
    fn is(&mut self, name: &str, value: &Value) -> Result<bool, CrashError> {
        Ok(self.operator.ask("stats")?.get(name) == Some(value))
    }

    /// Runs `command` on the device, until the program ends or `is_over` returns `true`. Returns the exit status, or
    /// `None` if the program was killed, and the last lines of the program's output.
    fn run(
        &self,
        mut command: Command,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Option<ExitStatus>, String), CrashError> {
        use std::os::unix::process::CommandExt;
        let said = self.folder.join("said");
        let file = File::create(&said)?;
        command.stdin(Stdio::null());
        command.stdout(file.try_clone()?).stderr(file);
        command.env("DESTAGE_URI", self.serving.address.to_string());
        command.env("DESTAGE_NOTES", self.folder.join("notes"));
        command.env("DESTAGE_SEED", self.seed.to_string());
        match self.disk {
            Some(_) => command.env("DESTAGE_DIR", self.folder.join("mount")),
            // The variable may have come from outside.
            None => command.env_remove("DESTAGE_DIR"),
        };
        command.process_group(0);
        let name = command.get_program().to_string_lossy().into_owned();
        let spawned = command.spawn();
        let mut child = spawned.map_err(|cause| {
            CrashError::Program(format!(
                "{name}: {cause}; expected a program that can be run"
            ))
        })?;
        let group = Held::group(child.id());
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if is_over() || (self.stop.0)() {
                break None;
            }
            sleep(GLANCE);
        };
        drop(group);
        let _ = child.wait();
        self.stop.check()?;
        Ok((status, tail_of(&said)?))
    }

    fn command(&self) -> Command {
        let mut words = self.trial.command.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words);
        command
    }

    /// Makes the system write the program's data from the page cache to the device. Does nothing without a file
    /// system.
    fn write_back(&self, is_over: &dyn Fn() -> bool) -> Result<(), CrashError> {
        if self.disk.is_some() {
            let mut command = Command::new("sync");
            command.arg("-f").arg(self.folder.join("mount"));
            self.run(command, is_over)?;
        }
        Ok(())
    }
}

/// The error about a program that ended unexpectedly.
fn failed(command: &Command, status: ExitStatus, said: &str) -> CrashError {
    CrashError::Program(format!(
        "{}: ended with {status} although the power had not failed: {said}",
        command.get_program().to_string_lossy()
    ))
}

impl Trial<'_> {
    /// Runs the program without a power failure, and counts the operations that it causes. The user's check command
    /// must then succeed.
    ///
    /// # Errors
    /// If the program or the check command fails, or the test cannot be carried out.
    pub fn extent(&self, seed: u64, stop: Stop<'_>) -> Result<Extent, CrashError> {
        let mut stage = Stage::set(self, seed, stop)?;
        let before = stage.extent()?;
        let (status, said) = stage.run(stage.command(), &|| false)?;
        if let Some(status) = status.filter(|status| !status.success()) {
            return Err(failed(&stage.command(), status, &said));
        }
        stage.write_back(&|| false)?;
        let after = stage.extent()?;
        if let Some(finding) = stage.check()? {
            return Err(CrashError::Program(format!(
                "{finding}, although the power had not failed"
            )));
        }
        stage.detach();
        Ok(Extent {
            writes: after.writes.saturating_sub(before.writes),
            flushes: after.flushes.saturating_sub(before.flushes),
            programs: after.programs.saturating_sub(before.programs),
        })
    }

    /// Runs one round, in which the power fails at `moment`.
    ///
    /// # Errors
    /// If the program fails before the power fails, or the round cannot be carried out.
    pub fn round(&self, moment: Moment, seed: u64, stop: Stop<'_>) -> Result<Round, CrashError> {
        let mut stage = Stage::set(self, seed, stop)?;
        let cut = stage.arm(moment)?;
        let has_failed = || cut.is_over();
        let (status, said) = stage.run(stage.command(), &has_failed)?;
        if let Some(status) = status.filter(|status| !status.success())
            && stage.is_on()?
        {
            return Err(failed(&stage.command(), status, &said));
        }
        if !has_failed() {
            stage.write_back(&has_failed)?;
        }
        // Dropping `cut` closes the connection. If this cut is still armed, the order to cut the power now takes its
        // place.
        drop(cut);
        let mut round = Round {
            came_late: stage.cut_power()?,
            ..Round::default()
        };
        stage.detach();
        stage.judge(&mut round)?;
        Ok(round)
    }
}

impl Stage<'_> {
    fn is_on(&mut self) -> Result<bool, CrashError> {
        self.is("power", &"on".into())
    }

    /// Cuts the power if it is on. Returns whether it was on.
    fn cut_power(&mut self) -> Result<bool, CrashError> {
        let began = Instant::now();
        while self.is_on()? {
            match self
                .operator
                .order(&json!({"do": "cut", "seed": self.seed}))
            {
                Ok(_) => return Ok(true),
                // The server refuses the order if the event of the armed cut has just happened. Then the power is
                // off, which the next look shows.
                Err(OperatorError::Refused { .. }) if began.elapsed() < PATIENCE => sleep(GLANCE),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Restores the power, and adds to `round` what is wrong with the device, the file system and the data.
    fn judge(&mut self, round: &mut Round) -> Result<(), CrashError> {
        self.operator.ask("restore")?;
        let checked = self.operator.ask("check")?;
        let bad = checked.get("bad_sectors").and_then(Value::as_u64);
        round.bad_sectors = bad.unwrap_or(0);
        self.attach()?;
        if let Some(disk) = &mut self.disk {
            if let Err(finding) = disk.mount() {
                round.findings.push(finding);
            } else {
                disk.unmount();
                round.findings.extend(disk.check()?);
                if let Err(finding) = disk.mount() {
                    round.findings.push(finding);
                }
            }
            if !disk.is_mounted() {
                self.detach();
                return Ok(());
            }
        }
        round.findings.extend(self.check()?);
        self.detach();
        Ok(())
    }

    /// Runs the user's check command. Returns the error that the command reports, or `None` if it succeeds. It is an
    /// error of the test if the command cannot be run to its end.
    fn check(&self) -> Result<Option<String>, CrashError> {
        let Some(check) = self.trial.check else {
            return Ok(None);
        };
        let mut command = Command::new("sh");
        command.arg("-c").arg(check);
        let (status, said) = self.run(command, &|| false)?;
        let Some(status) = status.filter(|status| !status.success()) else {
            return Ok(None);
        };
        let is_from_others = |signal: i32| FROM_OTHERS.iter().any(|other| other.as_raw() == signal);
        let text = format!("--check: {status}: {said}");
        match status.code() {
            Some(code) if CODES_OF_NO_RUN.contains(&code) => Err(CrashError::Program(format!(
                "{text}; expected a command that can be run"
            ))),
            None if status.signal().is_some_and(is_from_others) => Err(CrashError::Program(
                format!("{text}; expected a command that ends by itself"),
            )),
            _ => Ok(Some(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cut_comes_in_its_part_of_the_run() {
        let extent = Extent {
            writes: 1000,
            flushes: 433,
            programs: 7,
        };
        for seed in 1..200 {
            for cuts in [1, 2, 6, 10, 3000] {
                for number in 0..cuts {
                    let moment = extent.moment(seed + u64::from(number), number, cuts);
                    let (at, last) = match moment {
                        Moment::Write(at) => (at, extent.writes),
                        Moment::Flush(at) => (at, extent.flushes),
                        Moment::Program(at) => (at, extent.programs),
                    };
                    assert!((1..=last).contains(&at), "{moment:?}");
                    let part = |number: u32| last * u64::from(number) / u64::from(cuts);
                    let end = part(number + 1).max(part(number) + 1);
                    assert!((part(number) + 1..=end).contains(&at), "{moment:?}");
                }
            }
        }
        let kinds = (0..50).map(|seed| extent.moment(seed, 0, 1).named().0);
        let kinds: std::collections::BTreeSet<_> = kinds.collect();
        assert_eq!(kinds.len(), 3, "writes, flushes and programs");
        assert_eq!(Extent::default().moment(1, 5, 6), Moment::Write(1));
    }
}
