//! Builds the list of the runs of a study: the labels, the input and the settings of each run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use destage_buffer::SchemeRow;
use destage_sim::settings::{Origin, Settings, kind_of, split_kind};
use destage_trace::Operation;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::file::{Difference, DriveEntry, GridEntry, InputEntry, VariantEntry, What};
use super::traces::{Found, Traces};
use super::{Study, drives, pages};
use destage::Error;
use destage::drive::{CheckPlan, Measurements};
use destage::{Combination, Grid};
use destage::{Input, Reading};

/// The name of the variant that adds no settings to those of the study.
pub(crate) const BASE: &str = "base";

/// The scale at which a study is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Runs that end within minutes. Each input is read up to its `reduced_limit`, and grids with `full_only` are
    /// omitted.
    #[default]
    Reduced,
    /// All grids. Each input is read up to its `limit`, or to its end if it has no `limit`.
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

    /// The largest number of requests at this scale, for an entry with these limits; `None` if there is no limit.
    fn limit(self, limit: Option<u64>, reduced: Option<u64>) -> Option<u64> {
        match self {
            Self::Full => limit,
            Self::Reduced => [limit, reduced].into_iter().flatten().min(),
        }
    }

    /// The opposite scale: `Full` for `Reduced`, and `Reduced` for `Full`.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Reduced => Self::Full,
            Self::Full => Self::Reduced,
        }
    }
}

/// Settings and schemes that a caller adds to those of a study file.
#[derive(Clone, Default)]
pub struct Extra {
    /// Settings that apply only to runs with a certain scheme or translation layer. Each entry has the kind of
    /// the scheme or layer, the dotted name of a parameter, and a value. Settings in the study file override
    /// these settings.
    pub readings: Vec<(String, String, String)>,
    /// Schemes that are in no registry, each with its version. The version is part of the key under which a
    /// result is stored. The caller therefore has to change the version whenever the scheme changes.
    pub schemes: Vec<(&'static SchemeRow, String)>,
    /// The schemes that are replaced: for the kind of a scheme in a grid, the scheme that is simulated in its
    /// place. The parameters of the replaced scheme are dropped. The labels of the runs still have the replaced
    /// scheme.
    pub replaced: BTreeMap<String, String>,
}

impl Extra {
    /// The scheme that is simulated for the entry `buffer` of a grid.
    fn in_place_of<'a>(&'a self, buffer: &'a String) -> &'a String {
        self.replaced.get(kind_of(buffer)).unwrap_or(buffer)
    }
}

/// One run of a study.
#[derive(Clone)]
pub(crate) struct Cell {
    /// The labels of the run: the name of each axis of the study, such as `buffer`, with the value that this run
    /// has. The labels distinguish the run from all others.
    pub(crate) labels: BTreeMap<String, String>,
    pub(super) what: What,
    pub(super) destages: bool,
    /// The input. Runs with the same input share one `Arc`.
    pub(super) input: Arc<CellInput>,
    pub(super) combination: Combination,
}

/// The input of one or more runs.
pub(super) struct CellInput {
    pub(super) subject: Subject,
    /// The data that identify the subject, as a part of the key under which a result is stored.
    pub(super) identity: Value,
    pub(super) facts: InputFacts,
}

/// The subject of a run.
pub(super) enum Subject {
    /// Requests, which are simulated, or of which statistics are computed.
    Requests(Input),
    /// Measurements of a drive, and the plan for comparing a profile with them.
    Drive(Box<(Measurements, CheckPlan)>),
}

/// The description of an input in verdicts and reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputFacts {
    /// For a trace its name; for a workload its name and parameters; for requests that the study file lists the
    /// name of the input.
    pub name: String,
    /// For a trace, `sha256:` followed by the SHA-256 of the uncompressed trace; `None` for other inputs.
    pub digest: Option<String>,
    /// The relation of the input to the paper.
    pub role: Role,
    /// For a relative, a description of this trace, with its difference from the paper's trace. Empty for other
    /// inputs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub differs: String,
}

/// The relation of an input to the paper. If a claim uses inputs with different relations, its verdict follows
/// from the one that is last in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Requests that the study file lists, or a synthetic workload. The input does not stand for a trace of the
    /// paper.
    #[default]
    Made,
    /// Measurements of a drive.
    Measured,
    /// The trace that the paper used, or in a study without a paper any trace.
    Original,
    /// A real recording of a part of the paper's trace. A study uses it in place of the paper's trace, or next to it.
    Relative,
    /// A synthetic workload, or listed requests, used because the paper's trace is missing.
    StandIn,
    /// A real trace of a system other than that of the paper's trace, used because the paper's trace is missing.
    Unrelated,
}

