//! The recording, in the form that the scripts of the page read.
//!
//! Times are ticks of 0.1 ns since the first event. To save space, frequent rows are arrays instead of objects;
//! `page/data.d.ts` describes the entries of these arrays. A change here needs the same change there.

use destage_base::Ticks;
use destage_buffer::destage::{Grouping, PadContent};
use destage_buffer::shown::Frame;
use destage_nand::Kind;
use destage_nand::operation::Merge;
use destage_sim::watch::{
    Asked, Event, Held, Interval, Part, Recording, Splice, Stop, Token, WatchedRecord, What,
};
use serde_json::{Value, json};

use super::Watched;
use destage::json;

/// All data of the page.
pub(super) fn of(watched: &Watched) -> Value {
    let Recording {
        dies,
        requests,
        events,
        intervals,
        stop,
    } = &watched.recording;
    let record = &watched.outcome.record;
    let [name, about, source] = watched.scheme;
    let start = events.first().map_or(0, |event| event.time);
    let since = |time: Ticks| time.saturating_sub(start);
    json!({
        "trace": record.trace,
        "buffer": record.buffer,
        "ftl": record.ftl,
        "scheme": { "name": name, "about": about, "source": source },
        "parameters": json::parameters(&record.parameters),
        "dies": dies,
        "stop": stop.map(sentence),
        "requests": requests.iter().map(|asked| request(asked, since(asked.arrival))).collect::<Value>(),
        "events": events.iter().map(|one| event(one, since(one.time))).collect::<Value>(),
        "intervals": intervals.iter().map(|one| interval(one, since(one.begin))).collect::<Value>(),
    })
}

/// A sentence that says why the recording ends before the run.
fn sentence(stop: Stop) -> &'static str {
    match stop {
        Stop::Requests => {
            "The recording ends after 5000 requests; the run went on. Use skip and limit to record another part."
        }
        Stop::Events => {
            "The recording ends after 20000 events; the run went on. Use skip and limit to record another part."
        }
        Stop::Size => {
            "The recording ends here because its size is limited; the run went on. A smaller buffer, or another part by skip and limit, gives a longer recording."
        }
        Stop::PowerLoss => {
            "The recording ends because the power failed. Its last event is the last one before the loss."
        }
        Stop::Pages => {
            "The recording ends here because the buffer has grown beyond 4096 pages; the run went on. A shorter part by skip and limit stays below that."
        }
    }
}

fn request(asked: &Asked, arrival: Ticks) -> Value {
    json!([
        asked.operation.name(),
        asked.first,
        asked.pages,
        arrival,
        asked.response,
        asked.fua
    ])
}

fn event(event: &Event, time: Ticks) -> Value {
    let (word, of) = match &event.what {
        What::Arrival => ("arrival", Value::Null),
        What::Write { page, hit } => ("write", json!([page.0, hit])),
        What::Read { page, hit } => ("read", json!([page.0, hit])),
        What::Bypass(page) => ("bypass", json!(page.0)),
        What::Trim(page) => ("trim", json!(page.0)),
        What::Destage(record) => ("destage", destage(record)),
        What::Ended(record) => ("ended", json!(record)),
        What::Cleaned => ("cleaned", Value::Null),
        What::Answer => ("answer", Value::Null),
    };
    json!([
        time,
        word,
        of,
        event.request,
        event.resident,
        event.occupied,
        event.changes.iter().map(splice).collect::<Value>(),
    ])
}

fn destage(record: &WatchedRecord) -> Value {
    let grouping = match record.grouping {
        Grouping::Pages => "pages",
        Grouping::Cluster => "cluster",
        Grouping::Batch => "batch",
    };
    let pads = record.pads.iter().map(|pad| {
        let content = match pad.content {
            PadContent::Read => "read",
            PadContent::AtHand => "at hand",
            PadContent::Filler => "filler",
        };
        json!([pad.page.0, content])
    });
    json!({
        "cause": record.cause.name(),
        "grouping": grouping,
        "stays": record.retain,
        "pages": record.pages.iter().map(|page| json!(page.0)).collect::<Value>(),
        "pads": pads.collect::<Value>(),
    })
}

fn splice(splice: &Splice) -> Value {
    let inserted = splice.inserted.iter().map(token);
    json!([splice.at, splice.removed, inserted.collect::<Value>()])
}

fn token(token: &Token) -> Value {
    match token {
        Token::List(name, first, last, note) => {
            json!({ "list": name, "first": first, "last": last, "note": note })
        }
        Token::Group(label, frame) => match frame {
            Frame::Row => json!({ "group": label }),
            Frame::Block { first, pages } => {
                json!({ "group": label, "block": first.0, "places": pages })
            }
            Frame::Places(places) => json!({ "group": label, "places": places }),
        },
        Token::Page(page, Held::Dirty, mark) if mark.is_empty() => json!(page.0),
        Token::Page(page, held, mark) => {
            let held = match held {
                Held::Dirty => "dirty",
                Held::WritingBack => "leaving",
                Held::Clean => "clean",
            };
            json!([page.0, held, mark])
        }
    }
}

fn interval(interval: &Interval, begin: Ticks) -> Value {
    json!([
        interval.die,
        begin,
        interval.time,
        interval.event,
        interval.work,
        interval
            .pages
            .iter()
            .map(|page| json!(page.0))
            .collect::<Value>(),
        interval.record,
        interval.request,
        interval.parts.iter().map(part).collect::<Value>(),
        interval.merges.iter().map(merge).collect::<Value>(),
    ])
}

fn part(part: &Part) -> Value {
    let kind = match part.kind {
        Kind::Read => "read",
        Kind::Program => "program",
        Kind::Erase => "erase",
    };
    json!([kind, part.cause.name(), part.count, part.time])
}

fn merge(merge: &Merge) -> Value {
    json!([merge.kind.name(), merge.block, merge.copies, merge.erases])
}
