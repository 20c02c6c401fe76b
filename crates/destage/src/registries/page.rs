//! Pages of the registries. A page is one row with its parameters, each with default, unit, range and source.

use destage_base::parameter::{Parameter, Value as Setting};
use destage_buffer::{COMMON, SCHEMES, SchemeRow};
use destage_ftl::{FTLS, FtlRow};
use destage_sim::capacity::{CAPACITY, OVER_PROVISIONING, STAND_INS};
use destage_sim::check::in_words;
use destage_sim::parameters::PARAMETERS;
use destage_sim::profiles;
use destage_sim::settings::Settings;
use destage_trace::PARAMETERS as TRACE_PARAMETERS;
use destage_workload::{WORKLOADS, fitted, jobs};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::input::Input;
use crate::json;

/// A row of a registry with its parameters under headings. One page has instead all parameters that belong to no row.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name of the row.
    pub name: String,
    /// The description of the row.
    pub about: String,
    /// The origin of the row, such as a paper; may be empty.
    pub source: String,
    /// Headings, each with its parameters.
    pub parts: Vec<(&'static str, Vec<Entry>)>,
}

/// A parameter under its full name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The dotted name.
    pub name: String,
    /// The row of the parameter in its registry.
    pub row: &'static Parameter,
    /// The value and the origin of the value, if the row of the page sets the parameter.
    pub set: Option<(Setting, String)>,
    /// Whether the default of the parameter's row is only an example. Such a parameter has no value unless the user
    /// sets it.
    pub has_example: bool,
    /// The schemes, layers or workloads that have the parameter. Empty if every run has it, or if the page is that of
    /// its owner.
    pub owners: Vec<&'static str>,
    /// The parameter that is set in place of this one.
    pub replaced_by: Option<&'static str>,
}

impl Entry {
    /// The parameter of `row` under the name `name`, without a value and without owners.
    pub(super) fn new(name: String, row: &'static Parameter) -> Self {
        Self {
            name,
            row,
            set: None,
            has_example: false,
            owners: Vec::new(),
            replaced_by: None,
        }
    }
}

/// `value` with `unit`, such as `1 page`. A size such as `4KiB` already contains its unit.
#[must_use]
pub fn quantity(value: &str, unit: &str) -> String {
    match (value, unit) {
        (_, "") => value.to_owned(),
        (_, "bytes") if value.ends_with('B') => value.to_owned(),
        // Only words have a plural: `us` and `GB/s` are no words.
        ("1", unit) if unit.len() > 2 && !unit.contains('/') => {
            let ending = if unit.ends_with("sses") { "es" } else { "s" };
            format!("1 {}", unit.strip_suffix(ending).unwrap_or(unit))
        }
        (_, unit) => format!("{value} {unit}"),
    }
}

fn entries(prefix: &str, rows: &'static [Parameter]) -> Vec<Entry> {
    let entry = |row: &'static Parameter| Entry::new(format!("{prefix}{}", row.name), row);
    rows.iter().map(entry).collect()
}

/// All parameters by their full names. If several schemes or layers have a parameter, it occurs once for each scheme
/// or layer.
fn every_row() -> impl Iterator<Item = (String, &'static Parameter)> {
    let of = |prefix: &'static str, rows: &'static [Parameter]| {
        rows.iter()
            .map(move |row| (format!("{prefix}{}", row.name), row))
    };
    of("", PARAMETERS)
        .chain(of("", TRACE_PARAMETERS))
        .chain(of("buffer.", COMMON))
        .chain(
            SCHEMES
                .iter()
                .flat_map(move |row| of("buffer.", row.parameters)),
        )
        .chain(FTLS.iter().flat_map(move |row| of("ftl.", row.parameters)))
}

fn stand_ins() -> Vec<Entry> {
    let mut all = entries("", STAND_INS);
    all.iter_mut().for_each(|entry| entry.has_example = true);
    all
}

