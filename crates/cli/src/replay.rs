//! `destage replay`: replays a trace against an NBD server.

use destage::{Input, json};
use destage_serve::address::Address;
use destage_serve::client::ClientError;
use destage_serve::control::is_closed;
use destage_serve::replay::{ReplayError, Replayed, Timing, replay};
use destage_sim::engine::Replay;
use destage_sim::error::SimError;
use serde_json::{Map, Value};

use crate::choices;
use crate::errors::{Failure, first_of};
use crate::fio::Job;
use crate::interrupt;
use crate::logs::Logs;
use crate::output;
use crate::output::report::check_distinct;
use crate::run::metrics_table;
use crate::serve_args::ReplayArguments;

/// Runs the command.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), Failure> {
    let address =
        Address::parse(&arguments.to).map_err(|error| Failure::input(format!("--to {error}")))?;
    let workload = arguments.workload.as_deref();
    let mut settings = choices::plain(&arguments.settings, workload)?;
    let input = match (&arguments.trace, workload) {
        (Some(trace), _) => Input::trace(trace),
        (None, Some(text)) => Input::workload(text, &arguments.settings.set)?,
        (None, None) => return Err(Failure::input("expected a TRACE or --workload")),
    };
    let input = input.read(choices::reading(&arguments.reading))?;
    input.set_host(&mut settings);
    let config = settings.resolve()?;
    let name = input.name();
    destage_memory::doing(format!("reading {name}"));
    let mut source = input.open(&config)?;
    let host = &config.typed.host;
    // A workload may set the queue depth.
    let depth = match (arguments.closed, workload, host.replay) {
        (true, ..) => Some(arguments.depth),
        (false, Some(_), Replay::Closed) => Some(host.queue_depth),
        _ => None,
    };
    let timing = match depth {
        Some(depth) => Timing::Closed(depth),
        None => Timing::Open(arguments.time_scale.unwrap_or(1.0)),
    };
    let (mut batch, mut next) = (Vec::new(), 0);
    let outputs = [
        ("--response-log", &arguments.response_log),
        ("--fio-json", &arguments.fio_json),
    ];
    let outputs = outputs.into_iter();
    let outputs: Vec<_> = outputs
        .filter_map(|(option, path)| Some((option, path.as_ref()?)))
        .collect();
    let files = choices::files(&arguments.trace, &arguments.settings, workload, &settings)?;
    check_distinct(&outputs, &files)?;
    let job = Job {
        name: name.clone(),
        engine: "nbd",
        depth: u64::from(depth.unwrap_or(arguments.depth)),
    };
    let mut logs = Logs::create(arguments.response_log.as_ref(), None, None)?
        .with_fio(arguments.fio_json.as_ref(), job)?;
    let outcome = replay(&address, timing, &mut logs, || {
        interrupt::check()?;
        if next == batch.len() {
            next = 0;
            if !source.fill(&mut batch).map_err(SimError::from)? {
                return Ok(None);
            }
        }
        next += 1;
        Ok::<_, Failure>(Some(batch[next - 1]))
    });
    let replayed = outcome.map_err(|error| match error {
        ReplayError::Trace(failure) => failure,
        ReplayError::Beyond(error) => Failure::input(format!("{name}: {error}")),
        ReplayError::Client(ClientError::Socket(cause)) if is_closed(&cause) => {
            Failure::input(format!(
                "--to {}: the server has closed the connection; expected an answer to each request",
                arguments.to
            ))
        }
        ReplayError::Client(cause) => Failure::input(format!(
            "--to {}: {cause}; expected an NBD server at this address",
            arguments.to
        )),
    })?;
    for file in logs.finish()? {
        file.commit()?;
    }
    let refused = replayed.failed.map(|(count, line, error)| {
        format!(
            "{name}: the server answered {count} requests with an error; the first was that of line {line}, with error {error}"
        )
    });
    let shown = show(&replayed, arguments.json);
    first_of([
        refused.map_or(Ok(()), |refused| Err(Failure::Runs(vec![refused]))),
        shown,
    ])
}

fn show(replayed: &Replayed, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let mut document = Map::new();
        document.insert("metrics".to_owned(), json::metrics(&replayed.metrics));
        let failed = replayed.failed.map_or(0, |(count, _, _)| count);
        document.insert("failed".to_owned(), failed.into());
        return output::print(&json::text(&Value::Object(document)));
    }
    output::show(&metrics_table(&replayed.metrics).text())
}
