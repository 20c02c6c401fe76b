//! The reading of a file of measurements: the loads and phases to simulate, and the measured values. A wrong cell is
//! found here, before anything is simulated.

use destage_base::parameter::read_bytes;
use destage_trace::Operation;

use super::check::{Compared, LATENCY_DEPTH, RANDOM_WRITES, RATE_BYTES, RATE_DEPTHS};
use super::experiment::{Arrivals, BLOCK, Load, Pattern, Phase, Streams};
use super::loads::{self, Offer};
use super::measured::{Measurements, Row};
use crate::error::Error;

/// The columns of a fill that have measured values.
const FILL_VALUES: [&str; 2] = [AMPLIFICATION, FILL_RATE];
pub(super) const AMPLIFICATION: &str = "waf";
pub(super) const FILL_RATE: &str = "host_mib_per_s";
/// The largest amount that a fill writes, as a multiple of the used capacity.
const MOST_WRITES: f64 = 1_000.0;
/// The largest number of outstanding requests.
pub(super) const MOST_DEPTH: u64 = 1 << 16;
/// The column of the used capacity.
pub(super) const USED: &str = "used_gib";

/// A measured value with the range of its repetitions.
pub(super) struct Reading {
    /// The index of its row.
    row: usize,
    what: String,
    pub value: f64,
    low: f64,
    high: f64,
    counts: bool,
}

impl Reading {
    fn once(row: usize, what: impl Into<String>, value: f64) -> Self {
        Self {
            row,
            what: what.into(),
            value,
            low: value,
            high: value,
            counts: true,
        }
    }

    /// This value, if the range of its repetitions contains it.
    fn checked(self, measurements: &Measurements) -> Result<Self, Error> {
        if (self.low..=self.high).contains(&self.value) {
            return Ok(self);
        }
        Err(Error::Input(format!(
            "{}: {}: {}: the range begins at {} and ends at {}; expected the smallest and the largest of the repetitions, with the value between them",
            measurements.place(&measurements.rows[self.row]),
            self.what,
            self.value,
            self.low,
            self.high
        )))
    }

    /// This value with that of the model.
    pub fn beside(self, modelled: Option<f64>) -> Compared {
        let off = modelled.map(|modelled| modelled - modelled.clamp(self.low, self.high));
        let error = off.map(|off| off / self.value);
        Compared {
            row: self.row,
            what: self.what,
            measured: self.value,
            modelled,
            error: error.filter(|error| error.is_finite()),
            off: off.map(f64::abs),
            counts: self.counts,
        }
    }
}

/// Groups the rows of the file that have equal texts in `columns`. Groups and rows are in the order of the file.
fn groups(measurements: &Measurements, columns: &[&str]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<&str>, Vec<usize>)> = Vec::new();
    for (place, row) in measurements.rows.iter().enumerate() {
        let texts = columns.iter();
        let key: Vec<_> = texts.map(|column| measurements.text(row, column)).collect();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    groups.into_iter().map(|(_, places)| places).collect()
}

/// The capacity, in GiB, that an experiment used if it used only a part of the drive. A file of fills has such a
/// capacity for each phase.
///
/// # Errors
/// If a cell is no number above 0, or if rows differ.
pub(super) fn used_gib(measurements: &Measurements) -> Result<Option<f64>, Error> {
    let Some(first) = measurements.rows.first() else {
        return Ok(None);
    };
    let own = measurements.text(first, USED);
    let others = |row: &&Row| measurements.text(row, USED) != own;
    if let Some(other) = measurements.rows.iter().find(others) {
        let expected = format!("{own:?}, as in line {}", first.line);
        return Err(measurements.wrong(other, USED, &expected));
    }
    match own {
        "" => Ok(None),
        _ => measurements.positive(first, USED).map(Some),
    }
}

/// Response times by load.
pub(super) struct Latency {
    pub loads: Vec<Load>,
    pub times: Vec<Time>,
    /// The saturated write rate; `None` if no load saturates the drive.
    pub saturated: Option<Reading>,
}

/// A percentile of the response times under a load.
pub(super) struct Time {
    /// The index of the load.
    pub load: usize,
    pub operation: Operation,
    pub percentile: String,
    pub reading: Reading,
}

