//! Tests that measure simulated drives, and compare the results with the parameters of these drives.

use std::path::Path;

use destage::base::{Random, Ticks};
use destage::drive::{
    Check, CheckPlan, Command, Done, FitPlan, MeasurePlan, Measurements, Modelled, Row, Scale,
    Shape, Target, Use, What, check, fit, measure,
};
use destage::{Effort, Error, Grid, Input, Origin, Progress, Settings, Silent, Stage, compare};
use destage_sample::sampled;

/// The settings of a drive with four dies and a write buffer.
const DRIVE: [&str; 19] = [
    "flash.dies=4",
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=320",
    "flash.pages_per_block=128",
    "flash.page_bytes=4096",
    "flash.program_unit=4",
    "flash.copy_back=false",
    "flash.read_us=45",
    "flash.program_us=400",
    "flash.erase_us=2000",
    "flash.transfer_ns_per_byte=1",
    "ftl.kind=page",
    "ftl.placement=dynamic",
    "ftl.reserve_percent=25",
    "ftl.min_free_percent=1",
    "ftl.gc_step_pages=8",
    "host.bus_ns_per_sector=100",
    "buffer.kind=lru",
    "buffer.capacity_bytes=1MiB",
];

fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    settings
}

fn measured(settings: &Settings, plan: &MeasurePlan, folder: &Path) -> destage::drive::Measured {
    let mut target = Modelled::new("Hidden", settings, Scale::default()).unwrap();
    measure(&mut target, plan, folder, &Silent, &|_| {}).unwrap()
}

/// Compares the measured table `file` in `folder` with `drive`, the drive that was measured. Returns the median error
/// of each measured quantity.
fn errors(folder: &Path, file: &str, drive: &Settings) -> Vec<(String, f64)> {
    let measurements = Measurements::read(&folder.join(file), None).unwrap();
    assert_eq!(measurements.drive(), "Hidden");
    let plan = CheckPlan {
        requests: REQUESTS,
        ..CheckPlan::new(drive.clone())
    };
    let checked = check(measurements, &plan, &Effort::default()).unwrap();
    let summary = checked.summary().into_iter();
    summary.map(|of| (of.what, of.median)).collect()
}

const REQUESTS: u64 = 120_000;

fn plan() -> MeasurePlan {
    MeasurePlan {
        name: Some("Hidden".to_owned()),
        requests: REQUESTS,
        ..MeasurePlan::default()
    }
}

/// The values that `measure` gives for a simulated drive agree with the values of `check` for the same drive,
/// although `check` uses other commands at other times. Garbage collection proceeds in steps of a few pages here. If
/// it collected whole blocks at once, the four dies would collect in bursts. The two slowest of 20,000 requests
/// (p99.99) would then vary with the size of each burst. A sample compares the latencies alone.
#[test]
fn a_drive_is_what_its_tables_say() {
    let folder = tempfile::tempdir().unwrap();
    let drive = settings(&DRIVE);
    let tables = [
        (What::Latency, "latency.csv", Shape::Latency, 0.03),
        (What::Rates, "rates.csv", Shape::Rates, 0.02),
        (What::Depth, "queue-depth.csv", Shape::Depth, 0.08),
        (What::Waf, "waf.csv", Shape::Fill, 0.04),
    ];
    let tables = &tables[..sampled(1, tables.len())];
    let plan = MeasurePlan {
        what: tables.iter().map(|(what, ..)| *what).collect(),
        ..plan()
    };
    let found = measured(&drive, &plan, folder.path());
    assert!(found.left_out.is_empty(), "{:?}", found.left_out);
    for (_, file, shape, most) in tables {
        let measurements = Measurements::read(&folder.path().join(file), None).unwrap();
        assert_eq!(measurements.shape, *shape);
        for (what, error) in errors(folder.path(), file, &drive) {
            assert!(error <= *most, "{file}: {what}: {error}");
        }
    }
    // A drive whose flash reads last twice as long does not agree with the table.
    let mut other = drive;
    other.set_pair("flash.read_us=90").unwrap();
    let off = errors(folder.path(), "latency.csv", &other);
    let off = off.iter().find(|(what, _)| what == "read p50").unwrap().1;
    assert!(off > 0.3, "{off}");
}

/// Stops the measurement after this many commands.
struct Until(u64);

