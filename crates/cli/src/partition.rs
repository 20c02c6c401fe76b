//! `destage trace partition`: writes each volume of a trace to a separate file.

use std::path::PathBuf;

use destage::Facts;
use destage_study::fleet::{Fleet, Partition};
use destage_trace::{Reader, Request};

use crate::args::PartitionArguments;
use crate::choices;
use crate::errors::{Failure, report_line};
use crate::interrupt;
use crate::output::numbers;
use crate::progress::Progress;
use crate::rewrite::warn_about;

/// The number of requests of merged traces that are passed to the partition together.
const BATCH: usize = 1 << 12;

/// Runs the command.
pub(crate) fn run(arguments: &PartitionArguments) -> Result<(), Failure> {
    let mut settings = choices::plain(&arguments.settings, None)?;
    choices::remove_unused(&mut settings, &["trace."])?;
    let config = settings.resolve()?;
    let options = choices::reading(&arguments.reading).options(&config)?;
    if options.volumes != destage_trace::Volumes::Ignore {
        return Err(Failure::input(
            "trace.volumes: each volume gets a file of its own, with its own addresses; expected no such setting",
        ));
    }
    destage::check_read_once(arguments.traces.iter().map(PathBuf::as_path))?;
    let open = |path: &PathBuf| Reader::open(path, &options);
    let mut readers = arguments
        .traces
        .iter()
        .map(open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut partition = Partition::create(&arguments.output)?;
    let progress = Progress::new(arguments.noise, None);
    let mut put = |batch: &[Request]| {
        interrupt::check()?;
        progress.advance(batch.len() as u64);
        Ok::<_, Failure>(partition.add(batch)?)
    };
    let facts = |reader: &Reader| Facts::of_reader(reader.origin(), reader, &options);
    let mut batch = Vec::with_capacity(BATCH);
    let fleet = if let [reader] = &mut readers[..] {
        while reader.fill(&mut batch)? {
            put(&batch)?;
        }
        drop(progress);
        commit(partition, &[facts(reader)], std::iter::empty())?
    } else {
        let mut merge = arguments.joined.merge(readers);
        while let Some(request) = merge.take()? {
            batch.push(request);
            if batch.len() == BATCH {
                put(&batch)?;
                batch.clear();
            }
        }
        put(&batch)?;
        drop(progress);
        let facts: Vec<_> = merge.readers().map(facts).collect();
        commit(partition, &facts, merge.renumbered())?
    };
    if !arguments.noise.quiet {
        let volumes = fleet.contents.volumes.len();
        report_line(&format!(
            "destage: {}: {} request{} of {} volume{}",
            fleet.folder.display(),
            numbers::whole(fleet.contents.all.requests),
            if fleet.contents.all.requests == 1 {
                ""
            } else {
                "s"
            },
            numbers::whole(volumes as u64),
            if volumes == 1 { "" } else { "s" },
        ));
    }
    Ok(())
}

/// Completes the folder, and prints warnings about the traces.
fn commit(
    partition: Partition,
    facts: &[Facts],
    renumbered: impl Iterator<Item = (usize, u32, u32)>,
) -> Result<Fleet, Failure> {
    let fleet = partition.commit(facts, renumbered)?;
    facts.iter().for_each(warn_about);
    Ok(fleet)
}
