//! The facts about an input once it was read.

use destage_sim::merging::Merged;
use destage_sim::source::Source;
use destage_trace::plausibility::Doubt;
use destage_trace::{ReadOptions, Reader, SoFar, Volumes};

use crate::input::Input;
use crate::survey::Sizing;

/// The facts about an input once it was read.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The path or workload as given.
    pub name: String,
    /// SHA-256 of the uncompressed trace, if it was read to its end.
    pub digest: Option<String>,
    /// The format; `None` for workloads.
    pub format: Option<&'static str>,
    /// Bad lines skipped.
    pub skipped_lines: u64,
    /// Requests without length that were dropped.
    pub dropped_requests: u64,
    /// Requests whose time was moved forward.
    pub clamped_requests: u64,
    /// How large the device is, where that follows from the input.
    pub sizing: Option<Sizing>,
    first_skipped: Option<String>,
    /// Warnings about its times.
    doubts: Vec<Doubt>,
    /// How its addresses are changed, if that matters.
    addresses: Vec<String>,
    /// Whether there are requests of several volumes, on the same addresses.
    volumes_overlap: bool,
    /// Whether the requested slice of the trace is empty.
    is_empty: bool,
    /// Notes of the input itself for its reader.
    remarks: Vec<String>,
}

impl Facts {
    /// Of a trace that was read with `options`.
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
            addresses: Vec::new(),
            volumes_overlap: read.has_volumes && options.volumes == Volumes::Ignore,
            is_empty: read.report.requests == 0,
            remarks: Vec::new(),
        }
    }

    /// Of requests that were made, and not read.
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
            addresses: Vec::new(),
            volumes_overlap: false,
            is_empty: false,
            remarks: Vec::new(),
        }
    }

    /// Facts of the part that was read from `source`, which was opened with `options`.
    #[must_use]
    pub fn of_source(source: &Source<'_>, options: &ReadOptions) -> Self {
        match source.so_far() {
            Some(read) => Self::of_trace(source.origin(), read, options),
            None => Self::of_requests(source.origin()),
        }
    }

    /// Adds that pages fall together, if some do and it is not known.
    pub(crate) fn add_merged(&mut self, merged: &Merged) {
        let told = format!("{}: {merged}", self.name);
        if merged.pages > 0 && !self.addresses.contains(&told) {
            self.addresses.push(told);
        }
    }

    /// Its times were not used.
    pub(crate) fn forget_times(&mut self) {
        self.doubts.clear();
    }

    /// Adds the facts about `input` itself: a workload without requests after skipping is as empty as such a trace.
    pub(crate) fn add_known(&mut self, input: &Input) {
        self.is_empty |= input.expected_requests() == Some(0);
        self.remarks = input.remarks();
    }

    /// Warnings about the trace's times; one sentence each.
    #[must_use]
    pub fn warnings_of_times(&self) -> Vec<String> {
        let doubts = self.doubts.iter();
        doubts
            .map(|doubt| format!("{}: {doubt}", self.name))
            .collect()
    }

    /// Warnings for the user of statistics: the [`Facts::warnings`], and warnings about the times.
    #[must_use]
    pub fn warnings_of_reading(&self) -> Vec<String> {
        let mut warnings = self.warnings();
        warnings.extend(self.warnings_of_times());
        warnings
    }

    /// Warnings for the user of a simulation: the [`Facts::warnings`], warnings about the times, and whether pages share a page of the device or
    /// volumes share addresses.
    #[must_use]
    pub fn warnings_of_simulation(&self) -> Vec<String> {
        let mut warnings = self.warnings_of_reading();
        warnings.extend_from_slice(&self.addresses);
        if self.volumes_overlap {
            warnings.push(format!(
                "{}: several volumes overlap in one address space; trace.volumes=separate or concatenate keeps them apart",
                self.name
            ));
        }
        warnings
    }

    /// The requests that were left out of the trace, or changed; one sentence each.
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
                "{}: no request is left of it (skip, limit, writes only, trace.array_member)",
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
