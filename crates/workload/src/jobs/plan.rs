//! The jobs that are simulated, with the positions of their files, their amounts of work, and their numbers of
//! outstanding requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage_base::parameter::Values;
use destage_base::time::TICKS_PER_MS;
use destage_trace::request::{SECTOR_BYTES, SECTORS_MAX};

use super::job::{Job, Measure, Mix, Rate};
use super::requests::Merged;
use super::values::Span;
use super::worker::lengths_of;
use super::{JobFile, JobFileError, Parameters};
use crate::Requests;

/// The first sector of each file is a multiple of this number. Partitions are usually aligned in the same way.
const FILE_ALIGNMENT_SECTORS: u64 = 2048;
/// The number of requests if only time ends the jobs. Other workloads have the same default.
const ENDLESS_REQUESTS: u64 = 100_000;

/// One copy of a job, and its region of the address space.
#[derive(Clone, Debug)]
pub(super) struct JobCopy {
    pub job: Arc<Job>,
    /// The first sector of the region.
    pub first: u64,
    /// The number of sectors in the region.
    pub sectors: u64,
    /// The number of sectors that the copy transfers in one loop; `None` if only time ends the copy.
    pub amount: Option<u64>,
}

/// The jobs of a file that are simulated, with the values of the parameters applied.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Groups of copies. The copies of a group run in parallel. A group begins when all copies of the previous group
    /// have ended.
    groups: Vec<Vec<JobCopy>>,
    requests: u64,
    depth: u32,
    has_rates: bool,
    remarks: Vec<String>,
}

impl Plan {
    /// Plans the jobs of `file` that `values` select.
    ///
    /// # Errors
    /// If the jobs cannot be simulated. For example, a size is missing, or consecutive groups of jobs have different
    /// depths.
    pub fn new(file: &JobFile, values: &Values) -> Result<Self, JobFileError> {
        let own = Parameters::from_values(values);
        let jobs: Vec<Arc<Job>> = file
            .jobs
            .iter()
            .filter(|job| own.job.is_empty() || job.name == own.job)
            .map(|job| Arc::new(job.clone()))
            .collect();
        if jobs.is_empty() {
            let names: Vec<_> = file.jobs.iter().map(|job| &*job.name).collect();
            return Err(JobFileError {
                line: file.jobs.first().map_or(1, |job| job.line),
                text: format!("job={}", own.job),
                expected: format!("one of {}", names.join(", ")),
            });
        }
        let files = files(&jobs, own.file_bytes)?;
        let mut groups: Vec<Vec<JobCopy>> = Vec::new();
        for (place, job) in jobs.iter().enumerate() {
            let parts = parts(job, own.file_bytes)?.into_iter().enumerate();
            let copies = parts.map(|(copy, part)| JobCopy {
                first: files[&name_of(place, job, copy)] + part.first,
                ..part
            });
            match groups.last_mut().filter(|_| job.waits.is_none()) {
                Some(group) => group.extend(copies),
                None => groups.push(copies.collect()),
            }
        }
        let (depth, has_rates) = arrivals(&groups)?;
        let requests = match values.chosen().any(|(name, _)| name == "requests") {
            true => own.requests,
            false => asked_for(&groups),
        };
        check_span(&groups, requests)?;
        let remarks = jobs.iter().flat_map(|job| job.remarks.clone());
        let mut remarks: Vec<_> = remarks.collect();
        remarks.dedup();
        Ok(Self {
            groups,
            requests,
            depth,
            has_rates,
            remarks,
        })
    }

    /// The number of requests, including flushes.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// The total number of outstanding requests of the jobs that run in parallel.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether the job file gives rates. Without rates, requests have no arrival times, and a request is issued when
    /// another request completes.
    #[must_use]
    pub const fn has_rates(&self) -> bool {
        self.has_rates
    }

    /// Messages for the user about options without effect. Each message is a sentence with the number of the line.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The requests that the plan and `seed` determine.
    #[must_use]
    pub fn make(&self, seed: u64) -> Requests {
        let all = Merged::new(self.groups.clone(), self.has_rates, seed);
        Box::new(all.take(usize::try_from(self.requests).unwrap_or(usize::MAX)))
    }
}

/// The identity of a file: the value of `filename`. Without that option, the identity is the index of the job and the
/// number of the copy.
type FileName = (Option<String>, usize, usize);

