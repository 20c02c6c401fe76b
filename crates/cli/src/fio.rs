//! Responses in the form in which fio writes them (`--output-format=json+`). Programs that plot results of fio can
//! then plot runs and replays too.
//!
//! Response times are counted in the bins of fio: one bin for each nanosecond below 128 ns, and 64 bins for each
//! doubling beyond that. The name of a bin is the time in its middle. Percentiles are computed from the bins, as in
//! fio. Means and deviations are computed from the times themselves.

use std::path::Path;

use destage::files::PendingFile;
use destage_base::bins::{bin_of, values_of};
use destage_base::time::{TICKS_PER_MS, TICKS_PER_SECOND};
use destage_sim::observer::Response;
use destage_trace::Operation;
use destage_trace::request::SECTOR_BYTES;
use serde_json::{Map, Value, json};

use crate::errors::Failure;
use crate::output::json;

/// The number of bits after the leading bit of a time that determine the bin of the time.
const BITS: u32 = 6;
/// The number of bins between a time and twice this time.
const IN_GROUP: usize = 1 << BITS;
/// The number of groups of bins. The times of a group are twice the times of the previous group.
const GROUPS: usize = 29;
/// The percentiles that fio prints by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
const TICKS_PER_NS: f64 = TICKS_PER_MS as f64 / 1e6;

/// Counts all responses, and writes the file at the end.
pub(crate) struct FioLog {
    file: PendingFile,
    /// The directions of fio: reads, writes, trims, and flushes, which fio calls sync.
    kinds: [Kind; 4],
    first: Option<u64>,
    last: u64,
    job: Job,
}

/// The properties of the run or replay, which the file describes as a job of fio.
pub(crate) struct Job {
    /// The name of the input.
    pub(crate) name: String,
    /// The simulator or server, as the value of fio's `--ioengine`.
    pub(crate) engine: &'static str,
    /// The queue depth. It has no effect if requests are sent at the times of the trace.
    pub(crate) depth: u64,
}

/// The statistics of the requests of one kind.
struct Kind {
    bins: Vec<u64>,
    requests: u64,
    bytes: u64,
    least: f64,
    most: f64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    spread: f64,
    /// The size of the requests, if all have the same size.
    size: Option<u64>,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            bins: vec![0; GROUPS * IN_GROUP],
            requests: 0,
            bytes: 0,
            least: f64::INFINITY,
            most: 0.0,
            mean: 0.0,
            spread: 0.0,
            size: None,
        }
    }
}

/// The bin of a time in ns.
fn bin(nanoseconds: u64) -> usize {
    bin_of::<BITS>(nanoseconds).min(GROUPS * IN_GROUP - 1)
}

/// The time in ns that represents the bin `index`.
fn middle(index: usize) -> u64 {
    let times = values_of::<BITS>(index);
    times.start() + (times.end() - times.start()).div_ceil(2)
}

impl Kind {
    fn add(&mut self, ticks: u64, bytes: u64) {
        let time = ticks as f64 / TICKS_PER_NS;
        self.bins[bin(time as u64)] += 1;
        self.size = if self.requests == 0 || self.size == Some(bytes) {
            Some(bytes)
        } else {
            None
        };
        self.requests += 1;
        self.bytes += bytes;
        self.least = self.least.min(time);
        self.most = self.most.max(time);
        let from_mean = time - self.mean;
        self.mean += from_mean / self.requests as f64;
        self.spread += from_mean * (time - self.mean);
    }

    fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.requests as f64;
        let mut seen = 0;
        for (index, count) in self.bins.iter().enumerate() {
            seen += count;
            if *count > 0 && seen as f64 >= wanted {
                return middle(index);
            }
        }
        0
    }

    /// An object with `min`, `max`, `mean`, `stddev` and `N`. With `with_bins`, and if there are requests, also
    /// percentiles and bins.
    fn latency(&self, with_bins: bool) -> Value {
        let mut map = Map::new();
        let some = self.requests > 0;
        let deviation = match self.requests {
            0 | 1 => 0.0,
            more => (self.spread / (more - 1) as f64).sqrt(),
        };
        map.insert(
            "min".into(),
            json!(if some { self.least as u64 } else { 0 }),
        );
        map.insert("max".into(), json!(self.most as u64));
        map.insert("mean".into(), json!(self.mean));
        map.insert("stddev".into(), json!(deviation));
        map.insert("N".into(), json!(self.requests));
        if with_bins && some {
            let percentiles = PERCENTILES
                .map(|percent| (format!("{percent:.6}"), json!(self.percentile(percent))));
            map.insert(
                "percentile".into(),
                Value::Object(percentiles.into_iter().collect()),
            );
            let bins = self
                .bins
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0);
            let bins = bins.map(|(index, count)| (middle(index).to_string(), json!(count)));
            map.insert("bins".into(), Value::Object(bins.collect()));
        }
        Value::Object(map)
    }

    /// The object that fio prints for a direction. `seconds` is the duration of the job.
    fn direction(&self, seconds: f64) -> Value {
        let rate = |count: u64| {
            if seconds > 0.0 {
                count as f64 / seconds
            } else {
                0.0
            }
        };
        let none = Self::default();
        let bytes_a_second = rate(self.bytes);
        json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes / 1024,
            "bw_bytes": bytes_a_second as u64,
            "bw": (bytes_a_second / 1024.0) as u64,
            "iops": rate(self.requests),
            "runtime": (seconds * 1e3) as u64,
            "total_ios": self.requests,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": none.latency(false),
            "clat_ns": self.latency(true),
            "lat_ns": self.latency(false),
            "bw_min": 0, "bw_max": 0, "bw_agg": 0.0, "bw_mean": bytes_a_second / 1024.0, "bw_dev": 0.0, "bw_samples": 0,
            "iops_min": 0, "iops_max": 0, "iops_mean": rate(self.requests), "iops_stddev": 0.0, "iops_samples": 0,
        })
    }
}

impl FioLog {
    /// Begins the file at `path`.
    pub(crate) fn create(path: &Path, job: Job) -> Result<Self, Failure> {
        Ok(Self {
            file: PendingFile::create(path)?,
            kinds: Default::default(),
            first: None,
            last: 0,
            job,
        })
    }

