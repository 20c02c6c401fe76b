//! The user's settings as text, and the checked configuration made from them.
//!
//! A setting is a dotted key with the user's text and the place where it was written. Later settings replace
//! earlier ones. The order is: defaults, the profile, the host settings of an input, the configuration file, the
//! command line. [`Settings::resolve`] checks all settings against the rows of the parameters, so that an error
//! can name the place to correct.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::LazyLock;

use destage_base::parameter::{Parameter, Values};
use destage_buffer::SchemeRow;
use destage_ftl::FtlRow;

use crate::capacity::{STAND_INS, replaces};
use crate::check::{Known, Purpose};
pub use crate::config::Config;
use crate::error::{Argument, SimError};
use crate::parameters::PARAMETERS;
use crate::profiles;
use crate::renamed;
use crate::state::{self, State};

/// Defaults of the parameters that belong to no scheme and no layer. The rows are read only once, because a program
/// may make many configurations, each from few settings.
static DEFAULTS: LazyLock<Values> =
    LazyLock::new(|| Values::defaults(PARAMETERS.iter().chain(destage_trace::PARAMETERS)));

/// The place where a setting was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A device profile of this name.
    Profile(String),
    /// A configuration file at this path.
    File(String),
    /// A caller of the library. The text says how the caller gave the setting.
    Given(String),
    /// An input at this path that says how the host sends its requests.
    Input(String),
    /// An argument of this name with this text.
    Argument(String, String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Profile(name) => write!(formatter, "profile {name}"),
            Self::Input(path) | Self::File(path) => write!(formatter, "{path}"),
            Self::Given(how) => write!(formatter, "{how}"),
            Self::Argument(name, text) => write!(formatter, "{name} {text}"),
        }
    }
}

impl Origin {
    /// Whether the setting is from a profile or an input, which the user chose by name but did not write.
    fn is_beneath(&self) -> bool {
        matches!(self, Self::Profile(_) | Self::Input(_))
    }

    /// The rank of the place: a setting of a higher rank overrides one of a lower rank.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Profile(_) => 0,
            Self::Input(_) => 1,
            Self::File(_) => 2,
            Self::Given(_) | Self::Argument(..) => 3,
        }
    }

    /// The error `wrong` in the text at this place.
    fn error(&self, wrong: impl std::fmt::Display) -> SimError {
        match self {
            Self::Argument(name, text) => argument(name, format!(" {text}: {wrong}")),
            other => SimError::Config(format!("{other}: {wrong}")),
        }
    }
}

/// The name, for error messages, of an argument `KEY=VALUE`.
const PAIR: &str = "setting";

pub(crate) fn argument(name: &str, what: String) -> SimError {
    let name = name.to_owned();
    SimError::Argument(Argument { name, what })
}

#[derive(Clone, Debug)]
struct Setting {
    text: String,
    origin: Origin,
}

/// Settings by dotted key. See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Settings {
    entries: BTreeMap<String, Setting>,
    /// Schemes that are in no registry, each with its version, which distinguishes it from earlier schemes of the
    /// same name.
    schemes: Vec<(&'static SchemeRow, Option<String>)>,
    explain: bool,
}

impl Settings {
    /// Settings without entries: every parameter has its default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a scheme that is in no registry, so that `buffer.kind` may name it. Results of the scheme are never
    /// stored for later use, because nothing distinguishes the scheme from its earlier versions.
    ///
    /// # Errors
    /// If a scheme of that name exists.
    pub fn add_scheme(&mut self, row: &'static SchemeRow) -> Result<(), SimError> {
        self.add(row, None)
    }

    /// Adds a scheme like [`Settings::add_scheme`], but results of the scheme may be stored. Stored results are used
    /// again for the same `version`. So the caller must change `version` whenever the decisions of the scheme change.
    ///
    /// # Errors
    /// If a scheme of that name exists.
    pub fn add_scheme_version(
        &mut self,
        row: &'static SchemeRow,
        version: &str,
    ) -> Result<(), SimError> {
        self.add(row, Some(version.to_owned()))
    }

