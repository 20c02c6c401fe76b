//! A simulated drive in virtual time, with the same interface as a real drive.

use destage_base::Ticks;
use destage_device::RequestKind;
use destage_device::backed::{Backing, Fault};
use destage_sim::metrics::Number;
use destage_sim::observer;
use destage_sim::run::live::{Ask, Live, Media};
use destage_sim::settings::{Config, Origin, Settings};

use super::super::experiment::BLOCK;
use super::super::scaled::{Buffer, FullSize, Scale};
use super::kept::digest;
use super::target::{Action, Command, Done, Target};
use crate::error::Error;
use crate::manifest::MODEL;

const SECTOR: u64 = 512;
/// The number of outstanding commands that the device accepts. A measurement has fewer outstanding commands.
const SLOTS: &str = "4096";

/// The scaled-down drive of a profile in virtual time. Equal commands have equal times on every machine.
pub struct Modelled {
    name: String,
    live: Live<'static>,
    bytes: u64,
    full_bytes: u64,
    identity: String,
    now: Ticks,
    /// The submission time of each outstanding command, by its tag.
    begun: Vec<Ticks>,
    /// The data of every write: zeros.
    data: Vec<u8>,
}

/// A backing that stores no data: reads return zeros.
struct Forgotten;

impl Backing for Forgotten {
    fn read(&self, _: u64, out: &mut [u8]) -> Result<(), Fault> {
        out.fill(0);
        Ok(())
    }

    fn write(&self, _: u64, _: &[&[u8]]) -> Result<(), Fault> {
        Ok(())
    }

    fn discard(&self, _: u64, _: u64) -> Result<(), Fault> {
        Ok(())
    }

    fn hole(&self, _: u64) -> (bool, u64) {
        (false, u64::MAX)
    }
}

impl Modelled {
    /// The empty drive of `settings`, scaled down by `scale`, with the name `name`.
    ///
    /// # Errors
    /// If the settings contradict each other, or give no size.
    pub fn new(name: &str, settings: &Settings, scale: Scale) -> Result<Self, Error> {
        let full = FullSize::new(settings)?;
        let drive = full.made_small(scale, None, Buffer::SameBytes)?;
        let mut settings = drive.settings.clone();
        for (key, value) in [("host.queue_depth", SLOTS), ("sim.precondition", "none")] {
            let origin = Origin::Given("a drive that is measured".to_owned());
            settings.set(key, value, origin);
        }
        let config = settings.resolve()?;
        let bytes = drive.used(BLOCK) * BLOCK;
        let media = Media::Disk(Box::new(Forgotten), bytes);
        let live = Live::on(&config, media, Box::new(observer::Silent))?;
        Ok(Self {
            name: name.to_owned(),
            live,
            bytes,
            full_bytes: full.bytes(),
            identity: identity(&config),
            now: 0,
            begun: Vec::new(),
            data: Vec::new(),
        })
    }

    fn taken(&mut self) -> Result<Option<Done>, Error> {
        let Some(completion) = self.live.completed() else {
            return Ok(None);
        };
        if completion.fault.is_some() {
            return Err(Error::Internal("a modelled drive has a fault".to_owned()));
        }
        let tag = completion.tag as u32;
        self.now = self.now.max(completion.at);
        Ok(Some(Done {
            tag,
            begun: self.begun[tag as usize],
            ended: completion.at,
        }))
    }
}

/// The digest of all parameters of `config` and of the version of the model.
fn identity(config: &Config) -> String {
    let parameters = config.parameters();
    let lines = parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value}\n"));
    let text: String = std::iter::once(format!("model {MODEL}\n"))
        .chain(lines)
        .collect();
    digest(text.as_bytes())
}

fn broken(cause: destage_sim::run::live::Broken) -> Error {
    Error::Input(format!("the modelled drive: {cause}"))
}

impl Target for Modelled {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn full_bytes(&self) -> u64 {
        self.full_bytes
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn is_real(&self) -> bool {
        false
    }

    fn now(&mut self) -> Ticks {
        self.now
    }

    fn submit(&mut self, command: Command) -> Result<(), Error> {
        let tag = command.tag as usize;
        if tag >= self.begun.len() {
            self.begun.resize(tag + 1, 0);
        }
        self.begun[tag] = self.now;
        let kind = match command.action {
            Action::Read => RequestKind::Read,
            Action::Write => RequestKind::Write,
            Action::Flush => RequestKind::Flush,
        };
        let bytes = command.bytes as usize;
        if self.data.len() < bytes {
            self.data.resize(bytes, 0);
        }
        let ask = Ask {
            kind,
            sector: command.offset / SECTOR,
            sectors: (u64::from(command.bytes) / SECTOR) as u32,
            fua: false,
            data: match kind {
                RequestKind::Write => &self.data[..bytes],
                _ => &[],
            },
            tag: command.tag.into(),
        };
        self.live.submit(self.now, &ask).map_err(broken)
    }

    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error> {
        loop {
            if let Some(done) = self.taken()? {
                return Ok(Some(done));
            }
            match (self.live.next_time(), until) {
                (Some(time), until) if until.is_none_or(|until| time <= until) => {
                    self.live.advance(time).map_err(broken)?;
                }
                (_, Some(until)) => {
                    self.now = self.now.max(until);
                    return Ok(None);
                }
                (_, None) => {
                    return Err(Error::Internal("no command is under way".to_owned()));
                }
            }
        }
    }

    fn programmed(&mut self) -> Result<Option<f64>, Error> {
        let metrics = self.live.metrics();
        Ok(programmed_of(|name| metrics.get(name).map(Number::as_f64)))
    }
}

/// The number of bytes that the flash has programmed, computed from the metrics of a run; `None` if
/// `host.bytes_written` is not among these metrics.
#[must_use]
pub fn programmed_of(metric: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    Some(metric("waf.bytes").unwrap_or(0.0) * metric("host.bytes_written")?)
}
