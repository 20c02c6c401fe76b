//! Facts that are found before the runs of an input begin. Some runs need data about all requests in advance. If the
//! number of blocks is not configured, the size of the device is chosen here.

use std::collections::BTreeMap;

use destage_sim::check::Purpose;
use destage_sim::error::SimError;
use destage_sim::merging::Merged;
use destage_sim::prepass::{Pass, Prepass};
use destage_sim::settings::Config;

use crate::error::Error;
use crate::input::Input;
use crate::progress::{Counter, Stage};

/// The number of blocks that `flash.blocks_per_plane = auto` gives for an input or for a size of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizing {
    /// The number of blocks in a plane.
    pub blocks_per_plane: u32,
    /// Bytes of data that the flash can hold, including over-provisioning.
    pub flash_bytes: u64,
    /// The end of the highest address of the input, in bytes; `None` if the input can be read only once, so that
    /// it was not read in advance.
    pub end_bytes: Option<u64>,
    /// The size that the device has to offer at least, in bytes; `None` if its size follows from the input.
    pub capacity_bytes: Option<u64>,
}

/// The facts about an input before its runs begin.
pub(crate) struct Survey {
    /// The plan of each configuration, in the order of the configurations.
    pub(crate) plans: Vec<Plan>,
    pub(crate) sizing: Option<Sizing>,
}

/// The facts about an input that all of its runs share.
pub(crate) struct Known {
    /// The configuration of each run. Its number of blocks is set, unless no allowed number suffices for the input.
    pub(crate) configs: Vec<Config>,
    pub(crate) sizing: Option<Sizing>,
    /// For runs with shrunk addresses: the number of pages of the trace that share a page of the device.
    pub(crate) merged: Vec<Merged>,
}

/// The plan of one run.
pub(crate) struct Plan {
    /// The configuration. Its number of blocks is set, unless no allowed number suffices for the input.
    pub(crate) config: Config,
    /// The data about all requests that the run needs, or the reason why the run cannot begin.
    pub(crate) prepass: Result<Prepass, Error>,
}