    fn add(&mut self, row: &'static SchemeRow, version: Option<String>) -> Result<(), SimError> {
        if self.find_scheme(row.name).is_some() {
            return Err(SimError::Config(format!(
                "buffer.kind: {:?} is added, and there is a scheme of that name; expected another name",
                row.name
            )));
        }
        self.schemes.push((row, version));
        Ok(())
    }

    /// The schemes that `buffer.kind` may name.
    pub fn schemes(&self) -> impl Iterator<Item = &'static SchemeRow> {
        destage_buffer::SCHEMES
            .iter()
            .chain(self.schemes.iter().map(|(row, _)| *row))
    }

    fn find_scheme(&self, name: &str) -> Option<&'static SchemeRow> {
        let added = self.schemes.iter().map(|(row, _)| *row);
        added
            .chain(destage_buffer::SCHEMES)
            .find(|row| row.name == name)
    }

    /// Requests an explanation of each run: [`RunResult::explained`](crate::run::RunResult::explained). The
    /// explanation changes no other result.
    pub fn explain(&mut self) {
        self.explain = true;
    }

    /// Sets `key` to `text`. A later setting of the same key replaces it.
    pub fn set(&mut self, key: &str, text: &str, origin: Origin) {
        self.entries.insert(
            key.to_owned(),
            Setting {
                text: text.to_owned(),
                origin,
            },
        );
    }

    /// Sets `key` unless the user has set it. A value from a profile or an input is replaced. An input sets
    /// parameters of its host in this way.
    pub fn offer(&mut self, key: &str, text: &str, origin: Origin) {
        let known = self.entries.get(key);
        if known.is_none_or(|setting| setting.origin.is_beneath()) {
            self.set(key, text, origin);
        }
    }

    /// Sets a parameter from `KEY=VALUE`. Errors call the argument `setting`.
    ///
    /// # Errors
    /// If `pair` has no `=`.
    pub fn set_pair(&mut self, pair: &str) -> Result<(), SimError> {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(argument(PAIR, format!(" {pair:?}: expected KEY=VALUE")));
        };
        self.set(
            key.trim(),
            value.trim(),
            Origin::Argument(PAIR.to_owned(), pair.to_owned()),
        );
        Ok(())
    }

    /// The keys whose values are from [`Settings::set_pair`], each with its pair, in ascending order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.filter_map(|(key, setting)| match &setting.origin {
            Origin::Argument(name, pair) if name == PAIR => Some((key.as_str(), pair.as_str())),
            _ => None,
        })
    }

    /// Sets `{section}.kind` and `{section}.*` from `NAME[:k=v,...]`.
    ///
    /// # Errors
    /// If the text after the colon is not a list of `k=v`.
    pub fn set_kind(&mut self, section: &str, text: &str) -> Result<(), SimError> {
        self.set_kind_by(section, section, text)
    }

    /// Does the same as [`Settings::set_kind`] for an argument that errors call `name`.
    ///
    /// # Errors
    /// If the text after the colon is not a list of `k=v`.
    pub fn set_kind_by(&mut self, name: &str, section: &str, text: &str) -> Result<(), SimError> {
        let (kind, pairs) = split_kind(name, text)?;
        let origin = Origin::Argument(name.to_owned(), text.to_owned());
        self.set(&format!("{section}.kind"), kind, origin.clone());
        for (key, value) in pairs {
            self.set(&format!("{section}.{key}"), value, origin.clone());
        }
        Ok(())
    }

    /// Sets parameters from the tables of a TOML text.
    ///
    /// # Errors
    /// If the text is not TOML, or contains a value that is neither a table nor a string, a number or a flag.
    pub fn load_toml(&mut self, text: &str, origin: &Origin) -> Result<(), SimError> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| SimError::Config(format!("{origin}: {error}")))?;
        self.load_table(&table, origin)
    }

    /// Sets parameters from a table. Tables in it are sections.
    ///
    /// # Errors
    /// If the table contains a value that is neither a table nor a string, a number or a flag.
    pub fn load_table(&mut self, table: &toml::Table, origin: &Origin) -> Result<(), SimError> {
        self.load_below(table, "", origin)
    }

    fn load_below(
        &mut self,
        table: &toml::Table,
        prefix: &str,
        origin: &Origin,
    ) -> Result<(), SimError> {
        for (name, value) in table {
            let key = format!("{prefix}{name}");
            let text = match value {
                // The table `profile` describes a profile; it has no parameters.
                toml::Value::Table(_) if key == "profile" => continue,
                toml::Value::Table(inner) => {
                    self.load_below(inner, &format!("{key}."), origin)?;
                    continue;
                }
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::Boolean(flag) => flag.to_string(),
                toml::Value::Array(_) | toml::Value::Datetime(_) => {
                    return Err(SimError::Config(format!(
                        "{origin}: {key}: {value}: expected a string, a number, true or false{}",
                        times_of_types(&key, value)
                    )));
                }
            };
            self.set(&key, &text, origin.clone());
        }
        Ok(())
    }

    /// Sets parameters from a configuration file.
    ///
    /// # Errors
    /// If the file cannot be read or is not of the form that [`Settings::load_toml`] accepts.
    pub fn load_file(&mut self, path: &Path) -> Result<(), SimError> {
        let origin = Origin::File(path.display().to_string());
        let text = read_file(path).map_err(|error| {
            SimError::Config(format!(
                "{origin}: {error}; expected a TOML file with parameters"
            ))
        })?;
        self.load_toml(&text, &origin)
    }

    /// Sets parameters from a device profile, given by name or as a `.toml` file. If the profile builds on
    /// another one (`inherits` in its table `profile`), the other one is applied first.
    ///
    /// # Errors
    /// If there is no such profile or its file cannot be read, or if one of these errors concerns a profile that it
    /// builds on.
    pub fn load_profile(&mut self, name: &str) -> Result<(), SimError> {
        for profile in profiles::chain(name)? {
            let origin = Origin::Profile(profile.name);
            self.load_toml(&profile.text, &origin)?;
            self.remove_inherited(&origin);
        }
        Ok(())
    }

    /// Whether `key` names a parameter of the scheme or the FTL that these settings choose, a parameter that belongs to
    /// no scheme and no FTL, or a setting that replaces one of these.
    #[must_use]
    pub fn accepts(&self, key: &str) -> bool {
        let rows = self.scheme().ok().zip(self.ftl_row().ok());
        rows.is_some_and(|(scheme, ftl)| {
            replaces(ftl, key) || Rows { scheme, ftl }.find(key).is_some()
        })
    }

    /// Checks that the chosen scheme and FTL exist. If not, no key is [accepted](Self::accepts).
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn check_kinds(&self) -> Result<(), SimError> {
        self.scheme()?;
        self.ftl_row()?;
        Ok(())
    }

    /// All keys that are set, in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The value of `key` as it was written; `None` if it is not set.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        Some(self.entries.get(key)?.text.clone())
    }

    /// Whether the user has set `key`. A value from a profile or an input does not count as set by the user.
    #[must_use]
    pub fn is_set_by_user(&self, key: &str) -> bool {
        let known = self.entries.get(key);
        known.is_some_and(|setting| !setting.origin.is_beneath())
    }

    /// The value of `key` as it was written, and its origin; `None` if it is not set.
    pub(crate) fn entry(&self, key: &str) -> Option<(String, Origin)> {
        let setting = self.entries.get(key)?;
        Some((setting.text.clone(), setting.origin.clone()))
    }

    /// Removes the setting of `key`.
    pub fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    fn scheme(&self) -> Result<&'static SchemeRow, SimError> {
        let added = self.schemes.iter().map(|(row, _)| *row);
        let names = added.chain(destage_buffer::SCHEMES).map(|row| row.name);
        let find = |name: &str| self.find_scheme(name);
        self.kind("buffer.kind", "list buffers", find, names)
    }

    fn ftl_row(&self) -> Result<&'static FtlRow, SimError> {
        let names = destage_ftl::FTLS.iter().map(|row| row.name);
        self.kind("ftl.kind", "list ftls", destage_ftl::find, names)
    }

    fn kind<R>(
        &self,
        key: &str,
        list: &str,
        find: impl Fn(&str) -> Option<&'static R>,
        names: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<&'static R, SimError> {
        let name = match self.entries.get(key) {
            Some(setting) => setting.text.as_str(),
            None => PARAMETERS
                .iter()
                .find(|row| row.name == key)
                .map_or("", |row| row.default),
        };
        find(name).ok_or_else(|| {
            let wrong = format!(
                "{key}: {name:?} is not known{}; expected a name from `destage {list}`",
                suggestion(name, names)
            );
            match self.entries.get(key) {
                Some(setting) => setting.origin.error(wrong),
                None => SimError::Config(wrong),
            }
        })
    }

    /// Reads and checks all settings as a configuration for a run.
    ///
    /// # Errors
    /// The first setting that is unknown or does not fit its row, or settings that exclude each other. A setting of a
    /// scheme or layer that is not chosen is ignored. [`Config::without_effect`] names such a setting, unless it is
    /// from a profile or an input.
    pub fn resolve(&self) -> Result<Config, SimError> {
        let config = self.read()?;
        config.check(Purpose::Run)?;
        Ok(config)
    }

    /// Reads all settings like [`Settings::resolve`], but does not check whether settings exclude each other. A run
    /// with such settings fails later ([`Config::check`]), so the other runs of the same survey are not affected.
    ///
    /// # Errors
    /// The first setting that is unknown or does not fit its row.
    pub fn read(&self) -> Result<Config, SimError> {
        let rows = Rows {
            scheme: self.scheme()?,
            ftl: self.ftl_row()?,
        };
        let (settings, wanted) = self.spelled_out(rows.ftl)?;
        let mut global = DEFAULTS.clone();
        let common = destage_buffer::COMMON.iter();
        let mut buffer = Values::defaults(common.chain(rows.scheme.parameters));
        let mut ftl = Values::defaults(rows.ftl.parameters);
        for (key, setting) in &settings.entries {
            let Some((section, row)) = rows.find(key) else {
                let mut others = rows_of_others(key).peekable();
                if others.peek().is_none() {
                    return Err(setting.origin.error(unknown(key, &setting.text, &rows)));
                }
                // A value that no scheme or layer accepts is an error, even if it would have no effect.
                if let Some(Err(expected)) = others
                    .map(|row| row.read(&setting.text))
                    .max_by_key(Result::is_ok)
                {
                    let text = &setting.text;
                    let wrong = format!("{key}: {text:?}: expected {expected}");
                    return Err(setting.origin.error(wrong));
                }
                continue;
            };
            let value = row.read(&setting.text).map_err(|expected| {
                let (origin, text) = (&setting.origin, &setting.text);
                origin.error(match renamed::value(key, text) {
                    Some(new) => format!("{key}: {text:?} is now {new}; expected {expected}"),
                    None => format!("{key}: {text:?}: expected {expected}"),
                })
            })?;
            match section {
                Section::Global => global.set(row.name, value),
                Section::Buffer => buffer.set(row.name, value),
                Section::Ftl => ftl.set(row.name, value),
            }
        }
        let mut config = Config::new(rows.scheme, rows.ftl, global, buffer, ftl);
        config.capacity_bytes = wanted.capacity_bytes;
        config.asked.over_provisioning = wanted.over_provisioning;
        config.explain = self.explain;
        let mut added = self.schemes.iter();
        let own = added.find(|(row, _)| std::ptr::eq(*row, rows.scheme));
        config.own_version = own.map(|(_, version)| version.clone());
        if let Some(path) = state::file_of(&config.typed.sim.precondition) {
            config.begin_with(State::open(path)?);
        }
        config.asked.given = self.given().cloned().collect();
        config.without_effect = self.without_effect(&config, &rows);
        let stand_ins = self.idle_stand_ins(&config);
        config.without_effect.extend(stand_ins);
        Ok(config)
    }

    /// The keys that the user set. Settings from profiles and inputs are not included.
    fn given(&self) -> impl Iterator<Item = &String> {
        let keys = self.entries.iter();
        let given = keys.filter(|(_, setting)| !setting.origin.is_beneath());
        given.map(|(key, _)| key)
    }

    /// Parameters that the user set and that have no effect in a run of `config`, each with the reason.
    fn without_effect(&self, config: &Config, rows: &Rows) -> Vec<(String, String)> {
        let with_reason = self.given().filter_map(|key| {
            let reason = match rows.find(key) {
                Some(_) => format!("it needs {}", config.lacks(key, Known::default())?),
                None => of_another(key, rows)?,
            };
            Some((key.clone(), reason))
        });
        with_reason.collect()
    }
}

