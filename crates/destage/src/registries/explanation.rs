//! The meaning of a name or a message. A name may denote a parameter, a metric, a scheme, a translation layer, a
//! profile, a workload, a trace format, an experiment, a section of parameters or a word of the glossary.

use std::collections::BTreeSet;

use destage_base::parameter::Parameter;
use destage_buffer::{COMMON, SCHEMES};
use destage_ftl::FTLS;
use destage_sim::capacity::STAND_INS;
use destage_sim::metrics::MetricRow;
use destage_sim::parameters::PARAMETERS;
use destage_sim::{metrics, renamed};
use destage_trace::PARAMETERS as TRACE_PARAMETERS;
use destage_trace::statistics::StatisticRow;
use destage_workload::WORKLOADS;
use serde_json::{Map, Value, json};

use super::page::{Entry, quantity};
use super::problems::{ERROR_CLASSES, PROBLEMS};
use super::{Registry, Row, buffer, ftl, profile, rows, workload};
use crate::error::Error;

/// One meaning of a name.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The name that is explained.
    pub name: String,
    /// What the name denotes: `parameter`, `section`, `metric`, `buffer`, `ftl`, `profile`, `workload`, `format`,
    /// `experiment`, `error`, `message` or `word`.
    pub kind: &'static str,
    /// The description, in one or more sentences.
    pub about: String,
    /// Further facts, each with a short heading and a text.
    pub facts: Vec<(&'static str, String)>,
}

impl Explanation {
    fn new(kind: &'static str, name: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            about: about.into(),
            facts: Vec::new(),
        }
    }

    /// Adds the fact `text` under `heading`, unless the text is empty.
    fn with(mut self, heading: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.facts.push((heading, text));
        }
        self
    }

    /// `{"name", "kind", "about", ...}`, with a field for each fact.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".into(), json!(self.name));
        map.insert("kind".into(), json!(self.kind));
        map.insert("about".into(), json!(self.about));
        let facts = self.facts.iter();
        map.extend(facts.map(|(heading, text)| ((*heading).to_owned(), json!(text))));
        Value::Object(map)
    }
}

/// A parameter with its full name and its `owners`, the schemes, layers or workloads that have the parameter. A
/// parameter of all runs has no owners.
struct Owned {
    key: String,
    row: &'static Parameter,
    owners: Vec<&'static str>,
    has_example: bool,
}

/// All parameters, including those of schemes, layers and workloads. If several owners have equal rows for a
/// parameter, they share one entry.
fn all_parameters() -> Vec<Owned> {
    let mut all: Vec<Owned> = Vec::new();
    let mut add = |prefix: &str, row: &'static Parameter, owner: Option<&'static str>| {
        let key = format!("{prefix}{}", row.name);
        let equal = |other: &&mut Owned| {
            let same = other.row.about == row.about && other.row.default == row.default;
            other.key == key && same && !other.owners.is_empty()
        };
        match (owner, all.iter_mut().find(equal)) {
            (Some(owner), Some(other)) => other.owners.push(owner),
            _ => all.push(Owned {
                key,
                row,
                owners: owner.into_iter().collect(),
                has_example: false,
            }),
        }
    };
    let global = PARAMETERS.iter().chain(TRACE_PARAMETERS);
    global.for_each(|row| add("", row, None));
    COMMON.iter().for_each(|row| add("buffer.", row, None));
    for scheme in SCHEMES {
        let own = scheme.parameters.iter();
        own.for_each(|row| add("buffer.", row, Some(scheme.name)));
    }
    for layer in FTLS {
        let own = layer.parameters.iter();
        own.for_each(|row| add("ftl.", row, Some(layer.name)));
    }
    for made_up in WORKLOADS {
        let own = made_up.parameters.iter();
        own.for_each(|row| add("workload.", row, Some(made_up.name)));
    }
    all.extend(STAND_INS.iter().map(|row| Owned {
        key: row.name.to_owned(),
        row,
        owners: Vec::new(),
        has_example: true,
    }));
    all
}

impl Owned {
    fn entry(&self) -> Entry {
        Entry {
            has_example: self.has_example,
            owners: self.owners.clone(),
            ..Entry::new(self.key.clone(), self.row)
        }
    }

    fn explanation(&self) -> Explanation {
        let default = match (self.has_example, self.row.default) {
            (true, _) => String::new(),
            (false, "") => "nothing".to_owned(),
            (false, default) => quantity(default, self.row.unit),
        };
        Explanation::new("parameter", &self.key, self.row.about)
            .with("default", default)
            .with("expected", self.entry().expected())
            .with("of", self.owners.join(", "))
            .with("source", self.row.source)
    }
}

