//! Settings, including schemes written in Python.

use std::path::PathBuf;
use std::sync::Arc;

use destage::{Error, Origin};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::scheme;
use crate::work::Watch;

/// The settings of a call. A later setting overrides an earlier one.
#[pyclass(module = "destage._core")]
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) of: destage::Settings,
    pub(crate) watch: Arc<Watch>,
    /// The prototypes of schemes, which live as long as these settings.
    prototypes: Vec<Arc<scheme::Prototype>>,
}

fn done(result: Result<(), destage::sim::error::SimError>) -> PyResult<()> {
    result.map_err(|error| raised(&Error::from(error)))
}

impl Settings {
    /// These settings, for a call with `input`. If `input` is a job file, it sets how the host sends requests, unless
    /// the user has set this.
    pub(crate) fn with_host_of(&self, input: &crate::inputs::Input) -> destage::Settings {
        let mut settings = self.of.clone();
        input.0.set_host(&mut settings);
        settings
    }
}

#[pymethods]
impl Settings {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Loads the settings of a profile, given by its name or its file.
    fn load_profile(&mut self, name: &str) -> PyResult<()> {
        done(self.of.load_profile(name))
    }

    /// Loads the settings of a file.
    fn load_file(&mut self, path: PathBuf) -> PyResult<()> {
        done(self.of.load_file(&path))
    }

    /// Sets the kind of `section` (`buffer` or `ftl`) from `NAME[:k=v,...]`.
    fn set_kind(&mut self, section: &str, text: &str) -> PyResult<()> {
        done(self.of.set_kind(section, text))
    }

    /// Sets the parameter `key`. `name` is the Python argument that sets this parameter. Errors mention the argument.
    fn set_by(&mut self, name: &str, key: &str, text: &str) {
        let origin = Origin::Argument(name.to_owned(), text.to_owned());
        self.of.set(key, text, origin);
    }

    /// Sets a parameter from `KEY=VALUE`.
    fn set_pair(&mut self, pair: &str) -> PyResult<()> {
        done(self.of.set_pair(pair))
    }

    /// Makes each run record an explanation, as `--explain` does.
    fn explain(&mut self) {
        self.of.explain();
    }

    /// Adds `object`, a scheme written in Python, under `name`. Results of the scheme are stored for later calls only
    /// if `version` is given.
    fn add_scheme(
        &mut self,
        name: &str,
        object: Bound<'_, PyAny>,
        version: Option<&str>,
    ) -> PyResult<()> {
        let (row, prototype) = scheme::row(name, object, &self.watch)?;
        self.prototypes.push(prototype);
        done(match version {
            Some(version) => self.of.add_scheme_version(row, version),
            None => self.of.add_scheme(row),
        })
    }
}