/// The identity of the file of a copy of `job`. The job has the index `place` among the jobs.
fn name_of(place: usize, job: &Job, copy: usize) -> FileName {
    match &job.part.file {
        Some(name) => (Some(name.clone()), 0, 0),
        None => (None, place, copy),
    }
}

/// The first sector of each file. Files follow one another in the order in which the jobs first use them.
fn files(jobs: &[Arc<Job>], file_bytes: u64) -> Result<BTreeMap<FileName, u64>, JobFileError> {
    let mut sizes: Vec<(FileName, u64)> = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        for (copy, part) in parts(job, file_bytes)?.into_iter().enumerate() {
            let (name, end) = (name_of(place, job, copy), part.first + part.sectors);
            match sizes.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sectors)) => *sectors = end.max(*sectors),
                None => sizes.push((name, end)),
            }
        }
    }
    let mut next = 0;
    let mut firsts = BTreeMap::new();
    for (name, sectors) in sizes {
        firsts.insert(name, next);
        next += sectors.next_multiple_of(FILE_ALIGNMENT_SECTORS);
    }
    match next <= SECTORS_MAX {
        true => Ok(firsts),
        false => Err(JobFileError {
            line: jobs.first().map_or(1, |job| job.line),
            text: format!("{next} sectors in all files"),
            expected: format!("at most {SECTORS_MAX}"),
        }),
    }
}

/// Converts `measure` to a number of bytes, for a file of `file_bytes` bytes.
fn resolved(measure: &Measure, file_bytes: u64) -> Result<u64, JobFileError> {
    match measure.span {
        Span::Bytes(bytes) => Ok(bytes),
        Span::Percent(_) if file_bytes == 0 => Err(measure
            .given
            .wrong("bytes; or the parameter file_bytes, which says how large the file is")),
        Span::Percent(percent) => {
            // A percentage is at most 100, so the result fits in 64 bits.
            Ok((u128::from(file_bytes) * u128::from(percent) / 100) as u64)
        }
    }
}

/// The region of each copy of `job`, relative to the first sector of the file.
fn parts(job: &Arc<Job>, file_bytes: u64) -> Result<Vec<JobCopy>, JobFileError> {
    let missing = || JobFileError {
        line: job.line,
        text: format!("[{}]", job.name),
        expected: "size=BYTES in it; or the parameter file_bytes, which says how large the file is"
            .to_owned(),
    };
    let of = |measure: &Option<Measure>| match measure {
        Some(measure) => resolved(measure, file_bytes).map(Some),
        None => Ok(None),
    };
    let offset = of(&job.part.offset)?.unwrap_or(0);
    let increment = of(&job.part.increment)?.unwrap_or(0);
    let size = of(&job.part.size)?;
    let io_bytes = of(&job.amount.bytes)?;
    // If no size is given, the region extends to the end of the file.
    let rest = |offset: u64| file_bytes.checked_sub(offset).filter(|rest| *rest > 0);
    let mut parts = Vec::new();
    for copy in 0..u64::from(job.copies) {
        let begin = increment
            .checked_mul(copy)
            .and_then(|more| more.checked_add(offset));
        let begin = begin.filter(|begin| *begin <= SECTORS_MAX);
        let begin = begin.ok_or_else(|| too_far(job))?;
        let bytes = match size {
            Some(size) => size,
            None => rest(begin).ok_or_else(missing)?,
        };
        let sectors = bytes / SECTOR_BYTES;
        // The longest request must fit into the region and into the amount of work.
        let least = io_bytes.map_or(sectors, |bytes| (bytes / SECTOR_BYTES).min(sectors));
        let longest = lengths_of(job).map(|lengths| u64::from(lengths.longest()));
        let longest = longest.max().unwrap_or(1);
        if least < longest {
            let given = [&job.amount.bytes, &job.part.size];
            let given = given.into_iter().flatten().next();
            return Err(JobFileError {
                line: given.map_or(job.line, |measure| measure.given.line),
                text: given.map_or(format!("size={bytes}"), |measure| measure.given.text()),
                expected: format!("at least a request of {} bytes", longest * SECTOR_BYTES),
            });
        }
        let first = begin / SECTOR_BYTES;
        if first
            .checked_add(sectors)
            .is_none_or(|end| end > SECTORS_MAX)
        {
            return Err(too_far(job));
        }
        let amount = match job.amount.is_endless {
            true => None,
            false => Some(io_bytes.map_or(sectors, |bytes| bytes / SECTOR_BYTES)),
        };
        parts.push(JobCopy {
            job: Arc::clone(job),
            first,
            sectors,
            amount,
        });
    }
    Ok(parts)
}