/// The parameters that `key` names. `key` is the full name of a parameter, or a section such as `flash`, which names
/// all its parameters. A parameter that several schemes have with different defaults has one entry for each default.
///
/// # Errors
/// If no parameter or section has this name. The error suggests a similar name.
pub fn parameters_named(key: &str) -> Result<Vec<Entry>, Error> {
    let all = all_parameters();
    let section = key.trim_end_matches(['*', '.']);
    let exact: Vec<Entry> = all
        .iter()
        .filter(|one| one.key == key)
        .map(Owned::entry)
        .collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    let within = |one: &&Owned| one.key.split_once('.').is_some_and(|(of, _)| of == section);
    let within: Vec<Entry> = all.iter().filter(within).map(Owned::entry).collect();
    if !within.is_empty() {
        return Ok(within);
    }
    if let Some(new) = renamed::key(key) {
        return Err(Error::Input(format!(
            "{key:?} is now {new}; expected {new}"
        )));
    }
    let keys = all.iter().map(|one| one.key.as_str());
    Err(Error::Input(format!(
        "{key:?}: no such parameter{}; expected a name or a section from `destage show`, or parameters, buffer, ftl, profile or workload",
        destage_sim::settings::suggestion(key, keys)
    )))
}

/// Every meaning of `text`, which is a name or a message of the program. A message is searched for known phrases and
/// names.
///
/// # Errors
/// If nothing in the text is known. The error suggests a similar name.
pub fn explain(text: &str, experiments: &[Row]) -> Result<Vec<Explanation>, Error> {
    let text = text.trim();
    let mut found = named(text, experiments);
    if found.is_empty() {
        found = named(&text.to_ascii_lowercase(), experiments);
    }
    found.extend(section(text));
    found.extend(defined(text));
    if found.is_empty() {
        found.extend(
            PROBLEMS
                .iter()
                .filter(|problem| text.contains(problem.phrase))
                .map(of_problem),
        );
        // A message about a parameter or a metric usually contains the dotted name.
        let mut seen = BTreeSet::new();
        for word in
            text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "._-/".contains(letter)))
        {
            let word = word.trim_matches(['.', '-', '/']);
            if word.contains('.') && seen.insert(word) {
                found.extend(named(word, experiments));
            }
        }
    }
    if found.is_empty() {
        found = headed(text);
    }
    if found.is_empty() && nearest(text).is_empty() {
        found = described(text);
    }
    if found.is_empty() {
        return Err(unknown(text));
    }
    Ok(found)
}

/// The section of parameters called `text`, such as `flash`; `None` if there is none.
fn section(text: &str) -> Option<Explanation> {
    let all = all_parameters();
    let within = |one: &&Owned| one.key.split_once('.').is_some_and(|(of, _)| of == text);
    let names: BTreeSet<&str> = all
        .iter()
        .filter(within)
        .map(|one| one.key.as_str())
        .collect();
    let about = format!(
        "{} parameters have names that begin with {text}.",
        names.len()
    );
    (!names.is_empty()).then(|| {
        Explanation::new("section", text, about)
            .with("more", format!("destage show {text}; destage list metrics"))
    })
}

/// The words of this project with their meanings.
const GLOSSARY: &str = include_str!("../../GLOSSARY.md");

/// The meanings of `text` in the glossary. A word of the glossary may have several forms, with commas in between and an
/// abbreviation of capital letters in brackets. Hyphens, blanks and capital letters make no difference.
fn defined(text: &str) -> Vec<Explanation> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '-'], "");
    let wanted = plain(text);
    let table = GLOSSARY.split("\n## ").next().unwrap_or_default();
    let (_, table) = table.split_once("| --- | --- |").unwrap_or_default();
    let rows = table.lines().filter_map(|line| {
        let (word, meaning) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        let has_form = |form: &str| {
            let (before, inside) = form.split_once('(').unwrap_or((form, ""));
            let inside = inside.trim_end_matches(')');
            let is_short = inside.chars().all(char::is_uppercase);
            [form, before, if is_short { inside } else { form }]
                .iter()
                .any(|form| plain(form) == wanted)
        };
        word.split(',')
            .any(has_form)
            .then(|| Explanation::new("word", word, without_links(meaning)))
    });
    match wanted.is_empty() {
        true => Vec::new(),
        false => rows.collect(),
    }
}