#[derive(Clone, Copy)]
enum Section {
    Global,
    Buffer,
    Ftl,
}

/// The rows that are legal with a chosen scheme and FTL.
#[derive(Clone, Copy)]
struct Rows {
    scheme: &'static SchemeRow,
    ftl: &'static FtlRow,
}

impl Rows {
    fn find(&self, key: &str) -> Option<(Section, &'static Parameter)> {
        let named =
            |rows: &'static [Parameter], name: &str| rows.iter().find(|row| row.name == name);
        if let Some(row) = named(PARAMETERS, key).or_else(|| named(destage_trace::PARAMETERS, key))
        {
            return Some((Section::Global, row));
        }
        let (section, name) = key.split_once('.')?;
        match section {
            "buffer" => named(destage_buffer::COMMON, name)
                .or_else(|| named(self.scheme.parameters, name))
                .map(|row| (Section::Buffer, row)),
            "ftl" => named(self.ftl.parameters, name).map(|row| (Section::Ftl, row)),
            _ => None,
        }
    }

    /// All legal keys.
    fn keys(&self) -> impl Iterator<Item = String> {
        let global = PARAMETERS
            .iter()
            .chain(destage_trace::PARAMETERS)
            .chain(STAND_INS)
            .map(|row| row.name.to_owned());
        let buffer = destage_buffer::COMMON.iter().chain(self.scheme.parameters);
        let buffer = buffer.map(|row| format!("buffer.{}", row.name));
        global.chain(buffer).chain(
            self.ftl
                .parameters
                .iter()
                .map(|row| format!("ftl.{}", row.name)),
        )
    }
}

