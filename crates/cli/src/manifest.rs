//! What a result says about how it came to be. Metrics never depend on it.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::input::Facts;

/// What a result says about how it came to be.
pub(crate) struct Manifest {
    /// The inputs.
    pub(crate) inputs: Vec<Facts>,
    /// What fixes every random choice.
    pub(crate) seed: u64,
    /// Wall time of the command up to here.
    pub(crate) wall_time_s: f64,
}

impl Manifest {
    /// For a command that began at `started`.
    pub(crate) fn new(inputs: Vec<Facts>, seed: u64, started: Instant) -> Self {
        Self {
            inputs,
            seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        }
    }

    /// For one input: its facts stand beside the others.
    pub(crate) fn single(&self) -> Value {
        let mut map = self.common();
        for facts in &self.inputs {
            map.extend(of_input(facts));
        }
        Value::Object(map)
    }

    /// For any number of inputs: a list of their facts.
    pub(crate) fn many(&self) -> Value {
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
        let command: Vec<_> = std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mut map = Map::new();
        map.insert("version".into(), json!(version()));
        map.insert("commit".into(), json!(commit()));
        map.insert("command".into(), json!(command));
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
        map
    }

    /// The names of all inputs.
    pub(crate) fn names(&self) -> String {
        let names: Vec<_> = self.inputs.iter().map(|facts| &*facts.name).collect();
        names.join(", ")
    }

    /// The part that is equal for equal inputs: version and digests, nothing of the machine or the time.
    #[cfg(feature = "png")]
    pub(crate) fn origin(&self) -> String {
        let digest = |facts: &Facts| match &facts.digest {
            Some(digest) => format!("sha256 {digest}"),
            None => "trace not read to its end".to_owned(),
        };
        let digests: Vec<_> = self.inputs.iter().map(digest).collect();
        format!("{}, {}", program(), digests.join(", "))
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|facts| match &facts.digest {
                Some(digest) => format!("{} (sha256 {})", facts.name, &digest[..12]),
                None => facts.name.clone(),
            })
            .collect();
        format!(
            "{}, {}, seed {}, {} {} with {} cores, {:.1} s",
            program(),
            inputs.join(", "),
            self.seed,
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

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn commit() -> &'static str {
    env!("DESTAGE_COMMIT")
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's name, where the system tells it without asking a library.
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
