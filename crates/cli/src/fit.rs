//! `destage trace fit`: fits a stand-in workload to a trace, writes it as a file, and shows its differences from
//! the trace.

use std::io::Write;

use destage::{Effort, FIT_SCHEMES, Fit, Input, Residual};
use serde_json::{Value, json};

use crate::args::FitArguments;
use crate::choices;
use crate::errors::Failure;
use crate::output::report::check_distinct;
use crate::output::table::{Side, Table};
use crate::output::{self, json as document, numbers};
use crate::progress::Progress;
use crate::rewrite::warn_about;
use destage::files::{PendingFile, unwritable};

/// Runs the command.
pub(crate) fn run(arguments: &FitArguments) -> Result<(), Failure> {
    let path = &arguments.output;
    let trace = arguments.trace.as_path();
    if path.extension().is_none_or(|ending| ending != "toml") {
        return Err(Failure::input(format!(
            "-o {}: expected a name that ends in .toml, as --workload asks for",
            path.display()
        )));
    }
    let mut settings = choices::plain(&arguments.settings, None)?;
    choices::remove_unused(&mut settings, &["trace.", "sim.seed"])?;
    let files = choices::files([&arguments.trace], &arguments.settings, None, &settings)?;
    check_distinct(&[("-o", path)], &files)?;
    let input = Input::trace(trace).read(choices::reading(&arguments.reading))?;
    let mut file = PendingFile::create(path)?;
    let progress = Progress::new(arguments.noise, None);
    let effort = Effort {
        progress: &progress,
        ..Effort::default()
    };
    let fitted = destage::fit(&input, &settings, &effort);
    drop(progress);
    let (fit, facts) = fitted?;
    warn_about(&facts);
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let text = fit.text(&output::visible(&name).replace('\n', " "));
    file.write_all(text.as_bytes())
        .map_err(|cause| unwritable(path, &cause))?;
    file.commit()?;
    if arguments.json {
        return output::print(&document::text(&values(&fit)));
    }
    output::print(&format!(
        "{}\n--workload {name} runs it\n",
        table(&fit),
        name = path.display()
    ))
}

/// The residuals as a table.
fn table(fit: &Fit) -> String {
    let mut table = Table::new([&[Side::Left][..], &[Side::Right; 10]].concat());
    let titles = [
        "evictions",
        "stand-in",
        "%",
        "pages",
        "stand-in",
        "%",
        "response ms",
        "stand-in",
        "%",
    ];
    table.row(["buffer", "size"].into_iter().chain(titles));
    table.rule();
    for row in &fit.residuals {
        let mut cells = vec![row.scheme.clone()];
        cells.push(row.size_bytes.map_or("-".to_owned(), numbers::bytes));
        for (values, is_count) in [
            (row.evictions, true),
            (row.destaged_pages, true),
            (row.response_mean_ms, false),
        ] {
            let number = |value: f64| match is_count {
                true => numbers::whole(value as u64),
                false => numbers::real(value),
            };
            let percent = values.and_then(Residual::percent);
            cells.push(values.map_or("-".to_owned(), |values| number(values.0)));
            cells.push(values.map_or("-".to_owned(), |values| number(values.1)));
            cells.push(percent.map_or("-".to_owned(), |percent| format!("{percent:+.1}")));
        }
        table.row(cells);
    }
    let schemes = FIT_SCHEMES.join(", ");
    format!(
        "{}\nThe table compares evictions and destaged pages of {schemes} without flash, and response times with profile disksim-ssd; the stand-in runs with its own seed.\n",
        table.text()
    )
}

fn values(fit: &Fit) -> Value {
    let pair = |values: Option<(f64, f64)>| match values {
        Some(values) => json!({
            "trace": values.0,
            "stand_in": values.1,
            "percent": Residual::percent(values),
        }),
        None => Value::Null,
    };
    let rows: Vec<Value> = fit
        .residuals
        .iter()
        .map(|row| {
            json!({
                "buffer": row.scheme,
                "size_bytes": row.size_bytes,
                "buffer.evictions": pair(row.evictions),
                "buffer.destaged_pages": pair(row.destaged_pages),
                "response.mean_ms": pair(row.response_mean_ms),
            })
        })
        .collect();
    json!({ "requests": fit.profile.requests(), "residuals": rows })
}