    /// Counts a request that has completed. A request that never completes is left out.
    pub(crate) fn add(&mut self, response: &Response) {
        let Some(ticks) = response.response else {
            return;
        };
        let place = match response.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim => 2,
            Operation::Flush => 3,
        };
        self.kinds[place].add(ticks, u64::from(response.sectors) * SECTOR_BYTES);
        self.first = Some(
            self.first
                .map_or(response.arrival, |first| first.min(response.arrival)),
        );
        self.last = self.last.max(response.arrival.saturating_add(ticks));
    }

    /// Returns the complete file, which is not renamed to its final name yet.
    pub(crate) fn finish(mut self) -> Result<PendingFile, Failure> {
        let text = json::text(&self.document());
        self.file.put(text)?;
        Ok(self.file)
    }

    fn document(&self) -> Value {
        let [read, write, trim, sync] = &self.kinds;
        let seconds =
            self.last.saturating_sub(self.first.unwrap_or(0)) as f64 / TICKS_PER_SECOND as f64;
        let pattern = match (read.requests > 0, write.requests > 0, trim.requests > 0) {
            (true, true, _) => "randrw",
            (true, false, _) => "randread",
            (false, false, true) => "randtrim",
            _ => "randwrite",
        };
        let sizes: Vec<u64> = [read, write]
            .iter()
            .filter(|kind| kind.requests > 0)
            .filter_map(|kind| kind.size)
            .collect();
        let kinds = [read, write]
            .iter()
            .filter(|kind| kind.requests > 0)
            .count();
        let block = match sizes[..] {
            [one] if kinds == 1 => one.to_string(),
            [one, other] if one == other => one.to_string(),
            _ => "mixed".to_owned(),
        };
        let (depth, name) = (self.job.depth.to_string(), &self.job.name);
        let options = json!({
            "name": name,
            "filename": name,
            "ioengine": self.job.engine,
            "rw": pattern,
            "bs": block,
            "iodepth": depth,
            "numjobs": "1",
        });
        let milliseconds = (seconds * 1e3) as u64;
        json!({
            // Programs that read such files check the version of fio. Version 3.36 writes files of this form.
            "fio version": "fio-3.36",
            "destage version": destage::version(),
            "timestamp": 0,
            "timestamp_ms": 0,
            "time": "Thu Jan  1 00:00:00 1970",
            "global options": {},
            "jobs": [{
                "jobname": name,
                "groupid": 0,
                "job_start": 0,
                "error": 0,
                "eta": 0,
                "elapsed": seconds.ceil() as u64,
                "job options": options,
                "read": read.direction(seconds),
                "write": write.direction(seconds),
                "trim": trim.direction(seconds),
                "sync": { "total_ios": sync.requests, "lat_ns": sync.latency(true) },
                "job_runtime": milliseconds,
                "usr_cpu": 0.0, "sys_cpu": 0.0, "ctx": 0, "majf": 0, "minf": 0,
                "iodepth_level": { "1": 100.0, "2": 0.0, "4": 0.0, "8": 0.0, "16": 0.0, "32": 0.0, ">=64": 0.0 },
                "latency_ns": self.shares(&[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000], 1),
                "latency_us": self.shares(&[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000], 1_000),
                "latency_ms": self.shares(&[2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000], 1_000_000),
                "latency_depth": self.job.depth,
                "latency_target": 0,
                "latency_percentile": 100.0,
                "latency_window": 0,
            }],
            "disk_util": [],
        })
    }

    /// For each of `bounds`, the percentage of requests whose time is below the bound and not below the previous
    /// bound. Bounds are in `unit` ns. Times below one `unit` are counted only with the next finer unit.
    fn shares(&self, bounds: &[u64], unit: u64) -> Value {
        let directions = &self.kinds[..3];
        let all: u64 = directions.iter().map(|kind| kind.requests).sum();
        let within = |from: u64, to: u64| -> u64 {
            let bins = directions
                .iter()
                .flat_map(|kind| kind.bins.iter().enumerate());
            let bins = bins.filter(|(index, _)| (from..to).contains(&middle(*index)));
            bins.map(|(_, count)| count).sum()
        };
        let mut from = if unit == 1 { 0 } else { unit };
        let mut map = Map::new();
        let mut add = |name: String, count: u64| {
            let share = if all == 0 {
                0.0
            } else {
                100.0 * count as f64 / all as f64
            };
            map.insert(name, json!(share));
        };
        for bound in bounds {
            let to = bound.saturating_mul(unit);
            add(bound.to_string(), within(from, to));
            from = to;
        }
        if unit == 1_000_000 {
            add(">=2000".to_owned(), within(from, u64::MAX));
        }
        Value::Object(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_fio() {
        // These follow plat_val_to_idx and plat_idx_to_val of fio's stat.c.
        for (time, index, name) in [
            (0, 0, 0),
            (127, 127, 127),
            (128, 128, 129),
            (129, 128, 129),
            (255, 191, 255),
            (256, 192, 258),
            (1000, 317, 1004),
            (1_000_000, 954, 1_003_520),
        ] {
            assert_eq!(bin(time), index, "{time}");
            assert_eq!(middle(index), name, "{time}");
        }
        for time in [1, 77, 128, 1 << 20, 123_456_789, 1 << 33] {
            let off = middle(bin(time)).abs_diff(time) as f64;
            assert!(off <= time as f64 / 64.0, "{time}");
        }
        assert_eq!(bin(u64::MAX), GROUPS * IN_GROUP - 1);
    }

    #[test]
    fn counts_and_moments_are_of_the_times() {
        let mut kind = Kind::default();
        for microseconds in [10_u64, 20, 30, 40] {
            kind.add(microseconds * 10_000, 4096);
        }
        let said = kind.latency(true);
        assert_eq!(said["mean"], 25_000.0);
        assert_eq!(
            (&said["min"], &said["max"], &said["N"]),
            (&json!(10_000), &json!(40_000), &json!(4))
        );
        let deviation = said["stddev"].as_f64().unwrap();
        assert!(
            (deviation - 12_909.944_487_358_055).abs() < 1e-6,
            "{deviation}"
        );
        let half = said["percentile"]["50.000000"].as_u64().unwrap();
        assert!(half.abs_diff(20_000) < 320, "{half}");
        assert_eq!(said["bins"].as_object().unwrap().len(), 4);
        assert_eq!(kind.size, Some(4096));
    }
}
