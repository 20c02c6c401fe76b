//! Reads papers: their experiments, their claims, and the rules that they leave open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::claim::{Check, Claim};
use super::decide::Kind;
use super::words::ByRow;
use crate::{BASE, Cell, Study, Traces, VariantKind, from_toml};
use destage::Error;

/// The folder of experiments that is part of the library.
static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/experiments");

/// A paper with its experiments and claims.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The name of the paper's folder.
    pub name: String,
    pub(super) head: Head,
    /// The experiments, in the order of their names.
    pub studies: Vec<Study>,
    pub(super) claims: Vec<Claim>,
    /// The texts that describe the values of the claims.
    pub(super) words: ByRow,
}

/// The content of the file `paper.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// Authors, title, venue and year.
    pub(super) source: String,
    /// How the scheme of the paper works, and how the authors measured it, in sentences.
    pub(super) about: String,
    /// Whether the claims are statements of this project, not of a paper.
    #[serde(default)]
    pub(super) own: bool,
    /// The rules that the paper leaves open.
    #[serde(default)]
    pub(super) reading: Vec<Reading>,
}

/// A rule of a scheme or layer that the paper leaves open, so that several interpretations are possible.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    /// The kind of the scheme or translation layer that has the rule.
    pub(super) of: String,
    /// The dotted name of the parameter that selects the interpretation.
    pub(super) parameter: String,
    /// The values of the parameter, one for each interpretation. The first one is the default.
    pub(super) values: Vec<toml::Value>,
    /// The meaning of the values, in a sentence.
    pub(super) about: String,
    /// The interpretation that each value selects, as a clause, in the order of the values. The list is empty if
    /// the values need no explanation.
    #[serde(default)]
    pub(super) says: Vec<String>,
    /// Where the rule has an effect, such as `in a cache that is split`. Empty if it can have one in every run with its
    /// scheme or layer.
    #[serde(default)]
    pub(super) acts: String,
}

/// The content of the file `claims.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    claim: Vec<Claim>,
}

impl Paper {
    /// Reads the papers that are part of the library, in the alphabetical order of their names.
    ///
    /// # Errors
    /// If a file of a paper is wrong.
    pub fn shipped() -> Result<Vec<Self>, Error> {
        let mut folders: Vec<_> = SHIPPED.dirs().collect();
        folders.sort_by_key(|folder| folder.path());
        folders
            .into_iter()
            .map(|folder| {
                let files = folder.files().filter_map(|file| {
                    let name = file.path().file_name()?.to_str()?;
                    Some((name.to_owned(), file.contents_utf8()?.to_owned()))
                });
                Self::parse(&folder.path().display().to_string(), files.collect())
            })
            .collect()
    }