impl Progress for Until {
    fn report(&self, _: Stage, done: u64, _: Option<u64>) -> bool {
        done < self.0
    }
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let drive = settings(&DRIVE);
    let short = MeasurePlan {
        what: vec![What::Rates, What::Depth],
        requests: 3_000,
        passes: 1,
        ..plan()
    };
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    measured(&drive, &short, whole.path());
    let mut told = Vec::new();
    // Each call continues the measurement of the same drive until it is interrupted.
    let mut target = Modelled::new("Hidden", &drive, Scale::default()).unwrap();
    for times in 1.. {
        assert!(times < 20, "it comes to no end");
        let steps = std::cell::RefCell::new(Vec::new());
        let tell = |step: &str| steps.borrow_mut().push(step.to_owned());
        let found = measure(&mut target, &short, parts.path(), &Until(180_000), &tell);
        told.extend(steps.into_inner());
        match found {
            Ok(found) => {
                assert!(times > 1);
                assert_eq!(found.files.len(), 3);
                break;
            }
            Err(Error::Interrupted) => assert!(!parts.path().join("measured.json").exists()),
            Err(error) => panic!("{error}"),
        }
    }
    // Only interrupted steps are done twice. Every other step is done once.
    let loads = told.iter().filter(|step| step.starts_with("depth"));
    let mut loads: Vec<_> = loads.collect();
    let all = loads.len();
    loads.sort();
    loads.dedup();
    assert!(loads.len() == 18 && all <= 20, "{told:?}");
    for file in ["rates.csv", "queue-depth.csv"] {
        let lines = |folder: &Path| {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            text.lines().count()
        };
        assert_eq!(lines(whole.path()), lines(parts.path()));
    }
    // Other options make another measurement, which cannot use the same folder.
    let other = MeasurePlan {
        requests: 4_000,
        ..short
    };
    let refused = measure(&mut target, &other, parts.path(), &Silent, &|_| {});
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("expected the same drive and options"),
        "{refused}"
    );
}

/// The size of a simulated drive that is filled quickly.
const SMALL: Scale = Scale {
    superblocks: 32,
    units: 8,
};

/// A short measurement of `what`.
fn short(what: What) -> MeasurePlan {
    MeasurePlan {
        what: vec![what],
        requests: 1_000,
        passes: 1,
        ..plan()
    }
}

/// A simulated drive that passes for a real one, with `ends` as the bytes at its ends.
struct Real {
    drive: Modelled,
    ends: Vec<u8>,
}

impl Real {
    fn new() -> Self {
        Self {
            drive: Modelled::new("Hidden", &settings(&DRIVE), SMALL).unwrap(),
            ends: vec![0],
        }
    }
}

impl Target for Real {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn name(&self) -> String {
        self.drive.name()
    }

    fn ends(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(Some(self.ends.clone()))
    }

    fn now(&mut self) -> Ticks {
        self.drive.now()
    }

    fn submit(&mut self, command: Command) -> Result<(), Error> {
        self.drive.submit(command)
    }

    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error> {
        self.drive.next(until)
    }

    fn programmed(&mut self) -> Result<Option<f64>, Error> {
        self.drive.programmed()
    }
}

/// The simulated drive of a second program is empty, so it is filled again, and its reads need flash. If it has other
/// parameters, it is another drive.
#[test]
fn a_new_simulated_drive_is_filled_again() {
    let mut drive = settings(&DRIVE);
    let folder = tempfile::tempdir().unwrap();
    for what in [What::Waf, What::Depth] {
        let mut target = Modelled::new("Hidden", &drive, SMALL).unwrap();
        let steps = std::cell::RefCell::new(Vec::new());
        let tell = |step: &str| steps.borrow_mut().push(step.to_owned());
        measure(&mut target, &short(what), folder.path(), &Silent, &tell).unwrap();
        let steps = steps.into_inner();
        assert!(
            steps.iter().any(|step| step == "fill in order"),
            "{steps:?}"
        );
    }
    let table = Measurements::read(&folder.path().join("queue-depth.csv"), None).unwrap();
    let alone = table.number(&table.rows[0], "p50_us").unwrap();
    assert!(alone > 45.0, "{alone}");
    drive.set_pair("flash.read_us=90").unwrap();
    let mut target = Modelled::new("Hidden", &drive, SMALL).unwrap();
    let refused = measure(
        &mut target,
        &short(What::Depth),
        folder.path(),
        &Silent,
        &|_| {},
    );
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("is of another measurement"), "{refused}");
}