/// Reads a file of latencies over load.
///
/// # Errors
/// The first cell that is wrong.
pub(super) fn latency(measurements: &Measurements) -> Result<Latency, Error> {
    let offers = loads::of_rows(measurements)?;
    let saturation = loads::saturation(&offers);
    let groups = groups(measurements, &["offered_writes_per_s"]);
    let mut times = Vec::new();
    for (load, group) in groups.iter().enumerate() {
        for &place in group {
            let row = &measurements.rows[place];
            let op = measurements.text(row, "op");
            let operation = match op {
                "read" => Operation::Read,
                "write" => Operation::Write,
                _ => return Err(measurements.wrong(row, "op", "read or write")),
            };
            let percentile = loads::percentile(measurements, row)?;
            let name = match percentile.parse::<f64>() {
                Ok(_) => format!("p{percentile}"),
                Err(_) => percentile.clone(),
            };
            let reading = Reading {
                row: place,
                what: format!("{op} {name}"),
                value: measurements.number(row, "us_median_of_3")?,
                low: measurements.number(row, "us_low")?,
                high: measurements.number(row, "us_high")?,
                counts: loads::is_below(offers[place].served, saturation),
            };
            times.push(Time {
                load,
                operation,
                percentile,
                reading: reading.checked(measurements)?,
            });
        }
    }
    // The saturated rate is reported with the first row that reached it.
    let saturated = loads::saturated(&offers);
    let reading =
        |place: usize| Reading::once(place, "saturated writes_per_s", offers[place].served);
    Ok(Latency {
        loads: groups.iter().map(|group| load(&offers[group[0]])).collect(),
        times,
        saturated: saturated.map(reading),
    })
}

/// The load that repeats `offer`.
fn load(offer: &Offer) -> Load {
    let (writes, all) = (offer.writes(), offer.requests());
    let mean_ms = 1000.0 / all;
    Load {
        // At saturation the measured drive had all its requests outstanding, so the model uses a closed queue.
        arrivals: match offer.is_saturated() {
            true => Arrivals::Closed {
                depth: LATENCY_DEPTH,
            },
            false if offer.is_one_stream => Arrivals::Open {
                mean_ms,
                depth: LATENCY_DEPTH,
            },
            false => Arrivals::Several {
                mean_ms,
                streams: Streams {
                    first: [offer.stream / (all - writes), offer.stream / writes],
                },
            },
        },
        write_percent: 100.0 * writes / all,
        bytes: BLOCK,
        sequential: false,
    }
}

/// Write amplification and write rate by the amount written.
pub(super) struct Fill {
    pub chains: Vec<Chain>,
    /// The intervals that the model cannot write, and the reasons; one sentence each.
    pub unmodelled: Vec<Interval>,
    pub left_out: Vec<String>,
}

/// Consecutive phases of writes to one drive, which is empty before the first phase.
pub(super) struct Chain {
    /// The capacity that the host uses.
    pub used_gib: f64,
    /// Each phase, with the index of its first row and its intervals.
    pub phases: Vec<(Phase, usize, Vec<Interval>)>,
}

/// An interval of a phase. Its ends are multiples of the used capacity that the phase has written.
pub(super) struct Interval {
    pub from: f64,
    pub to: f64,
    /// The write amplification, and the host's write rate.
    pub readings: [Reading; 2],
}

/// Reads a file of write amplification.
///
/// # Errors
/// The first cell that is wrong.
pub(super) fn fill(measurements: &Measurements) -> Result<Fill, Error> {
    let mut chains: Vec<Chain> = Vec::new();
    let (mut unmodelled, mut left_out) = (Vec::new(), Vec::new());
    let mut before: Option<(&str, &str)> = None;
    for group in groups(measurements, &["run", USED, "started"]) {
        let row = &measurements.rows[group[0]];
        let text = |column: &str| measurements.text(row, column);
        let used_gib = measurements.positive(row, USED)?;
        let intervals = intervals(measurements, &group)?;
        let key = (text("run"), text(USED));
        let (kind, detail) = (text("pattern"), text("detail"));
        let Some(pattern) = pattern(kind, detail, block_bytes(text("block_bytes"))) else {
            left_out.push(format!(
                "{} rows of {} are not modelled: writes of the kind {kind} {detail:?} cannot be generated",
                group.len(),
                key.0
            ));
            before = None;
            unmodelled.extend(intervals);
            continue;
        };
        let is_fill = matches!(pattern, Pattern::Sequential | Pattern::Shuffled);
        let phase = Phase {
            pattern,
            drive_writes: drive_writes(&intervals, is_fill),
        };
        let phase = (phase, group[0], intervals);
        match (chains.last_mut(), before.take()) {
            (Some(chain), Some(of)) if of == key && !is_fill => chain.phases.push(phase),
            _ => chains.push(Chain {
                used_gib,
                phases: vec![phase],
            }),
        }
        before = is_fill.then_some(key);
    }
    Ok(Fill {
        chains,
        unmodelled,
        left_out,
    })
}

