//! The description of how a result was computed. Metrics never depend on this description.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use destage_sim::settings::Config;
use destage_sim::source::Seen;
use serde_json::{Map, Value, json};

use crate::facts::Facts;
use crate::input::Input;
use crate::numbers;

/// The version of the format of results in JSON and CSV. The version grows if a name is changed or gets another
/// meaning, but not if a name is added.
pub const SCHEMA: u64 = 1;

/// The version of the model. The version grows when a configuration gives other results than under the older version.
/// Stored results of an older version are then computed again. A test fails if the golden results change but the
/// version does not.
pub const MODEL: u64 = 18;

/// The description of how a result was computed.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The command line, word by word; empty if there was none.
    pub command: Vec<String>,
    /// The facts about the inputs.
    pub inputs: Vec<Facts>,
    /// Parameters that were set but have no effect in the runs; one sentence each.
    pub unused: Vec<String>,
    /// Sentences about devices that differ greatly from what was set for them, one for each device.
    pub notes: Vec<String>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The wall-clock time of the work, in seconds.
    pub wall_time_s: f64,
}

/// A sentence for each parameter that was set but has no effect in some of the runs of `configs` on `inputs`. The
/// sentence gives the reason. If the parameter has an effect in other runs, it also gives the number of runs without an
/// effect. Without `inputs`, any kind of input is assumed.
pub fn unused<'c>(configs: impl IntoIterator<Item = &'c Config>, inputs: &[Input]) -> Vec<String> {
    // A parameter of reading has an effect if one of the inputs uses it.
    let kind = inputs.iter().map(Input::input_kind).max();
    sentences(configs.into_iter().map(|config| match kind {
        Some(kind) => config.without_effect_on(kind, None),
        None => config.without_effect.clone(),
    }))
}

/// A sentence for each parameter that was set but has no effect in a run on `input` under `config`. `seen` has facts
/// about the requests of the input.
pub(crate) fn unused_on(config: &Config, input: &Input, seen: Seen) -> Vec<String> {
    sentences([config.without_effect_on(input.input_kind(), Some(seen))])
}

/// A sentence for each device among `configs` whose over-provisioning differs greatly from what the user has set.
pub(crate) fn notes<'c>(configs: impl IntoIterator<Item = &'c Config>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let note = |config: &'c Config| {
        if !config.has_flash() || !known.insert(config.device_text()) {
            return None;
        }
        let found = config.rounded_over_provisioning()?;
        Some(format!(
            "FTL {}: over-provisioning is {} % in place of {} %, because the layer sets whole blocks aside: the device offers {} of {}",
            config.ftl_row.name,
            numbers::real(found.percent),
            found.asked_percent,
            numbers::size(found.offered_bytes),
            numbers::size(found.flash_bytes)
        ))
    };
    configs.into_iter().filter_map(note).collect()
}

fn sentences(of_runs: impl IntoIterator<Item = Vec<(String, String)>>) -> Vec<String> {
    let (mut runs, mut found) = (0, BTreeMap::<_, u64>::new());
    for of_run in of_runs {
        runs += 1;
        for one in of_run {
            *found.entry(one).or_default() += 1;
        }
    }
    let sentence = |((name, reason), count): ((String, String), u64)| {
        let some = match count < runs {
            true => format!(" in {count} of {runs} runs"),
            false => String::new(),
        };
        format!("{name} was set, but has no effect{some}: {reason}")
    };
    found.into_iter().map(sentence).collect()
}

impl Manifest {
    /// The manifest of work that began at `started`. It has no inputs, because the results name their inputs.
    pub fn of_study(started: Instant) -> Self {
        Self {
            command: Vec::new(),
            inputs: Vec::new(),
            unused: Vec::new(),
            notes: Vec::new(),
            seed: 1,
            wall_time_s: started.elapsed().as_secs_f64(),
        }
    }

