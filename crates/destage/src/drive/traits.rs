//! Properties of a measured drive that decide which mechanisms a fit models. The rules are the same for every drive,
//! and use only the rows for fitting.

use super::experiment::Pattern;
use super::loads;
use super::measured::{Measurements, Shape};
use super::readings;
use crate::error::Error;

/// A limit on the 99th percentile of write times, in microseconds. A drive that exceeds it at a load well below
/// saturation stalls writes.
const STALL_US: f64 = 200.0;
/// A load counts as well below saturation if its write rate is below this fraction of the highest write rate.
const WELL_BELOW: f64 = 0.75;
/// If the fastest reads take at least this many times as long at a load well below saturation as at the lightest
/// load, the drive reads more slowly under load. The fastest reads wait for nothing at either load.
const SLOWER: f64 = 1.25;
/// If writes at the 99th percentile take at least this many microseconds longer than the median write, at a load well
/// below saturation, they wait for programs.
const WAIT_US: f64 = 10.0;
/// The search for the load at which reads become slower begins at this multiple of the lightest load.
const ABOVE_LIGHTEST: f64 = 1.5;

/// The properties of a drive.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Traits {
    /// Whether the drive stalls writes at a load well below saturation.
    pub stalls: bool,
    /// If the drive reads more slowly under load: how much longer, in per cent, and the number of writes a second at
    /// which the search for the beginning of this effect starts.
    pub slower: Option<(f64, f64)>,
    /// If writes of a drive that does not stall wait at a load well below saturation: the time, in microseconds.
    pub wait: Option<f64>,
    /// The share of its flash that the drive programs for itself, in per cent, if a sequential fill shows it.
    pub own: Option<f64>,
}

/// The measured times of one load.
struct AtLoad {
    writes_per_s: f64,
    offered: f64,
    /// The 10th percentile of reads, and the 50th and the 99th of writes, in microseconds.
    times: [Option<f64>; 3],
}

const TIMES: [(&str, &str); 3] = [("read", "10"), ("write", "50"), ("write", "99")];

/// The properties of the drive whose rows for fitting are `files`.
///
/// # Errors
/// If a cell of a row is no number, or no percentile.
pub(super) fn traits(files: &[Measurements]) -> Result<Traits, Error> {
    let mut traits = Traits::default();
    for file in files.iter().filter(|file| file.shape == Shape::Latency) {
        let loads = loads(file)?;
        let most = loads.iter().map(|load| load.writes_per_s);
        let most = most.fold(0.0, f64::max);
        let below: Vec<_> = loads
            .iter()
            .filter(|load| load.writes_per_s < WELL_BELOW * most)
            .collect();
        let Some(light) = below.first() else {
            continue;
        };
        let mut tails = below.iter().filter_map(|load| load.times[2]);
        traits.stalls |= tails.any(|us| us > STALL_US);
        for load in &below[1..] {
            if let ([Some(before), Some(fixed), _], [Some(now), Some(median), Some(tail)]) =
                (light.times, load.times)
            {
                // Reads and writes spend about the same time outside the flash. If writes take longer than reads, that
                // time is not known.
                let flash = match before > fixed {
                    true => (now - fixed) / (before - fixed),
                    false => now / before,
                };
                if now > SLOWER * before && flash.is_finite() {
                    let percent = 100.0 * (flash - 1.0);
                    traits.slower = Some((percent, ABOVE_LIGHTEST * light.offered));
                }
                let wait = tail - median;
                if wait > WAIT_US {
                    traits.wait = Some(wait);
                }
            }
        }
    }
    traits.wait = traits.wait.filter(|_| !traits.stalls);
    for file in files.iter().filter(|file| file.shape == Shape::Fill) {
        traits.own = own(file)?;
    }
    Ok(traits)
}

/// The share of its flash that the drive programs for itself, in per cent: what it programs beyond the written pages
/// while an empty drive is written in order, when there is no garbage to collect. `None` if the drive programs no more
/// than is written. A counter whose unit is not known may say so; such tables are scaled to this fill.
fn own(file: &Measurements) -> Result<Option<f64>, Error> {
    let (mut written, mut programmed) = (0.0, 0.0);
    let chains = readings::fill(file)?.chains;
    for (phase, _, intervals) in chains.iter().flat_map(|chain| &chain.phases) {
        if !matches!(phase.pattern, Pattern::Sequential) {
            continue;
        }
        for interval in intervals {
            let [amplification, _] = &interval.readings;
            written += interval.to - interval.from;
            programmed += (interval.to - interval.from) * amplification.value;
        }
    }
    Ok((programmed > written).then(|| 100.0 * (1.0 - written / programmed)))
}