/// `text` with the words of each link of Markdown in place of the link.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let words = link.split_once(']');
        match words.filter(|(_, after)| after.starts_with('(')) {
            Some((words, after)) => {
                plain.push_str(words);
                rest = after.split_once(')').map_or("", |(_, rest)| rest);
            }
            None => {
                plain.push('[');
                rest = link;
            }
        }
    }
    plain + rest
}

/// The largest number of metrics that one heading explains. The words of a heading with more metrics are too general.
const HEADED: usize = 8;

/// The metrics that have all words of `text` in their names. The headings of tables consist of such words, such as
/// `write hits %` for `buffer.write_hits`. If there are too many, only those with the shortest names.
fn headed(text: &str) -> Vec<Explanation> {
    let words = words(text);
    let parts = |name: &str| name.split(['.', '_']).count();
    let has_all = |name: &String| {
        let parts: Vec<_> = name.split(['.', '_']).collect();
        words.iter().all(|word| parts.contains(&word.as_str()))
    };
    let mut names: Vec<_> = metrics::names().filter(has_all).collect();
    if names.len() > HEADED {
        let least = names.iter().map(|name| parts(name)).min();
        names.retain(|name| Some(parts(name)) == least);
    }
    if words.is_empty() || names.len() > HEADED {
        return Vec::new();
    }
    let rows = names
        .iter()
        .filter_map(|name| metrics::find(name).map(|row| (name, row)));
    rows.map(|(name, row)| of_metric(name, row)).collect()
}

/// The metrics whose descriptions have all words of `text`; of a dotted name, all words after the last dot. So the
/// terms of the field, such as write amplification, lead to the metrics that measure them. If there are too many, none.
fn described(text: &str) -> Vec<Explanation> {
    let wanted = match text.rsplit_once('.') {
        // One word, such as `mean`, is too general.
        Some((_, end)) => Some(words(end))
            .filter(|words| words.len() > 1)
            .unwrap_or_default(),
        None => words(text),
    };
    let has_all = |row: &&MetricRow| {
        let has = words(row.about);
        wanted.iter().all(|word| has.contains(word))
    };
    let mut found: Vec<&MetricRow> = Vec::new();
    for row in metrics::names().filter_map(|name| metrics::find(&name)) {
        if has_all(&row) && !found.iter().any(|other| other.name == row.name) {
            found.push(row);
        }
    }
    if wanted.is_empty() || found.len() > HEADED {
        return Vec::new();
    }
    let found = found.into_iter();
    found.map(|row| of_metric(row.name, row)).collect()
}

/// The words of `text`, in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// The meaning of the word in place of the star of a metric with several statistics; empty if there is no such word.
fn statistic(name: &str, row: &MetricRow) -> String {
    let Some((before, after)) = row.name.split_once('*') else {
        return String::new();
    };
    let word = name
        .strip_prefix(before)
        .and_then(|end| end.strip_suffix(after));
    match word.unwrap_or_default() {
        "mean" => "the mean of all values".to_owned(),
        "max" => "the largest value".to_owned(),
        "min" => "the smallest value".to_owned(),
        "p50" => "the median: half of the values are at most this large".to_owned(),
        word => match word
            .strip_prefix('p')
            .filter(|digits| digits.parse::<u32>().is_ok())
        {
            Some(digits) => {
                let (whole, parts) = digits.split_at(digits.len().min(2));
                let point = if parts.is_empty() { "" } else { "." };
                format!("{whole}{point}{parts} % of the values are at most this large")
            }
            None => String::new(),
        },
    }
}

fn of_metric(name: &str, row: &MetricRow) -> Explanation {
    Explanation::new("metric", name, row.about)
        .with("statistic", statistic(name, row))
        .with("unit", row.unit)
        .with("of", "a run")
}

fn of_problem(problem: &super::problems::Problem) -> Explanation {
    Explanation::new("message", problem.name, problem.about)
        .with("message", format!("... {} ...", problem.phrase))
        .with("remedy", problem.remedy)
}

