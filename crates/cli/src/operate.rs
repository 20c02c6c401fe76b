//! `destage device`: commands to a server over its control socket.

use std::io::IsTerminal;
use std::time::Duration;

use destage::json;
use destage_serve::control::{Operator, OperatorError};
use destage_sim::metrics::{Metrics, Number};
use serde_json::{Map, Value, json};

use crate::errors::{Failure, first_of};
use crate::output;
use crate::run::metrics_table;
use crate::serve_args::{CutOrderArguments, OperatorArguments, OperatorCommand};

/// The escape sequence that clears a terminal.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Runs the command.
pub(crate) fn run(arguments: &OperatorArguments) -> Result<(), Failure> {
    let mut operator = Operator::connect(&arguments.socket).map_err(failure)?;
    match &arguments.command {
        OperatorCommand::Stats { json } => {
            let answer = operator.ask("stats").map_err(failure)?;
            show(answer, *json, page)
        }
        OperatorCommand::Watch { interval } => watch(&mut operator, *interval),
        OperatorCommand::Flush => ask(&mut operator, "flush"),
        OperatorCommand::Stop => ask(&mut operator, "stop"),
        OperatorCommand::Cancel => ask(&mut operator, "cancel"),
        OperatorCommand::Cut(cut) => {
            let answer = operator.order(&cut_order(cut)).map_err(failure)?;
            show(answer, cut.json, facts)
        }
        OperatorCommand::Restore { json } => {
            let answer = operator.ask("restore").map_err(failure)?;
            show(answer, *json, facts)
        }
        OperatorCommand::Ledger { to, json } => {
            let mut order = json!({"do": "ledger"});
            if let Some(path) = to {
                // The working folder of the server may be another one, so the path is made absolute.
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                order["to"] = path.to_string_lossy().into();
            }
            let answer = operator.order(&order).map_err(failure)?;
            show(answer, *json, facts)
        }
        OperatorCommand::Check { json } => {
            let answer = operator.ask("check").map_err(failure)?;
            let bad = answer.get("bad_sectors").and_then(Value::as_u64);
            let shown = show(answer, *json, facts);
            let verdict = match bad {
                Some(0) => Ok(()),
                bad => Err(Failure::Internal(format!(
                    "{} sectors do not hold what was promised",
                    bad.unwrap_or_default()
                ))),
            };
            first_of([verdict, shown])
        }
    }
}

/// The order that cuts the power.
fn cut_order(cut: &CutOrderArguments) -> Value {
    let mut order = json!({"do": "cut"});
    let moment = &cut.moment;
    for (key, value) in [
        ("seed", cut.seed.map(Value::from)),
        ("at_write", moment.at_write.map(Value::from)),
        ("at_flush", moment.at_flush.map(Value::from)),
        ("at_program", moment.at_program.map(Value::from)),
        ("at_ms", moment.at_ms.map(Value::from)),
    ] {
        if let Some(value) = value {
            order[key] = value;
        }
    }
    order
}

/// Prints `answer` as JSON, or as the text that `text` returns for the answer.
fn show(
    answer: Map<String, Value>,
    as_json: bool,
    text: impl Fn(&Map<String, Value>) -> String,
) -> Result<(), Failure> {
    if as_json {
        return output::print(&json::text(&Value::Object(answer)));
    }
    output::show(&text(&answer))
}

/// The fields of an answer, one per line.
fn facts(answer: &Map<String, Value>) -> String {
    let facts = answer.iter().filter(|(name, _)| *name != "ok");
    let lines = facts.map(|(name, value)| match value {
        Value::String(text) => format!("{name} {text}\n"),
        // Counts by reason, one line each.
        Value::Object(counts) => counts
            .iter()
            .map(|(reason, count)| format!("{name} {reason} {count}\n"))
            .collect(),
        other => format!("{name} {other}\n"),
    });
    lines.collect()
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

/// The statistics of a server, as text.
fn page(answer: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in answer {
        match value {
            Value::Number(number) => text.push_str(&format!("{name} {number}\n")),
            Value::String(word) => text.push_str(&format!("{name} {word}\n")),
            Value::Bool(is_so) if name != "ok" => text.push_str(&format!("{name} {is_so}\n")),
            _ => {}
        }
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
