//! Interprets the options of a job.

use super::JobFileError;
use super::file::{Given, Section};
use super::values::{Lengths, SIZE, Span, by_kind, of_units};

/// The operations of a job's requests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Mix {
    Read,
    Write,
    Trim,
    /// Reads and writes. The number is the share of reads in percent.
    Both(f64),
}

/// The order in which a job visits the blocks of its region of the file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Order {
    Sequential,
    /// In random order. Every block is visited once before any block is visited again.
    Shuffled,
    /// At random, independently of earlier requests.
    Uniform,
    /// At random by a Zipf law with this exponent.
    Zipf(f64),
}

/// A size in bytes or in percent of a file, and the option that gives it.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    pub span: Span,
    pub given: Given,
}

/// The region of a file that a job uses.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The value of `filename`; `None` if each copy of the job has its own file.
    pub file: Option<String>,
    pub size: Option<Measure>,
    pub offset: Option<Measure>,
    /// The distance between the offsets of two consecutive copies of the job.
    pub increment: Option<Measure>,
}

/// The conditions under which a job ends.
#[derive(Clone, Debug)]
pub(super) struct Amount {
    /// The bytes that the job transfers in a loop. With `None`, they are as many as its region has.
    pub bytes: Option<Measure>,
    pub requests: Option<u64>,
    pub loops: u64,
    /// Whether only the elapsed time ends the job.
    pub is_endless: bool,
}

/// The rate of a job's requests. In a job with reads and writes, each of the two has this rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Rate {
    /// A request is issued when another request completes.
    Unbounded,
    RequestsPerSecond(u64),
    BytesPerSecond(u64),
}

/// The arrival of the requests of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pace {
    /// The number of outstanding requests of one copy.
    pub depth: u32,
    pub rate: Rate,
    /// Whether the gaps between arrivals are exponentially distributed. Otherwise the gaps are regular.
    pub is_poisson: bool,
}

/// The means by which the writes of a job become durable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Syncs {
    /// A flush is due while the number of writes so far is a multiple of this number; 0 if the job has no flushes. The
    /// flush comes before the next request.
    pub every: u64,
    /// Whether a flush follows the last request of each loop.
    pub at_end: bool,
    /// Whether each write must be durable before it is acknowledged.
    pub is_fua: bool,
}

/// A job of a fio job file.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub name: String,
    pub line: usize,
    pub copies: u32,
    pub mix: Mix,
    pub order: Order,
    /// The lengths of reads, of writes, and of trims.
    pub lengths: [Lengths; 3],
    pub part: Part,
    pub amount: Amount,
    pub pace: Pace,
    pub syncs: Syncs,
    /// The line of the option that lets the job begin only when all jobs before it have ended. `None` if the job has
    /// no such option.
    pub waits: Option<usize>,
    /// Messages for the user about options without effect.
    pub remarks: Vec<String>,
}

/// Engines that wait for each request before they issue the next one, whatever the value of `iodepth`.
const WAITING: [&str; 9] = [
    "psync", "sync", "pvsync", "pvsync2", "vsync", "mmap", "splice", "sg", "pmemblk",
];
/// Whether fio's engine `name` waits for each request before it issues the next one, whatever the value of `iodepth`.
/// `None` is the engine of a job that names none. The name may be followed by a colon and options.
#[must_use]
pub fn waits_for_each_request(name: Option<&str>) -> bool {
    WAITING.contains(&without_options(name.unwrap_or(WAITING[0])))
}

/// The name of an engine without the options that may follow it after a colon.
fn without_options(engine: &str) -> &str {
    engine.split(':').next().unwrap_or_default()
}

/// Engines that always have `iodepth` requests outstanding.
const QUEUEING: [&str; 10] = [
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "windowsaio",
    "solarisaio",
    "nbd",
    "xnvme",
    "libblkio",
    "null",
];

/// Options that have an effect in this simulator.
const UNDERSTOOD: [&str; 38] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "size",
    "io_size",
    "io_limit",
    "number_ios",
    "loops",
    "offset",
    "offset_increment",
    "filename",
    "nrfiles",
    "iodepth",
    "ioengine",
    "numjobs",
    "rwmixread",
    "rwmixwrite",
    "rate",
    "rate_iops",
    "rate_process",
    "fsync",
    "fdatasync",
    "end_fsync",
    "fsync_on_close",
    "sync",
    "random_distribution",
    "norandommap",
    "stonewall",
    "wait_for_previous",
    "time_based",
    "runtime",
    "timeout",
    "ramp_time",
    "kb_base",
];