/// The page with the parameters of device, host, trace and run, and with the parameters that all buffers have.
#[must_use]
pub fn parameters() -> Page {
    let mut all = entries("", PARAMETERS);
    all.extend(entries("", TRACE_PARAMETERS));
    // Parameters of one section are adjacent; sections are in the order in which they first appear.
    let section = |entry: &Entry| entry.name.split('.').next().map(str::to_owned);
    let order: Vec<_> = all.iter().map(section).collect();
    all.sort_by_key(|entry| order.iter().position(|other| *other == section(entry)));
    Page {
        name: "parameters".into(),
        about: "Parameters of device, host, trace and run.".into(),
        source: String::new(),
        parts: vec![
            ("", all),
            (
                "Parameters common to all buffers",
                entries("buffer.", COMMON),
            ),
            ("What stands for others", stand_ins()),
        ],
    }
}

/// The page of the scheme `name`.
///
/// # Errors
/// If no scheme has this name.
pub fn buffer(name: &str) -> Result<Page, Error> {
    let row = find_row(name, "buffer", SCHEMES, |row| row.name)?;
    let reconstructed = if row.reconstructed {
        " Rules combined from descriptions by others."
    } else {
        ""
    };
    Ok(Page {
        name: row.name.into(),
        about: format!("{}{reconstructed}", row.about),
        source: row.source.into(),
        parts: vec![
            ("Its own parameters", entries("buffer.", row.parameters)),
            (
                "Parameters common to all buffers",
                entries("buffer.", COMMON),
            ),
        ],
    })
}

/// The page of the translation layer `name`.
///
/// # Errors
/// If no layer has this name.
pub fn ftl(name: &str) -> Result<Page, Error> {
    let row = find_row(name, "ftl", FTLS, |row| row.name)?;
    Ok(Page {
        name: row.name.into(),
        about: row.about.into(),
        source: row.source.into(),
        parts: vec![("", entries("ftl.", row.parameters))],
    })
}

/// The page of the workload `name`, which may also be a job file of fio or a stand-in of [`fit`](crate::fit()).
///
/// # Errors
/// If no workload has this name, or if its file cannot be used.
pub fn workload(name: &str) -> Result<Page, Error> {
    let of_file = if name.ends_with(".fio") {
        Some(("The jobs of a job file of fio.", jobs::PARAMETERS))
    } else if name.ends_with(".toml") {
        Some(("A stand-in that is fitted to a trace.", fitted::PARAMETERS))
    } else {
        None
    };
    if let Some((about, rows)) = of_file {
        let values = Input::workload(name, &[])?.parameters();
        let mut parameters = entries("workload.", rows);
        for entry in &mut parameters {
            let value = values.get(&entry.name).cloned();
            entry.set = value.map(|value| (value, entry.row.source.to_owned()));
        }
        return Ok(Page {
            name: name.into(),
            about: about.into(),
            source: String::new(),
            parts: vec![("", parameters)],
        });
    }
    let row = find_row(name, "workload", WORKLOADS, |row| row.name)?;
    Ok(Page {
        name: row.name.into(),
        about: row.about.into(),
        source: String::new(),
        parts: vec![("", entries("workload.", row.parameters))],
    })
}

/// Parameters whose values follow from a setting that stands for them.
const COMPUTED: [(&str, &str); 3] = [
    ("flash.blocks_per_plane", CAPACITY.name),
    ("ftl.reserve_percent", OVER_PROVISIONING.name),
    ("ftl.min_free_percent", OVER_PROVISIONING.name),
];

/// Times of operations, each with the times for each type of page, which replace it.
const TIMES: [(&str, &str); 2] = [
    ("flash.read_us", "flash.read_times_us"),
    ("flash.program_us", "flash.program_times_us"),
];