fn too_far(job: &Job) -> JobFileError {
    JobFileError {
        line: job.line,
        text: format!("[{}]", job.name),
        expected: format!("an end within {SECTORS_MAX} sectors"),
    }
}

/// The number of outstanding requests, and whether the jobs have rates. Both must be the same in all groups.
fn arrivals(groups: &[Vec<JobCopy>]) -> Result<(u32, bool), JobFileError> {
    let has_rate = |copy: &JobCopy| copy.job.pace.rate != Rate::Unbounded;
    let mut found: Option<(u32, bool)> = None;
    for group in groups {
        let depth = group
            .iter()
            .map(|copy| u64::from(copy.job.pace.depth))
            .sum::<u64>();
        // The number of copies and the depth of each copy are limited, so the sum fits.
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let has_rates = group.iter().any(has_rate);
        if let Some(odd) = group.iter().find(|copy| has_rate(copy) != has_rates) {
            return Err(JobFileError {
                line: odd.job.line,
                text: format!("[{}]", odd.job.name),
                expected: "rate or rate_iops in it, as in a parallel job: requests with and without times cannot be combined"
                    .to_owned(),
            });
        }
        match found {
            Some(before) if before != (depth, has_rates) => {
                let job = group.first().map(|copy| Arc::clone(&copy.job));
                let line = job.as_ref().and_then(|job| job.waits);
                return Err(JobFileError {
                    line: line.unwrap_or(1),
                    text: "stonewall".to_owned(),
                    expected: format!(
                        "the same number of outstanding requests before and after the barrier ({} before, {depth} after), and rates for all jobs or for none; or the parameter job, which names one job to run",
                        before.0
                    ),
                });
            }
            _ => found = Some((depth, has_rates)),
        }
    }
    Ok(found.unwrap_or((1, false)))
}

/// Returns an error if `requests` requests of one copy would not arrive within 2^63 ticks.
fn check_span(groups: &[Vec<JobCopy>], requests: u64) -> Result<(), JobFileError> {
    const SPAN_S: u64 = (1 << 63) / (TICKS_PER_MS * 1000);
    for copy in groups.iter().flatten() {
        let job = &copy.job;
        let longest = lengths_of(job).map(|lengths| u64::from(lengths.longest()));
        let most = match job.pace.rate {
            Rate::Unbounded => continue,
            Rate::RequestsPerSecond(rate) => SPAN_S.saturating_mul(rate),
            Rate::BytesPerSecond(rate) => {
                SPAN_S.saturating_mul(rate) / (longest.max().unwrap_or(1) * SECTOR_BYTES)
            }
        };
        if requests > most {
            return Err(JobFileError {
                line: job.line,
                text: format!("[{}]", job.name),
                expected: format!(
                    "at most {most} requests at this rate, so that they arrive within 29 years"
                ),
            });
        }
    }
    Ok(())
}

/// The number of requests that the jobs specify. If the lengths of requests vary, or if a job with reads and writes has
/// flushes, the number is an upper bound.
fn asked_for(groups: &[Vec<JobCopy>]) -> u64 {
    let of = |copy: &JobCopy| -> Option<u64> {
        let job = &copy.job;
        let shortest = lengths_of(job).map(|lengths| u64::from(lengths.shortest()));
        let by_size = copy.amount? / shortest.min().unwrap_or(1);
        let count = job
            .amount
            .requests
            .map_or(by_size, |most| most.min(by_size));
        let all = count.saturating_mul(job.amount.loops);
        let writes = matches!(job.mix, Mix::Write | Mix::Both(_));
        let flushes = match (job.mix, job.syncs.every) {
            (_, 0) | (Mix::Read | Mix::Trim, _) => 0,
            (Mix::Write, every) => all.saturating_sub(1) / every,
            // A flush can follow every request from the write of number `every` on, except the last request.
            (Mix::Both(_), every) => all.saturating_sub(every),
        };
        let at_end = u64::from(job.syncs.at_end && writes) * job.amount.loops;
        Some(all.saturating_add(flushes).saturating_add(at_end))
    };
    let counts: Option<Vec<u64>> = groups.iter().flatten().map(of).collect();
    let all = counts.map(|counts| counts.into_iter().fold(0u64, u64::saturating_add));
    all.unwrap_or(ENDLESS_REQUESTS).clamp(1, 1 << 40)
}