/// A measurement is continued only if the drive holds what it has written. Steps that need a drive written in order fill
/// a drive again that was overwritten at random.
#[test]
fn what_a_measurement_writes_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = Real::new();
    let announced = |target: &mut Real, what: What| {
        let cost = short(what).cost(target, folder.path()).unwrap();
        (cost.is_continued, cost.fills)
    };
    assert_eq!(announced(&mut target, What::Waf), (false, 2));
    measure(
        &mut target,
        &short(What::Waf),
        folder.path(),
        &Silent,
        &|_| {},
    )
    .unwrap();
    assert_eq!(announced(&mut target, What::Waf), (true, 0));
    assert_eq!(announced(&mut target, What::Depth), (true, 0));
    assert_eq!(announced(&mut target, What::Rates), (true, 2));
    let cost = short(What::Depth).cost(&mut target, folder.path()).unwrap();
    // A load warms up for half of its time, and ends after three times its time at the latest.
    assert_eq!(cost.load_seconds, 3.5 * 60.0 * 18.0);
    let parts = short(What::Parts).cost(&mut target, folder.path()).unwrap();
    assert!(parts.load_bytes > 2 * parts.used_bytes, "{parts:?}");
    target.ends = vec![1];
    assert_eq!(announced(&mut target, What::Depth), (false, 2));
}

/// The first fill of a drive that was interrupted cannot be repeated, so there is no table of it.
#[test]
fn an_interrupted_first_fill_has_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = Real::new();
    let mut measured = |progress: &dyn Progress| {
        measure(
            &mut target,
            &short(What::Waf),
            folder.path(),
            progress,
            &|_| {},
        )
    };
    assert!(matches!(measured(&Until(2_000)), Err(Error::Interrupted)));
    let found = measured(&Silent).unwrap();
    assert!(
        found.left_out[0].contains("first fill"),
        "{:?}",
        found.left_out
    );
    assert_eq!(found.files, ["measured.json"]);
}

/// The tables of a part of a drive say so. The profile is then compared with a drive that is used as little, which
/// collects less garbage than a full one.
#[test]
fn a_part_of_a_drive_is_compared_with_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let drive = settings(&DRIVE);
    let mut target = Modelled::new("Hidden", &drive, SMALL).unwrap();
    let half = MeasurePlan {
        used_bytes: Some(target.bytes() / 2),
        requests: 4_000,
        ..short(What::Rates)
    };
    measure(&mut target, &half, folder.path(), &Silent, &|_| {}).unwrap();
    let table = Measurements::read(&folder.path().join("rates.csv"), None).unwrap();
    assert_eq!(table.columns.last().unwrap(), "used_gib");
    let plan = CheckPlan {
        scale: SMALL,
        requests: 4_000,
        ..CheckPlan::new(drive)
    };
    let checked = check(table, &plan, &Effort::default()).unwrap();
    let rate = checked.rows.iter().find(|row| row.what == "wrandiops");
    let error = rate.unwrap().error.unwrap();
    assert!(error.abs() < 0.25, "{error}");
}

/// A drive with a buffer reads the block written last from the buffer. A drive without a buffer reads it from flash,
/// so that the time of a page read cannot be separated from the time of a command.
#[test]
fn the_page_is_told_from_the_command_by_reads_of_the_buffer() {
    for (buffer, is_told) in [("lru", true), ("nocache", false)] {
        let mut drive = settings(&DRIVE);
        drive.set_pair(&format!("buffer.kind={buffer}")).unwrap();
        let short = MeasurePlan {
            what: vec![What::Parts],
            requests: 1_000,
            passes: 1,
            ..plan()
        };
        let folder = tempfile::tempdir().unwrap();
        let findings = measured(&drive, &short, folder.path()).findings;
        let is_found = findings.get("page_read_us").is_some();
        assert_eq!(is_found, is_told, "{:?}", findings.values);
        let mut unknown = findings.unknown.iter();
        let is_unknown = unknown.any(|of| of.starts_with("page_read_us: "));
        assert_eq!(is_unknown, !is_told, "{:?}", findings.unknown);
    }
}

#[test]
fn equal_drives_are_measured_to_the_byte_alike() {
    let drive = settings(&DRIVE);
    let short = MeasurePlan {
        what: vec![What::Latency],
        requests: 2_000,
        passes: 1,
        ..plan()
    };
    let tables = [(); 2].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        measured(&drive, &short, folder.path());
        std::fs::read_to_string(folder.path().join("latency.csv")).unwrap()
    });
    assert_eq!(tables[0], tables[1]);
}

