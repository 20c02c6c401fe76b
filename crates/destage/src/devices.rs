//! Devices in their state before the first request. A state that takes long to prepare is prepared once and
//! copied for other runs.

use destage_ftl::Ftl;
use destage_sim::observer::Observer;
use destage_sim::settings::Config;

use crate::error::Error;
use crate::survey::Known;

/// The devices of all runs. A prepared device stays in memory until the last run that begins with it has begun.
pub(crate) struct Devices {
    /// For each run of each input, the index in `kept` of the device with which the run begins. `None` if the device
    /// is quick to prepare, so that the run prepares it for itself.
    of: Vec<Vec<Option<usize>>>,
    kept: Vec<Kept>,
}

struct Kept {
    preparation: String,
    /// The number of runs that need this device and have not yet begun.
    wanted: usize,
    is_taken: bool,
    original: Option<Box<dyn Ftl>>,
}

/// The device of a run, and the original for later runs, if any run needs it.
pub(crate) type Shared = (Box<dyn Ftl>, Option<Box<dyn Ftl>>);

/// The device that a run begins with, before it is prepared or copied.
pub(crate) struct Start {
    original: Option<Box<dyn Ftl>>,
    /// Whether later runs need the same device.
    is_wanted: bool,
}

impl Devices {
    /// Finds out which runs of `inputs` begin with the same device.
    pub(crate) fn new(inputs: &[Known]) -> Self {
        let mut devices = Self {
            of: Vec::new(),
            kept: Vec::new(),
        };
        for input in inputs {
            let of = input.configs.iter().map(|config| devices.want(config));
            let of = of.collect();
            devices.of.push(of);
        }
        devices
    }

    /// Counts one more run that needs the device of `config`. Returns the index of the device; `None` if the device
    /// is quick to prepare, so that every run prepares it for itself.
    fn want(&mut self, config: &Config) -> Option<usize> {
        let preparation = config.preparation()?;
        let known = self
            .kept
            .iter()
            .position(|kept| kept.preparation == preparation);
        let place = known.unwrap_or_else(|| {
            self.kept.push(Kept {
                preparation,
                wanted: 0,
                is_taken: false,
                original: None,
            });
            self.kept.len() - 1
        });
        self.kept[place].wanted += 1;
        Some(place)
    }

    /// Whether no other thread is preparing the device that `run` of `input` begins with.
    pub(crate) fn is_free(&self, input: usize, run: usize) -> bool {
        self.of[input][run].is_none_or(|place| !self.kept[place].is_taken)
    }

    /// Takes out the device with which `run` of `input` begins. The caller has to return the original by
    /// [`Devices::put_back`].
    pub(crate) fn take(&mut self, input: usize, run: usize) -> Start {
        let Some(place) = self.of[input][run] else {
            return Start {
                original: None,
                is_wanted: false,
            };
        };
        let kept = &mut self.kept[place];
        kept.is_taken = true;
        kept.wanted -= 1;
        Start {
            original: kept.original.take(),
            is_wanted: kept.wanted > 0,
        }
    }

    /// Stores `original` for later runs, after `run` of `input` has received its device.
    pub(crate) fn put_back(&mut self, input: usize, run: usize, original: Option<Box<dyn Ftl>>) {
        if let Some(place) = self.of[input][run] {
            self.kept[place].is_taken = false;
            self.kept[place].original = original;
        }
    }
}

impl Start {
    /// Prepares the device of a run under `config`, or copies it if later runs need the original.
    pub(crate) fn ftl(self, config: &Config, observer: &mut dyn Observer) -> Result<Shared, Error> {
        let original = match self.original {
            Some(original) => original,
            None => config.prepared_ftl(observer)?,
        };
        Ok(if self.is_wanted {
            (original.copied(), Some(original))
        } else {
            (original, None)
        })
    }

    /// The original for later runs, if any run needs it. For a run that cannot begin, and so takes no device.
    pub(crate) fn unused(self) -> Option<Box<dyn Ftl>> {
        self.original.filter(|_| self.is_wanted)
    }
}
