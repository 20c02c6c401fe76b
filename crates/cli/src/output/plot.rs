//! The file `trace info --plot` draws into, in the form its ending names.

use std::path::{Path, PathBuf};

use crate::errors::Failure;
use crate::output::files::PendingFile;
use crate::output::report::check_distinct;
use crate::output::shape::{self, Look};
use destage::{Inspection, Manifest};

/// The forms of a plot.
#[derive(Clone, Copy)]
enum Form {
    Html,
    #[cfg(feature = "png")]
    Png,
}

/// A plot that is wanted: checked before the trace is read, drawn after it.
pub(crate) struct Plot {
    form: Form,
    file: PendingFile,
}

impl Plot {
    /// Begins the file at `path`, which is not the `trace`.
    pub(crate) fn create(path: &PathBuf, trace: &Path) -> Result<Self, Failure> {
        let form = form(path)?;
        check_distinct(&[("--plot", path)], &[trace])?;
        Ok(Self {
            form,
            file: PendingFile::create(path)?,
        })
    }

    /// Draws, and puts the file in its place.
    pub(crate) fn draw(
        mut self,
        manifest: &Manifest,
        inspection: &Inspection,
    ) -> Result<(), Failure> {
        let statistics = inspection.collector.finish();
        let look = Look::new(&inspection.shape, statistics.page_bytes);
        match self.form {
            Form::Html => self
                .file
                .put(shape::html(&look, manifest, &inspection.rows()))?,
            #[cfg(feature = "png")]
            Form::Png => {
                self.file
                    .put(crate::output::png::picture(&look, manifest, &statistics))?
            }
        }
        self.file.commit()
    }
}

/// The form that the ending of `path` names.
fn form(path: &Path) -> Result<Form, Failure> {
    let refused = |reason: &str| {
        Err(Failure::input(format!(
            "--plot {}: {reason}",
            path.display()
        )))
    };
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("html") => Ok(Form::Html),
        #[cfg(feature = "png")]
        Some("png") => Ok(Form::Png),
        #[cfg(not(feature = "png"))]
        Some("png") => refused(
            "this build draws no PNG; expected a name that ends in .html, or a program built with the feature png (cargo build --release -p destage-cli --features png)",
        ),
        _ => refused(
            "the ending names no form of charts; expected a name that ends in .html (a page) or .png (a picture)",
        ),
    }
}
