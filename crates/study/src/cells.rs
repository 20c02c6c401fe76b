//! The runs of a study.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use destage_buffer::SchemeRow;
use destage_sim::settings::{Origin, Settings, split_kind};
use destage_trace::Operation;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::file::{GridEntry, InputEntry, VariantEntry, What};
use super::traces::{Found, Traces};
use super::{Study, pages};
use destage::Error;
use destage::{Combination, Grid};
use destage::{Input, Reading};

/// The name of the variant that has only the study's own settings.
pub(crate) const BASE: &str = "base";

/// The scale at which a study is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Runs that end within minutes: inputs up to their `reduced_limit`, without grids that are `full_only`.
    #[default]
    Reduced,
    /// All of every input and of every grid.
    Full,
}

impl Scale {
    /// The name of the scale in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reduced => "reduced",
            Self::Full => "full",
        }
    }

    /// The scale that this one is not.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Reduced => Self::Full,
            Self::Full => Self::Reduced,
        }
    }
}

/// Arguments of a study that come from outside its file.
#[derive(Clone, Default)]
pub struct Extra {
    /// Settings for the runs with one scheme or translation layer: its kind, the dotted name of a parameter, and
    /// a value. Settings in the study's file override these settings.
    pub readings: Vec<(String, String, String)>,
    /// Schemes that are in no registry, each with its version. The version is part of the key of kept results, so
    /// it has to change whenever the scheme changes.
    pub schemes: Vec<(&'static SchemeRow, String)>,
    /// For a kind of scheme, the scheme that runs instead of it, whatever the parameters; the labels of the runs
    /// do not change.
    pub replaced: BTreeMap<String, String>,
}

impl Extra {
    /// The scheme that runs for the entry `buffer` of a grid.
    fn in_place_of<'a>(&'a self, buffer: &'a String) -> &'a String {
        let kind = buffer.split(':').next().unwrap_or(buffer);
        self.replaced.get(kind).unwrap_or(buffer)
    }
}

/// One run of a study.
#[derive(Clone)]
pub(crate) struct Cell {
    /// The labels of the run: a value for each axis. They distinguish it from the other runs.
    pub(crate) labels: BTreeMap<String, String>,
    pub(super) what: What,
    pub(super) destages: bool,
    /// The input. Runs that share it read the same requests.
    pub(super) input: Arc<CellInput>,
    pub(super) combination: Combination,
}

/// The input of a run.
pub(super) struct CellInput {
    pub(super) input: Input,
    /// The identity of the requests, for the key of a result.
    pub(super) identity: Value,
    pub(super) facts: InputFacts,
}

/// The description of an input in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputFacts {
    /// The name of the trace, the workload with its parameters, or the name of the input in the study.
    pub name: String,
    /// The SHA-256 of a trace, with `sha256:` before it; `None` for other inputs.
    pub digest: Option<String>,
    /// The relation of the input to the paper.
    pub role: Role,
    /// For a relative: its description, and its difference from the paper's own trace. Empty for other inputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub differs: String,
}

/// The relations of an input to the paper, from the nearest to the farthest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Requests in the study's file, or a workload that represents no trace.
    #[default]
    Made,
    /// The trace that the paper or the study names.
    Original,
    /// Another real trace of the same origin or kind, which represents a trace that is missing.
    Relative,
    /// A workload that imitates a trace that is missing.
    StandIn,
    /// A real recording of something else, used instead of a trace that is missing.
    Unrelated,
}

impl Role {
    /// The words for the relation in tables.
    #[must_use]
    pub const fn spoken(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Original => "the named trace",
            Self::Relative => "relative",
            Self::StandIn => "stand-in",
            Self::Unrelated => "unrelated recording",
        }
    }
}

/// The runs of a study, and its inputs whose traces are missing.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) cells: Vec<Cell>,
    /// For each input whose trace was not found: the name of the input, and the trace.
    pub(crate) missing: BTreeMap<String, String>,
}

