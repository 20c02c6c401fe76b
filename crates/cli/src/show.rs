//! `destage show`: parameters with default, unit, range and source.

use destage_base::parameter::{Parameter, Value as Setting};
use destage_buffer::{COMMON, SCHEMES};
use destage_flash::ftl::FTLS;
use destage_sim::capacity::STAND_INS;
use destage_sim::parameters::PARAMETERS;
use destage_sim::profiles::PROFILES;
use destage_sim::settings::Settings;
use destage_trace::PARAMETERS as TRACE_PARAMETERS;
use destage_workload::WORKLOADS;
use serde_json::{Map, Value, json};

use crate::args::{ShowArguments, Shown};
use crate::catalogue;
use crate::errors::Failure;
use crate::output::{self, json};

/// What is shown: a heading, and parameters in parts.
struct Page {
    name: String,
    about: String,
    source: String,
    parts: Vec<(&'static str, Vec<Entry>)>,
}

/// One parameter under its full name.
struct Entry {
    name: String,
    row: &'static Parameter,
    /// The value, and where it comes from, where something sets it.
    set: Option<(Setting, String)>,
    /// What its row gives as a default is an example: it is not set unless somebody does.
    has_example: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &ShowArguments) -> Result<(), Failure> {
    let name = arguments.name.as_deref().unwrap_or_default();
    let page = match arguments.what {
        Shown::Parameters if !name.is_empty() => {
            return Err(Failure::input(format!(
                "show parameters {name:?}: expected no name, or show buffer, ftl, profile or workload"
            )));
        }
        Shown::Parameters => parameters(),
        Shown::Buffer => buffer(name)?,
        Shown::Ftl => ftl(name)?,
        Shown::Profile => profile(name)?,
        Shown::Workload => workload(name)?,
    };
    output::print(&if arguments.json {
        page.json()
    } else {
        page.text()
    })
}

fn entries(prefix: &str, rows: &'static [Parameter]) -> Vec<Entry> {
    let entry = |row: &'static Parameter| {
        let name = format!("{prefix}{}", row.name);
        Entry {
            name,
            row,
            set: None,
            has_example: false,
        }
    };
    rows.iter().map(entry).collect()
}

fn stand_ins() -> Vec<Entry> {
    let mut all = entries("", STAND_INS);
    all.iter_mut().for_each(|entry| entry.has_example = true);
    all
}

fn parameters() -> Page {
    let mut all = entries("", PARAMETERS);
    all.extend(entries("", TRACE_PARAMETERS));
    // Those of a section together, in the order sections first appear.
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

fn buffer(name: &str) -> Result<Page, Failure> {
    let row = find(name, "buffer", SCHEMES, |row| row.name)?;
    let reconstructed = if row.reconstructed {
        " Rules put together from descriptions by others."
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

fn ftl(name: &str) -> Result<Page, Failure> {
    let row = find(name, "ftl", FTLS, |row| row.name)?;
    Ok(Page {
        name: row.name.into(),
        about: row.about.into(),
        source: row.source.into(),
        parts: vec![("", entries("ftl.", row.parameters))],
    })
}

fn workload(name: &str) -> Result<Page, Failure> {
    let row = find(name, "workload", WORKLOADS, |row| row.name)?;
    Ok(Page {
        name: row.name.into(),
        about: row.about.into(),
        source: String::new(),
        parts: vec![("", entries("workload.", row.parameters))],
    })
}

fn profile(name: &str) -> Result<Page, Failure> {
    let row = find(name, "profile", PROFILES, |row| row.name)?;
    let mut settings = Settings::new();
    settings.load_profile(name)?;
    let config = settings.resolve()?;
    let values = config.parameters();
    let source = row.describe("source").unwrap_or_default();
    let set = settings.keys().filter_map(|key| {
        let row = catalogue::find(key, config.scheme, config.ftl_row)?;
        Some(Entry {
            name: key.to_owned(),
            row,
            set: values.get(key).map(|value| (value.clone(), source.clone())),
            has_example: false,
        })
    });
    Ok(Page {
        name: row.name.into(),
        about: row.describe("about").unwrap_or_default(),
        parts: vec![("What it sets", set.collect())],
        source,
    })
}

fn find<R>(
    name: &str,
    what: &str,
    rows: &'static [R],
    name_of: fn(&R) -> &'static str,
) -> Result<&'static R, Failure> {
    rows.iter().find(|row| name_of(row) == name).ok_or_else(|| {
        let names = rows.iter().map(name_of);
        Failure::unknown(format!("show {what} {name:?}: no such {what}"), name, names)
    })
}

impl Page {
    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.about);
        if !self.source.is_empty() {
            text.push_str(&format!("Source: {}\n", self.source));
        }
        if self.parts.iter().all(|(_, entries)| entries.is_empty()) {
            text.push_str("It has no parameters.\n");
        }
        for (title, entries) in &self.parts {
            if entries.is_empty() {
                continue;
            }
            text.push('\n');
            if !title.is_empty() {
                text.push_str(&format!("{title}:\n\n"));
            }
            for entry in entries {
                text.push_str(&entry.text());
            }
        }
        text
    }

    fn json(&self) -> String {
        let mut map = Map::new();
        map.insert("name".into(), json!(self.name));
        map.insert("about".into(), json!(self.about));
        if !self.source.is_empty() {
            map.insert("source".into(), json!(self.source));
        }
        let entries = self.parts.iter().flat_map(|(_, entries)| entries);
        map.insert(
            "parameters".into(),
            Value::Array(entries.map(Entry::json).collect()),
        );
        json::text(&Value::Object(map))
    }
}

impl Entry {
    /// Where the value comes from; of one that nothing sets, the default.
    fn source(&self) -> &str {
        let set = self.set.as_ref();
        set.map_or(self.row.source, |(_, source)| source)
    }

    fn text(&self) -> String {
        let row = self.row;
        let value = self.set.as_ref().map(|(value, _)| output::setting(value));
        let shown = value.as_deref().unwrap_or(row.default);
        let mut line = format!("{} = {shown}", self.name);
        // A size such as 4KiB has said its unit.
        let says_its_own = row.unit == "bytes" && shown.ends_with('B');
        if !row.unit.is_empty() && !says_its_own {
            line.push_str(&format!(" {}", row.unit));
        }
        if self.has_example {
            line.push_str("  (an example; not set unless given)");
        }
        if value.is_some() {
            line.push_str(&format!("  (default {})", row.default));
        }
        line.push_str(&format!(
            "\n    {}\n    Expected: {}.",
            row.about,
            row.expected()
        ));
        let source = self.source();
        if !source.is_empty() {
            line.push_str(&format!(" Source: {source}"));
            if !source.ends_with('.') {
                line.push('.');
            }
        }
        line.push('\n');
        line
    }

    fn json(&self) -> Value {
        let row = self.row;
        let mut map = Map::new();
        map.insert("name".into(), json!(self.name));
        if let Some((value, _)) = &self.set {
            map.insert("value".into(), json::setting(value));
        }
        // The row's own check of the default is the one that types it.
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
        map.insert("range".into(), json!(row.expected()));
        map.insert("about".into(), json!(row.about));
        map.insert("source".into(), json!(self.source()));
        Value::Object(map)
    }
}
