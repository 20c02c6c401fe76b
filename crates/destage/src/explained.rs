//! Explained runs as JSON and in words. `docs/EXPLAIN.md` describes what either form contains.

mod words;

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, to_ms};
use destage_nand::Cause;
use destage_sim::explain::{
    Bucket, Explained, Interval, OPERATIONS, PERCENTILES, Responses, Series, Slow, Spread, Timed,
};
use serde_json::{Map, Value, json};

pub use self::words::{PartMeans, means, words};

/// Requests whose response time reaches this percentile count as the slowest. The percentile is a numerator and a
/// denominator.
pub const TAIL: (u64, u64) = (99, 100);
/// If the device has at most this many dies, the series has a column for each die.
const DIES_TOLD: usize = 64;

/// `explained` as the JSON value of `"explained"`.
#[must_use]
pub fn to_json(explained: &Explained) -> Value {
    let mut document = Map::new();
    document.insert("words".to_owned(), json!(words(explained)));
    if let Some(timed) = &explained.timed {
        document.insert("parts".to_owned(), json!(timed.parts));
        document.insert("response".to_owned(), responses(timed));
        document.insert("series".to_owned(), series(&timed.series));
    }
    let sizes = &explained.destages.0;
    if !sizes.is_empty() {
        let table = json!({
            "pages": sizes.keys().collect::<Vec<_>>(),
            "records": sizes.values().map(|row| row.records).collect::<Vec<_>>(),
            "pad_reads": sizes.values().map(|row| row.pad_reads).collect::<Vec<_>>(),
            "pad_fills": sizes.values().map(|row| row.pad_fills).collect::<Vec<_>>(),
        });
        document.insert("destages".to_owned(), table);
    }
    let wear = &explained.wear.0;
    if !wear.is_empty() {
        let table = json!({
            "erases": wear.keys().collect::<Vec<_>>(),
            "blocks": wear.values().collect::<Vec<_>>(),
        });
        document.insert("wear".to_owned(), table);
    }
    if let Some(timed) = &explained.timed {
        document.insert("worst".to_owned(), worst(timed));
    }
    if !explained.scheme.is_empty() {
        document.insert("scheme".to_owned(), json!(explained.scheme));
    }
    Value::Object(document)
}

/// The name of an operation.
fn name(operation: destage_trace::Operation) -> &'static str {
    use destage_trace::Operation::{Flush, Read, Trim, Write};
    match operation {
        Read => "read",
        Write => "write",
        Flush => "flush",
        Trim => "trim",
    }
}

/// A sum of times in milliseconds.
fn sum_ms(ticks: u128) -> f64 {
    ticks as f64 / TICKS_PER_MS as f64
}

/// A mean of times in milliseconds.
fn mean_ms(ticks: u128, count: u64) -> f64 {
    sum_ms(ticks) / count as f64
}

fn responses(timed: &Timed) -> Value {
    let all = OPERATIONS.iter().zip(&timed.responses);
    let some = all.filter(|(_, responses)| responses.spreading.all().requests > 0);
    let named =
        some.map(|(operation, of)| (name(*operation).to_owned(), response(of, timed.parts)));
    Value::Object(named.collect())
}

fn response(responses: &Responses, names: &[&str]) -> Value {
    let all = responses.spreading.all();
    let percentiles = PERCENTILES.iter().zip(responses.percentiles);
    let percentiles =
        percentiles.map(|((name, _), value)| ((*name).to_owned(), json!(to_ms(value))));
    let largest = ("max".to_owned(), json!(to_ms(responses.max)));
    let percentiles: Map<_, _> = percentiles.chain([largest]).collect();
    let tail = responses.spreading.from_percentile(TAIL);
    let split = |bucket: &Bucket| -> Value {
        let parts = names.iter().zip(bucket.sums);
        let means = parts.map(|(part, sum)| {
            let mean = mean_ms(sum, bucket.requests);
            ((*part).to_owned(), json!(mean))
        });
        Value::Object(means.collect())
    };
    json!({
        "requests": all.requests,
        "mean_ms": mean_ms(all.total(), all.requests),
        "percentiles_ms": percentiles,
        "split_ms": split(&all),
        "tail": {
            "from_percentile": 100.0 * TAIL.0 as f64 / TAIL.1 as f64,
            "requests": tail.requests,
            "mean_ms": mean_ms(tail.total(), tail.requests),
            "split_ms": split(&tail),
        },
        "histogram": histogram(responses, names),
    })
}

fn histogram(responses: &Responses, names: &[&str]) -> Value {
    let mut columns = Map::new();
    let rows: Vec<_> = responses.spreading.buckets().collect();
    let times = |of: fn(&std::ops::RangeInclusive<Ticks>) -> Ticks| -> Value {
        rows.iter().map(|(times, _)| to_ms(of(times))).collect()
    };
    columns.insert("from_ms".to_owned(), times(|times| *times.start()));
    columns.insert("to_ms".to_owned(), times(|times| *times.end()));
    let requests = rows.iter().map(|(_, bucket)| bucket.requests);
    columns.insert("requests".to_owned(), requests.collect());
    for (part, name) in names.iter().enumerate() {
        let sums = rows.iter().map(|(_, bucket)| sum_ms(bucket.sums[part]));
        columns.insert(format!("{name}_ms"), sums.collect());
    }
    Value::Object(columns)
}

