//! `destage precondition`: writes the state of a device before the first request to a file.

use destage::state::Prepared;

use crate::args::PreconditionArguments;
use crate::choices;
use crate::errors::Failure;
use crate::output;
use crate::output::report::check_distinct;
use crate::progress::Progress;
use destage::files::{PendingFile, unwritable};

/// Runs the command.
pub(crate) fn run(arguments: &PreconditionArguments) -> Result<(), Failure> {
    let mut settings = choices::plain(&arguments.settings, None)?;
    if let Some(text) = &arguments.ftl {
        settings.set_kind("ftl", text)?;
    }
    let path = &arguments.output;
    let files = choices::files(&[], &arguments.settings, None, &settings)?;
    check_distinct(&[("-o", path)], &files)?;
    let mut file = PendingFile::create(path)?;
    let progress = Progress::new(arguments.noise, None);
    let prepared = Prepared::of(&settings, &progress);
    drop(progress);
    prepared?
        .save(&mut file)
        .map_err(|cause| unwritable(path, &cause))?;
    file.commit()?;
    output::print(&format!(
        "{name}; use it with --set sim.precondition=file:{name}\n",
        name = path.display()
    ))
}