/// The end of the error that `value` is no value of `key`: the parameter that holds several times, if `value` is a list
/// of times.
fn times_of_types(key: &str, value: &toml::Value) -> String {
    let stem = key.trim_end_matches("_us").trim_end_matches("_times");
    let name = format!("{stem}_times_us");
    let is_known = PARAMETERS.iter().any(|row| row.name == name);
    match value.as_array().filter(|_| is_known) {
        Some(times) => {
            let times: Vec<String> = times.iter().map(ToString::to_string).collect();
            format!(
                "; {name} = \"{}\" gives the time of each type of page",
                times.join("/")
            )
        }
        None => String::new(),
    }
}

/// The largest number of bytes in a file of settings.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a file of settings. Fails if the file has more than `FILE_BYTES_MAX` bytes.
pub(crate) fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut start = File::open(path)?.take(FILE_BYTES_MAX + 1);
    start.read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("is longer than 1 MiB"));
    }
    Ok(text)
}

/// Schemes and layers that have a parameter called `key`, each with its row.
fn others_with(key: &str) -> impl Iterator<Item = (&'static str, &'static Parameter)> {
    let (section, name) = key.split_once('.').unwrap_or((key, ""));
    let (section, name) = (section.to_owned(), name.to_owned());
    let schemes = destage_buffer::SCHEMES
        .iter()
        .map(|row| ("buffer", row.name, row.parameters));
    let ftls = destage_ftl::FTLS
        .iter()
        .map(|row| ("ftl", row.name, row.parameters));
    schemes.chain(ftls).filter_map(move |(kind, owner, rows)| {
        let mut named = rows
            .iter()
            .filter(|row| kind == section && row.name == name);
        named.next().map(|row| (owner, row))
    })
}

