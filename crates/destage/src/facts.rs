//! The facts that are known about an input after it was read.

use destage_sim::merging::Merged;
use destage_sim::source::Source;
use destage_trace::alignment::Misaligned;
use destage_trace::plausibility::Doubt;
use destage_trace::{ReadOptions, Reader, SoFar, Volumes};

use crate::input::Input;
use crate::survey::Sizing;

/// The facts that are known about an input after it was read.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The path or the workload as given.
    pub name: String,
    /// The SHA-256 of the uncompressed trace, in hexadecimal digits; `None` if the trace was not read to its end.
    pub digest: Option<String>,
    /// The name of the trace format; `None` for an input that is no trace.
    pub format: Option<&'static str>,
    /// The number of bad lines that were skipped.
    pub skipped_lines: u64,
    /// The number of requests of length 0 that were dropped.
    pub dropped_requests: u64,
    /// The number of requests whose arrival was before that of an earlier request, and was moved forward to it.
    pub clamped_requests: u64,
    /// The size of the device, if the size was chosen from the input.
    pub sizing: Option<Sizing>,
    first_skipped: Option<String>,
    /// Doubts about the times of the trace.
    doubts: Vec<Doubt>,
    /// How the requests are misaligned to 4 KiB, if a shift of the addresses would align most of them.
    misaligned: Option<Misaligned>,
    /// Sentences about pages of the trace that share one page of the device because addresses were shrunk.
    addresses: Vec<String>,
    /// Whether requests of several volumes use the same addresses.
    volumes_overlap: bool,
    /// Whether no request of the trace was selected.
    is_empty: bool,
    /// Remarks that the input makes, such as those on a job file; one sentence each.
    remarks: Vec<String>,
}

impl Facts {
    /// The facts of a trace that `reader` has read with `options`.
    #[must_use]
    pub fn of_reader(name: &str, reader: &Reader, options: &ReadOptions) -> Self {
        Self::of_trace(name, reader.so_far(), options)
    }

    fn of_trace(name: &str, read: SoFar, options: &ReadOptions) -> Self {
        Self {
            name: name.to_owned(),
            digest: read.digest,
            format: Some(read.format.name),
            skipped_lines: read.report.skipped,
            dropped_requests: read.report.zero_length,
            clamped_requests: read.report.clamped,
            sizing: None,
            first_skipped: read.first_skipped,
            doubts: read.doubts,
            misaligned: read.misaligned,
            addresses: Vec::new(),
            volumes_overlap: read.has_volumes && options.volumes == Volumes::Ignore,
            is_empty: read.report.requests == 0,
            remarks: Vec::new(),
        }
    }

    /// The facts of requests that were generated instead of read from a trace.
    #[must_use]
    pub fn of_requests(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            digest: None,
            format: None,
            skipped_lines: 0,
            dropped_requests: 0,
            clamped_requests: 0,
            sizing: None,
            first_skipped: None,
            doubts: Vec::new(),
            misaligned: None,
            addresses: Vec::new(),
            volumes_overlap: false,
            is_empty: false,
            remarks: Vec::new(),
        }
    }

    /// The facts of the part that was read from `source`, which was opened with `options`.
    #[must_use]
    pub fn of_source(source: &Source<'_>, options: &ReadOptions) -> Self {
        match source.so_far() {
            Some(read) => Self::of_trace(source.origin(), read, options),
            None => Self::of_requests(source.origin()),
        }
    }

    /// Adds the sentence that several pages of the trace share one page of the device, if there are such pages and
    /// the sentence was not yet added.
    pub(crate) fn add_merged(&mut self, merged: &Merged) {
        let told = format!("{}: {merged}", self.name);
        if merged.pages > 0 && !self.addresses.contains(&told) {
            self.addresses.push(told);
        }
    }

    /// Drops the doubts about times, because the run did not use the times.
    pub(crate) fn forget_times(&mut self) {
        self.doubts.clear();
    }

    /// Adds the facts that `input` knows without being read: whether it has no requests, and its remarks.
    pub(crate) fn add_known(&mut self, input: &Input) {
        self.is_empty |= input.expected_requests() == Some(0);
        self.remarks = input.remarks();
    }

    /// Warnings about the times of the trace; one sentence each.
    #[must_use]
    pub fn warnings_of_times(&self) -> Vec<String> {
        let doubts = self.doubts.iter();
        doubts
            .map(|doubt| format!("{}: {doubt}", self.name))
            .collect()
    }

    /// Warnings for statistics of the input: [`Facts::warnings`], the warnings about times, and warnings about
    /// addresses that a shift would align and about volumes that share addresses.
    #[must_use]
    pub fn warnings_of_reading(&self) -> Vec<String> {
        let mut warnings = self.warnings();
        warnings.extend(self.warnings_of_times());
        let misaligned = self.misaligned.as_ref();
        warnings.extend(misaligned.map(|it| format!("{}: {it}", self.name)));
        if self.volumes_overlap {
            warnings.push(format!(
                "{}: several volumes overlap in one address space; trace.volumes=separate or concatenate keeps them apart",
                self.name
            ));
        }
        warnings
    }

    /// Warnings for a simulation: those of [`Facts::warnings_of_reading`], and warnings about pages that share a page
    /// of the device.
    #[must_use]
    pub fn warnings_of_simulation(&self) -> Vec<String> {
        let mut warnings = self.warnings_of_reading();
        warnings.extend_from_slice(&self.addresses);
        warnings
    }

    /// Warnings about requests that were dropped or changed; one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.remarks.clone();
        if let Some(first) = &self.first_skipped {
            let lines = self.skipped_lines;
            warnings.push(format!(
                "{}: bad lines skipped: {lines}; the first: {first}",
                self.name
            ));
        }
        if self.is_empty {
            warnings.push(format!(
                "{}: none of its requests is left (skip, limit, writes only, trace.array_member)",
                self.name
            ));
        }
        for (count, what) in [
            (self.dropped_requests, "requests without length dropped"),
            (
                self.clamped_requests,
                "requests moved forward to the latest time before them",
            ),
        ] {
            if count > 0 {
                warnings.push(format!("{}: {what}: {count}", self.name));
            }
        }
        warnings
    }
}