/// The amount that a phase with these `intervals` writes, as a multiple of the used capacity. A file lists whole
/// intervals, and the end of a fill is often shorter than an interval. So a fill whose last interval ends less than
/// its own length before the end of the used capacity is a complete fill. Otherwise pages that the fill has left out
/// would be free flash, and garbage collection would have more room than in the drive.
fn drive_writes(intervals: &[Interval], is_fill: bool) -> f64 {
    let Some(last) = intervals.last() else {
        return 0.0;
    };
    let rest = 1.0 - last.to;
    match is_fill && rest > 0.0 && rest < last.to - last.from {
        true => 1.0,
        false => last.to,
    }
}

/// The intervals of the rows `group`, which are of one phase.
fn intervals(measurements: &Measurements, group: &[usize]) -> Result<Vec<Interval>, Error> {
    let mut intervals = Vec::new();
    let mut from = 0.0;
    for &place in group {
        let row = &measurements.rows[place];
        let column = "drive_writes";
        let to = measurements.number(row, column)?;
        if to <= from || to > MOST_WRITES {
            let expected = format!(
                "a number above {from}, which is the end of the interval before, and up to {MOST_WRITES}"
            );
            return Err(measurements.wrong(row, column, &expected));
        }
        let reading = |what: &'static str| -> Result<Reading, Error> {
            Ok(Reading::once(place, what, measurements.number(row, what)?))
        };
        let [waf, rate] = FILL_VALUES;
        intervals.push(Interval {
            from,
            to,
            readings: [reading(waf)?, reading(rate)?],
        });
        from = to;
    }
    Ok(intervals)
}

/// The write pattern that a file names `text`, with the parameter `detail` and requests of `block` bytes; `None` if the
/// pattern is not known.
fn pattern(text: &str, detail: &str, block: Option<u64>) -> Option<Pattern> {
    Some(match text {
        "sequential" | "sequential-noshuffle" => Pattern::Sequential,
        "sequential-shuffle" => Pattern::Shuffled,
        "uniform" => Pattern::Uniform,
        "zipf" | "zipf-shuffle" | "zipf-noshuffle" => Pattern::Zipf {
            skew: detail.parse().ok()?,
            is_scattered: text != "zipf-noshuffle",
        },
        // The detail is `activeZones: 2 pagesPerZone: 4096`. In it, a page is a request of `block` bytes.
        "zns-noshuffle" => {
            let number = |name: &str| {
                let (_, rest) = detail.split_once(name)?;
                let text = rest.split_whitespace().next()?;
                text.parse::<u64>().ok().filter(|number| *number > 0)
            };
            Pattern::Zones {
                bytes: number("pagesPerZone:")?.checked_mul(block?)?,
                open: number("activeZones:")?,
            }
        }
        _ => return None,
    })
}

/// The number of bytes in `text`, such as `4k`, `1M` or `4096`; `None` if it is not a multiple of 4 KiB, or is too
/// large.
fn block_bytes(text: &str) -> Option<u64> {
    // fio also has small letters for the units.
    let bytes = match text.ends_with(['k', 'm', 'g']) {
        true => read_bytes(&text.to_ascii_uppercase()),
        false => read_bytes(text),
    };
    let fits = |bytes: &u64| *bytes > 0 && bytes.is_multiple_of(BLOCK) && *bytes <= BLOCK << 16;
    bytes.filter(fits)
}

/// A load of the experiment queue depth, with the measured rate, median and 99th percentile.
pub(super) struct AtDepth {
    pub load: Load,
    pub readings: [Reading; 3],
}

