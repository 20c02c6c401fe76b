//! Completion scripts, manual pages and version information.

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Arguments, CompletionsArguments, ManArguments, VersionArguments};
use crate::errors::Failure;
use crate::output::{self, json};

const NAME: &str = "destage";

/// `destage completions`.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), NAME, &mut text);
    output::print(&text)
}

/// `destage man`.
pub(crate) fn manual(arguments: &ManArguments) -> Result<(), Failure> {
    let command = Arguments::command();
    if let Some(folder) = &arguments.output {
        let unusable = |cause| Failure::from(destage::files::unwritable(folder, &cause));
        std::fs::create_dir_all(folder).map_err(unusable)?;
        return clap_mangen::generate_to(command, folder).map_err(unusable);
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|cause| Failure::Internal(cause.to_string()))?;
    output::print(&text)
}

/// `destage version`.
pub(crate) fn version(arguments: &VersionArguments) -> Result<(), Failure> {
    let forms = cfg!(feature = "parquet");
    match arguments.json {
        true => output::print(&json::text(&json!({
            "version": destage::version(),
            "commit": destage::commit(),
            "model": destage::MODEL,
            "schema": destage::SCHEMA,
            "parquet": forms,
        }))),
        false => output::show(&format!(
            "{NAME} {} ({})\nmodel {}, results {}, Parquet {}\n",
            destage::version(),
            destage::commit(),
            destage::MODEL,
            destage::SCHEMA,
            if forms { "built in" } else { "left out" }
        )),
    }
}
