//! A paper: its experiments, its claims, and the rules it leaves open.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::claim::{Check, Claim};
use super::decide::Kind;
use super::words::ByRow;
use crate::{BASE, Cell, Study, Traces, VariantKind, from_toml};
use destage::Error;

/// The experiments that come with the library.
static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/experiments");

/// A paper with its experiments and claims.
#[derive(Clone, Debug)]
pub struct Paper {
    /// What it is called here.
    pub name: String,
    pub(super) head: Head,
    /// Its experiments by name.
    pub studies: Vec<Study>,
    pub(super) claims: Vec<Claim>,
    /// What the values of its claims are called.
    pub(super) words: ByRow,
}

/// What stands in `paper.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// Authors, title, venue, year.
    pub(super) source: String,
    /// What its scheme does and what it was measured on, in sentences.
    pub(super) about: String,
    /// Whether its claims are statements of this project, and of no paper.
    #[serde(default)]
    pub(super) own: bool,
    /// Rules that it leaves open.
    #[serde(default)]
    pub(super) reading: Vec<Reading>,
}

/// A rule that a paper leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    /// The scheme or layer.
    pub(super) of: String,
    /// The parameter that decides, by dotted name.
    pub(super) parameter: String,
    /// What it may be; the first is the default.
    pub(super) values: Vec<toml::Value>,
    /// What the values mean.
    pub(super) about: String,
    /// What each value says, as a part of a sentence, in the order of the values; none where the values speak for themselves.
    #[serde(default)]
    pub(super) says: Vec<String>,
}

/// What stands in `claims.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    claim: Vec<Claim>,
}

impl Paper {
    /// The papers that come with the library, in the order of their names.
    ///
    /// # Errors
    /// If one of their files is wrong.
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

    /// The papers in `folder`, a folder each, in the order of their names.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read, or a file is wrong.
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
            papers.push(Self::parse(&name_of(&path), files)?);
        }
        Ok(papers)
    }

    /// A paper called `name` out of the files of its folder: `paper.toml`, `claims.toml`, `words.toml`, and an experiment in
    /// each other `.toml`.
    ///
    /// # Errors
    /// If a file is wrong, a claim names an experiment that is not there, or words are for a claim that is not there.
    pub fn parse(name: &str, mut files: Vec<(String, String)>) -> Result<Self, Error> {
        files.sort();
        let origin = |file: &str| format!("experiments/{name}/{file}");
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
                        studies.push(Study::parse(study, text, &origin(file), "".into())?);
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
                    "{}: claim {}: experiment {experiment:?} is not there",
                    origin("claims.toml"),
                    claim.id
                );
                return Err(Error::unknown(refusal, experiment, names));
            }
        }
        Ok(paper)
    }

    /// Authors, title, venue, year.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.head.source
    }

    /// What its scheme does and what it was measured on.
    #[must_use]
    pub fn about(&self) -> &str {
        self.head.about.trim()
    }

    /// Whether its claims are statements of this project, and of no paper.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.head.own
    }

    /// What sort of statement `claim` is.
    pub(super) fn kind_of(&self, claim: &Claim) -> Kind {
        match (claim.check.check, claim.kind) {
            (Check::Arithmetic, _) => Kind::Consistency,
            (_, Some(kind)) => kind,
            (_, None) if self.head.own => Kind::Own,
            (_, None) => Kind::Measured,
        }
    }

    /// How many of its claims go over the results of `experiment`.
    #[must_use]
    pub fn claims_of(&self, experiment: &str) -> usize {
        let over = |claim: &&Claim| claim.experiment.as_deref() == Some(experiment);
        self.claims.iter().filter(over).count()
    }

    /// Whether a claim can ask for `cell`: it has the study's own settings, is compared with them, or a formula names its variant.
    pub(super) fn needs_variant(&self, study: &Study, cell: &Cell) -> bool {
        let name = cell.labels.get("variant").map_or(BASE, String::as_str);
        let variant = study.variants().find(|variant| variant.name == name);
        let is_compared = variant.is_none_or(|variant| variant.kind == VariantKind::Compared);
        let names = |claim: &Claim| {
            let formulas = [&claim.measured, &claim.holds];
            let formulas = formulas.into_iter().flatten();
            formulas.into_iter().any(|formula| formula.contains(name))
        };
        is_compared || self.claims.iter().any(names)
    }

    pub(super) fn study(&self, name: &str) -> Option<&Study> {
        self.studies.iter().find(|study| study.name == name)
    }
}

/// What is in `folder`, in the order of the names.
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

/// The traces that shipped experiments name; none is found yet.
///
/// # Errors
/// If their list is wrong.
pub fn shipped_traces() -> Result<Traces, Error> {
    Traces::parse(shipped_text("traces.toml"), "experiments/traces.toml")
}

/// The text of a file that stands beside the shipped papers.
pub(super) fn shipped_text(name: &str) -> &'static str {
    let file = SHIPPED.get_file(name);
    file.and_then(|file| file.contents_utf8())
        .unwrap_or_default()
}