/// The rows of all schemes and layers that are called `key`.
fn rows_of_others(key: &str) -> impl Iterator<Item = &'static Parameter> {
    others_with(key).map(|(_, row)| row)
}

/// The reason why `key` has no effect: only schemes or layers that are not chosen have this parameter. `None` if no
/// scheme or layer has it.
fn of_another(key: &str, rows: &Rows) -> Option<String> {
    let owners: Vec<_> = others_with(key).map(|(owner, _)| owner).collect();
    let chosen = match key.starts_with("ftl.") {
        true => rows.ftl.name,
        false => rows.scheme.name,
    };
    (!owners.is_empty()).then(|| {
        let owners = owners.join(", ");
        format!("it is a parameter of {owners}, but {chosen} is chosen")
    })
}

fn unknown(key: &str, text: &str, rows: &Rows) -> String {
    if let Some((new, pair)) = renamed::key(key).zip(renamed::pair(key, text)) {
        return format!("{key:?} is now {new}; expected {pair}");
    }
    let keys: Vec<String> = rows.keys().collect();
    format!(
        "unknown parameter {key:?}{}; expected a name from `destage show`",
        suggestion(key, keys.iter().map(String::as_str))
    )
}

/// Synonyms for the names of schemes, FTLs and parameters: the word of the user, and the name that is meant.
const SYNONYMS: [(&str, &str); 10] = [
    ("none", "nocache"),
    ("off", "nocache"),
    ("no", "nocache"),
    ("min", "belady"),
    ("opt", "belady"),
    ("optimal", "belady"),
    ("page-mapped", "page"),
    ("page-level", "page"),
    ("buffer.size", "buffer.capacity_bytes"),
    ("device.size", "device.capacity_bytes"),
];