impl Study {
    /// The runs of the study at `scale`.
    ///
    /// # Errors
    /// An error in a setting or an input.
    pub(crate) fn cells(
        &self,
        scale: Scale,
        traces: &Traces,
        extra: &Extra,
    ) -> Result<Cells, Error> {
        let mut all = Cells::default();
        for grid in &self.file.grid {
            if grid.full_only && scale == Scale::Reduced {
                continue;
            }
            for entry in &self.file.input {
                let listed = |names: &Vec<String>| names.contains(&entry.name);
                if grid.inputs.as_ref().is_none_or(listed) {
                    self.cells_of(grid, entry, scale, traces, extra, &mut all)?;
                }
            }
        }
        Ok(all)
    }

    /// Adds the runs of one input in one grid to `all`.
    fn cells_of(
        &self,
        grid: &GridEntry,
        entry: &InputEntry,
        scale: Scale,
        traces: &Traces,
        extra: &Extra,
        all: &mut Cells,
    ) -> Result<(), Error> {
        let base = vec![BASE.to_owned()];
        let variants = grid.variants.as_ref().unwrap_or(&base);
        let seeds = match &grid.seeds {
            Some(seeds) => seeds.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        for name in variants {
            let variant = self.file.variant.iter().find(|each| each.name == *name);
            for varied in product(&grid.vary) {
                for seed in &seeds {
                    let mut settings =
                        self.settings(grid, entry, variant, &varied, *seed, extra)?;
                    let Some(input) = self.input(entry, &settings, scale, traces)? else {
                        let trace = entry.trace.clone().unwrap_or_default();
                        all.missing.insert(entry.name.clone(), trace);
                        return Ok(());
                    };
                    input.input.set_host(&mut settings);
                    let input = Arc::new(input);
                    for (buffer, combination) in self.combinations(grid, &settings, extra)? {
                        let typed = &combination.config.typed;
                        let mut labels: BTreeMap<_, _> = varied.iter().cloned().collect();
                        for (axis, value) in [
                            ("input", entry.name.clone()),
                            ("variant", name.clone()),
                            ("seed", typed.sim.seed.to_string()),
                            ("buffer", buffer),
                            ("size", typed.buffer.capacity_bytes.to_string()),
                            ("ftl", combination.ftl.clone()),
                        ] {
                            labels.insert(axis.to_owned(), value);
                        }
                        all.cells.push(Cell {
                            labels,
                            what: grid.of,
                            destages: grid.destages,
                            input: Arc::clone(&input),
                            combination,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The settings of runs, apart from the schemes, sizes and layers of the grid.
    fn settings(
        &self,
        grid: &GridEntry,
        input: &InputEntry,
        variant: Option<&VariantEntry>,
        varied: &[(String, String)],
        seed: Option<u64>,
        extra: &Extra,
    ) -> Result<Settings, Error> {
        let mut settings = Settings::new();
        for (row, version) in &extra.schemes {
            settings.add_scheme_version(row, version)?;
        }
        let own = variant.and_then(|variant| variant.profile.as_ref());
        if let Some(profile) = own.or(self.file.profile.as_ref()) {
            match profile.ends_with(".toml") {
                true => settings.load_profile(&self.folder.join(profile).to_string_lossy())?,
                false => settings.load_profile(profile)?,
            }
        }
        let kinds = kinds_of(grid, extra);
        for (kind, key, value) in &extra.readings {
            if kinds.contains(kind.as_str()) {
                let origin = Origin::Given(format!("the reading {key} = {value}"));
                settings.set(key, value, origin);
            }
        }
        let of_variant = variant.map(|variant| &variant.set);
        for table in [&self.file.settings, &input.set]
            .into_iter()
            .chain(of_variant)
        {
            settings.load_table(table, &Origin::File(self.origin.clone()))?;
        }
        let mut set = |key: &str, value: &str| {
            settings.set(key, value, Origin::File(self.origin.clone()));
        };
        for (key, value) in varied {
            set(key, value);
        }
        if let Some(seed) = seed {
            set("sim.seed", &seed.to_string());
        }
        Ok(settings)
    }

    /// The combinations of the grid's schemes, sizes and layers, each with the label of its scheme.
    fn combinations(
        &self,
        grid: &GridEntry,
        settings: &Settings,
        extra: &Extra,
    ) -> Result<Vec<(String, Combination)>, Error> {
        let mut base = settings.clone();
        // Parameters of the workload are not parameters of a run.
        let workload: Vec<_> = base
            .keys()
            .filter(|key| key.starts_with(WORKLOAD))
            .map(str::to_owned)
            .collect();
        for key in workload {
            base.remove(&key);
        }
        // The labels of each scheme that runs, in order: the scheme that replaces another may also be in the grid
        // itself.
        let mut labels: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        let mut cells = Grid::new(base);
        if let Some(buffers) = &grid.buffers {
            let items: Vec<_> = buffers
                .iter()
                .map(|buffer| extra.in_place_of(buffer))
                .collect();
            for (item, buffer) in items.iter().zip(buffers) {
                labels.entry((*item).clone()).or_default().push(buffer);
            }
            cells = cells.buffers(items.into_iter().cloned());
        }
        if let Some(sizes) = &grid.sizes {
            cells = cells.sizes(sizes.iter().cloned());
        }
        if let Some(ftls) = &grid.ftls {
            cells = cells.ftls(ftls.iter().cloned());
        }
        let combinations = cells
            .every()
            .map_err(|error| self.wrong(error.to_string()))?;
        let mut seen = BTreeMap::new();
        let labelled = combinations.into_iter().map(|combination| {
            let name = &combination.buffer;
            let capacity = combination.capacity();
            let turn = seen
                .entry((name.clone(), combination.ftl.clone(), capacity))
                .or_insert(0);
            let label = labels.get(name).and_then(|all| all.get(*turn));
            let label = label.map_or(name, |label| *label).clone();
            *turn += 1;
            (label, combination)
        });
        Ok(labelled.collect())
    }

    /// The input of `entry`; `None` if its trace was not found.
    fn input(
        &self,
        entry: &InputEntry,
        settings: &Settings,
        scale: Scale,
        traces: &Traces,
    ) -> Result<Option<CellInput>, Error> {
        let wrong = |error: Error| self.wrong(format!("input {:?}: {error}", entry.name));
        let limit = match scale {
            Scale::Full => entry.limit,
            Scale::Reduced => [entry.limit, entry.reduced_limit]
                .into_iter()
                .flatten()
                .min(),
        };
        // A relative is shown next to the original trace, so the original does not replace it.
        let replaced = entry
            .stands_for
            .as_ref()
            .filter(|_| entry.differs.is_none());
        let original = replaced.and_then(|name| traces.find(name));
        let made = match entry.stands_for {
            Some(_) => Role::StandIn,
            None => Role::Made,
        };
        let is_named = |name: &String| traces.about(name).is_some();
        let (input, what, facts) = if let Some(found) = original {
            let name = entry.stands_for.clone().unwrap_or_default();
            trace(name, found, Role::Original)
        } else if let Some(name) = &entry.trace {
            let found = match is_named(name) {
                true => match traces.find(name) {
                    Some(found) => found.clone(),
                    None => return Ok(None),
                },
                false => {
                    let path = self.folder.join(name);
                    let digest =
                        destage_trace::digest(&path).map_err(|error| wrong(error.into()))?;
                    Found { path, digest }
                }
            };
            let role = match (&entry.stands_for, &entry.differs) {
                (None, _) => Role::Original,
                (Some(_), Some(_)) => Role::Relative,
                (Some(_), None) => Role::Unrelated,
            };
            let (input, what, facts) = trace(name.clone(), &found, role);
            let differs = entry.differs.clone().unwrap_or_default();
            (input, what, InputFacts { differs, ..facts })
        } else if let Some(text) = &entry.workload {
            let pairs: Vec<_> = settings
                .keys()
                .filter(|key| key.starts_with(WORKLOAD))
                .filter_map(|key| Some(format!("{key}={}", settings.text(key)?)))
                .collect();
            let input = Input::workload_from(&self.folder, text, &pairs).map_err(wrong)?;
            let facts = InputFacts {
                name: text.clone(),
                digest: None,
                role: made,
                differs: String::new(),
            };
            (input.clone(), input.identity(), facts)
        } else {
            let text = entry.pages.as_deref().unwrap_or_default();
            let page_bytes = page_bytes(settings).map_err(wrong)?;
            let requests = pages::requests(text, page_bytes)
                .map_err(|error| self.wrong(format!("input {:?}: {error}", entry.name)))?;
            let words: Vec<_> = text.split_whitespace().collect();
            let facts = InputFacts {
                name: entry.name.clone(),
                digest: None,
                role: made,
                differs: String::new(),
            };
            let input = Input::requests(&entry.name, requests);
            (input, json!({ "pages": words.join(" ") }), facts)
        };
        let mut reading = Reading {
            format: entry.format.clone(),
            limit,
            skip: entry.skip,
            writes_only: false,
            skip_bad_lines: false,
        };
        if let Some(writes) = entry.limit_writes {
            let input = input.clone().read(reading.clone()).map_err(wrong)?;
            reading.limit = Some(through(&input, settings, writes).map_err(wrong)?);
        }
        reading.writes_only = entry.writes_only;
        let identity = json!({
            "requests": what,
            "format": reading.format,
            "limit": reading.limit,
            "skip": reading.skip,
            "writes_only": reading.writes_only,
        });
        Ok(Some(CellInput {
            input: input.read(reading).map_err(wrong)?,
            identity,
            facts,
        }))
    }

    /// The variants of the study: a claim is also tried under them.
    pub(crate) fn variants(&self) -> impl Iterator<Item = &VariantEntry> {
        self.file.variant.iter()
    }

    /// The number of requests of the input `name` at the reduced scale; `None` if the full scale has no more.
    pub(crate) fn reduced(&self, name: &str) -> Option<u64> {
        let mut inputs = self.file.input.iter();
        let input = inputs.find(|input| input.name == name)?;
        input
            .reduced_limit
            .filter(|reduced| input.limit.is_none_or(|limit| *reduced < limit))
    }

    /// The factor by which the paper's buffers are larger than those on the input `name`; `None` if it is not
    /// declared.
    pub(crate) fn shrunk(&self, name: &str) -> Option<u64> {
        let mut inputs = self.file.input.iter();
        inputs.find(|input| input.name == name)?.buffers_shrunk
    }
}

/// The number of requests of `input` up to and including write number `writes`.
fn through(input: &Input, settings: &Settings, writes: u64) -> Result<u64, Error> {
    let mut source = input.open(&settings.resolve()?)?;
    let (mut requests, mut written, mut batch) = (0, 0, Vec::new());
    while source.fill(&mut batch)? {
        for request in &batch {
            if written == writes {
                return Ok(requests);
            }
            requests += 1;
            written += u64::from(request.operation == Operation::Write);
        }
    }
    Ok(requests)
}

/// A trace as an input, with the identity of its requests and its description.
fn trace(name: String, found: &Found, role: Role) -> (Input, Value, InputFacts) {
    let facts = InputFacts {
        name,
        digest: Some(format!("sha256:{}", found.digest)),
        role,
        differs: String::new(),
    };
    let identity = json!({ "sha256": found.digest });
    (Input::trace(&found.path), identity, facts)
}

/// The prefix of the names of workload parameters.
const WORKLOAD: &str = "workload.";

/// The page size of `settings`; other settings are not read, so they cannot cause an error.
fn page_bytes(settings: &Settings) -> Result<u64, Error> {
    let mut flash = Settings::new();
    let key = "flash.page_bytes";
    if let Some(text) = settings.text(key) {
        flash.set(key, &text, Origin::Given(key.to_owned()));
    }
    Ok(flash.resolve()?.typed.flash.page_bytes)
}

/// The kinds of schemes and layers that run in a grid.
fn kinds_of<'a>(grid: &'a GridEntry, extra: &'a Extra) -> BTreeSet<&'a str> {
    let buffers = grid.buffers.iter().flatten();
    let buffers = buffers.map(|buffer| extra.in_place_of(buffer));
    let items = buffers.chain(grid.ftls.iter().flatten());
    items
        .filter_map(|item| split_kind("", item).ok())
        .map(|(kind, _)| kind)
        .collect()
}

/// Every choice of one value for each parameter; a single empty choice if there is no parameter.
pub(crate) fn product<'a>(
    axes: impl IntoIterator<Item = (&'a String, &'a Vec<toml::Value>)>,
) -> Vec<Vec<(String, String)>> {
    let mut choices = vec![Vec::new()];
    for (key, values) in axes {
        let longer = |choice: &Vec<(String, String)>| {
            let with = |value| {
                let mut choice = choice.clone();
                choice.push((key.clone(), plain(value)));
                choice
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    choices
}

/// A value as text, as users type it.
pub(crate) fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
