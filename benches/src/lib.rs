//! `destage compare`, run as a program: what the studies of it share.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What may fail for many reasons, all of which are only shown.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// One run of a cross product, as its JSON has it.
pub struct Run(Value);

/// The runs of `destage compare` with `arguments`, in the order of its results.
///
/// # Errors
/// If `program` cannot be started, or refuses the arguments: with what it says.
pub fn compare(program: &Path, arguments: &[&str]) -> Outcome<Vec<Run>> {
    let mut command = Command::new(program);
    command
        .args(["compare", "--json", "--quiet"])
        .args(arguments);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut result: Value = serde_json::from_slice(&output.stdout)?;
    match result["runs"].take() {
        Value::Array(runs) => Ok(runs.into_iter().map(Run).collect()),
        _ => Err("no runs".into()),
    }
}

impl Run {
    /// A parameter; null if the run has none of that name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> &Value {
        &self.0["parameters"][name]
    }

    /// A metric, in the unit of `destage list metrics`.
    ///
    /// # Errors
    /// If the run has none of that name.
    pub fn metric(&self, name: &str) -> Outcome<f64> {
        self.0["metrics"][name].as_f64().ok_or_else(|| {
            let (buffer, ftl) = (self.parameter("buffer.kind"), self.parameter("ftl.kind"));
            format!("the run of {buffer} over {ftl} has no {name}").into()
        })
    }
}