/// The settings of a drive with four dies that does not suspend a program near its end.
const STRIPED: [&str; 20] = [
    "flash.dies=4",
    "flash.channels=4",
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=96",
    "flash.pages_per_block=64",
    "flash.page_bytes=4096",
    "flash.program_unit=8",
    "flash.copy_back=false",
    "flash.erase_us=100",
    "flash.transfer_ns_per_byte=1",
    "flash.scheduling=reads_first",
    "flash.suspend=moves_end",
    "flash.suspend_us=10",
    "ftl.kind=striped",
    "ftl.reserve_percent=25",
    "host.bus_ns_per_sector=100",
    "buffer.kind=lru",
    "buffer.capacity_bytes=1MiB",
    "buffer.flush_mode=ignore",
    "buffer.bg_destage=true",
];
/// The hidden parameters that the fit has to find, and their values.
const TRUE: [(&str, f64); 3] = [
    ("flash.program_us", 500.0),
    ("flash.read_times_us/1", 60.0),
    ("device.firmware_ns", 8_000.0),
];
/// A program is not suspended in this time before its end, in microseconds.
const TAIL_US: f64 = 200.0;

/// The response times of `drive` under several loads, as a file of measurements. A load is a number of writes per
/// second.
fn own_latencies(drive: &Settings, plan: &CheckPlan) -> Measurements {
    let columns = [
        "drive",
        "offered_writes_per_s",
        "stream_per_s",
        "writes_per_s",
        "reads_per_s",
        "op",
        "percentile",
        "us_median_of_3",
        "us_low",
        "us_high",
    ];
    let percentiles = [
        ("read", "10"),
        ("read", "50"),
        ("read", "75"),
        ("read", "90"),
        ("read", "99"),
        ("write", "50"),
    ];
    let loads = [1_000, 4_000, 6_000, 8_000, 11_000, 40_000];
    let table = |value: &dyn Fn(usize, usize) -> (f64, f64)| Measurements {
        file: "own.csv".to_owned(),
        shape: Shape::Latency,
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: (0..loads.len() * percentiles.len())
            .map(|place| {
                let (load, of) = (place / percentiles.len(), place % percentiles.len());
                let (us, writes) = value(load, of);
                let (op, percentile) = percentiles[of];
                let us = us.to_string();
                let text = [
                    "Hidden",
                    &loads[load].to_string(),
                    "500",
                    &writes.to_string(),
                    "500",
                    op,
                    percentile,
                    &us,
                    &us,
                    &us,
                ];
                Row {
                    line: place as u64 + 2,
                    fields: text.iter().map(|text| (*text).to_owned()).collect(),
                }
            })
            .collect(),
    };
    let plan = CheckPlan {
        settings: drive.clone(),
        ..plan.clone()
    };
    // The saturated rate of the drive is not known at first, so it is measured with a guess.
    let guess = table(&|load, _| match load {
        5 => (1.0, 12_500.0),
        load => (1.0, f64::from(loads[load])),
    });
    let checked = check(guess, &plan, &Effort::default()).unwrap();
    let rate = |check: &Check| {
        let mut rows = check.rows.iter();
        let found = rows.find(|row| row.what.starts_with("saturated"));
        found.unwrap().modelled.unwrap()
    };
    let most = rate(&checked);
    assert!(most > 11_500.0, "{most}");
    let values: Vec<f64> = checked
        .rows
        .iter()
        .filter(|row| !row.what.starts_with("saturated"))
        .map(|row| row.modelled.unwrap())
        .collect();
    table(&|load, of| {
        let writes = match load {
            5 => most,
            load => f64::from(loads[load]),
        };
        (values[load * percentiles.len() + of], writes)
    })
}