/// Every meaning of a name.
fn named(name: &str, experiments: &[Row]) -> Vec<Explanation> {
    let mut found: Vec<Explanation> = Vec::new();
    let parameters = all_parameters();
    let key = renamed::key(name).unwrap_or(name);
    let of_key = parameters.iter().filter(|one| one.key == key);
    found.extend(of_key.map(Owned::explanation));
    let metric = renamed::metric(name).unwrap_or(name);
    // A row such as `ftl.*` matches every name of its section, even the name of a parameter or a misspelt name.
    let is_whole = |row: &&MetricRow| {
        row.name == metric || !row.name.ends_with('*') || metric.starts_with("scheme.")
    };
    if let Some(row) = metrics::find(metric).filter(is_whole) {
        found.push(of_metric(metric, row));
    } else if let Some(row) = StatisticRow::all().find(|row| {
        // `trace info` prints its statistics without the section.
        row.metric() == metric || row.name == metric
    }) {
        found.push(
            Explanation::new("metric", row.metric(), row.about)
                .with("unit", row.unit)
                .with("of", "an input"),
        );
    }
    if let Ok(page) = buffer(name) {
        found.push(
            Explanation::new("buffer", name, page.about)
                .with("parameters", names_of(&page.parts[..1]))
                .with("source", page.source)
                .with(
                    "more",
                    format!("destage show buffer {name}; docs/schemes/{name}.md"),
                ),
        );
    }
    if let Ok(page) = ftl(name) {
        found.push(
            Explanation::new("ftl", name, page.about)
                .with("parameters", names_of(&page.parts))
                .with("source", page.source)
                .with(
                    "more",
                    format!("destage show ftl {name}; docs/ftls/{name}.md"),
                ),
        );
    }
    let is_made = destage_workload::find(name).is_some();
    if let (true, Ok(page)) = (is_made, workload(name)) {
        found.push(
            Explanation::new("workload", name, page.about)
                .with("parameters", names_of(&page.parts))
                .with(
                    "more",
                    format!("destage show workload {name}; docs/workloads.md"),
                ),
        );
    }
    let is_shipped = destage_sim::profiles::find(name).is_some();
    if let (true, Ok(page)) = (is_shipped, profile(name)) {
        found.push(
            Explanation::new("profile", name, page.about)
                .with("source", page.source)
                .with("more", format!("destage show profile {name}")),
        );
    }
    for row in rows(Registry::Formats)
        .iter()
        .filter(|row| row.name == name)
    {
        found.push(
            Explanation::new("format", name, &row.about)
                .with("columns", text_of(row, "columns"))
                .with("times in", text_of(row, "time_unit"))
                .with("example", text_of(row, "example")),
        );
    }
    let experiments = experiments.iter().filter(|row| row.name == name);
    found.extend(experiments.map(|row| Explanation::new("experiment", name, &row.about)));
    found.extend(
        PROBLEMS
            .iter()
            .filter(|problem| problem.name == name)
            .map(of_problem),
    );
    found.extend(error_class(name));
    found
}

/// The class of errors `name`, and the kinds of messages that its errors have; empty if there is no such class.
fn error_class(name: &str) -> Vec<Explanation> {
    let mut classes = ERROR_CLASSES.iter();
    let Some(class) = classes.find(|class| class.name.eq_ignore_ascii_case(name)) else {
        return Vec::new();
    };
    let problems = PROBLEMS.iter();
    let own = problems.filter(|problem| class.messages.contains(&problem.name));
    let itself = Explanation::new("error", class.name, class.about)
        .with("messages", class.messages.join(", "));
    std::iter::once(itself).chain(own.map(of_problem)).collect()
}

fn text_of(row: &Row, field: &str) -> String {
    let value = row.fields.iter().find(|(name, _)| *name == field);
    let text = value.and_then(|(_, value)| value.as_str());
    text.unwrap_or_default().to_owned()
}

