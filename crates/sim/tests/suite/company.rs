//! The row of a parameter says under which conditions the parameter has an effect. These tests compare the conditions
//! with runs. A parameter that the program reports as without effect must not change the results. A parameter that
//! does not change the results must be reported.

use destage_base::Random;
use destage_base::parameter::{Kind, Parameter, Value};
use destage_base::time::TICKS_PER_US;
use destage_buffer::{COMMON, Sees};
use destage_sim::check::InputKind;
use destage_sim::metrics::Metrics;
use destage_sim::observer::Silent;
use destage_sim::parameters::PARAMETERS;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::{Config, Settings};
use destage_sim::source::{Seen, Source};
use destage_trace::{Operation, Request};

const REQUESTS: u64 = 900;
const PAGES: u64 = 1500;

/// Reads, writes, trims and flushes of several volumes and streams, with some FUA writes and with pauses.
fn requests() -> Vec<Request> {
    let mut random = Random::new(7);
    let mut arrival = 0;
    let mut request = |number: u64| {
        let pause = match random.below(60) {
            0 => 40_000,
            _ => random.below(150),
        };
        arrival += pause * TICKS_PER_US;
        let operation = match random.below(20) {
            0 => Operation::Flush,
            1 => Operation::Trim,
            2..=7 => Operation::Read,
            _ => Operation::Write,
        };
        let pages = 1 + random.below(6);
        let page = match random.below(3) {
            0 => random.below(PAGES - 8),
            _ => random.below(120),
        };
        let is_flush = operation == Operation::Flush;
        Request {
            arrival,
            sector: if is_flush { 0 } else { page * 8 },
            sectors: if is_flush { 0 } else { pages as u32 * 8 },
            volume: random.below(3) as u32,
            line: number as u32 + 1,
            operation,
            fua: operation == Operation::Write && random.below(15) == 0,
            stream: random.below(4) as u16,
        }
    };
    (0..REQUESTS).map(&mut request).collect()
}

const DEVICE: &[&str] = &[
    "flash.dies=2",
    "flash.planes_per_die=2",
    "flash.blocks_per_plane=64",
    "flash.bits_per_cell=2",
    "flash.pages_per_block=16",
    "buffer.capacity_bytes=256KiB",
    "sim.precondition=random_fill:1",
];

/// Configurations of different kinds. The test changes each parameter in each configuration.
const BASES: &[&[&str]] = &[
    &[],
    &["sim.costing=op_count"],
    &["ftl.kind=none"],
    &["buffer.kind=nocache"],
    &["buffer.kind=bplru", "ftl.kind=bast"],
    &["buffer.kind=fab", "sim.costing=op_count", "ftl.kind=bast"],
    &["buffer.kind=apu-lru-d", "ftl.kind=dftl"],
    &["buffer.kind=co-active", "ftl.kind=block"],
    &["ftl.kind=pslc"],
    &["flash.scheduling=reads_first", "flash.channels=1"],
    &["flash.scheduling=commands_reads_first", "flash.channels=1"],
    &["flash.program_unit=4", "ftl.handles=2"],
    &["host.queues=2", "buffer.bg_destage=true"],
];

fn resolved(base: &[&str], more: &[String]) -> Option<Config> {
    let mut settings = Settings::new();
    for pair in DEVICE.iter().chain(base) {
        settings.set_pair(pair).unwrap();
    }
    for pair in more {
        settings.set_pair(pair).unwrap();
    }
    settings.resolve().ok()
}

fn measured(config: &Config, requests: &[Request]) -> Option<(Metrics, Seen)> {
    let source = Source::memory("requests", requests);
    let done = run(config, source, &Prepass::default(), &mut Silent);
    done.ok()
        .map(|(result, source)| (result.metrics, source.seen()))
}

/// Values of `row` other than its default, as a user writes them.
fn others(row: &Parameter) -> Vec<String> {
    let default = row.read(row.default).unwrap();
    let texts: Vec<String> = match row.kind {
        Kind::Flag => vec!["true".into(), "false".into()],
        Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        Kind::Integer { .. } | Kind::Bytes { .. } => match default {
            Value::Integer(0) => vec!["1".into(), "3".into()],
            Value::Integer(number) => vec![(number * 2).to_string(), (number / 2).to_string()],
            _ => Vec::new(),
        },
        Kind::Number { .. } => match default {
            Value::Number(0.0) => vec!["0.5".into(), "40".into()],
            Value::Number(number) => vec![(number * 2.0).to_string(), (number / 2.0).to_string()],
            _ => Vec::new(),
        },
        Kind::CountOrAuto { .. } => vec!["1".into()],
        Kind::Text => match row.name {
            "device.plp" => vec!["0.01".into()],
            "host.queue_weights" => vec!["2".into(), "1/3".into()],
            "flash.read_times_us" | "flash.program_times_us" => vec!["30/70".into()],
            _ => Vec::new(),
        },
    };
    let is_other = |text: &String| row.read(text).is_ok_and(|value| value != default);
    texts.into_iter().filter(is_other).collect()
}