#[test]
fn a_fit_finds_what_is_hidden_and_says_what_it_cannot_know() {
    let mut drive = settings(&STRIPED);
    for (key, value) in [
        ("flash.program_us", "500"),
        ("flash.read_times_us", "60/60/60"),
        ("device.firmware_ns", "8000"),
        ("device.firmware_cores", "256"),
        ("flash.suspend_tail_us", &TAIL_US.to_string()),
    ] {
        drive.set_pair(&format!("{key}={value}")).unwrap();
    }
    let scale = Scale {
        superblocks: 64,
        units: 8,
    };
    let plan = CheckPlan {
        scale,
        requests: 12_000,
        ..CheckPlan::new(drive.clone())
    };
    let table = own_latencies(&drive, &plan);
    let mut start = settings(&STRIPED);
    // A fit keeps what the user set, so the values of fitted parameters are those of a profile.
    for (key, text) in [
        ("flash.dies", "4"),
        ("flash.suspend_us", "10"),
        ("flash.program_us", "900"),
        ("flash.read_us", "40"),
        ("device.firmware_ns", "3000"),
    ] {
        start.set(key, text, Origin::Profile("start".to_owned()));
    }
    let plan = FitPlan {
        scale,
        requests: 12_000,
        ..FitPlan::new(start, "start")
    };
    let found = fit(vec![table.clone()], &plan, &Effort::default()).unwrap();
    let fitted = |key: &str| {
        let mut parameters = found.parameters.iter();
        let of = parameters.find(|of| of.key == key).unwrap();
        assert!(of.low <= of.value && of.value <= of.high, "{of:?}");
        of.value
    };
    for (key, hidden) in TRUE {
        let off = fitted(key) / hidden - 1.0;
        assert!(off.abs() < 0.08, "{key}: {:?}", found.parameters);
    }
    // The measurements show only for how long before its end a program is not suspended. This time is the smallest
    // number of whole pulses that is longer than the tail. Few of these reads arrive in this time, so the fit finds
    // it less accurately than other parameters.
    let pulse = fitted("flash.suspend_pulse_us");
    let alone = ((fitted("flash.suspend_tail_us") / pulse).floor() + 1.0) * pulse;
    let off = alone / TAIL_US - 1.0;
    assert!(off.abs() < 0.2, "{alone}: {:?}", found.parameters);
    // The loads that were not used for fitting judge the profile. The errors are small, except where the tail
    // matters.
    let judged = found.uses[0].iter().filter(|of| **of == Use::Judge);
    assert_eq!(judged.count(), 2 * 6);
    for of in found.summary() {
        // The slowest reads are those that arrive in the tail of a program.
        let most = if of.what == "read p99" { 0.15 } else { 0.1 };
        assert!(of.median < most, "{of:?}");
    }
    // The text of the profile can be loaded. The loaded profile gives exactly the values of the fit.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.toml");
    std::fs::write(&path, &found.profile).unwrap();
    let mut loaded = Settings::new();
    loaded.load_profile(&path.display().to_string()).unwrap();
    let plan = CheckPlan {
        scale,
        requests: 12_000,
        ..CheckPlan::new(loaded)
    };
    let again = check(table, &plan, &Effort::default()).unwrap();
    let modelled = |check: &Check| -> Vec<_> {
        check
            .rows
            .iter()
            .map(|row| row.modelled.map(f64::to_bits))
            .collect()
    };
    assert_eq!(modelled(&again), modelled(&found.checks[0]));
}

/// Garbage collection moves pages of a block to other dies. The die of the block has to wait for these programs
/// before it erases the block. While it waits, it has to serve reads.
#[test]
fn no_read_waits_with_its_die_for_a_program_elsewhere() {
    let mut drive = settings(&STRIPED);
    for pair in [
        "flash.program_us=5000",
        "flash.read_us=60",
        "sim.precondition=random_fill:1",
    ] {
        drive.set_pair(pair).unwrap();
    }
    let text = "uniform:requests=20000,footprint_pages=18000,write_percent=50,min_pages=1,max_pages=1,mean_interarrival_ms=2";
    let input = Input::workload(text, &[]).unwrap();
    let one = Grid::new(drive).combinations().unwrap();
    let compared = compare(std::slice::from_ref(&input), &one, &Effort::default()).unwrap();
    let most = compared.runs[0]
        .metric("response.read.max_ms")
        .unwrap()
        .unwrap();
    assert!(most < 1.0, "{most} ms");
}

/// A drive whose parameters `measure` has to find.
struct Hidden {
    settings: Settings,
    page_read_us: f64,
    command_us: f64,
    unit_bytes: f64,
    buffer_bytes: f64,
    spare_percent: f64,
}

