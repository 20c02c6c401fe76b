//! A comparison on a workload: what the studies of it share.

use std::error::Error;

use destage::{Effort, Grid, Input, Record, Settings, workload_pair};

/// What may fail for many reasons, all of which are only shown.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// Every run of `grid`, made from the settings of `profile` and `pairs`, on `workload`, whose parameters may stand among
/// the pairs.
///
/// # Errors
/// If the workload or a setting is not usable, or a run fails.
pub fn compare(
    workload: &str,
    profile: Option<&str>,
    pairs: &[String],
    grid: impl FnOnce(Grid) -> Grid,
) -> Outcome<Vec<Record>> {
    let mut settings = Settings::new();
    if let Some(profile) = profile {
        settings.load_profile(profile)?;
    }
    for pair in pairs.iter().filter(|pair| workload_pair(pair).is_none()) {
        settings.set_pair(pair)?;
    }
    let combinations = grid(Grid::new(settings)).combinations()?;
    let input = Input::workload(workload, pairs)?;
    let results = destage::compare(&[input], &combinations, &Effort::default())?;
    if let Some(error) = results.failed().find_map(|run| run.error.as_ref()) {
        return Err(error.to_string().into());
    }
    Ok(results.runs)
}

/// A metric of `run`, in the unit of `destage list metrics`.
///
/// # Errors
/// If the run has none of that name.
pub fn metric(run: &Record, name: &str) -> Outcome<f64> {
    let value = run.metric(name);
    value.ok_or_else(|| format!("the run of {} over {} has no {name}", run.buffer, run.ftl).into())
}
