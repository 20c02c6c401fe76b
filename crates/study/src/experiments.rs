//! Lists the experiments of the papers in the form of a registry, with one row for each experiment.

use destage::Error;
use destage::registries::Row;

use crate::Study;
use crate::reproduce::Paper;

/// The experiments of the papers. Their names are those that the command `destage reproduce` accepts, such as
/// `bplru/w4`.
///
/// # Errors
/// If an experiment that is part of the library cannot be read.
pub fn experiments() -> Result<Vec<Row>, Error> {
    let papers = Paper::shipped()?;
    let of_paper = |paper: &Paper| {
        let row = |study: &Study| {
            let claims = paper.claims_of(&study.name);
            let about = match claims {
                0 => study.title().to_owned(),
                1 => format!("{} (1 claim)", study.title()),
                more => format!("{} ({more} claims)", study.title()),
            };
            Row::new(format!("{}/{}", paper.name, study.name), about).with("claims", claims)
        };
        paper.studies.iter().map(row).collect::<Vec<_>>()
    };
    Ok(papers.iter().flat_map(of_paper).collect())
}
