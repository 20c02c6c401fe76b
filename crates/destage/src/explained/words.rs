//! Short sentences that explain why the slow requests were slow.

use destage_base::Ticks;
use destage_base::time::to_ms;
use destage_sim::explain::{Bucket, Explained, OPERATIONS, Responses, Series, Slow, Timed};

use super::{TAIL, mean_ms, name};

/// What a request may wait for. Each entry has the index of a part of the response time, the index of the same part
/// while garbage collection holds the die, and the words for both parts.
const WAITS: [(usize, Option<usize>, &str); 10] = [
    (0, None, "in the queue"),
    (1, None, "on the host bus"),
    (2, Some(3), "waiting for a buffer slot"),
    (4, Some(5), "waiting for a die"),
    (6, None, "in their own flash operations"),
    (7, None, "behind reads of their die"),
    (8, None, "behind programs of their die"),
    (9, None, "behind erases of their die"),
    (10, None, "waiting for a channel"),
    (11, None, "on a channel"),
];
/// Percentages below this one are not mentioned.
const WORTH: f64 = 10.0;

/// The sentences, the most informative first. A run without times has no sentences.
#[must_use]
pub fn words(explained: &Explained) -> Vec<String> {
    let Some(timed) = &explained.timed else {
        return Vec::new();
    };
    // Writes come first, because the buffer is mainly for writes.
    let of = |place: usize, what: &str| slowest(&timed.responses[place], what);
    let mut sentences: Vec<String> = [of(1, "writes"), of(0, "reads")]
        .into_iter()
        .flatten()
        .collect();
    sentences.extend(burst(timed));
    sentences.extend(dies(&timed.series));
    sentences
}