/// Text such as `; did you mean "x"?`, where x is one of `names`; empty if no name fits. The first of these names that
/// exists is suggested: the name for which `name` is a synonym; the name with the nearest spelling (of several equally
/// near names, the first); the shortest name that contains `name`.
pub fn suggestion<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let name = name.trim().to_ascii_lowercase();
    let in_letters = || {
        let distance =
            |candidate: &'a str| (strsim::damerau_levenshtein(&name, candidate), candidate);
        let nearest = names
            .clone()
            .map(distance)
            .min_by_key(|(distance, _)| *distance);
        nearest.filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
    };
    let in_words = || {
        let meant = SYNONYMS.iter().filter(|(word, _)| *word == name);
        let meant = meant.map(|(_, meant)| *meant);
        names
            .clone()
            .find(|candidate| meant.clone().any(|meant| meant == *candidate))
    };
    // Words of fewer than four letters occur in too many names.
    let within = || {
        let holding = names
            .clone()
            .filter(|candidate| name.len() >= 4 && candidate.contains(&name));
        holding.min_by_key(|candidate| candidate.len())
    };
    let nearest = in_words()
        .or_else(|| in_letters().map(|(_, candidate)| candidate))
        .or_else(within);
    nearest
        .map(|candidate| format!("; did you mean {candidate:?}?"))
        .unwrap_or_default()
}

/// Pairs of keys and values, as written.
pub type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// The name in `NAME[:k=v,...]`: the kind of a scheme or layer, or the name of a workload, without its pairs.
#[must_use]
pub fn kind_of(text: &str) -> &str {
    text.split_once(':').map_or(text, |(kind, _)| kind)
}

