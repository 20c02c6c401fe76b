//! The response log, the destage log, the erase log, and fio's JSON.
//!
//! The three logs are written during the run, fio's JSON after the run. Times are in milliseconds with seven
//! decimals. A tick is one ten-millionth of a millisecond, so the decimals are exact.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_buffer::destage::{Destage, PadContent};
use destage_sim::observer::{Observer, Response};

use crate::errors::Failure;
use crate::fio::{FioLog, Job};
use destage::files::PendingFile;

/// The logs of one run.
#[derive(Default)]
pub(crate) struct Logs {
    /// One line per request.
    pub(crate) responses: Option<ResponseLog>,
    /// One line per destage.
    pub(crate) destages: Option<DestageLog>,
    /// One line per block.
    pub(crate) erases: Option<EraseLog>,
    /// All responses as fio's JSON.
    pub(crate) fio: Option<FioLog>,
}

impl Logs {
    /// Opens the logs whose paths are given.
    pub(crate) fn create(
        responses: Option<&PathBuf>,
        destages: Option<&PathBuf>,
        erases: Option<&PathBuf>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            responses: responses
                .map(|path| ResponseLog::create(path))
                .transpose()?,
            destages: destages.map(|path| DestageLog::create(path)).transpose()?,
            erases: erases.map(|path| EraseLog::create(path)).transpose()?,
            fio: None,
        })
    }

    /// Adds fio's JSON to these logs, if `path` is given.
    pub(crate) fn with_fio(self, path: Option<&PathBuf>, job: Job) -> Result<Self, Failure> {
        let fio = path.map(|path| FioLog::create(path, job)).transpose()?;
        Ok(Self { fio, ..self })
    }

    /// Whether writing to one of the logs has failed.
    fn failed(&self) -> bool {
        let responses = self.responses.as_ref().map(|log| &log.lines);
        let destages = self.destages.as_ref().map(|log| &log.lines);
        let erases = self.erases.as_ref().map(|log| &log.lines);
        [responses, destages, erases]
            .into_iter()
            .flatten()
            .any(|lines| lines.failure.is_some())
    }

    /// Returns the complete log files, which are not renamed to their final names yet. If a log could not be written,
    /// returns its error.
    pub(crate) fn finish(self) -> Result<Vec<PendingFile>, Failure> {
        let responses = self.responses.map(ResponseLog::finish);
        let destages = self.destages.map(|log| log.lines.finish());
        let erases = self.erases.map(|log| log.lines.finish());
        let fio = self.fio.map(FioLog::finish);
        responses
            .into_iter()
            .chain(destages)
            .chain(erases)
            .chain(fio)
            .collect()
    }
}

impl Observer for Logs {
    fn wants_responses(&self) -> bool {
        self.responses.is_some() || self.fio.is_some()
    }

    fn response(&mut self, response: &Response) {
        if let Some(log) = &mut self.fio {
            log.add(response);
        }
        if let Some(log) = &mut self.responses {
            log.add(*response);
        }
    }

    fn wants_destages(&self) -> bool {
        self.destages.is_some()
    }

    fn destage(&mut self, now: Ticks, record: &Destage) {
        if let Some(log) = &mut self.destages {
            log.add(now, record);
        }
    }

    fn wants_erases(&self) -> bool {
        self.erases.is_some()
    }

    fn erases(&mut self, die: u32, block: u32, erases: u32) {
        if let Some(log) = &mut self.erases {
            log.add(die, block, erases);
        }
    }

    /// Stops the run if a log could not be written. The caller then gets the error from `finish`.
    fn progress(&mut self, _: u64) -> bool {
        !self.failed()
    }
}

/// Lines that are written to a file. The first failure is stored, and `finish` returns it.
struct Lines {
    file: PendingFile,
    line: String,
    failure: Option<Failure>,
}

impl Lines {
    fn create(path: &Path, header: &str) -> Result<Self, Failure> {
        let mut file = PendingFile::create(path)?;
        file.put(header)?;
        Ok(Self {
            file,
            line: String::new(),
            failure: None,
        })
    }

    /// Writes `line` to the file, and empties `line`.
    fn write(&mut self) {
        self.line.push('\n');
        if self.failure.is_none() {
            self.failure = self.file.put(&self.line).err().map(Failure::from);
        }
        self.line.clear();
    }

    fn finish(self) -> Result<PendingFile, Failure> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.file),
        }
    }
}

/// The response log. Requests complete in any order, but the log is in the order of the trace. So a response waits
/// here until all earlier requests have completed.
pub(crate) struct ResponseLog {
    lines: Lines,
    /// Responses from request `next` on. `None` stands for a request that has not completed.
    waiting: VecDeque<Option<Response>>,
    next: u64,
}

impl ResponseLog {
    fn create(path: &Path) -> Result<Self, Failure> {
        let header = "index,arrival_ms,response_ms,sector,sectors,op\n";
        Ok(Self {
            lines: Lines::create(path, header)?,
            waiting: VecDeque::new(),
            next: 0,
        })
    }