impl Role {
    /// The relation in words, for tables.
    #[must_use]
    pub const fn spoken(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Measured => "measured",
            Self::Original => "the named trace",
            Self::Relative => "relative",
            Self::StandIn => "stand-in",
            Self::Unrelated => "other recording",
        }
    }

    /// The kind of the input in the JSON of a reproduction: `own`, `relative`, `stand_in` or `definition`.
    /// Measurements of a drive are what their statements are about, so they are `own`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Made => "definition",
            Self::Measured | Self::Original => "own",
            Self::Relative => "relative",
            Self::StandIn | Self::Unrelated => "stand_in",
        }
    }

    /// Whether the input is a recording of requests.
    #[must_use]
    pub const fn is_recorded(self) -> bool {
        matches!(self, Self::Original | Self::Relative | Self::Unrelated)
    }

    /// Whether the input is in the place of a trace of the paper that is missing. A relative counts separately.
    #[must_use]
    pub const fn stands_in(self) -> bool {
        matches!(self, Self::StandIn | Self::Unrelated)
    }
}

/// The runs of a study, and those of its inputs whose traces were not found.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) cells: Vec<Cell>,
    /// The inputs whose traces were not found: for the name of each input, the name of the trace.
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
            for entry in &self.file.drive {
                let listed = |names: &Vec<String>| names.contains(&entry.name);
                if grid.inputs.as_ref().is_none_or(listed) {
                    self.cells_of_drive(grid, entry, scale, extra, &mut all)?;
                }
            }
        }
        Ok(all)
    }

    /// Adds to `all` the runs of `grid` that have the input `entry`.
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
                        self.settings(grid, (None, &entry.set), variant, &varied, *seed, extra)?;
                    let Some(input) = self.input(entry, &settings, scale, traces)? else {
                        let trace = entry.trace.clone().unwrap_or_default();
                        all.missing.insert(entry.name.clone(), trace);
                        return Ok(());
                    };
                    if let Subject::Requests(input) = &input.subject {
                        input.set_host(&mut settings);
                    }
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

    /// Adds to `all` the runs of `grid` that compare a profile with the measurements `entry`. The buffer and the layer
    /// of a drive are those of its profile, so these runs have no labels for them.
    fn cells_of_drive(
        &self,
        grid: &GridEntry,
        entry: &DriveEntry,
        scale: Scale,
        extra: &Extra,
        all: &mut Cells,
    ) -> Result<(), Error> {
        let wrong = |error: Error| self.wrong(format!("drive {:?}: {error}", entry.name));
        let limit = scale.limit(entry.limit, entry.reduced_limit);
        let table = self.table(&entry.measurements).map_err(wrong)?;
        let base = vec![BASE.to_owned()];
        let of_entry = (entry.profile.as_ref(), &entry.set);
        for name in grid.variants.as_ref().unwrap_or(&base) {
            let variant = self.file.variant.iter().find(|each| each.name == *name);
            for varied in product(&grid.vary) {
                let seeds = grid.seeds.iter().flatten().copied().map(Some);
                let seeds: Vec<_> = match grid.seeds {
                    Some(_) => seeds.collect(),
                    None => vec![None],
                };
                for seed in seeds {
                    let settings = self.settings(grid, of_entry, variant, &varied, seed, extra)?;
                    let plan = CheckPlan::new(settings.clone());
                    let requests = limit.unwrap_or(plan.requests);
                    let plan = CheckPlan { requests, ..plan };
                    let input = drives::input(entry, &table, plan).map_err(wrong)?;
                    let input = Arc::new(input);
                    for (_, combination) in self.combinations(grid, &settings, extra)? {
                        let mut labels: BTreeMap<_, _> = varied.iter().cloned().collect();
                        for (axis, value) in [
                            ("input", entry.name.clone()),
                            ("variant", name.clone()),
                            ("seed", combination.config.typed.sim.seed.to_string()),
                        ] {
                            labels.insert(axis.to_owned(), value);
                        }
                        all.cells.push(Cell {
                            labels,
                            what: grid.of,
                            destages: false,
                            input: Arc::clone(&input),
                            combination,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The settings of the runs that have an input with its own profile and settings, `variant`, the values `varied` and
    /// `seed`. [`Study::combinations`] adds the scheme, the size and the layer.
    fn settings(
        &self,
        grid: &GridEntry,
        (profile_of_input, set_of_input): (Option<&String>, &toml::Table),
        variant: Option<&VariantEntry>,
        varied: &[(String, String)],
        seed: Option<u64>,
        extra: &Extra,
    ) -> Result<Settings, Error> {
        let mut settings = Settings::new();
        for (row, version) in &extra.schemes {
            settings.add_scheme_version(row, version)?;
        }
        let of_variant = variant.and_then(|variant| variant.profile.as_ref());
        let own = of_variant.or(profile_of_input);
        if let Some(profile) = own.or(self.file.profile.as_ref()) {
            match profile.ends_with(".toml") {
                true => settings.load_profile(&self.folder.join(profile).to_string_lossy())?,
                false => settings.load_profile(profile)?,
            }
        }
        let kinds = kinds_of(grid, extra);
        for (kind, key, value) in &extra.readings {
            if kinds.contains(kind.as_str()) {
                let origin = Origin::File(format!("the reading {key} = {value}"));
                settings.set(key, value, origin);
            }
        }
        let of_variant = variant.map(|variant| &variant.set);
        for table in [&self.file.settings, set_of_input]
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

    /// The configurations for all combinations of the grid's schemes, sizes and layers. With each configuration
    /// it returns the scheme's entry in the grid, which is the label `buffer` of the run.
    fn combinations(
        &self,
        grid: &GridEntry,
        settings: &Settings,
        extra: &Extra,
    ) -> Result<Vec<(String, Combination)>, Error> {
        let base = of_run(settings);
        // For each scheme that is simulated, its entries in the grid in their order. A scheme can have two
        // entries: one of its own, and one of the scheme that it replaces.
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

    /// Builds the input that `entry` describes; `None` if its trace was not found.
    fn input(
        &self,
        entry: &InputEntry,
        settings: &Settings,
        scale: Scale,
        traces: &Traces,
    ) -> Result<Option<CellInput>, Error> {
        let wrong = |error: Error| self.wrong(format!("input {:?}: {error}", entry.name));
        let limit = scale.limit(entry.limit, entry.reduced_limit);
        // If the file of the paper's trace is known, that trace is read in place of a stand-in or an unrelated
        // recording. A relative (an entry with `differs`) is never replaced, because the study shows its results next
        // to the results of the paper's trace.
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
                    Found::new(path, digest)
                }
            };
            let role = match (&entry.stands_for, &entry.differs) {
                (None, _) => Role::Original,
                (Some(_), Some(Difference::Relative(_))) => Role::Relative,
                (Some(_), _) => Role::Unrelated,
            };
            let (input, what, facts) = trace(name.clone(), &found, role);
            let differs = match &entry.differs {
                Some(Difference::Relative(text) | Difference::Other { other_system: text }) => {
                    text.clone()
                }
                None => String::new(),
            };
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
        // A limit of requests that is no larger than the limit of writes comes first, so nothing has to be counted.
        let comes_first = |writes: &u64| limit.is_none_or(|limit| limit > *writes);
        if let Some(writes) = entry.limit_writes.filter(comes_first) {
            let counted = json!([what, reading.format, reading.limit, reading.skip, writes]);
            let input = input.clone().read(reading.clone()).map_err(wrong)?;
            let requests = self.through(&input, &counted, settings, writes);
            reading.limit = Some(requests.map_err(wrong)?);
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
            subject: Subject::Requests(input.read(reading).map_err(wrong)?),
            identity,
            facts,
        }))
    }

    /// The number of requests of `input` up to and including its write number `writes`, counted from 1; the number of
    /// all requests if `input` has fewer writes. `counted` identifies the input and the limits. Many runs have the same
    /// input, so each number is kept.
    fn through(
        &self,
        input: &Input,
        counted: &Value,
        settings: &Settings,
        writes: u64,
    ) -> Result<u64, Error> {
        // A limit counts the requests of the trace itself. So requests that are inserted, or that an array distributes,
        // do not count here.
        let mut own = of_run(settings);
        for key in settings.keys() {
            if INSERTED.iter().any(|of| key.starts_with(of)) {
                own.remove(key);
            }
        }
        // Schemes and layers do not change the requests of an input.
        let outside = |key: &&str| !key.starts_with("buffer.") && !key.starts_with("ftl.");
        let keys = own.keys().filter(outside);
        let texts: Vec<_> = keys.map(|key| (key, own.text(key))).collect();
        let key = json!([counted, texts]).to_string();
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(requests) = limits.get(&key) {
            return Ok(*requests);
        }
        let requests = count_through(input, &own, writes)?;
        limits.insert(key, requests);
        Ok(requests)
    }

    /// Whether the study simulates nothing, and only counts the requests and pages of traces.
    pub(crate) fn counts_only(&self) -> bool {
        self.file.grid.iter().all(|grid| grid.of == What::Trace)
    }

    /// The variants of the study.
    pub(crate) fn variants(&self) -> impl Iterator<Item = &VariantEntry> {
        self.file.variant.iter()
    }

    /// The number of requests that are read from the input `name` at the reduced scale; `None` if the full scale
    /// reads no more requests.
    pub(crate) fn reduced(&self, name: &str) -> Option<u64> {
        let inputs = self.file.input.iter();
        let inputs = inputs.map(|input| (&input.name, input.limit, input.reduced_limit));
        let drives = self.file.drive.iter();
        let drives = drives.map(|drive| (&drive.name, drive.limit, drive.reduced_limit));
        let mut all = inputs.chain(drives);
        let (_, limit, reduced) = all.find(|(of, ..)| *of == name)?;
        reduced.filter(|reduced| limit.is_none_or(|limit| *reduced < limit))
    }

    /// Whether the reads of the input `name` are left out.
    pub(crate) fn takes_writes_only(&self, name: &str) -> bool {
        let mut inputs = self.file.input.iter();
        inputs.any(|input| input.name == name && input.writes_only)
    }

    /// The length of the input `name` at the full scale, such as `2000000 writes`; `None` if the study file does not
    /// declare it.
    pub(crate) fn whole(&self, name: &str) -> Option<String> {
        let input = self.file.input.iter().find(|input| input.name == name)?;
        let requests = input.limit.map(|limit| format!("{limit} requests"));
        requests.or_else(|| Some(format!("{} writes", input.limit_writes?)))
    }

    /// Whether the input `name` holds measurements of a drive.
    pub(crate) fn is_measured(&self, name: &str) -> bool {
        self.file.drive.iter().any(|drive| drive.name == name)
    }

    /// The paper's buffer size divided by the buffer size in runs with the input `name`; `None` if the study file
    /// does not declare this factor.
    pub(crate) fn shrunk(&self, name: &str) -> Option<f64> {
        let mut inputs = self.file.input.iter();
        inputs.find(|input| input.name == name)?.buffers_shrunk
    }
}

/// The number of requests of `input` with the settings `own` up to and including its write number `writes`.
fn count_through(input: &Input, own: &Settings, writes: u64) -> Result<u64, Error> {
    let mut source = input.open(&own.resolve()?)?;
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

/// Builds the input for the trace in the file `found`, the data that identify its requests, and its description.
fn trace(name: String, found: &Found, role: Role) -> (Input, Value, InputFacts) {
    let facts = InputFacts {
        name,
        digest: Some(format!("sha256:{}", found.digest)),
        role,
        differs: String::new(),
    };
    let identity = json!({ "sha256": found.digest, "detected": found.format });
    (Input::trace(&found.path), identity, facts)
}

/// The names of the parameters that change the requests of a trace after its limit was applied begin with one of
/// these texts.
const INSERTED: [&str; 3] = ["trace.flush_every_", "trace.trim_every_", "trace.array_"];

/// The names of all parameters of workloads begin with this text.
const WORKLOAD: &str = "workload.";

/// `settings` without the parameters of the workload, which a run may not contain; `Study::input` applies those.
fn of_run(settings: &Settings) -> Settings {
    let mut base = settings.clone();
    let keys = settings.keys();
    for key in keys.filter(|key| key.starts_with(WORKLOAD)) {
        base.remove(key);
    }
    base
}

/// The page size of `settings`. The function ignores all other settings, so a wrong value in one of them causes
/// no error.
fn page_bytes(settings: &Settings) -> Result<u64, Error> {
    let mut flash = Settings::new();
    let key = "flash.page_bytes";
    if let Some(text) = settings.text(key) {
        flash.set(key, &text, Origin::Given(key.to_owned()));
    }
    Ok(flash.resolve()?.typed.flash.page_bytes)
}

/// The kinds of all schemes and layers that are simulated for `grid`.
fn kinds_of<'a>(grid: &'a GridEntry, extra: &'a Extra) -> BTreeSet<&'a str> {
    let buffers = grid.buffers.iter().flatten();
    let buffers = buffers.map(|buffer| extra.in_place_of(buffer));
    let items = buffers.chain(grid.ftls.iter().flatten());
    items
        .filter_map(|item| split_kind("", item).ok())
        .map(|(kind, _)| kind)
        .collect()
}

/// The cross product of `axes`: all choices of one value for each axis. Without axes, the result is a single
/// empty choice.
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

/// A TOML value in the form in which users type it as a setting: a string without quotation marks.
pub(crate) fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
