//! Parameters that several stand-ins use, and the distributions of file sizes.

use crate::WorkloadError;
use crate::shared::{FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, contradiction, pick};
use destage_base::Random;
use destage_base::parameter::{Kind, Parameter};

/// The size of a volume that occupies the whole device of the BPLRU paper.
pub(super) const VOLUME_PAGES: Parameter = Parameter {
    default: "261120",
    about: "Size of the volume.",
    source: "BPLRU (FAST 2008), section 4: a device of 1 GB, less the size of its log blocks",
    ..FOOTPRINT_PAGES
};
pub(super) const BLOCK_BYTES: Parameter = Parameter {
    about: "Size of a file system's block and of the pages that all other parameters count; a multiple of 512.",
    ..PAGE_BYTES
};
pub(super) const GAP_MS: Parameter = Parameter {
    default: "1",
    ..MEAN_INTERARRIVAL_MS
};
pub(super) const MAX_REQUEST_PAGES: Parameter = Parameter {
    name: "max_request_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 15,
    },
    default: "32",
    unit: "pages",
    about: "Largest request: consecutive writes to neighbouring pages are merged up to this size.",
    source: "Linux 2.6: 128 KiB; Windows XP: 64 KiB",
    ..Parameter::BLANK
};
pub(super) const COMMIT_PAGES: Parameter = Parameter {
    name: "commit_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 32,
    },
    default: "256",
    unit: "pages",
    about: "Data written between two write-backs of data and metadata; the amount replaces the seconds between write-backs on the disk of the recorded trace.",
    source: "estimate",
    ..Parameter::BLANK
};
pub(super) const CHECKPOINT_COMMITS: Parameter = Parameter {
    name: "checkpoint_commits",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 32,
    },
    default: "6",
    unit: "commits",
    about: "Commits after which committed metadata is written to its place.",
    source: "Linux: dirty_expire 30 s over commits every 5 s",
    ..Parameter::BLANK
};
pub(super) const MEAN_FILE_BYTES: Parameter = Parameter {
    name: "mean_file_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 40,
    },
    default: "11400",
    unit: "bytes",
    about: "Mean size of a file; sizes are log-normally distributed.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MEDIAN_FILE_BYTES: Parameter = Parameter {
    name: "median_file_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 40,
    },
    default: "4500",
    unit: "bytes",
    about: "Median size of a file; one above the mean counts as the mean.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MIN_FILE_BYTES: Parameter = Parameter {
    name: "min_file_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 40,
    },
    default: "500",
    unit: "bytes",
    about: "Smallest new file; sizes from here to max_file_bytes are equally likely.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MAX_FILE_BYTES: Parameter = Parameter {
    name: "max_file_bytes",
    kind: Kind::Bytes {
        min: 1,
        max: 1 << 40,
    },
    default: "1MiB",
    unit: "bytes",
    about: "Largest file; larger drawn sizes are cut to it.",
    source: "",
    ..Parameter::BLANK
};

/// The distribution of the sizes of new files, in bytes.
#[derive(Clone, Debug)]
pub(super) struct FileSizes {
    law: Law,
    pub max: u64,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    LogNormal { median: f64, sigma: f64 },
    Uniform { min: u64 },
}

impl FileSizes {
    /// All sizes from `min` to `max` bytes are equally likely.
    pub fn uniform(workload: &'static str, min: u64, max: u64) -> Result<Self, WorkloadError> {
        if min > max {
            let expected = format!("at most max_file_bytes, {max}");
            let name = MIN_FILE_BYTES.name;
            return Err(contradiction(workload, name, min, expected));
        }
        let law = Law::Uniform { min };
        Ok(Self { law, max })
    }

    /// Log-normally distributed sizes with this mean and median. Sizes above `max` become `max`. All values are in
    /// bytes.
    pub fn log_normal(mean: u64, median: u64, max: u64) -> Self {
        let mean = mean as f64;
        let median = (median as f64).min(mean);
        // The mean of a log-normal distribution is median * e^(sigma^2 / 2).
        let sigma = (2.0 * libm::log(mean / median)).sqrt();
        let law = Law::LogNormal { median, sigma };
        Self { law, max }
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        match self.law {
            Law::Uniform { min } => min + pick(random, self.max - min + 1),
            Law::LogNormal { median, sigma } => {
                // The method is that of Box and Muller (1958). The second normal number of each pair is not used. The
                // square root of the standard library is the same on every machine; a logarithm is not, so it comes
                // from `libm`.
                let radius = (-2.0 * libm::log(1.0 - random.unit())).sqrt();
                let normal = radius * libm::cos(core::f64::consts::TAU * random.unit());
                ((median * libm::exp(sigma * normal)) as u64).clamp(1, self.max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_mean_and_the_median_asked_for() {
        let sizes = FileSizes::log_normal(11_400, 4500, 1 << 40);
        let mut random = Random::new(4);
        let drawn: Vec<u64> = (0..400_000).map(|_| sizes.draw(&mut random)).collect();
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        let below = drawn.iter().filter(|size| **size < 4500).count() as f64;
        // Each bound is five standard deviations away from the expected value.
        assert!((mean - 11_400.0).abs() < 5.0 * 42.0, "{mean}");
        assert!((below - 200_000.0).abs() < 5.0 * 317.0, "{below}");
        let sizes = FileSizes::log_normal(11_400, 4500, 100);
        assert!((0..1000).all(|_| (1..=100).contains(&sizes.draw(&mut random))));
        let sizes = FileSizes::log_normal(11_400, 1 << 20, 1 << 20);
        assert!((0..10).all(|_| sizes.draw(&mut random) == 11_400));
    }
}