/// The page of the profile `name`, which may be the path of a `.toml` file. The page has the settings of the profile
/// and of the profiles on which it builds, and the parameters that follow from the size of the device. The source of a
/// value is the comment behind the value; without a comment, the source of the profile.
///
/// # Errors
/// If no profile has this name, or if its settings cannot be used in a run.
pub fn profile(name: &str) -> Result<Page, Error> {
    let chain = profiles::chain(name)?;
    let describe = |key: &str| {
        let nearest = chain.iter().rev().find_map(|profile| profile.describe(key));
        nearest.unwrap_or_default().to_owned()
    };
    let mut settings = Settings::new();
    settings.load_profile(name)?;
    let mut config = settings.resolve()?;
    if let Some(bytes) = config.capacity_bytes {
        config = config.with_blocks(config.blocks_for_capacity(bytes)?);
    }
    let values = config.parameters();
    let source_of = |key: &str| {
        let Some(from) = chain.iter().rev().find(|profile| profile.sets(key)) else {
            return String::new();
        };
        let source = from.comment(key).or(from.describe("source"));
        let source = source.unwrap_or_default().trim_end_matches('.');
        match (chain.len(), source) {
            (1, source) => source.to_owned(),
            (_, "") => format!("not given (set by {})", from.name),
            _ => format!("{source} (set by {})", from.name),
        }
    };
    let entry_of = |key: &str, source: String| {
        let stand_in = STAND_INS.iter().find(|row| row.name == key);
        let value = match stand_in {
            Some(row) => row.read(&settings.text(key)?).ok(),
            None => values.get(key).cloned(),
        };
        let row = stand_in.or_else(|| row_of(key, config.scheme, config.ftl_row))?;
        let has_times =
            |by: &str| matches!(values.get(by), Some(Setting::Text(times)) if !times.is_empty());
        let replaced_by = TIMES.iter().find(|(one, by)| *one == key && has_times(by));
        Some(Entry {
            set: value.map(|value| (value, source)),
            has_example: stand_in.is_some(),
            replaced_by: replaced_by.map(|(_, by)| *by),
            ..Entry::new(key.to_owned(), row)
        })
    };
    let written = settings
        .keys()
        .filter_map(|key| entry_of(key, source_of(key)));
    let computed = COMPUTED.iter().filter_map(|(key, from)| {
        let follows = settings.text(from).is_some() && settings.text(key).is_none();
        let source = format!("computed from {from}");
        follows.then(|| entry_of(key, source)).flatten()
    });
    let mut set: Vec<Entry> = written.chain(computed).collect();
    set.sort_by(|one, other| one.name.cmp(&other.name));
    let below: Vec<&str> = chain
        .iter()
        .rev()
        .skip(1)
        .map(|profile| profile.name.as_str())
        .collect();
    let mut about = describe("about");
    if !below.is_empty() {
        about.push_str(&format!(
            " It builds on {}.",
            below.join(", which builds on ")
        ));
    }
    Ok(Page {
        name: name.into(),
        about: about.trim_start().into(),
        parts: vec![("What it sets", set)],
        source: describe("source"),
    })
}

fn find_row<R>(
    name: &str,
    what: &str,
    rows: &'static [R],
    name_of: fn(&R) -> &'static str,
) -> Result<&'static R, Error> {
    rows.iter().find(|row| name_of(row) == name).ok_or_else(|| {
        let names = rows.iter().map(name_of);
        Error::unknown(format!("show {what} {name:?}: no such {what}"), name, names)
    })
}

/// The registry row of the parameter `key`, if `scheme` and `ftl` are chosen.
fn row_of(key: &str, scheme: &SchemeRow, ftl: &FtlRow) -> Option<&'static Parameter> {
    let named = |rows: &'static [Parameter], name: &str| rows.iter().find(|row| row.name == name);
    if let Some(row) = named(PARAMETERS, key).or_else(|| named(TRACE_PARAMETERS, key)) {
        return Some(row);
    }
    match key.split_once('.')? {
        ("buffer", name) => named(COMMON, name).or_else(|| named(scheme.parameters, name)),
        ("ftl", name) => named(ftl.parameters, name),
        _ => None,
    }
}

impl Page {
    /// `{"name", "about", "source", "parameters": [...]}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), json!(self.name));
        map.insert("about".into(), json!(self.about));
        if !self.source.is_empty() {
            map.insert("source".into(), json!(self.source));
        }
        let entries = self.parts.iter().flat_map(|(_, entries)| entries);
        map.insert(
            "parameters".into(),
            Value::Array(entries.map(Entry::to_json).collect()),
        );
        Value::Object(map)
    }
}

impl Entry {
    /// The origin of the value; if the value is not set, the origin of the default.
    #[must_use]
    pub fn source(&self) -> &str {
        let set = self.set.as_ref();
        set.map_or(self.row.source, |(_, source)| source)
    }