/// Options that are ignored, because they change neither the requests to a drive nor the times of the requests.
const PASSED_OVER: &[&str] = &[
    "name",
    "description",
    "group_reporting",
    "new_group",
    "unified_rw_reporting",
    "thread",
    "direct",
    "buffered",
    "invalidate",
    "refill_buffers",
    "scramble_buffers",
    "zero_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "dedupe_mode",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "random_generator",
    "softrandommap",
    "fallocate",
    "create_serialize",
    "create_fsync",
    "create_on_open",
    "allow_file_create",
    "allow_mounted_write",
    "overwrite",
    "unlink",
    "unlink_each_loop",
    "directory",
    "filename_format",
    "unique_filename",
    "lockfile",
    "file_service_type",
    "openfiles",
    "ioscheduler",
    "mem",
    "iomem",
    "iomem_align",
    "mem_align",
    "hugepage-size",
    "lockmem",
    "cpus_allowed",
    "cpus_allowed_policy",
    "cpumask",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "nice",
    "prio",
    "prioclass",
    "uid",
    "gid",
    "cgroup",
    "cgroup_weight",
    "cgroup_nodelete",
    "exec_prerun",
    "exec_postrun",
    "exitall",
    "exit_what",
    "exitall_on_error",
    "continue_on_error",
    "ignore_error",
    "error_dump",
    "per_job_logs",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "log_entries",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_offset",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_unix_epoch",
    "block_error_percentiles",
    "bwavgtime",
    "iopsavgtime",
    "disk_util",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "slat_percentiles",
    "clat_percentiles",
    "lat_percentiles",
    "percentile_list",
    "significant_figures",
    "gtod_reduce",
    "gtod_cpu",
    "clocksource",
    "unit_base",
    "stats",
    "hipri",
    "userspace_reap",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "nonvectored",
    "force_async",
    "nowait",
    "io_submit_mode",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "iodepth_low",
    "fadvise_hint",
];

/// Options that change the requests to a drive or their times, and that are not simulated. They are accepted only
/// with the value 0.
const OFF_ONLY: [&str; 7] = [
    "thinktime",
    "startdelay",
    "verify",
    "do_verify",
    "trim_percentage",
    "pre_read",
    "atomic",
];

/// The largest number of copies of a job.
const COPIES_MAX: u64 = 1024;

impl Job {
    /// The job of `section`.
    ///
    /// # Errors
    /// If an option is unknown, or its value is not valid.
    pub fn read(section: &Section) -> Result<Self, JobFileError> {
        for given in &section.options {
            check_known(given)?;
        }
        let (mix, is_random) = direction(section)?;
        let mut remarks = Vec::new();
        let pace = pace(section, &mut remarks)?;
        let amount = amount(section, &mut remarks)?;
        if let Some(given) = section.find(&["ramp_time"]) {
            remarks.push(format!(
                "line {}: {} leaves nothing out of the statistics; use sim.warmup_requests",
                given.line,
                given.text()
            ));
        }
        Ok(Self {
            name: section.name.clone(),
            line: section.line,
            // `whole` returns at most `COPIES_MAX`, so the number fits in 32 bits.
            copies: whole(section, &["numjobs"], 1, COPIES_MAX)?.unwrap_or(1) as u32,
            mix,
            order: order(section, is_random)?,
            lengths: lengths(section)?,
            part: part(section)?,
            amount,
            pace,
            syncs: syncs(section)?,
            waits: waits(section)?,
            remarks,
        })
    }
}

/// Returns an error if the option is unknown, or if its effect is not simulated.
fn check_known(given: &Given) -> Result<(), JobFileError> {
    let key = given.key.as_str();
    if given
        .value
        .as_ref()
        .is_some_and(|value| value.contains("${"))
    {
        return Err(given.wrong("a value: variables of the environment are not read"));
    }
    if UNDERSTOOD.contains(&key) || PASSED_OVER.contains(&key) {
        return Ok(());
    }
    if OFF_ONLY.contains(&key) {
        return match given.value.as_deref() {
            Some("0") => Ok(()),
            _ => Err(given.wrong(format!(
                "0, or no such option: the effect of {key} is not simulated"
            ))),
        };
    }
    Err(given.wrong("an option that is understood; docs/workloads.md lists them"))
}

/// The value of the option with one of `names`, which must be a number from `least` to `most`. `None` if the section
/// has no such option.
fn whole(
    section: &Section,
    names: &[&str],
    least: u64,
    most: u64,
) -> Result<Option<u64>, JobFileError> {
    let Some(given) = section.find(names) else {
        return Ok(None);
    };
    let number = given
        .value
        .as_ref()
        .and_then(|value| super::values::bytes(value));
    match number.filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(given.wrong(format!("a whole number from {least} to {most}"))),
    }
}

/// Whether an option with one of `names` is set. An option is set if it has no value or the value 1.
fn flag(section: &Section, names: &[&str]) -> Result<bool, JobFileError> {
    match section.find(names) {
        None => Ok(false),
        Some(given) => match given.value.as_deref() {
            None | Some("1") => Ok(true),
            Some("0") => Ok(false),
            Some(_) => Err(given.wrong("0 or 1")),
        },
    }
}