/// Reads a file of queue depths.
///
/// # Errors
/// The first cell that is wrong.
pub(super) fn depth(measurements: &Measurements) -> Result<Vec<AtDepth>, Error> {
    let mut found = Vec::new();
    for (place, row) in measurements.rows.iter().enumerate() {
        // The names of sequential requests differ from those of latencies over load.
        let (name, write_percent, sequential) = match measurements.text(row, "op") {
            "randread" => ("randread", 0.0, false),
            "randwrite" => ("randwrite", 100.0, false),
            "read" => ("seq read", 0.0, true),
            "write" => ("seq write", 100.0, true),
            _ => {
                let expected = "randread, randwrite, read or write";
                return Err(measurements.wrong(row, "op", expected));
            }
        };
        let bytes = block_bytes(measurements.text(row, "block_bytes")).ok_or_else(|| {
            let expected = "a multiple of 4096 up to 256M, such as 4k";
            measurements.wrong(row, "block_bytes", expected)
        })?;
        let of_job = measurements.whole(row, "iodepth", MOST_DEPTH)?;
        let jobs = measurements.whole(row, "jobs", MOST_DEPTH)?;
        let depth = of_job * jobs;
        if depth > MOST_DEPTH {
            let most = MOST_DEPTH / of_job;
            let expected =
                format!("at most {most} jobs, which have {MOST_DEPTH} outstanding requests");
            return Err(measurements.wrong(row, "jobs", &expected));
        }
        let reading = |what: &str, column: &str| -> Result<Reading, Error> {
            let value = measurements.number(row, column)?;
            Ok(Reading::once(place, format!("{name} {what}"), value))
        };
        found.push(AtDepth {
            load: Load {
                arrivals: match jobs {
                    1 => Arrivals::Job { depth },
                    _ => Arrivals::Closed { depth },
                },
                write_percent,
                bytes,
                sequential,
            },
            readings: [
                reading("iops", "iops")?,
                reading("p50", "p50_us")?,
                reading("p99", "p99_us")?,
            ],
        });
    }
    Ok(found)
}