/// Splits `NAME[:k=v,...]` into the name ([`kind_of`]) and its pairs.
///
/// # Errors
/// If an entry after the colon has no `=`. Errors call the argument `name`.
pub fn split_kind<'a>(name: &str, text: &'a str) -> Result<(&'a str, Pairs<'a>), SimError> {
    let Some((kind, list)) = text.split_once(':') else {
        return Ok((text, Vec::new()));
    };
    let pairs = list
        .split(',')
        .map(|pair| {
            pair.split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| {
                    argument(
                        name,
                        format!(" {text:?}: {pair:?}: expected NAME:key=value,key=value"),
                    )
                })
        })
        .collect::<Result<_, _>>()?;
    Ok((kind, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(pairs: &[&str]) -> String {
        let mut settings = Settings::new();
        pairs
            .iter()
            .for_each(|pair| settings.set_pair(pair).unwrap());
        settings
            .resolve()
            .err()
            .map_or_else(|| "no error".into(), |error| error.to_string())
    }

    #[test]
    fn a_misspelt_key_names_its_neighbour() {
        let text = error(&["flash.deis=4"]);
        assert!(text.contains("did you mean \"flash.dies\"?"), "{text}");
        assert!(error(&["buffer.kind=lur"]).contains("did you mean \"lru\"?"));
        for (pair, meant) in [
            ("buffer.kind=none", "nocache"),
            ("buffer.kind=LRU", "lru"),
            ("flash.planes=4", "flash.planes_per_die"),
            ("queue_depth=4", "host.queue_depth"),
            ("buffer.size=4MiB", "buffer.capacity_bytes"),
        ] {
            let text = error(&[pair]);
            assert!(text.contains(&format!("did you mean {meant:?}?")), "{text}");
        }
        assert!(!error(&["flash.zzz=4"]).contains("did you mean"));
    }

    #[test]
    fn a_list_of_times_is_told_how_it_is_written() {
        let load = |text: &str| {
            let origin = Origin::File("a.toml".to_owned());
            let error = Settings::new().load_toml(text, &origin).unwrap_err();
            error.to_string()
        };
        let text = load("[flash]\nprogram_us = [700, 900.5]\n");
        assert!(
            text.ends_with(
                "; flash.program_times_us = \"700/900.5\" gives the time of each type of page"
            ),
            "{text}"
        );
        assert!(load("[flash]\ndies = [7]\n").ends_with("true or false"));
    }

    #[test]
    fn a_key_of_another_scheme_is_taken_and_named_with_its_owner() {
        let mut settings = Settings::new();
        settings.set_pair("buffer.kind=fifo").unwrap();
        settings.set_pair("buffer.lru_unit=request").unwrap();
        let named = settings.resolve().unwrap().without_effect;
        let reason = "it is a parameter of lru, but fifo is chosen";
        assert_eq!(named, [("buffer.lru_unit".to_owned(), reason.to_owned())]);
        // An illegal value is an error, even though the parameter has no effect.
        let text = error(&["buffer.kind=fifo", "buffer.lru_unit=heap"]);
        assert!(text.contains("expected one of page, request"), "{text}");
    }

    #[test]
    fn values_outside_their_range_are_refused_with_the_range() {
        for (pair, expected) in [
            ("flash.dies=0", "a whole number from 1"),
            ("flash.page_bytes=1000", "a multiple of 512"),
            ("trace.align_bytes=1000", "a multiple of 512"),
            ("buffer.capacity_bytes=0", "nocache"),
            ("host.scheduler=sstf", "one of clook, fifo"),
            ("ftl.reserve_percent=-1", "a number from 0 to 99"),
        ] {
            let text = error(&[pair]);
            assert!(text.contains(expected), "{pair}: {text}");
        }
    }

    #[test]
    fn the_command_line_wins_over_the_profile() {
        let mut settings = Settings::new();
        settings.load_profile("disksim-ssd").unwrap();
        settings.set_pair("flash.dies=4").unwrap();
        let config = settings.resolve().unwrap();
        assert_eq!(config.typed.flash.dies, 4);
        assert_eq!(config.typed.flash.endurance, 50);
        assert_eq!(config.scheme.name, "nocache");
    }
}
