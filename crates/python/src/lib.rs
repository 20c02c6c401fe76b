//! The Python module `destage._core`, which passes arguments to the library and results back.
//!
//! | module | contents |
//! | --- | --- |
//! | `errors` | the exceptions, and the errors that they stand for |
//! | `inputs` | traces, workloads and requests in arrays |
//! | `settings` | settings, including schemes written in Python |
//! | `memory` | the memory limit, beyond which a call fails |
//! | `work` | long work in separate threads, which the user can interrupt |
//! | `commands` | the functions of the commands |
//! | `measure` | measurements of drives |
//! | `studies` | studies in parts that another program distributes |
//! | `registries` | the registries of names, from which a user can choose |
//! | `scheme` | schemes written in Python, whose answers are checked |
//!
//! Users import the package in `python/destage`, which calls this module. docs/PYTHON.md describes the package.

mod commands;
mod errors;
mod inputs;
mod measure;
mod memory;
mod registries;
mod scheme;
mod settings;
mod studies;
mod work;

use pyo3::prelude::*;

// This allocator enforces the limit of `memory`, and the limit `--memory-limit` of the command line that the wheel
// contains.
#[global_allocator]
static MEMORY: destage_memory::Budget = destage_memory::Budget;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    memory::install();
    errors::register(module)?;
    module.add("__version__", destage::version())?;
    module.add_class::<inputs::Input>()?;
    module.add_class::<settings::Settings>()?;
    module.add_class::<studies::Study>()?;
    module.add_class::<scheme::Access>()?;
    module.add_class::<scheme::Need>()?;
    module.add_function(wrap_pyfunction!(commands::main, module)?)?;
    module.add_function(wrap_pyfunction!(memory::set_memory_limit, module)?)?;
    module.add_function(wrap_pyfunction!(commands::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(commands::compare, module)?)?;
    module.add_function(wrap_pyfunction!(commands::curve, module)?)?;
    module.add_function(wrap_pyfunction!(commands::drive_check, module)?)?;
    module.add_function(wrap_pyfunction!(commands::drive_fit, module)?)?;
    module.add_function(wrap_pyfunction!(measure::drive_measure, module)?)?;
    module.add_function(wrap_pyfunction!(commands::fleet, module)?)?;
    module.add_function(wrap_pyfunction!(commands::size, module)?)?;
    module.add_function(wrap_pyfunction!(commands::study, module)?)?;
    module.add_function(wrap_pyfunction!(commands::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(commands::report, module)?)?;
    module.add_function(wrap_pyfunction!(commands::outline, module)?)?;
    module.add_function(wrap_pyfunction!(commands::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(registries::explain, module)?)?;
    module.add_function(wrap_pyfunction!(commands::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(registries::require_metric, module)?)?;
    module.add_function(wrap_pyfunction!(registries::rows, module)?)?;
    module.add_function(wrap_pyfunction!(registries::page, module)?)
}
