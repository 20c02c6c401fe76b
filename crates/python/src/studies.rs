//! Studies. A study runs in one call, or in parts that another program distributes.

use std::path::PathBuf;
use std::sync::Arc;

use destage::Error;
use destage_study::reproduce::shipped_traces;
use destage_study::{Prepared, Shard, Store};
use pyo3::prelude::*;

use crate::commands::{effort, scale, traces};
use crate::errors::raised;
use crate::work::watched;

/// A prepared study, and the folder of its results.
#[pyclass(frozen, module = "destage._core")]
pub(crate) struct Study {
    prepared: Arc<Prepared>,
    store: Store,
    /// The folder of the report.
    folder: PathBuf,
}

fn shard(index: u64, of: u64) -> PyResult<Shard> {
    match (1..=of).contains(&index) {
        true => Ok(Shard { index, of }),
        false => Err(raised(&Error::Internal(format!("part {index} of {of}")))),
    }
}

#[pymethods]
impl Study {
    /// Reads a study file, and opens the inputs of the study.
    #[staticmethod]
    fn prepare(
        py: Python<'_>,
        path: PathBuf,
        results: PathBuf,
        pairs: Vec<String>,
        folder: Option<PathBuf>,
        is_full: bool,
    ) -> PyResult<Self> {
        let nobody = py.None().into_bound(py);
        watched(py, &Arc::default(), &nobody, move |_| {
            let study = destage_study::Study::read(&path)?;
            let store = Store::open(&results)?;
            let traces = traces(shipped_traces()?, &pairs, folder)?;
            let prepared = Arc::new(study.prepare(scale(is_full), &traces)?);
            Ok(Self {
                prepared,
                store,
                folder: results.join(&study.name),
            })
        })
    }

    /// The number of different runs.
    #[getter]
    fn runs(&self) -> usize {
        self.prepared.runs()
    }

    /// Writes the plan into the folder of the results.
    fn keep_plan(&self) -> PyResult<()> {
        let kept = self.prepared.keep_plan(&self.store);
        kept.map_err(|error| raised(&error))
    }

    /// The number of runs of part `index` of `of` that have no result yet.
    fn missing(&self, index: u64, of: u64) -> PyResult<usize> {
        let missing = self
            .prepared
            .missing_of_part(&self.store, shard(index, of)?);
        Ok(missing.len())
    }

    /// Carries out the runs of part `index` of `of` that have no result yet. Returns the number of these runs, and
    /// the number of all runs of the part.
    fn part(
        &self,
        py: Python<'_>,
        index: u64,
        of: u64,
        threads: usize,
    ) -> PyResult<(usize, usize)> {
        let shard = shard(index, of)?;
        let (prepared, store) = (Arc::clone(&self.prepared), self.store.clone());
        let nobody = py.None().into_bound(py);
        let share = watched(py, &Arc::default(), &nobody, move |watch| {
            prepared.carry_out_part(&store, shard, &effort(threads, watch))
        })?;
        Ok((share.made, share.own))
    }

    /// Writes the report as the command `study` does. Returns the results of all runs as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let (prepared, store) = (Arc::clone(&self.prepared), self.store.clone());
        let folder = self.folder.clone();
        let nobody = py.None().into_bound(py);
        watched(py, &Arc::default(), &nobody, move |_| {
            let report = prepared.plan().report(&store)?;
            report.write(&folder, |document| destage_report::html(document, None))?;
            Ok(report.to_json())
        })
    }
}