/// The loads of `file`, the lightest first.
fn loads(file: &Measurements) -> Result<Vec<AtLoad>, Error> {
    let mut all: Vec<AtLoad> = Vec::new();
    for row in &file.rows {
        let offered = file.number(row, "offered_writes_per_s")?;
        let place = match all.iter().position(|load| load.offered == offered) {
            Some(place) => place,
            None => {
                all.push(AtLoad {
                    writes_per_s: file.number(row, "writes_per_s")?,
                    offered,
                    times: [None; 3],
                });
                all.len() - 1
            }
        };
        let (op, percentile) = (file.text(row, "op"), loads::percentile(file, row)?);
        if let Some(which) = TIMES
            .iter()
            .position(|time| *time == (op, percentile.as_str()))
        {
            all[place].times[which] = Some(file.number(row, "us_median_of_3")?);
        }
    }
    all.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The traits of a drive with two loads below saturation; each load has the 10th percentile of reads, and the
    /// 50th and 99th of writes.
    fn found(light: [f64; 3], half: [f64; 3]) -> Traits {
        let columns = [
            "drive",
            "offered_writes_per_s",
            "writes_per_s",
            "op",
            "percentile",
            "us_median_of_3",
        ];
        let mut rows = Vec::new();
        for (load, times) in [
            (10_000, light),
            (60_000, half),
            (150_000, [300.0, 900.0, 5000.0]),
        ] {
            let done = load.min(100_000);
            for ((op, percentile), us) in TIMES.iter().zip(times) {
                rows.push(format!("D,{load},{done},{op},{percentile},{us}"));
            }
        }
        let file = Measurements::of_lines(Shape::Latency, &columns, &rows);
        traits(&[file]).unwrap()
    }

    #[test]
    fn each_property_is_seen_by_its_own_rows() {
        let plain = found([55.0, 10.0, 12.0], [56.0, 10.0, 13.0]);
        assert_eq!(plain, Traits::default());
        let stalls = found([55.0, 10.0, 12.0], [56.0, 10.0, 300.0]);
        assert!(stalls.stalls && stalls.wait.is_none() && stalls.slower.is_none());
        let waits = found([55.0, 10.0, 12.0], [56.0, 10.0, 40.0]);
        assert_eq!((waits.stalls, waits.wait), (false, Some(30.0)));
        let slower = found([48.0, 8.0, 9.0], [80.0, 8.0, 9.0]);
        assert_eq!(slower.slower, Some((80.0, 15_000.0)));
    }

    /// The share that a drive programs for itself is seen in the fill in order only, and weighted by what is written.
    #[test]
    fn a_fill_in_order_shows_what_the_drive_programs_for_itself() {
        let found = |lines: &[&str]| {
            let columns = [
                "run",
                "started",
                "used_gib",
                "pattern",
                "drive_writes",
                "waf",
                "host_mib_per_s",
            ];
            let file = Measurements::of_lines(Shape::Fill, &columns, lines);
            traits(&[file]).unwrap().own
        };
        let fill = [
            "r,1,500,sequential,0.25,1.1,900",
            "r,1,500,sequential,1,1.05,900",
            "r,2,500,uniform,0.5,2,900",
        ];
        // 0.25 capacities at 1.1 and 0.75 at 1.05: the drive programs 1.0625 for each capacity written.
        let own = found(&fill).unwrap();
        assert!((own - 100.0 * 0.0625 / 1.0625).abs() < 1e-9, "{own}");
        assert_eq!(found(&fill[2..]), None);
        // A counter that was scaled to the fill in order.
        let scaled = [
            "r,1,500,sequential-noshuffle,0.5,0.93,900",
            "r,1,500,sequential-noshuffle,1,1.06,900",
        ];
        assert_eq!(found(&scaled), None);
    }

    /// If writes take longer than reads, their time is no part of the time of reads.
    #[test]
    fn reads_that_are_faster_than_writes_can_become_slower() {
        let found = found([50.0, 60.0, 62.0], [70.0, 60.0, 62.0]);
        let (percent, _) = found.slower.unwrap();
        assert!((percent - 40.0).abs() < 1e-9, "{percent}");
    }
}