/// Every key of `config` with its row, except the keys that say how a trace is read.
fn keys(config: &Config) -> Vec<(String, &'static Parameter)> {
    let of = |section: &'static str, rows: &'static [Parameter]| {
        rows.iter()
            .map(move |row| (format!("{section}{}", row.name), row))
    };
    of("", PARAMETERS)
        .chain(of("buffer.", COMMON))
        .chain(of("buffer.", config.scheme.parameters))
        .chain(of("ftl.", config.ftl_row.parameters))
        .collect()
}

/// Keys that have an effect only with some inputs and devices. The effect requires, for example, requests off page
/// boundaries or beyond the device, long idle times, little free space, times that are not whole ticks, or a page
/// that is written again during its program.
const MAY_DECIDE: &[&str] = &[
    "buffer.bg_again",
    "buffer.bg_destage",
    "buffer.bg_idle_us",
    "buffer.bg_low",
    "buffer.capacity_bytes",
    "device.power_may_fail",
    "device.vwc",
    "flash.copy_back",
    "sim.clock",
    "sim.run_out",
    "sim.seed",
    "sim.write_order",
    "trace.addr_map",
    "trace.align",
];
/// Keys for the shape of the flash. Schemes may use these keys even in a run without flash.
const OF_A_SHAPE: &[&str] = &[
    "flash.dies",
    "flash.pages_per_block",
    "flash.planes_per_die",
    "flash.summary_page",
];

#[test]
fn what_is_named_changes_nothing_and_what_changes_nothing_is_named() {
    let requests = requests();
    let (mut in_vain, mut silent, mut wrong) = (0, Vec::new(), Vec::new());
    for base in BASES {
        let plain = resolved(base, &[]).unwrap();
        let (expected, _) = measured(&plain, &requests).unwrap();
        for (key, row) in keys(&plain) {
            if DEVICE
                .iter()
                .chain(*base)
                .any(|pair| pair.starts_with(&format!("{key}=")))
            {
                continue;
            }
            // A parameter of a scheme or layer has an effect only if the input triggers the rule that uses the
            // parameter. So this test does not require an effect of such parameters.
            let is_own = !PARAMETERS
                .iter()
                .chain(COMMON)
                .any(|known| std::ptr::eq(known, row));
            let (mut changes, mut named) = (false, true);
            let mut runs = 0;
            for text in others(row) {
                let pair = format!("{key}={text}");
                let Some(config) = resolved(base, std::slice::from_ref(&pair)) else {
                    continue;
                };
                let Some((found, seen)) = measured(&config, &requests) else {
                    continue;
                };
                runs += 1;
                let without_effect = config.without_effect_on(InputKind::Memory, Some(seen));
                let is_named = without_effect.iter().any(|(name, _)| *name == key);
                if is_named {
                    in_vain += 1;
                    if found != expected {
                        wrong.push(format!("{base:?} {pair}"));
                    }
                }
                named &= is_named;
                changes |= found != expected;
            }
            let is_shape = !plain.has_flash() && OF_A_SHAPE.contains(&&*key);
            let may_decide = is_own || is_shape || MAY_DECIDE.contains(&&*key);
            if runs > 0 && !changes && !named && !may_decide {
                silent.push(format!("{base:?} {key}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "said to have no effect:\n{}",
        wrong.join("\n")
    );
    assert!(in_vain > 400, "{in_vain}");
    assert!(
        silent.is_empty(),
        "{}:\n{}",
        silent.len(),
        silent.join("\n")
    );
}

#[test]
fn clusters_decide_something_for_the_schemes_that_see_them_and_for_no_other() {
    let requests = requests();
    let counted = |scheme: &str, pairs: &[String]| {
        let kind = format!("buffer.kind={scheme}");
        let config = resolved(&[&kind, "sim.costing=op_count"], pairs).unwrap();
        measured(&config, &requests).unwrap().0
    };
    let schemes = destage_buffer::SCHEMES.iter();
    for row in schemes.filter(|row| !row.needs_future()) {
        let other = counted(row.name, &["buffer.cluster_pages=4".to_owned()]);
        let changes = other != counted(row.name, &[]);
        let sees = row.sees.contains(&Sees::Clusters);
        assert_eq!(changes, sees, "{}", row.name);
    }
}
