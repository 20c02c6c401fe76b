//! A watched run has the same results as the run without a recording, and the recorded events add up to the metrics
//! of the run.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use std::collections::BTreeMap;

use common::{mixture, settings};
use destage::base::Ticks;
use destage::buffer::SCHEMES;
use destage::nand::Kind;
use destage::sim::observer::Silent as Nobody;
use destage::sim::watch::{MOST_REQUESTS, Recording, Stop, Token, What};
use destage::{Combination, Error, Input, Observer, Response, Silent, run};
use destage_report::{Watched, watch};

/// The response times of requests, as a response log contains them.
#[derive(Default)]
struct Log(BTreeMap<u64, Option<Ticks>>);

impl Observer for Log {
    fn wants_responses(&self) -> bool {
        true
    }
    fn response(&mut self, response: &Response) {
        self.0.insert(response.index, response.response);
    }
}

fn watched(pairs: &[&str], requests: u64) -> Result<(Watched, Log), Error> {
    let combination = Combination::new(&settings(pairs))?;
    let input = Input::requests("requests", mixture(3, requests));
    let mut log = Log::default();
    let watched = watch(&input, &combination, &Silent, &mut log)?;
    Ok((watched, log))
}

/// The number of pages in the tokens after each event.
fn pages_after(recording: &Recording) -> Vec<usize> {
    let mut tokens: Vec<Token> = Vec::new();
    let events = recording.events.iter().map(|event| {
        for splice in &event.changes {
            let at = splice.at as usize;
            let removed = at..at + splice.removed as usize;
            tokens.splice(removed, splice.inserted.iter().cloned());
        }
        let pages = tokens.iter();
        pages
            .filter(|token| matches!(token, Token::Page(..)))
            .count()
    });
    events.collect()
}

#[test]
fn what_is_recorded_adds_up_to_the_metrics_of_the_run_under_every_scheme() {
    for row in SCHEMES.iter().filter(|row| !row.needs_future()) {
        let kind = format!("buffer.kind={}", row.name);
        for layer in ["ftl.kind=page", "ftl.kind=bast"] {
            let pairs = [kind.as_str(), layer, "sim.drain=true"];
            let (watched, log) = watched(&pairs, 400).unwrap();
            let (name, recording) = (row.name, &watched.recording);
            assert_eq!(recording.stop, None, "{name}");

            let combination = Combination::new(&settings(&pairs)).unwrap();
            let input = Input::requests("requests", mixture(3, 400));
            let unwatched = run(&input, &combination, &Silent, &mut Nobody).unwrap();
            let metrics = &unwatched.record.metrics;
            assert!(
                metrics.iter().eq(watched.outcome.record.metrics.iter()),
                "{name}"
            );
            let metric = |key: &str| {
                metrics
                    .get(key)
                    .map_or(0, |number| number.as_f64() as usize)
            };

            let resident = recording.events.iter().map(|event| event.resident as usize);
            assert_eq!(
                pages_after(recording),
                resident.collect::<Vec<_>>(),
                "{name}"
            );
            let responses: Vec<_> = recording
                .requests
                .iter()
                .map(|asked| asked.response)
                .collect();
            assert_eq!(responses, log.0.into_values().collect::<Vec<_>>(), "{name}");

            let count = |is: fn(&What) -> usize| -> usize {
                recording.events.iter().map(|event| is(&event.what)).sum()
            };
            let hits = count(|what| usize::from(matches!(what, What::Write { hit: true, .. })));
            assert_eq!(hits, metric("buffer.write_hits"), "{name}");
            let read_hits = count(|what| usize::from(matches!(what, What::Read { hit: true, .. })));
            assert_eq!(read_hits, metric("buffer.read_hits"), "{name}");
            let padded = count(|what| match what {
                What::Destage(record) => record.pads.len(),
                _ => 0,
            });
            assert_eq!(
                padded,
                metric("buffer.pad_reads") + metric("buffer.pad_fills"),
                "{name}"
            );
            let destages = count(|what| usize::from(matches!(what, What::Destage(_))));
            let ended = count(|what| usize::from(matches!(what, What::Ended(_))));
            assert_eq!(destages, ended, "{name}: every record ends");
            let parts = recording.intervals.iter().flat_map(|step| &step.parts);
            let of = |kind| -> usize {
                let parts = parts.clone().filter(|part| part.kind == kind);
                parts.map(|part| part.count as usize).sum()
            };
            assert_eq!(of(Kind::Erase), metric("flash.erases"), "{name}");
            assert_eq!(of(Kind::Program), metric("flash.programs"), "{name}");
            let merges: usize = recording
                .intervals
                .iter()
                .map(|step| step.merges.len())
                .sum();
            let kinds =
                ["switch", "partial", "full"].map(|kind| metric(&format!("ftl.merges.{kind}")));
            assert_eq!(merges, kinds.iter().sum::<usize>(), "{name}");
        }
    }
}