fn names_of(parts: &[(&'static str, Vec<Entry>)]) -> String {
    let entries = parts.iter().flat_map(|(_, entries)| entries);
    let names: Vec<&str> = entries.map(|entry| entry.name.as_str()).collect();
    names.join(", ")
}

/// Text such as `; did you mean "x"?` for the name that `name` may mean; empty if no name is near.
fn nearest(name: &str) -> String {
    let parameters = all_parameters();
    let keys = parameters.iter().map(|one| one.key.as_str());
    let others = [
        Registry::Buffers,
        Registry::Ftls,
        Registry::Workloads,
        Registry::Profiles,
        Registry::Formats,
    ];
    let others: Vec<Row> = others.into_iter().flat_map(rows).collect();
    let names = others.iter().map(|row| row.name.as_str());
    let problems = PROBLEMS.iter().map(|problem| problem.name);
    let others = keys.chain(names).chain(problems);
    match destage_sim::settings::suggestion(name, others) {
        none if none.is_empty() => metrics::suggestion(name),
        nearest => nearest,
    }
}

/// The error that nothing has the name `name`.
fn unknown(name: &str) -> Error {
    Error::Input(format!(
        "explain {name:?}: nothing has this name{}; expected a parameter, metric, buffer, ftl, workload, profile or format (`destage list`, `destage show`), a word of docs/GLOSSARY.md, or a message of the program",
        nearest(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&'static str, String)> {
        let found = explain(text, &[]).unwrap();
        found.into_iter().map(|one| (one.kind, one.name)).collect()
    }

    #[test]
    fn a_name_has_each_of_its_meanings() {
        assert_eq!(
            kinds("flash.dies"),
            [("parameter", "flash.dies".to_owned())]
        );
        assert_eq!(kinds("waf.host"), [("metric", "waf.host".to_owned())]);
        // Several metrics share a row of the registry, and this name is one of them.
        let shared = "response.write.p99_ms";
        assert_eq!(kinds(shared), [("metric", shared.to_owned())]);
        assert_eq!(kinds("lru"), [("buffer", "lru".to_owned())]);
        // A page is also a word of the glossary.
        assert_eq!(
            kinds("page"),
            [("ftl", "page".to_owned()), ("word", "page".to_owned())]
        );
        let experiment = Row::new("bplru/w4", "A figure.");
        let found = explain("bplru/w4", &[experiment]).unwrap();
        assert_eq!((found.len(), found[0].kind), (1, "experiment"));
        // An old name of a parameter gives the parameter with its present name.
        assert_eq!(
            kinds("flash.elements"),
            [("parameter", "flash.dies".to_owned())]
        );
        // A short name must match a whole name, although it may be the beginning of other names.
        assert_eq!(kinds("tlc"), [("profile", "tlc".to_owned())]);
    }

    #[test]
    fn words_of_the_glossary_and_sections_are_explained() {
        for (text, word) in [
            ("over-provisioning", "over-provisioning"),
            ("Overprovisioning", "over-provisioning"),
            ("inherits", "inherits"),
            ("GC", "garbage collection (GC)"),
            ("garbage collection", "garbage collection (GC)"),
            ("LBN", "LPN, LBN"),
        ] {
            assert_eq!(kinds(text), [("word", word.to_owned())], "{text}");
        }
        let found = explain("explained", &[]).unwrap();
        assert!(!found[0].about.contains("]("), "{}", found[0].about);
        let sections = explain("flash", &[]).unwrap();
        assert_eq!((sections.len(), sections[0].kind), (1, "section"));
        let text = "profile mine.toml: inherits is in no table; expected it under [profile]";
        assert_eq!(kinds(text), [("message", "profile-key".to_owned())]);
        assert_eq!(without_links("a [b](c) d [e] [f](g)."), "a b d [e] f.");
    }

    #[test]
    fn everything_that_has_a_name_is_explained() {
        let mut names: Vec<String> = all_parameters().into_iter().map(|one| one.key).collect();
        for registry in [
            Registry::Buffers,
            Registry::Ftls,
            Registry::Profiles,
            Registry::Formats,
            Registry::Workloads,
            Registry::Metrics,
        ] {
            names.extend(rows(registry).into_iter().map(|row| row.name));
        }
        // A name with a star stands for several names, and has no explanation.
        for name in names.iter().filter(|name| !name.contains('*')) {
            assert!(explain(name, &[]).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_message_is_explained_with_what_it_names() {
        let message = "destage: error: setting flash.deis=4: unknown parameter \"flash.deis\"; did you mean \"flash.dies\"?; expected a name";
        assert_eq!(
            kinds(message),
            [
                ("message", "unknown-parameter".to_owned()),
                ("parameter", "flash.dies".to_owned())
            ]
        );
        let error = explain("wafhost", &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"waf.host\"?"), "{error}");
    }

    #[test]
    fn the_classes_of_errors_lead_to_their_messages() {
        let names = |text| kinds(text).into_iter().map(|(_, name)| name);
        assert!(names("DeviceFull").eq(["DeviceFull", "device-full", "beyond-device"]));
        for class in ERROR_CLASSES {
            let found = kinds(class.name);
            assert_eq!(found[0], ("error", class.name.to_owned()));
            assert_eq!(found.len(), 1 + class.messages.len(), "{found:?}");
        }
    }

    #[test]
    fn every_phrase_stands_in_the_sources() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut texts = String::new();
        for file in [
            "sim/src/settings.rs",
            "sim/src/error.rs",
            "sim/src/profiles.rs",
            "trace/src/error.rs",
            "trace/src/plausibility.rs",
            "destage/src/words/mod.rs",
            "cli/src/budget.rs",
            "destage/src/input.rs",
            "cli/src/work.rs",
            "destage/src/facts.rs",
        ] {
            texts.push_str(&std::fs::read_to_string(root.join(file)).unwrap());
        }
        for problem in PROBLEMS {
            assert!(
                texts.contains(problem.phrase),
                "{}: {:?}",
                problem.name,
                problem.phrase
            );
        }
    }
}