    /// The values that the parameter may have, in words.
    #[must_use]
    pub fn expected(&self) -> String {
        let one_of = |names: Vec<&str>| format!("one of {}", names.join(", "));
        match self.name.as_str() {
            "buffer.kind" => one_of(SCHEMES.iter().map(|row| row.name).collect()),
            "ftl.kind" => one_of(FTLS.iter().map(|row| row.name).collect()),
            name if TIMES.iter().any(|(_, times)| *times == name) => {
                "numbers of microseconds with / between them, such as 56.5/77.5/106".to_owned()
            }
            _ => self.row.expected(),
        }
    }

    /// The conditions, in words, that must all hold for the parameter to have an effect.
    #[must_use]
    pub fn needs(&self) -> Vec<String> {
        self.row.needs.iter().map(|text| in_words(text)).collect()
    }

    /// The settings that cannot be combined with this parameter: the other setting in words, and the reason.
    /// Exclusions that only the row of the other parameter declares are included.
    #[must_use]
    pub fn excludes(&self) -> Vec<(String, &'static str)> {
        let if_it_is = |value: &str| match value.trim_start_matches("= ") {
            "" => String::new(),
            value => format!(
                ", if {} is {}",
                self.name,
                value
                    .replace('|', " or ")
                    .replace("!= ", "not ")
                    .replace("> ", "above ")
            ),
        };
        let mut all: Vec<(String, &'static str)> = Vec::new();
        for exclusion in self.row.excludes {
            for part in exclusion.with.split(" or ") {
                all.push((
                    in_words(part) + &if_it_is(exclusion.value),
                    exclusion.because,
                ));
            }
        }
        for (key, row) in every_row() {
            for exclusion in row.excludes {
                for part in exclusion.with.split(" or ") {
                    let is_own =
                        |clause: &&str| clause.split(' ').next() == Some(self.name.as_str());
                    let (own, others): (Vec<&str>, Vec<&str>) =
                        part.split(" and ").partition(is_own);
                    let Some(value) = own.first().and_then(|clause| clause.split_once(' ')) else {
                        continue;
                    };
                    let mut with = match exclusion.value {
                        "" => key.clone(),
                        value => format!("{key} {value}"),
                    };
                    if !others.is_empty() {
                        with.push_str(&format!(
                            " combined with {}",
                            in_words(&others.join(" and "))
                        ));
                    }
                    with.push_str(&if_it_is(value.1));
                    if !all.contains(&(with.clone(), exclusion.because)) {
                        all.push((with, exclusion.because));
                    }
                }
            }
        }
        all
    }

    /// `{"name", "key", "value", "default", "unit", "expected", "about", "source", "needs", "excludes"}`. `"needs"`
    /// is a list of conditions in words. `"excludes"` is a list of objects `{"with", "because"}`. If only some
    /// schemes, layers or workloads have the parameter, also `"of"`, the list of them.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let row = self.row;
        let mut map = Map::new();
        map.insert("name".into(), json!(self.name));
        map.insert("key".into(), json!(self.name));
        if let Some((value, _)) = &self.set {
            map.insert("value".into(), json::setting(value));
        }
        // The default is read as a value, so that its JSON type is the type of the parameter.
        let default = row
            .read(row.default)
            .map_or(json!(row.default), |value| json::setting(&value));
        match self.has_example {
            true => {
                map.insert("default".into(), Value::Null);
                map.insert("example".into(), default);
            }
            false => {
                map.insert("default".into(), default);
            }
        }
        map.insert("unit".into(), json!(row.unit));
        map.insert("expected".into(), json!(self.expected()));
        map.insert("about".into(), json!(row.about));
        map.insert("source".into(), json!(self.source()));
        map.insert("needs".into(), json!(self.needs()));
        let excludes = self.excludes().into_iter();
        let excludes = excludes.map(|(with, because)| json!({"with": with, "because": because}));
        map.insert("excludes".into(), excludes.collect());
        if !self.owners.is_empty() {
            map.insert("of".into(), json!(self.owners));
        }
        if let Some(by) = self.replaced_by {
            map.insert("replaced_by".into(), json!(by));
        }
        Value::Object(map)
    }
}