/// A die does one step at a time. Steps that belong to a record begin after the emission of the record.
#[test]
fn steps_of_a_die_follow_one_another() {
    for layer in ["ftl.kind=page", "ftl.kind=bast"] {
        let (watched, _) = watched(&["buffer.kind=bplru", layer], 400).unwrap();
        let recording = &watched.recording;
        let mut free = vec![0; recording.dies as usize];
        for step in &recording.intervals {
            let until = &mut free[step.die as usize];
            assert!(*until <= step.begin, "{step:?}");
            *until = step.begin + step.time;
            if let Some(event) = step.record {
                assert!(event <= step.event, "{step:?}");
                let What::Destage(record) = &recording.events[event as usize].what else {
                    panic!("event {event} is no destage");
                };
                let mut pads = record.pads.iter().map(|pad| pad.page);
                let page = step.pages[0];
                assert!(record.pages.contains(&page) || pads.any(|pad| pad == page));
            }
        }
        assert!(recording.intervals.iter().any(|step| step.record.is_some()));
    }
}

#[test]
fn a_page_is_equal_for_equal_inputs_and_holds_nothing_from_elsewhere() {
    let page = || {
        watched(&["buffer.kind=bplru", "ftl.kind=bast"], 300)
            .unwrap()
            .0
            .to_html()
    };
    let one = page();
    assert_eq!(one, page());
    for name in ["title", "heading", "style", "data", "scripts"] {
        assert!(
            !one.contains(&format!("{{{{{name}}}}}")),
            "{name} is not filled in"
        );
    }
    for outside in ["http://", "https://", "src=", "@import"] {
        assert!(!one.contains(outside), "{outside}");
    }
}

#[test]
fn a_recording_stops_and_the_run_goes_on() {
    let requests = MOST_REQUESTS as u64 + 500;
    let (watched, _) = watched(&["buffer.kind=nocache"], requests).unwrap();
    let recording = &watched.recording;
    assert_eq!(
        recording.requests.len(),
        MOST_REQUESTS.min(recording.requests.len())
    );
    assert!(matches!(
        recording.stop,
        Some(Stop::Requests | Stop::Events)
    ));
    let metrics = &watched.outcome.record.metrics;
    assert_eq!(
        metrics.get("host.requests").unwrap().as_f64(),
        requests as f64
    );
    assert!(watched.to_html().contains("The recording ends after"));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let refusal = |pairs: &[&str]| match watched(pairs, 10) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{pairs:?} is watched"),
    };
    let large = refusal(&["buffer.capacity_bytes=32MiB"]);
    assert!(
        large.contains("a buffer of 8192 pages") && large.contains("at most 4096 pages, 16384 KiB")
    );
    assert!(refusal(&["sim.costing=op_count"]).contains("expected sim.costing = event"));
}

/// If commands are timed one by one, each command is an interval. These intervals add up to the metrics, too.
#[test]
fn commands_add_up_to_the_metrics_of_the_run() {
    for options in [
        "flash.channels=2 flash.command_ns=300",
        "flash.channels=2 flash.program_times_us=100/400 flash.scheduling=reads_first flash.suspend=moves_end",
        "flash.channels=2 flash.scheduling=commands_reads_first flash.multi_plane=in_order",
        "flash.scheduling=commands_arrival flash.cache_program=true flash.cache_read=true",
        "flash.program_unit=4 flash.cache_program=true",
        "ftl.kind=pslc flash.scheduling=reads_first",
        "ftl.kind=dftl flash.channels=2 flash.scheduling=garbage_last",
    ] {
        let mut pairs = vec!["sim.drain=true", "buffer.capacity_bytes=1MiB"];
        pairs.extend(options.split(' '));
        let (watched, _) = watched(&pairs, 400).unwrap();
        let recording = &watched.recording;
        assert_eq!(recording.stop, None, "{options}");
        let combination = Combination::new(&settings(&pairs)).unwrap();
        let input = Input::requests("requests", mixture(3, 400));
        let unwatched = run(&input, &combination, &Silent, &mut Nobody).unwrap();
        let metrics = &unwatched.record.metrics;
        let same = metrics.iter().eq(watched.outcome.record.metrics.iter());
        assert!(same, "{options}");
        for (kind, key) in [
            (Kind::Read, "flash.reads"),
            (Kind::Program, "flash.programs"),
            (Kind::Erase, "flash.erases"),
        ] {
            let parts = recording.intervals.iter().flat_map(|step| &step.parts);
            let of_kind = parts.filter(|part| part.kind == kind);
            let count: u32 = of_kind.map(|part| part.count).sum();
            let metric = metrics.get(key).map_or(0, |number| number.as_f64() as u32);
            // The largest number of operations that are counted but have not begun when the run ends. These are
            // copies that wait for their unit (up to three in each plane), or the remaining operations of a fold or
            // of a collection in idle time.
            let waiting = match options {
                _ if options.contains("program_unit=4") => 12,
                _ if options.contains("pslc") || options.contains("garbage_last") => 16,
                _ => 0,
            };
            let is_known = (count..=count + waiting).contains(&metric);
            assert!(
                is_known,
                "{options}: {key} is {metric}, and {count} are drawn"
            );
        }
        let programs = recording
            .intervals
            .iter()
            .filter(|step| step.parts[0].kind == Kind::Program);
        for step in programs {
            assert!(step.time > 0, "{options}: {step:?}");
        }
    }
}