    /// Reads the papers in `folder`, in the alphabetical order of their names. Each folder in `folder` that has a
    /// `paper.toml` is a paper.
    ///
    /// # Errors
    /// If a folder or a file cannot be read, or if a file is wrong.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, Error> {
        let mut papers = Vec::new();
        for path in entries(folder)? {
            if !path.join("paper.toml").is_file() {
                continue;
            }
            let mut files = Vec::new();
            for file in entries(&path)? {
                if file.extension().is_some_and(|ending| ending == "toml") {
                    let text = std::fs::read_to_string(&file)
                        .map_err(|error| unreadable(&file, &error))?;
                    files.push((name_of(&file), text));
                }
            }
            let mut paper = Self::parse(&name_of(&path), files)?;
            for study in &mut paper.studies {
                study.look_in(&path);
            }
            papers.push(paper);
        }
        Ok(papers)
    }

    /// Parses the paper `name` from the names and texts of the files in its folder: `paper.toml`, `claims.toml`
    /// and `words.toml`. Each other `.toml` file is an experiment, and each `.csv` file is a table of measurements that
    /// experiments may name.
    ///
    /// # Errors
    /// If a file is wrong, if a claim names an experiment that does not exist, or if `words.toml` names a claim
    /// that does not exist.
    pub fn parse(name: &str, mut files: Vec<(String, String)>) -> Result<Self, Error> {
        files.sort();
        let origin = |file: &str| format!("experiments/{name}/{file}");
        let tables = files.iter().filter(|(file, _)| file.ends_with(".csv"));
        let tables = Arc::new(tables.cloned().collect());
        let (mut head, mut claims, mut studies) = (None, Vec::new(), Vec::new());
        let mut words = ByRow::new();
        for (file, text) in &files {
            match file.as_str() {
                "paper.toml" => head = Some(from_toml(text, &origin(file))?),
                "claims.toml" => {
                    claims = from_toml::<Claims>(text, &origin(file))?.claim;
                }
                "words.toml" => words = from_toml(text, &origin(file))?,
                _ => {
                    if let Some(study) = file.strip_suffix(".toml") {
                        let study = Study::parse(study, text, &origin(file), "".into())?;
                        studies.push(study.with_tables(Arc::clone(&tables)));
                    }
                }
            }
        }
        let head =
            head.ok_or_else(|| Error::Input(format!("{}: is missing", origin("paper.toml"))))?;
        let paper = Self {
            name: name.to_owned(),
            head,
            studies,
            claims,
            words,
        };
        for row in paper.words.keys() {
            let of_row = |claim: &Claim| {
                claim.id == *row
                    || claim
                        .id
                        .split_once('.')
                        .is_some_and(|(first, _)| first == row)
            };
            if !paper.claims.iter().any(of_row) {
                let refusal = format!("{}: {row:?}: no claim has this name", origin("words.toml"));
                let names = paper.claims.iter().map(|claim| claim.id.as_str());
                return Err(Error::unknown(refusal, row, names));
            }
        }
        for Reading {
            parameter,
            values,
            says,
            ..
        } in &paper.head.reading
        {
            if !says.is_empty() && says.len() != values.len() {
                return Err(Error::Input(format!(
                    "{}: reading {parameter:?}: says has {} sentences for {} values; expected one for each",
                    origin("paper.toml"),
                    says.len(),
                    values.len()
                )));
            }
        }
        for claim in &paper.claims {
            let Some(experiment) = &claim.experiment else {
                continue;
            };
            if paper.study(experiment).is_none() {
                let names = paper.studies.iter().map(|study| study.name.as_str());
                let refusal = format!(
                    "{}: claim {}: experiment {experiment:?} does not exist",
                    origin("claims.toml"),
                    claim.id
                );
                return Err(Error::unknown(refusal, experiment, names));
            }
        }
        Ok(paper)
    }

    /// Authors, title, venue and year.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.head.source
    }

    /// How the scheme of the paper works, and how the authors measured it.
    #[must_use]
    pub fn about(&self) -> &str {
        self.head.about.trim()
    }

    /// Whether the claims are statements of this project, not of a paper.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.head.own
    }

    /// The kind of `claim`: the one in `claims.toml`, or the default.
    pub(super) fn kind_of(&self, claim: &Claim) -> Kind {
        match (claim.check.check, claim.kind) {
            (Check::Arithmetic, _) => Kind::Consistency,
            (_, Some(kind)) => kind,
            (_, None) if self.head.own => Kind::Own,
            (_, None) => Kind::Measured,
        }
    }

    /// The number of claims that use the results of `experiment`.
    #[must_use]
    pub fn claims_of(&self, experiment: &str) -> usize {
        let over = |claim: &&Claim| claim.experiment.as_deref() == Some(experiment);
        self.claims.iter().filter(over).count()
    }

    /// Whether the run `cell` can be needed to evaluate a claim in the base run. This is so if the variant of the
    /// run is the base or one of those that the study compares, or if a claim of the study names the variant.
    pub(super) fn needs_variant(&self, study: &Study, cell: &Cell) -> bool {
        let name = cell.labels.get("variant").map_or(BASE, String::as_str);
        let variant = study.variants().find(|variant| variant.name == name);
        let is_compared = variant.is_none_or(|variant| variant.kind == VariantKind::Compared);
        let names = |claim: &Claim| {
            let mut formulas = [&claim.measured, &claim.holds].into_iter().flatten();
            let mut of_each = claim.each.get("variant").into_iter().flatten();
            // The name alone may be a value of another axis, such as `nearest` of `trace.align`.
            formulas.any(|formula| formula.contains("variant") && formula.contains(name))
                || of_each.any(|value| value.as_str() == Some(name))
        };
        let is_of_study = |claim: &Claim| claim.experiment.as_ref() == Some(&study.name);
        let mut claims = self.claims.iter();
        is_compared || claims.any(|claim| is_of_study(claim) && names(claim))
    }

    pub(super) fn study(&self, name: &str) -> Option<&Study> {
        self.studies.iter().find(|study| study.name == name)
    }
}

/// The paths in `folder`, in alphabetical order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let wrong = |error| unreadable(folder, &error);
    let mut paths = Vec::new();
    for entry in folder.read_dir().map_err(wrong)? {
        paths.push(entry.map_err(wrong)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let what = format!(
        " {}: {error}; expected a folder with a folder for each paper, as docs/STUDIES.md describes it",
        path.display()
    );
    Error::argument("experiments", what)
}

/// Reads the list of the traces that the experiments of the library name. The files of the traces are not known
/// yet.
///
/// # Errors
/// If the list is wrong.
pub fn shipped_traces() -> Result<Traces, Error> {
    Traces::parse(shipped_text("traces.toml"), "experiments/traces.toml")
}

/// The text of the file `name` in the folder of experiments that is part of the library; empty if there is no
/// such file.
pub(super) fn shipped_text(name: &str) -> &'static str {
    let file = SHIPPED.get_file(name);
    file.and_then(|file| file.contents_utf8())
        .unwrap_or_default()
}