    /// Warnings about the inputs and the settings; one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let of_inputs = self.inputs.iter().flat_map(Facts::warnings_of_simulation);
        of_inputs.chain(self.unused.iter().cloned()).collect()
    }

    /// The manifest as JSON for one input. The facts about the input are at the top level.
    #[must_use]
    pub fn single(&self) -> Value {
        let mut map = self.common();
        for facts in &self.inputs {
            map.extend(of_input(facts));
        }
        Value::Object(map)
    }

    /// The manifest as JSON for any number of inputs. The facts about the inputs are a list.
    #[must_use]
    pub fn many(&self) -> Value {
        let mut map = self.common();
        let traces = self
            .inputs
            .iter()
            .map(|facts| Value::Object(of_input(facts)))
            .collect();
        map.insert("traces".into(), Value::Array(traces));
        Value::Object(map)
    }

    fn common(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("schema".into(), json!(SCHEMA));
        map.insert("version".into(), json!(version()));
        map.insert("commit".into(), json!(commit()));
        map.insert("command".into(), json!(self.command));
        map.insert("seed".into(), json!(self.seed));
        map.insert(
            "host".into(),
            json!({
                "name": host_name(),
                "os": std::env::consts::OS,
                "arch": std::env::consts::ARCH,
                "cores": cores(),
            }),
        );
        map.insert("wall_time_s".into(), json!(self.wall_time_s));
        let warnings = self.warnings();
        if !warnings.is_empty() {
            map.insert("warnings".into(), json!(warnings));
        }
        if !self.notes.is_empty() {
            map.insert("notes".into(), json!(self.notes));
        }
        map
    }

    /// The names of all inputs, separated by commas.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<_> = self.inputs.iter().map(|facts| &*facts.name).collect();
        names.join(", ")
    }

    /// The version of the program and the digests of the inputs. Unlike the whole manifest, this text is the same on
    /// every machine and at any time.
    #[must_use]
    pub fn origin(&self) -> String {
        let digest = |facts: &Facts| match &facts.digest {
            Some(digest) => format!("sha256 {digest}"),
            None => "the trace was not read to its end".to_owned(),
        };
        let digests: Vec<_> = self.inputs.iter().map(digest).collect();
        format!("{}, {}", program(), digests.join(", "))
    }

    /// The manifest as one line of text.
    #[must_use]
    pub fn line(&self) -> String {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|facts| match &facts.digest {
                Some(digest) => format!("{} (sha256 {})", facts.name, &digest[..12]),
                None => facts.name.clone(),
            })
            .collect();
        let inputs = match inputs.is_empty() {
            true => String::new(),
            false => format!("{}, seed {}, ", inputs.join(", "), self.seed),
        };
        format!(
            "{}, {inputs}{} {} with {} cores, {:.1} s",
            program(),
            std::env::consts::OS,
            std::env::consts::ARCH,
            cores(),
            self.wall_time_s
        )
    }
}

fn of_input(facts: &Facts) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("trace".into(), json!(facts.name));
    if let Some(digest) = &facts.digest {
        map.insert("trace_digest".into(), json!(format!("sha256:{digest}")));
    }
    if let Some(format) = facts.format {
        map.insert("format".into(), json!(format));
    }
    map.insert("skipped_lines".into(), json!(facts.skipped_lines));
    map.insert("dropped_requests".into(), json!(facts.dropped_requests));
    map.insert("clamped_requests".into(), json!(facts.clamped_requests));
    map
}

fn program() -> String {
    format!("destage {} ({})", version(), commit())
}

/// The version of this library.
#[must_use]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The commit from which the library was built, followed by `-dirty` if sources had uncommitted changes. `unknown` if
/// git gave no commit.
#[must_use]
pub fn commit() -> &'static str {
    env!("DESTAGE_COMMIT")
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The name of the machine, from files or environment variables; `unknown` if neither has it.
fn host_name() -> String {
    let from_file = ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok());
    let from_environment = || {
        ["COMPUTERNAME", "HOSTNAME", "HOST"]
            .iter()
            .find_map(|name| std::env::var(name).ok())
    };
    let name = from_file.or_else(from_environment).unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}
