//! Devices in their state before the first request: a state that takes a while is prepared once and copied.

use destage_ftl::Ftl;
use destage_sim::observer::Observer;
use destage_sim::settings::Config;

use crate::error::Error;
use crate::survey::Known;

/// The devices of all runs. A prepared one is kept from its first run to its last.
pub(crate) struct Devices {
    /// For each run of each input, the device in `kept` that it begins with; `None` if no device is worth keeping.
    of: Vec<Vec<Option<usize>>>,
    kept: Vec<Kept>,
}

struct Kept {
    preparation: String,
    /// Runs that will still need it.
    wanted: usize,
    is_taken: bool,
    original: Option<Box<dyn Ftl>>,
}

/// The device of a run, and the part left for others.
pub(crate) type Shared = (Box<dyn Ftl>, Option<Box<dyn Ftl>>);

/// The device that a run begins with.
pub(crate) struct Start {
    original: Option<Box<dyn Ftl>>,
    /// Others will need the same.
    is_wanted: bool,
}

impl Devices {
    /// For runs with the facts in `inputs`.
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

    /// One more run will need the device of `config`, which has this number if it is worth keeping.
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

    /// Whether no other thread builds the device that `run` of `input` begins with.
    pub(crate) fn is_free(&self, input: usize, run: usize) -> bool {
        self.of[input][run].is_none_or(|place| !self.kept[place].is_taken)
    }

    /// The device that `run` of `input` begins with. [`Devices::put_back`] follows.
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

    /// The run has its device, and leaves `original` for others.
    pub(crate) fn put_back(&mut self, input: usize, run: usize, original: Option<Box<dyn Ftl>>) {
        if let Some(place) = self.of[input][run] {
            self.kept[place].is_taken = false;
            self.kept[place].original = original;
        }
    }
}

impl Start {
    /// The device of a run under `config`, and the part left for others.
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
}