fn series(series: &Series) -> Value {
    let mut columns = Map::new();
    let intervals = &series.intervals;
    let length_of = |index: usize| match index + 1 == intervals.len() {
        true => series.last_length,
        false => series.length,
    };
    let mut column = |name: String, of: &dyn Fn(usize, &Interval) -> Value| {
        let rows = intervals.iter().enumerate();
        let values = rows.map(|(index, interval)| of(index, interval));
        columns.insert(name, values.collect());
    };
    column("time_ms".to_owned(), &|index, _| {
        json!(to_ms(series.start + index as u64 * series.length))
    });
    column("requests".to_owned(), &|_, of| json!(of.arrived));
    for (place, operation) in ["read", "write"].into_iter().enumerate() {
        let mut of_responses = |word: &str, of: &dyn Fn(&Spread) -> Option<Value>| {
            column(format!("{operation}.{word}"), &|_, interval| {
                json!(of(&interval.responses[place]))
            });
        };
        of_responses("requests", &|spread| Some(json!(spread.count)));
        of_responses("mean_ms", &|spread| {
            let count = u128::from(spread.count);
            let mean = (spread.sum + count / 2).checked_div(count)?;
            Some(json!(to_ms(mean as Ticks)))
        });
        of_responses("p99_ms", &|spread| {
            (spread.count > 0).then(|| json!(to_ms(spread.p99)))
        });
        of_responses("max_ms", &|spread| {
            (spread.count > 0).then(|| json!(to_ms(spread.max)))
        });
    }
    let level = |place: usize| {
        move |index: usize, of: &Interval| {
            let length = length_of(index);
            let mean = of.levels[place] as f64 / length.max(1) as f64;
            json!(rounded(mean, 1e3))
        }
    };
    column("queue.mean".to_owned(), &level(0));
    column("queue.max".to_owned(), &|_, of| json!(of.outstanding_max));
    if intervals.iter().any(|interval| interval.levels[1] > 0) {
        column("buffer.pages".to_owned(), &level(1));
        column("buffer.dirty_pages".to_owned(), &level(2));
        column("buffer.dirty_pages_max".to_owned(), &|_, of| {
            json!(of.dirty_max)
        });
        column("buffer.oldest_dirty_ms".to_owned(), &|_, of| {
            json!(to_ms(of.oldest_dirty))
        });
        column("destages".to_owned(), &|_, of| json!(of.destages));
        column("destaged_pages".to_owned(), &|_, of| {
            json!(of.destaged_pages)
        });
    }
    column("gc.runs".to_owned(), &|_, of| json!(of.gc_runs));
    column("gc.time_ms".to_owned(), &|_, of| json!(to_ms(of.gc_time)));
    let total = |counts: &[u64]| counts.iter().sum::<u64>();
    column("flash.reads".to_owned(), &|_, of| {
        json!(total(&of.tally.reads))
    });
    column("flash.erases".to_owned(), &|_, of| {
        json!(total(&of.tally.erases))
    });
    for cause in [
        Cause::Host,
        Cause::Pad,
        Cause::Copy,
        Cause::Map,
        Cause::Wear,
    ] {
        let name = format!("flash.programs.{}", cause.name());
        column(name, &|_, of| json!(of.tally.programs[cause as usize]));
    }
    let share = |index: usize, busy: f64| {
        let length = length_of(index).max(1);
        json!(rounded(busy / length as f64, 1e4))
    };
    column("utilization.mean".to_owned(), &|index, of| {
        let sum: f64 = of.busy.iter().map(|busy| *busy as f64).sum();
        share(index, sum / of.busy.len().max(1) as f64)
    });
    column("utilization.min".to_owned(), &|index, of| {
        share(index, of.busy.iter().min().map_or(0.0, |busy| *busy as f64))
    });
    column("utilization.max".to_owned(), &|index, of| {
        share(index, of.busy.iter().max().map_or(0.0, |busy| *busy as f64))
    });
    let dies = intervals.first().map_or(0, |first| first.busy.len());
    if dies <= DIES_TOLD {
        for die in 0..dies {
            column(format!("utilization.{die}"), &|index, of| {
                share(index, of.busy[die] as f64)
            });
        }
    }
    json!({
        "start_ms": to_ms(series.start),
        "interval_ms": to_ms(series.length),
        "columns": columns,
    })
}

/// `value` rounded to a multiple of 1 / `parts`.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

fn worst(timed: &Timed) -> Value {
    let Timed { worst, parts, .. } = timed;
    let mut columns = Map::new();
    let mut column = |name: &str, of: &dyn Fn(&Slow) -> Value| {
        columns.insert(name.to_owned(), worst.iter().map(of).collect());
    };
    column("index", &|slow| json!(slow.index));
    column("operation", &|slow| json!(name(slow.operation)));
    column("sector", &|slow| json!(slow.sector));
    column("sectors", &|slow| json!(slow.sectors));
    column("arrival_ms", &|slow| json!(to_ms(slow.arrival)));
    column("response_ms", &|slow| json!(to_ms(slow.response())));
    for (part, name) in parts.iter().enumerate() {
        column(&format!("{name}_ms"), &|slow| {
            json!(to_ms(slow.split.0[part]))
        });
    }
    column("waited_for", &|slow| {
        json!(slow.awaited.map(|awaited| awaited.name()))
    });
    column("die", &|slow| json!(slow.die));
    column("outstanding", &|slow| json!(slow.outstanding));
    column("dirty_pages", &|slow| json!(slow.dirty_pages));
    column("dies_collecting", &|slow| json!(slow.dies_collecting));
    Value::Object(columns)
}