/// The value of the option with one of `names`, as a size or a percentage. `None` if the section has no such option.
fn measure(section: &Section, names: &[&str]) -> Result<Option<Measure>, JobFileError> {
    let Some(given) = section.find(names) else {
        return Ok(None);
    };
    let span = given.value.as_ref().and_then(|value| Span::read(value));
    match span {
        Some(span) => Ok(Some(Measure {
            span,
            given: given.clone(),
        })),
        None => Err(given.wrong(format!(
            "{SIZE}, or a percentage from 1% to 100%{}",
            of_units(given.value.as_deref())
        ))),
    }
}

/// The operations of a job, and whether it visits its blocks in random order.
fn direction(section: &Section) -> Result<(Mix, bool), JobFileError> {
    let Some(given) = section.find(&["rw", "readwrite"]) else {
        // By default, fio reads sequentially.
        return Ok((Mix::Read, false));
    };
    let percent = |names: &[&str]| whole(section, names, 0, 100);
    let both = || -> Result<Mix, JobFileError> {
        let latest = section.find(&["rwmixread", "rwmixwrite"]);
        let reads = match latest.map(|given| given.key.as_str()) {
            Some("rwmixread") => percent(&["rwmixread"])?,
            Some(_) => percent(&["rwmixwrite"])?.map(|writes| 100 - writes),
            None => None,
        };
        Ok(Mix::Both(reads.unwrap_or(50) as f64))
    };
    Ok(match given.value.as_deref() {
        Some("read") => (Mix::Read, false),
        Some("write") => (Mix::Write, false),
        Some("trim") => (Mix::Trim, false),
        Some("rw" | "readwrite") => (both()?, false),
        Some("randread") => (Mix::Read, true),
        Some("randwrite") => (Mix::Write, true),
        Some("randtrim") => (Mix::Trim, true),
        Some("randrw") => (both()?, true),
        _ => {
            return Err(
                given.wrong("one of read, write, trim, rw, randread, randwrite, randtrim, randrw")
            );
        }
    })
}

fn order(section: &Section, is_random: bool) -> Result<Order, JobFileError> {
    let without_map = flag(section, &["norandommap"])?;
    let law = match section.find(&["random_distribution"]) {
        None => None,
        Some(given) => {
            let value = given.value.as_deref().unwrap_or_default();
            let exponent = match value.split_once(':') {
                Some(("zipf", exponent)) => exponent.parse().ok(),
                // The default exponent of fio.
                None if value == "zipf" => Some(1.2),
                None if value == "random" => Some(0.0),
                _ => None,
            };
            let exponent = exponent.filter(|exponent| (0.0..=10.0).contains(exponent));
            Some(exponent.ok_or_else(|| given.wrong("random, or zipf:THETA from 0 to 10"))?)
        }
    };
    Ok(match (is_random, law) {
        (false, _) => Order::Sequential,
        (true, Some(exponent)) if exponent > 0.0 => Order::Zipf(exponent),
        (true, _) if without_map => Order::Uniform,
        (true, _) => Order::Shuffled,
    })
}

/// The lengths of reads, writes and trims. The option `bssplit` overrides `bsrange`, and `bsrange` overrides `bs`.
fn lengths(section: &Section) -> Result<[Lengths; 3], JobFileError> {
    type Read = fn(&str) -> Option<Lengths>;
    let ways: [(&[&str], Read, &str); 3] = [
        (
            &["bssplit"],
            Lengths::split,
            "SIZE/PERCENT and colons in between, percentages that sum up to 100",
        ),
        (&["bsrange", "blocksize_range"], Lengths::range, "LOW-HIGH"),
        (&["bs", "blocksize"], Lengths::fixed, "a size"),
    ];
    for (names, read, expected) in ways {
        let Some(given) = section.find(names) else {
            continue;
        };
        let wrong = || {
            given.wrong(format!(
                "{expected} in multiples of 512 bytes, for reads, writes and trims with commas in between{}",
                of_units(given.value.as_deref())
            ))
        };
        let parts = given.value.as_deref().and_then(by_kind).ok_or_else(wrong)?;
        let mut all = [Lengths::DEFAULT; 3];
        for (lengths, part) in all.iter_mut().zip(parts) {
            if let Some(part) = part {
                *lengths = read(part).ok_or_else(wrong)?;
            }
        }
        return Ok(all);
    }
    Ok([Lengths::DEFAULT; 3])
}