    /// Adds a request that has completed, or that will never complete.
    pub(crate) fn add(&mut self, response: Response) {
        let ahead = usize::try_from(response.index.saturating_sub(self.next)).unwrap_or(usize::MAX);
        if ahead == 0 && self.waiting.is_empty() {
            self.write(&response);
            self.next += 1;
            return;
        }
        if ahead >= self.waiting.len() {
            self.waiting.resize(ahead + 1, None);
        }
        self.waiting[ahead] = Some(response);
        while let Some(Some(response)) = self.waiting.front().copied() {
            self.write(&response);
            self.waiting.pop_front();
            self.next += 1;
        }
    }

    fn write(&mut self, response: &Response) {
        let line = &mut self.lines.line;
        // Writing to a string cannot fail.
        let _ = write!(line, "{},", response.index);
        milliseconds(line, response.arrival);
        line.push(',');
        if let Some(ticks) = response.response {
            milliseconds(line, ticks);
        }
        let (sector, sectors) = (response.sector, response.sectors);
        let _ = write!(line, ",{sector},{sectors},{}", response.operation.name());
        self.lines.write();
    }

    fn finish(mut self) -> Result<PendingFile, Failure> {
        for response in std::mem::take(&mut self.waiting).iter().flatten() {
            self.write(response);
        }
        self.lines.finish()
    }
}

/// The destage log, with one line per destage record.
pub(crate) struct DestageLog {
    lines: Lines,
}

impl DestageLog {
    fn create(path: &Path) -> Result<Self, Failure> {
        let header = "time_ms,cause,pages,pad_reads,pad_fills\n";
        Ok(Self {
            lines: Lines::create(path, header)?,
        })
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, now: Ticks, record: &Destage) {
        let line = &mut self.lines.line;
        milliseconds(line, now);
        let _ = write!(line, ",{},", record.cause.name());
        page_runs(line, record.pages.iter().map(|dirty| dirty.page.0));
        let count = |content| {
            let pads = record.pads.iter();
            pads.filter(|pad| pad.content == content).count()
        };
        let (reads, fills) = (count(PadContent::Read), count(PadContent::Filler));
        let _ = write!(line, ",{reads},{fills}");
        self.lines.write();
    }
}

/// The erase log, with one line per block of the device.
pub(crate) struct EraseLog {
    lines: Lines,
}

impl EraseLog {
    fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            lines: Lines::create(path, "die,block,erases\n")?,
        })
    }

    /// Adds a block.
    pub(crate) fn add(&mut self, die: u32, block: u32, erases: u32) {
        let _ = write!(self.lines.line, "{die},{block},{erases}");
        self.lines.write();
    }
}

fn milliseconds(line: &mut String, ticks: Ticks) {
    let _ = write!(line, "{}.{:07}", ticks / TICKS_PER_MS, ticks % TICKS_PER_MS);
}

/// Appends page numbers in their order. Consecutive numbers are written as `first-last`.
fn page_runs(line: &mut String, pages: impl Iterator<Item = u64>) {
    let mut pages = pages.peekable();
    let mut separator = "";
    while let Some(first) = pages.next() {
        let mut last = first;
        while let Some(page) = pages.next_if(|page| last.checked_add(1) == Some(*page)) {
            last = page;
        }
        let _ = write!(line, "{separator}{first}");
        if last > first {
            let _ = write!(line, "-{last}");
        }
        separator = " ";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_trace::Operation;

    fn runs(pages: &[u64]) -> String {
        let mut line = String::new();
        page_runs(&mut line, pages.iter().copied());
        line
    }

    #[test]
    fn pages_are_listed_in_the_order_of_issue() {
        assert_eq!(runs(&[0, 1, 2, 3, 8, 10, 11]), "0-3 8 10-11");
        assert_eq!(runs(&[3, 2, 1]), "3 2 1");
        assert_eq!(runs(&[5, 5, 6]), "5 5-6");
        assert_eq!(runs(&[u64::MAX]), u64::MAX.to_string());
    }

    #[test]
    fn responses_are_logged_in_the_order_of_the_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let mut log = ResponseLog::create(&path).unwrap();
        for (index, response) in [(2, Some(5)), (0, Some(10_000_001)), (3, None), (1, Some(7))] {
            let operation = Operation::Write;
            log.add(Response {
                index,
                arrival: index,
                waited: 0,
                response,
                sector: 8,
                sectors: 1,
                operation,
            });
        }
        log.finish().unwrap().commit().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = [
            "index,arrival_ms,response_ms,sector,sectors,op",
            "0,0.0000000,1.0000001,8,1,write",
            "1,0.0000001,0.0000007,8,1,write",
            "2,0.0000002,0.0000005,8,1,write",
            "3,0.0000003,,8,1,write",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }
}