/// The mean response time of a set of requests, and its parts.
#[derive(Clone, PartialEq, Debug)]
pub struct PartMeans {
    /// The set of requests.
    pub name: String,
    /// The number of requests.
    pub requests: u64,
    /// The mean response time in milliseconds.
    pub response_ms: f64,
    /// The mean time in each part, in milliseconds.
    pub parts: Vec<(&'static str, f64)>,
}

/// For each operation with completed requests: the means of all its requests, and the means of its slowest
/// requests.
#[must_use]
pub fn means(explained: &Explained) -> Vec<PartMeans> {
    let timed = explained.timed.iter();
    let names = explained
        .timed
        .as_ref()
        .map_or(&[][..], |timed| timed.parts);
    let responses = timed.flat_map(|timed| OPERATIONS.iter().zip(&timed.responses));
    let rows = responses.flat_map(|(operation, responses)| {
        let all = responses.spreading.all();
        let tail = responses.spreading.from_percentile(TAIL);
        let share = 100.0 * tail.requests as f64 / all.requests as f64;
        let operation = name(*operation);
        [
            (operation.to_owned(), all),
            (format!("{operation}, slowest {} %", percent(share)), tail),
        ]
    });
    let some = rows.filter(|(_, bucket)| bucket.requests > 0);
    some.map(|(name, bucket)| PartMeans {
        name,
        requests: bucket.requests,
        response_ms: mean_ms(bucket.total(), bucket.requests),
        parts: {
            let sums = names.iter().zip(bucket.sums);
            let means = sums.map(|(name, sum)| (*name, mean_ms(sum, bucket.requests)));
            means.collect()
        },
    })
    .collect()
}

fn slowest(responses: &Responses, what: &str) -> Option<String> {
    let all = responses.spreading.all();
    let tail = responses.spreading.from_percentile(TAIL);
    if all.requests == 0 || tail.total() == 0 {
        return None;
    }
    let (mean, of_tail) = (
        mean_ms(all.total(), all.requests),
        mean_ms(tail.total(), tail.requests),
    );
    let share = 100.0 * tail.requests as f64 / all.requests as f64;
    let begin = if share > 50.0 {
        format!(
            "Most {what} take about the same time, {} on average",
            time(of_tail)
        )
    } else {
        format!(
            "The slowest {} % of {what} take {} on average (all {what}: {})",
            percent(share),
            time(of_tail),
            time(mean)
        )
    };
    Some(format!(
        "{begin}; of these {}, they spend {}.",
        time(of_tail),
        parts(&tail)
    ))
}

/// The largest parts of the time of `bucket`, in words. A request waits in the queue because earlier requests are in
/// the device. If the queue is the largest part, the rest of the time is therefore described too.
fn parts(bucket: &Bucket) -> String {
    let mut shares = shares(bucket, &WAITS);
    shares.sort_by(|one, other| other.share.total_cmp(&one.share));
    let is_queue = |share: &Share| share.words == WAITS[0].2;
    let told = |shares: &[Share]| {
        let told = shares.iter().enumerate();
        let told = told.filter(|(place, of)| *place == 0 || of.share >= WORTH);
        told.map(|(_, of)| of.text()).collect::<Vec<_>>().join(", ")
    };
    if !shares.first().is_some_and(is_queue) {
        return told(&shares);
    }
    let mut rest = self::shares(bucket, &WAITS[1..]);
    rest.sort_by(|one, other| other.share.total_cmp(&one.share));
    let queue = shares[0].text();
    match rest.first() {
        Some(first) if first.share > 0.0 => {
            format!("{queue}; of the rest {}", told(&rest))
        }
        _ => queue,
    }
}

/// One part of a time, in percent of the time.
struct Share {
    share: f64,
    /// The percentage of the part during which garbage collection held the die.
    in_gc: f64,
    words: &'static str,
}

impl Share {
    fn text(&self) -> String {
        let gc = match self.in_gc >= 1.0 {
            true => format!(
                " ({} % of that while garbage collection held the die)",
                percent(self.in_gc)
            ),
            false => String::new(),
        };
        format!("{} % {}{gc}", percent(self.share), self.words)
    }
}

/// The percentages of the total time of the requests of `bucket` that were spent in each of `waits`.
fn shares(bucket: &Bucket, waits: &[(usize, Option<usize>, &'static str)]) -> Vec<Share> {
    let times = waits.iter().map(|(plain, gc, words)| {
        let in_gc = gc.map_or(0, |gc| bucket.sums[gc]);
        (bucket.sums[*plain] + in_gc, in_gc, *words)
    });
    let times: Vec<_> = times.collect();
    let total: u128 = times.iter().map(|(time, ..)| time).sum();
    let share = |part: u128, whole: u128| 100.0 * part as f64 / whole.max(1) as f64;
    let shares = times.into_iter().map(|(time, in_gc, words)| Share {
        share: share(time, total),
        in_gc: share(in_gc, time),
        words,
    });
    shares.collect()
}

/// A sentence that says whether the slowest requests arrived close together; `None` if there are too few requests.
fn burst(timed: &Timed) -> Option<String> {
    let worst = &timed.worst;
    let end = end(&timed.series);
    let span = end.saturating_sub(timed.series.start);
    if worst.len() < 4 || span == 0 {
        return None;
    }
    let ends = worst.iter().map(|slow| slow.arrival + slow.response());
    let (first, last) = (
        worst.iter().map(|slow| slow.arrival).min()?,
        ends.max()?.min(end),
    );
    let collecting = |slow: &&Slow| slow.dies_collecting > 0;
    let beside_gc = match worst.iter().filter(collecting).count() {
        0 => String::new(),
        1 => "; 1 of them was accepted while a die was collecting garbage".to_owned(),
        count => {
            format!("; {count} of them were accepted while a die was collecting garbage")
        }
    };
    let share = 100.0 * (last - first) as f64 / span as f64;
    Some(if share <= WORTH {
        format!(
            "The {} slowest requests came together, between {} and {}, in {} % of the run{beside_gc}.",
            worst.len(),
            time(to_ms(first)),
            time(to_ms(last)),
            percent(share)
        )
    } else {
        format!(
            "The {} slowest requests are spread over {} % of the run{beside_gc}.",
            worst.len(),
            percent(share)
        )
    })
}

fn end(series: &Series) -> Ticks {
    let before = series.intervals.len().saturating_sub(1) as u64;
    series.start + before * series.length + series.last_length
}

/// A sentence with the percentage of time in which the dies were busy, and the percentage of this busy time that was
/// garbage collection.
fn dies(series: &Series) -> Option<String> {
    let span = end(series) - series.start;
    let dies = series.intervals.first()?.busy.len();
    if span == 0 || dies == 0 {
        return None;
    }
    let sum = |of: &dyn Fn(usize) -> u128| (0..series.intervals.len()).map(of).sum::<u128>();
    let busy = sum(&|index| {
        let busy = series.intervals[index].busy.iter();
        busy.map(|busy| u128::from(*busy)).sum()
    });
    let gc = sum(&|index| u128::from(series.intervals[index].gc_time));
    let share = 100.0 * busy as f64 / (span as f64 * dies as f64);
    let of_gc = match busy {
        0 => 0.0,
        busy => 100.0 * gc as f64 / busy as f64,
    };
    let who = if dies == 1 {
        "The die was"
    } else {
        "On average, a die was"
    };
    Some(match gc {
        0 => format!(
            "{who} busy {} % of the time; there was no garbage collection.",
            percent(share)
        ),
        _ => format!(
            "{who} busy {} % of the time; it spent {} % of its busy time on garbage collection.",
            percent(share),
            percent(of_gc)
        ),
    })
}

/// A percentage as text: without decimals from 10 on, with one decimal from 0.1 on, otherwise with two.
fn percent(share: f64) -> String {
    match share {
        share if share >= 9.95 => format!("{share:.0}"),
        share if share >= 0.095 => format!("{share:.1}"),
        share => format!("{share:.2}"),
    }
}

/// The time `ms`, in milliseconds, as text in s, ms or us.
fn time(ms: f64) -> String {
    let (value, unit) = match ms {
        ms if ms >= 1e3 => (ms / 1e3, "s"),
        ms if ms >= 1.0 => (ms, "ms"),
        ms => (ms * 1e3, "us"),
    };
    match value {
        value if value >= 99.5 => format!("{value:.0} {unit}"),
        value if value >= 9.95 => format!("{value:.1} {unit}"),
        value => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bucket with times in the first seven parts only. In a run without queues of commands at the dies, all other
    /// parts are 0.
    fn bucket(of: [u128; 7]) -> Bucket {
        let mut bucket = Bucket {
            requests: 1,
            ..Bucket::default()
        };
        bucket.sums[..7].copy_from_slice(&of);
        bucket
    }

    #[test]
    fn the_largest_part_comes_first_and_small_ones_are_left_out() {
        assert_eq!(
            parts(&bucket([5, 10, 30, 50, 0, 0, 5])),
            "80 % waiting for a buffer slot (62 % of that while garbage collection held the die), 10 % on the host bus"
        );
        assert_eq!(
            parts(&bucket([0, 7, 0, 0, 0, 0, 0])),
            "100 % on the host bus"
        );
    }

    #[test]
    fn behind_a_queue_stands_what_made_it() {
        assert_eq!(
            parts(&bucket([900, 0, 75, 0, 0, 0, 25])),
            "90 % in the queue; of the rest 75 % waiting for a buffer slot, 25 % in their own flash operations"
        );
        assert_eq!(parts(&bucket([9, 0, 0, 0, 0, 0, 0])), "100 % in the queue");
    }

    #[test]
    fn numbers_have_the_digits_that_they_are_worth() {
        assert_eq!(
            [99.96, 9.94, 0.5, 0.04].map(percent),
            ["100", "9.9", "0.5", "0.04"]
        );
        assert_eq!(
            [2500.0, 12.34, 0.0019].map(time),
            ["2.50 s", "12.3 ms", "1.90 us"]
        );
    }
}
