//! The recording as a timeline in the trace event format of Chrome, which Perfetto and `chrome://tracing` open.
//!
//! | process | contents |
//! | --- | --- |
//! | host | each request from its arrival to its answer; requests that overlap in time are on different lanes |
//! | buffer | each group of pages that leave together, from the choice of these pages until their last program has ended; numbers of buffered and leaving pages |
//! | flash | a lane for each die, with the work of the die |
//!
//! Times are microseconds since the first event, with the precision of a tick. Arrows lead from a group of pages that
//! leave the buffer to the operations of dies for this group.

use std::collections::BTreeMap;

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_sim::watch::{Event, Interval, What};
use serde_json::{Map, Value, json};

use super::Watched;
use destage::json;

const HOST: u32 = 1;
const BUFFER: u32 = 2;
const FLASH: u32 = 3;

/// The content of the whole file.
pub(super) fn of(watched: &Watched) -> Value {
    let recording = &watched.recording;
    let record = &watched.outcome.record;
    let start = recording.events.first().map_or(0, |event| event.time);
    let end = recording.events.last().map_or(0, |event| event.time);
    let mut timeline = Timeline {
        start,
        end,
        rows: Vec::new(),
    };
    timeline.name(HOST, None, "host");
    timeline.name(BUFFER, None, &format!("buffer: {}", record.buffer));
    timeline.name(FLASH, None, &format!("flash: FTL {}", record.ftl));
    timeline.requests(watched);
    timeline.destages(&recording.events);
    for die in 0..recording.dies {
        timeline.name(FLASH, Some(die), &format!("die {die}"));
    }
    for interval in &recording.intervals {
        timeline.interval(interval);
    }
    json!({
        "displayTimeUnit": "ns",
        "otherData": {
            "trace": record.trace,
            "program": format!("destage {} ({})", destage::version(), destage::commit()),
            "parameters": json::parameters(&record.parameters),
        },
        "traceEvents": timeline.rows,
    })
}

struct Timeline {
    start: Ticks,
    /// The end of the recording. An operation without a recorded end is drawn until this time.
    end: Ticks,
    rows: Vec<Value>,
}

/// Lanes for bars. Bars on one lane do not overlap. The value of a lane is the time from which the lane is free.
#[derive(Default)]
struct Lanes(Vec<Ticks>);

impl Lanes {
    /// Returns the first lane that is free from `begin` on, and occupies this lane until `end`.
    fn take(&mut self, begin: Ticks, end: Ticks) -> u32 {
        let free = self.0.iter().position(|until| *until <= begin);
        let lane = free.unwrap_or(self.0.len());
        match free {
            Some(lane) => self.0[lane] = end,
            None => self.0.push(end),
        }
        u32::try_from(lane).unwrap_or(u32::MAX)
    }
}

/// `ticks` in microseconds. A tick is 0.0001 microseconds.
fn microseconds(ticks: Ticks) -> f64 {
    ticks as f64 / (TICKS_PER_MS as f64 / 1000.0)
}

impl Timeline {
    /// Names a process or, if `lane` is given, a lane of the process.
    fn name(&mut self, process: u32, lane: Option<u32>, name: &str) {
        let of = if lane.is_some() { "thread" } else { "process" };
        for (row, value) in [
            ("name", json!({ "name": name })),
            (
                "sort_index",
                json!({ "sort_index": lane.unwrap_or(process) }),
            ),
        ] {
            self.rows.push(json!({
                "ph": "M", "name": format!("{of}_{row}"), "pid": process, "tid": lane.unwrap_or(0), "args": value,
            }));
        }
    }

    /// Adds a bar to a lane of a process, with its name and its details.
    fn bar(
        &mut self,
        (process, lane): (u32, u32),
        (begin, end): (Ticks, Ticks),
        (name, told): (String, Value),
    ) {
        self.rows.push(json!({
            "ph": "X",
            "name": name,
            "pid": process,
            "tid": lane,
            "ts": microseconds(begin.saturating_sub(self.start)),
            "dur": microseconds(end.saturating_sub(begin)),
            "args": told,
        }));
    }