/// A drive with random parameters. `seed` determines the parameters.
fn hidden(seed: u64) -> Hidden {
    let mut random = Random::new(seed);
    let mut between = |least: u64, most: u64| least + random.below(most - least + 1);
    let dies = 1 << between(1, 3);
    let unit = 4 * between(1, 4);
    let (read, program, transfer) = (between(25, 100), between(300, 1200), between(1, 6));
    let (firmware, bus) = (between(2_000, 20_000), between(20, 100));
    let (reserve, blocks) = (between(10, 35), between(256, 400));
    let buffer = dies * unit * between(8, 13) / 4 * 4096;
    let text = format!(
        "flash.dies={dies} flash.planes_per_die=1 flash.blocks_per_plane={blocks} flash.pages_per_block={} flash.page_bytes=4096 \
         flash.program_unit={unit} flash.copy_back=false flash.read_us={read} flash.program_us={program} flash.erase_us=2000 \
         flash.transfer_ns_per_byte={} flash.scheduling=reads_first ftl.kind=page ftl.placement=dynamic ftl.reserve_percent={reserve} \
         ftl.min_free_percent=1 host.bus_ns_per_sector={bus} device.firmware_ns={firmware} buffer.kind=lru buffer.capacity_bytes={buffer}",
        unit * 12,
        transfer as f64 / 2.0,
    );
    let pairs: Vec<_> = text.split_whitespace().collect();
    // The number of blocks without data. These are the blocks that garbage collection keeps free, and half of each of
    // the two open blocks.
    let (blocks, reserve) = (blocks as f64, reserve as f64 / 100.0);
    let kept = (0.01 * blocks).floor() + 2.0;
    let used = blocks - (reserve * blocks).floor();
    Hidden {
        settings: settings(&pairs),
        page_read_us: read as f64 + 4096.0 * transfer as f64 / 2e3,
        command_us: firmware as f64 / 1e3,
        unit_bytes: (unit * 4096) as f64,
        buffer_bytes: buffer as f64,
        spare_percent: 100.0 * ((blocks - kept) / used - 1.0),
    }
}

/// Measures random drives, and compares the findings with the hidden parameters. The environment variable
/// `DESTAGE_DRIVES` is the number of drives, by default four.
#[test]
fn hidden_parameters_come_back() {
    let wanted = std::env::var("DESTAGE_DRIVES").ok();
    let drives = wanted.map_or(4, |text| text.parse().expect("a number of drives"));
    let names = [
        "page_read_us",
        "write_command_us",
        "program_unit_bytes",
        "buffer_bytes",
        "spare_percent",
    ];
    // For each parameter, the number of drives on which it was found correctly, found wrongly, or not identified.
    let mut tally = names.map(|_| [0_u64; 3]);
    for seed in 1..=drives {
        let drive = hidden(seed);
        let folder = tempfile::tempdir().unwrap();
        let scale = Scale {
            superblocks: 128,
            ..Scale::default()
        };
        let mut target = Modelled::new("Hidden", &drive.settings, scale).unwrap();
        let plan = MeasurePlan {
            what: vec![What::Parts],
            passes: 2,
            ..plan()
        };
        let found = measure(&mut target, &plan, folder.path(), &Silent, &|_| {}).unwrap();
        let findings = &found.findings;
        let truths = [
            (drive.page_read_us, 0.05 * drive.page_read_us),
            (drive.command_us, 0.05 * drive.command_us),
            (drive.unit_bytes, 0.05 * drive.unit_bytes),
            (drive.buffer_bytes, 0.15 * drive.buffer_bytes),
            (drive.spare_percent, 2.0),
        ];
        for ((name, (truth, off)), tally) in names.into_iter().zip(truths).zip(&mut tally) {
            let outcome = match findings.get(name) {
                Some(of) if (of.value - truth).abs() <= off => 0,
                Some(of) => {
                    println!(
                        "drive {seed}: {name}: {} is found, and it is {truth}",
                        of.value
                    );
                    1
                }
                None => {
                    assert!(findings.unknown.iter().any(|text| text.starts_with(name)));
                    2
                }
            };
            tally[outcome] += 1;
        }
    }
    for (name, [right, wrong, unknown]) in names.into_iter().zip(tally) {
        println!("{name}: right {right}, wrong {wrong}, not identified {unknown}");
        assert!(10 * right >= 9 * (right + wrong), "{name}");
        // The size of a buffer can be measured only if the drive accepts writes faster than it writes them to flash.
        // The firmware of about half of these drives is fast enough to do so.
        let most = if name == "buffer_bytes" { 3 } else { 1 };
        assert!(4 * unknown <= most * drives, "{name}");
    }
}