fn part(section: &Section) -> Result<Part, JobFileError> {
    whole(section, &["nrfiles"], 1, 1)?;
    if let Some(given) = section.find(&["kb_base"])
        && given.value.as_deref() != Some("1024")
    {
        return Err(given.wrong("1024, or no such option"));
    }
    let file = section.find(&["filename"]);
    if let Some(given) = file
        && given
            .value
            .as_ref()
            .is_none_or(|name| name.is_empty() || name.contains(':'))
    {
        return Err(given.wrong("the name of one file"));
    }
    Ok(Part {
        file: file.and_then(|given| given.value.clone()),
        size: measure(section, &["size"])?,
        offset: measure(section, &["offset"])?,
        increment: measure(section, &["offset_increment"])?,
    })
}

fn amount(section: &Section, remarks: &mut Vec<String>) -> Result<Amount, JobFileError> {
    let is_endless = flag(section, &["time_based"])?;
    let runtime = section.find(&["runtime", "timeout"]);
    match (runtime, is_endless) {
        (Some(given), true) => remarks.push(format!(
            "line {}: {} does not end the job here; use the parameter requests",
            given.line,
            given.text()
        )),
        (Some(given), false) => remarks.push(format!(
            "line {}: {} does not end the job here; jobs end with their size",
            given.line,
            given.text()
        )),
        (None, _) => {}
    }
    let loops = whole(section, &["loops"], 1, 1 << 40)?.unwrap_or(1);
    let (bytes, requests) = (["io_size", "io_limit"], ["number_ios"]);
    let given = section.find(&["loops"]).filter(|_| loops > 1);
    if let (Some(given), Some(_)) = (given, section.find(&[bytes[0], bytes[1], requests[0]])) {
        return Err(given.wrong("1: several loops cannot be combined with io_size or number_ios"));
    }
    Ok(Amount {
        bytes: measure(section, &bytes)?,
        requests: whole(section, &requests, 1, 1 << 40)?,
        loops,
        is_endless,
    })
}

fn pace(section: &Section, remarks: &mut Vec<String>) -> Result<Pace, JobFileError> {
    let asked = whole(section, &["iodepth"], 1, u64::from(u16::MAX))?.unwrap_or(1) as u32;
    let engine = section.find(&["ioengine"]);
    let name = match engine {
        Some(given) => given.value.as_deref().unwrap_or_default(),
        None => WAITING[0],
    };
    let depth = match without_options(name) {
        name if WAITING.contains(&name) => {
            if let (Some(given), true) = (section.find(&["iodepth"]), asked > 1) {
                remarks.push(format!(
                    "line {}: {} has no effect, as in fio: the engine {name} waits for each request before the next",
                    given.line,
                    given.text()
                ));
            }
            1
        }
        name if QUEUEING.contains(&name) => asked,
        _ => {
            let (waiting, queueing) = (WAITING.join(", "), QUEUEING.join(", "));
            let expected = format!("an engine that reads and writes files: {waiting}, {queueing}");
            return Err(match engine {
                Some(given) => given.wrong(expected),
                None => JobFileError {
                    line: section.line,
                    text: name.to_owned(),
                    expected,
                },
            });
        }
    };
    let requests = whole(section, &["rate_iops"], 1, 1 << 30)?;
    let bytes = whole(section, &["rate"], 1, 1 << 50)?;
    let rate = match (requests, bytes) {
        (Some(rate), _) => Rate::RequestsPerSecond(rate),
        (None, Some(rate)) => Rate::BytesPerSecond(rate),
        (None, None) => Rate::Unbounded,
    };
    let is_poisson = match section.find(&["rate_process"]) {
        None => false,
        Some(given) => match given.value.as_deref() {
            Some("linear") => false,
            Some("poisson") => true,
            _ => return Err(given.wrong("linear or poisson")),
        },
    };
    Ok(Pace {
        depth,
        rate,
        is_poisson,
    })
}

fn syncs(section: &Section) -> Result<Syncs, JobFileError> {
    let is_fua = match section.find(&["sync"]) {
        None => false,
        Some(given) => match given.value.as_deref() {
            Some("0" | "none") => false,
            None | Some("1" | "sync" | "dsync") => true,
            Some(_) => return Err(given.wrong("one of none, sync, dsync")),
        },
    };
    Ok(Syncs {
        every: whole(section, &["fsync", "fdatasync"], 0, 1 << 40)?.unwrap_or(0),
        at_end: flag(section, &["end_fsync"])? || flag(section, &["fsync_on_close"])?,
        is_fua,
    })
}

/// The line of the option that lets the job begin only when all jobs before it have ended.
fn waits(section: &Section) -> Result<Option<usize>, JobFileError> {
    const NAMES: [&str; 2] = ["stonewall", "wait_for_previous"];
    let is_set = flag(section, &NAMES)?;
    let given = section.find(&NAMES).filter(|_| is_set);
    Ok(given.map(|given| given.line))
}
