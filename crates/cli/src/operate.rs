//! `destage device`: what a server is told over its control socket.

use std::io::IsTerminal;
use std::time::Duration;

use destage::json;
use destage_serve::control::{Operator, OperatorError};
use destage_sim::metrics::{Metrics, Number};
use serde_json::{Map, Value};

use crate::errors::Failure;
use crate::output;
use crate::run::metrics_table;
use crate::serve_args::{OperatorArguments, OperatorCommand};

/// Clears a terminal.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Runs the command.
pub(crate) fn run(arguments: &OperatorArguments) -> Result<(), Failure> {
    let mut operator = Operator::connect(&arguments.socket).map_err(failure)?;
    match arguments.command {
        OperatorCommand::Stats { json } => {
            let answer = operator.ask("stats").map_err(failure)?;
            if json {
                return output::print(&json::text(&Value::Object(answer)));
            }
            output::show(&page(&answer))
        }
        OperatorCommand::Watch { interval } => watch(&mut operator, interval),
        OperatorCommand::Flush => ask(&mut operator, "flush"),
        OperatorCommand::Stop => ask(&mut operator, "stop"),
    }
}

fn ask(operator: &mut Operator, what: &str) -> Result<(), Failure> {
    operator.ask(what).map_err(failure).map(|_| ())
}

fn failure(error: OperatorError) -> Failure {
    Failure::input(error)
}

fn watch(operator: &mut Operator, seconds: f64) -> Result<(), Failure> {
    let is_terminal = std::io::stdout().is_terminal();
    loop {
        let page = page(&operator.ask("stats").map_err(failure)?);
        if is_terminal {
            output::print(CLEAR)?;
        }
        output::show(&page)?;
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }
}

/// What a server says of itself, for people.
fn page(answer: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in answer.iter().filter(|(_, value)| value.is_number()) {
        text.push_str(&format!("{name} {value}\n"));
    }
    let metrics = answer.get("metrics").and_then(Value::as_object);
    let metrics: Metrics = metrics
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let number = match value.as_u64() {
                Some(count) => Number::Integer(count),
                None => Number::Real(value.as_f64()?),
            };
            Some((name.clone(), number))
        })
        .collect();
    text + &metrics_table(&metrics).text()
}
