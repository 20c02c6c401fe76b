//! Reads the sections of a job file, and the options of each section with their line numbers.

use super::JobFileError;

/// An option, as written in the file.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub line: usize,
    pub key: String,
    /// The text after the `=`; `None` if there is no `=`.
    pub value: Option<String>,
}

impl Given {
    /// The option as `key=value`, or only the key if there is no value.
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.key),
            None => self.key.clone(),
        }
    }

    /// An error for this option, which says that `expected` was expected.
    pub fn wrong(&self, expected: impl Into<String>) -> JobFileError {
        JobFileError {
            line: self.line,
            text: self.text(),
            expected: expected.into(),
        }
    }
}

/// A job with its name and its options. The options of all `[global]` sections before the job come first.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub line: usize,
    pub options: Vec<Given>,
}

impl Section {
    /// The last option whose key is in `names`. It overrides earlier options.
    pub fn find(&self, names: &[&str]) -> Option<&Given> {
        let mut options = self.options.iter().rev();
        options.find(|given| names.contains(&given.key.as_str()))
    }
}

/// The name of sections whose options apply to all later jobs.
const GLOBAL: &str = "global";

/// Reads the jobs of `text`.
///
/// # Errors
/// If a line is neither a section nor an option, an option is before the first section, or there is no job.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, JobFileError> {
    let mut global: Vec<Given> = Vec::new();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = None;
    let mut lines = 0;
    for (line, whole) in (1..).zip(text.lines()) {
        lines = line;
        // A comment may also follow an option on the same line.
        let written = whole.split([';', '#']).next().unwrap_or_default().trim();
        let wrong = |expected: &str| JobFileError {
            line,
            text: whole.trim().chars().take(60).collect(),
            expected: expected.to_owned(),
        };
        if written.is_empty() {
            continue;
        }
        if let Some(rest) = written.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']').filter(|name| !name.is_empty()) else {
                return Err(wrong("a section: [global] or [NAME]"));
            };
            is_global = Some(name.eq_ignore_ascii_case(GLOBAL));
            if is_global == Some(false) {
                jobs.push(Section {
                    name: name.to_owned(),
                    line,
                    options: global.clone(),
                });
            }
            continue;
        }
        if written.starts_with("include ") {
            return Err(wrong("the text of that file: included files are not read"));
        }
        let (key, value) = match written.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
            None => (written, None),
        };
        let given = Given {
            line,
            key: key.to_owned(),
            value,
        };
        match (is_global, jobs.last_mut()) {
            (Some(true), _) => global.push(given),
            (Some(false), Some(job)) => job.options.push(given),
            _ => {
                return Err(wrong(
                    "a section before the first option: [global] or [NAME]",
                ));
            }
        }
    }
    match jobs.is_empty() {
        false => Ok(jobs),
        true => Err(JobFileError {
            line: lines.max(1),
            text: String::new(),
            expected: "a job: a section [NAME] other than [global]".to_owned(),
        }),
    }
}