    fn requests(&mut self, watched: &Watched) {
        let mut lanes = Lanes::default();
        for (index, asked) in watched.recording.requests.iter().enumerate() {
            let end = asked
                .response
                .map_or(self.end.max(asked.arrival), |response| {
                    asked.arrival + response
                });
            let lane = lanes.take(asked.arrival, end);
            let name = match asked.pages {
                0 => asked.operation.name().to_owned(),
                1 => format!("{} {}", asked.operation.name(), asked.first),
                pages => format!(
                    "{} {}-{}",
                    asked.operation.name(),
                    asked.first,
                    asked.first + u64::from(pages) - 1
                ),
            };
            let told = json!({ "request": index, "pages": asked.pages, "forced": asked.fua, "answered": asked.response.is_some() });
            self.bar((HOST, lane), (asked.arrival, end), (name, told));
        }
        for lane in 0..lanes.0.len() {
            let lane = u32::try_from(lane).unwrap_or(u32::MAX);
            self.name(HOST, Some(lane), &format!("requests {}", lane + 1));
        }
    }

    fn destages(&mut self, events: &[Event]) {
        let mut ends = BTreeMap::new();
        for event in events {
            if let What::Ended(record) = event.what {
                ends.insert(record, event.time);
            }
        }
        let mut lanes = Lanes::default();
        let mut counted = None;
        for (index, event) in (0_u32..).zip(events) {
            if counted != Some((event.resident, event.occupied)) {
                counted = Some((event.resident, event.occupied));
                self.rows.push(json!({
                    "ph": "C",
                    "name": "pages",
                    "pid": BUFFER,
                    "ts": microseconds(event.time.saturating_sub(self.start)),
                    "args": { "buffered": event.resident, "leaving": event.occupied.saturating_sub(event.resident) },
                }));
            }
            let What::Destage(record) = &event.what else {
                continue;
            };
            let end = ends.get(&index).copied().unwrap_or(self.end);
            let lane = lanes.take(event.time, end);
            let name = format!("{}: {} pages", record.cause.name(), record.pages.len());
            let pages: Vec<u64> = record.pages.iter().map(|page| page.0).collect();
            let told = json!({ "pages": pages, "padding": record.pads.len(), "stays": record.retain, "request": event.request });
            self.bar((BUFFER, lane), (event.time, end), (name, told));
            self.arrow("s", index, (BUFFER, lane), event.time);
        }
        for lane in 0..lanes.0.len() {
            let lane = u32::try_from(lane).unwrap_or(u32::MAX);
            self.name(BUFFER, Some(lane), &format!("leaving {}", lane + 1));
        }
    }

    /// Adds one end of an arrow. `end` is `s` for the start of the arrow and `f` for its end.
    fn arrow(&mut self, end: &str, record: u32, (process, lane): (u32, u32), at: Ticks) {
        let mut row = Map::new();
        for (name, value) in [
            ("ph", json!(end)),
            ("name", json!("destage")),
            ("cat", json!("destage")),
            ("id", json!(record)),
            ("pid", json!(process)),
            ("tid", json!(lane)),
            ("ts", json!(microseconds(at.saturating_sub(self.start)))),
        ] {
            row.insert(name.to_owned(), value);
        }
        if end == "f" {
            row.insert("bp".to_owned(), json!("e"));
        }
        self.rows.push(Value::Object(row));
    }

    fn interval(&mut self, interval: &Interval) {
        let parts = interval.parts.iter().map(|part| {
            let kind = match part.kind {
                destage_nand::Kind::Read => "reads",
                destage_nand::Kind::Program => "programs",
                destage_nand::Kind::Erase => "erases",
            };
            json!({ "what": kind, "of": part.cause.name(), "count": part.count, "us": microseconds(part.time) })
        });
        let pages: Vec<u64> = interval.pages.iter().map(|page| page.0).collect();
        let merges = interval.merges.iter().map(|merge| json!({ "kind": merge.kind.name(), "copies": merge.copies, "erases": merge.erases }));
        let told = json!({
            "pages": pages,
            "request": interval.request,
            "parts": parts.collect::<Value>(),
            "merges": merges.collect::<Value>(),
        });
        let span = (interval.begin, interval.begin + interval.time);
        self.bar(
            (FLASH, interval.die),
            span,
            (interval.work.to_string(), told),
        );
        if let Some(record) = interval.record {
            self.arrow("f", record, (FLASH, interval.die), interval.begin);
        }
    }
}