/// The six saturated rates: the column of each, and the load that has it.
pub(super) fn rate_loads() -> [(&'static str, Load); 6] {
    let [of_blocks, of_bytes] = RATE_DEPTHS;
    let load = |write_percent, bytes, sequential| Load {
        arrivals: Arrivals::Closed {
            depth: match bytes {
                RATE_BYTES => of_bytes,
                _ => of_blocks,
            },
        },
        write_percent,
        bytes,
        sequential,
    };
    [
        ("rbps", load(0.0, RATE_BYTES, true)),
        ("rseqiops", load(0.0, BLOCK, true)),
        ("rrandiops", load(0.0, BLOCK, false)),
        ("wbps", load(100.0, RATE_BYTES, true)),
        ("wseqiops", load(100.0, BLOCK, true)),
        (RANDOM_WRITES, load(100.0, BLOCK, false)),
    ]
}

/// Reads a file of saturated rates. Each value has the index of its load among [`rate_loads`].
///
/// # Errors
/// The first cell that is wrong.
pub(super) fn rates(measurements: &Measurements) -> Result<Vec<(usize, Reading)>, Error> {
    let mut found = Vec::new();
    for (place, row) in measurements.rows.iter().enumerate() {
        for (of, (what, _)) in rate_loads().into_iter().enumerate() {
            let value = measurements.positive(row, what)?;
            let bound = |end: &str| {
                let column = format!("{what}_{end}");
                match measurements.text(row, &column).is_empty() {
                    true => Ok(value),
                    false => measurements.number(row, &column),
                }
            };
            let reading = Reading {
                row: place,
                what: what.to_owned(),
                value,
                low: bound("low")?,
                high: bound("high")?,
                counts: true,
            };
            found.push((of, reading.checked(measurements)?));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Measurements {
        Measurements::parse(text.as_bytes(), "t.csv", None).unwrap()
    }

    #[test]
    fn sizes_are_read_as_fio_writes_them() {
        for (text, bytes) in [
            ("4k", Some(4096)),
            ("4K", Some(4096)),
            ("128KiB", Some(128 << 10)),
            ("1M", Some(1 << 20)),
            ("1m", Some(1 << 20)),
            ("4096", Some(4096)),
            ("1g", None),
            ("6k", None),
            ("0", None),
            ("k", None),
        ] {
            assert_eq!(block_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_fill_without_its_last_part_is_completed() {
        let head = "drive,run,started,used_gib,pattern,detail,block_bytes,drive_writes,waf,host_mib_per_s\n";
        let phases = |rows: &str| {
            let read = fill(&parsed(&format!("{head}{rows}"))).unwrap();
            let chains = read.chains.iter();
            let phases = chains.flat_map(|chain| chain.phases.iter().map(|(phase, ..)| phase));
            phases.map(|phase| phase.drive_writes).collect::<Vec<_>>()
        };
        let in_order = |to: f64| format!("D,r,1,1,sequential,,524288,{to},1,10\n");
        let at_random = |to: f64| format!("D,r,2,1,uniform,,4096,{to},1,10\n");
        let rows = [
            in_order(0.48),
            in_order(0.962),
            at_random(0.48),
            at_random(0.9),
        ];
        assert_eq!(phases(&rows.concat()), [1.0, 0.9]);
        assert_eq!(phases(&[in_order(0.1), in_order(0.2)].concat()), [0.2]);
        assert_eq!(phases(&[in_order(1.0), in_order(1.1)].concat()), [1.1]);
    }

    #[test]
    fn wrong_depths_are_refused_with_their_line() {
        let head = "drive,op,block_bytes,iodepth,jobs,iops,p50_us,p99_us\n";
        for (row, expected) in [
            (
                "randread,4k,0.5,1,1,1,1",
                "iodepth: \"0.5\": expected a whole number from 1 to 65536",
            ),
            ("randread,4k,1,1e19,1,1,1", "jobs: \"1e19\""),
            (
                "randread,4k,256,512,1,1,1",
                "jobs: \"512\": expected at most 256 jobs",
            ),
            ("randread,6k,1,1,1,1,1", "block_bytes: \"6k\""),
            ("trim,4k,1,1,1,1,1", "op: \"trim\""),
            ("randread,4k,1,1,1,-1,1", "p50_us: \"-1\""),
        ] {
            let error = depth(&parsed(&format!("{head}D,{row}\n"))).err().unwrap();
            let error = error.to_string();
            assert!(
                error.contains("t.csv, line 2: ") && error.contains(expected),
                "{error}"
            );
        }
        let found = depth(&parsed(&format!("{head}D,write,4k,64,4,1,1,1\n"))).unwrap();
        assert!(matches!(
            found[0].load.arrivals,
            Arrivals::Closed { depth: 256 }
        ));
        let names = found[0].readings.each_ref().map(|reading| &*reading.what);
        assert_eq!(names, ["seq write iops", "seq write p50", "seq write p99"]);
    }

    #[test]
    fn intervals_ascend() {
        let head = "drive,run,started,used_gib,pattern,detail,block_bytes,drive_writes,waf,host_mib_per_s\n";
        let of = |writes: &[&str]| {
            let row = |writes: &&str| format!("D,r,1,0.5,uniform,,4096,{writes},1.5,10\n");
            fill(&parsed(&format!(
                "{head}{}",
                writes.iter().map(row).collect::<String>()
            )))
        };
        for (writes, expected) in [
            (
                vec!["0"],
                "line 2: drive_writes: \"0\": expected a number above 0",
            ),
            (
                vec!["1.0", "0.5"],
                "line 3: drive_writes: \"0.5\": expected a number above 1",
            ),
            (vec!["1e30"], "and up to 1000"),
        ] {
            let error = of(&writes).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let found = of(&["0.5", "2"]).unwrap();
        let intervals = &found.chains[0].phases[0].2;
        assert_eq!((intervals[1].from, intervals[1].to), (0.5, 2.0));
    }

    #[test]
    fn a_range_contains_its_value() {
        let head = "drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high\n";
        let of = |range: &str| {
            latency(&parsed(&format!(
                "{head}D,9000,9000,9,read,50.0,100,{range}\n"
            )))
        };
        for range in ["110,90", "900,1000", "1,99"] {
            let error = of(range).err().unwrap().to_string();
            assert!(
                error.contains("line 2: read p50: 100: the range begins at"),
                "{error}"
            );
        }
        let found = of("90,110").unwrap();
        assert_eq!(found.times[0].percentile, "50");
        assert!(found.saturated.is_none() && found.times[0].reading.counts);
    }

    #[test]
    fn the_used_capacity_is_one() {
        let head = "drive,capacity,rbps,rseqiops,rrandiops,wbps,wseqiops,wrandiops,used_gib\n";
        let rows = |used: [&str; 2]| {
            let row = |used: &str| format!("D,1 GB,1,1,1,1,1,1,{used}\n");
            used_gib(&parsed(&format!("{head}{}{}", row(used[0]), row(used[1]))))
        };
        assert_eq!(rows(["0.5", "0.5"]).unwrap(), Some(0.5));
        assert_eq!(rows(["", ""]).unwrap(), None);
        for (used, expected) in [
            (["0.5", ""], "line 3: used_gib: \"\""),
            (["0", "0"], "above 0"),
        ] {
            let error = rows(used).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