impl Survey {
    /// Splits the survey into the facts that all runs share, and the data that each run needs.
    pub(crate) fn split(self) -> (Known, Vec<Option<Result<Prepass, Error>>>) {
        let (mut configs, mut prepasses, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for Plan { config, prepass } in self.plans {
            merged.extend(prepass.as_ref().ok().and_then(|prepass| prepass.merged));
            configs.push(config);
            prepasses.push(Some(prepass));
        }
        let known = Known {
            configs,
            sizing: self.sizing,
            merged,
        };
        (known, prepasses)
    }

    /// Surveys `input` for runs under `configs`. If any run needs the data of a first reading, the input is read
    /// once.
    ///
    /// All runs whose number of blocks is chosen from the input get the same number. It is the largest number that
    /// any of these runs needs. If the input can be read only once, it is the largest number that all of these runs
    /// allow.
    ///
    /// # Errors
    /// If the input cannot be read, or if the progress report asked to stop.
    pub(crate) fn of(
        input: &Input,
        configs: &[&Config],
        counter: &Counter<'_>,
    ) -> Result<Self, Error> {
        let again = input.allows_second_pass();
        let mut pass = match again {
            true => first_pass(input, configs, counter)?,
            false => None,
        };
        let found = blocks(configs, pass.as_ref(), again);
        let sizing = sizing(configs, &found, pass.as_ref());
        let plan = |(config, found): (&&Config, Found)| {
            let (config, found) = match found {
                Ok(Some(blocks)) => (config.with_blocks(blocks), Ok(())),
                Ok(None) => (Config::clone(config), Ok(())),
                Err(error) => (Config::clone(config), Err(error)),
            };
            let prepass = found.map_err(Error::from).and_then(|()| match &mut pass {
                Some(pass) => Ok(pass.prepass(&config)?),
                None if config.needs_prepass() => Err(input.no_second_pass(&config)),
                None => Ok(Prepass::default()),
            });
            Plan { config, prepass }
        };
        let plans = configs.iter().zip(found).map(plan).collect();
        Ok(Self { plans, sizing })
    }
}

/// The number of blocks in a plane; `None` if the number is configured.
type Found = Result<Option<u32>, SimError>;

/// The number of blocks for each of `configs`. `again` is whether the input can be read more than once. If so, the
/// content of the input is already known.
fn blocks(configs: &[&Config], pass: Option<&Pass>, again: bool) -> Vec<Found> {
    let mut search = Search::default();
    // If the settings of a run exclude each other, only that run fails.
    let own = configs.iter().map(|config| {
        config.check(Purpose::Run)?;
        search.blocks(config, pass)
    });
    let mut found: Vec<Found> = own.collect();
    let mut fitted: Vec<&mut u32> = configs
        .iter()
        .zip(&mut found)
        .filter(|(config, _)| config.fits_input())
        .filter_map(|(_, found)| found.as_mut().ok()?.as_mut())
        .collect();
    let sizes = fitted.iter().map(|blocks| **blocks);
    // If the content of the input is not known, all runs get the largest number of blocks that every run allows.
    let common = if again { sizes.max() } else { sizes.min() };
    for blocks in &mut fitted {
        **blocks = common.unwrap_or(**blocks);
    }
    found
}

/// The sizing that was chosen from the input; `None` if no run has such a sizing, or if the input has no addresses.
fn sizing(configs: &[&Config], found: &[Found], pass: Option<&Pass>) -> Option<Sizing> {
    let mut of_input = configs
        .iter()
        .zip(found)
        .filter(|(config, _)| config.is_open() && config.has_flash());
    let (config, blocks_per_plane) =
        of_input.find_map(|(config, found)| Some((config, (*found.as_ref().ok()?)?)))?;
    let end_bytes = pass.map(|pass| end_bytes(pass, config));
    // An input without requests has no sizing. Another warning says that no request is left.
    (end_bytes != Some(0)).then(|| Sizing {
        blocks_per_plane,
        flash_bytes: config.with_blocks(blocks_per_plane).flash_bytes(),
        end_bytes,
        capacity_bytes: config.capacity_bytes,
    })
}

fn end_bytes(pass: &Pass, config: &Config) -> u64 {
    pass.end(config)
        .saturating_mul(config.typed.flash.page_bytes)
}

fn first_pass(
    input: &Input,
    configs: &[&Config],
    counter: &Counter<'_>,
) -> Result<Option<Pass>, Error> {
    let wants = |config: &&Config| config.needs_prepass() || config.fits_input();
    let of: Vec<&Config> = configs.iter().copied().filter(wants).collect();
    let Some(first) = of.first() else {
        return Ok(None);
    };
    let expected = input.expected_requests();
    let mut source = input.open_first_pass(first)?;
    let pass = Pass::read(&of, &mut source, |read| {
        counter.report(Stage::FirstPass, read, expected)
    });
    Ok(Some(pass?))
}

/// The numbers of blocks that were already found. Runs that differ only in their buffer share a number.
#[derive(Default)]
struct Search {
    known: BTreeMap<String, u32>,
}

impl Search {
    /// The number of blocks in a plane under `config`; `None` if the number is configured.
    fn blocks(&mut self, config: &Config, pass: Option<&Pass>) -> Found {
        if !config.is_open() {
            return Ok(None);
        }
        let end = pass.map(|pass| pass.end(config));
        let key = format!(
            "{} {:?} {end:?}",
            config.device_text(),
            config.capacity_bytes
        );
        if let Some(blocks) = self.known.get(&key) {
            return Ok(Some(*blocks));
        }
        let blocks = match (config.capacity_bytes, end) {
            (Some(bytes), _) => config.blocks_for_capacity(bytes)?,
            (None, Some(end)) => config.blocks_for_addresses(end)?,
            (None, None) => config.lazy_blocks()?,
        };
        self.known.insert(key, blocks);
        Ok(Some(blocks))
    }
}
