//! Compares logs of the live device with logs of a run, line by line.

use std::path::Path;

use crate::Failure;

/// The first difference between two logs, or `None`. The live log may have more lines than the log of the run if the
/// additional lines are of a flush, because the server flushes at its end.
pub fn difference(what: &str, live: &str, run: &str) -> Option<String> {
    let mut live = live.lines();
    for (index, expected) in run.lines().enumerate() {
        let found = live.next().unwrap_or("nothing");
        if found != expected {
            return Some(format!(
                "{what}, line {}: live {found}, run {expected}",
                index + 1
            ));
        }
    }
    let rest = live.find(|line| !line.split(',').any(|field| field == "flush"));
    rest.map(|line| format!("{what}: only live {line}"))
}

/// The response times of a log in milliseconds, in the order of the requests.
pub fn responses(path: &Path) -> Result<Vec<f64>, Failure> {
    let text = std::fs::read_to_string(path)?;
    let times = text.lines().skip(1).map(|line| {
        let field = line.split(',').nth(2).unwrap_or_default();
        field
            .parse()
            .map_err(|_| format!("{}: no response time in {line}", path.display()).into())
    });
    times.collect()
}

/// The percentile of `sorted` at `share`, which is from 0 to 1. The percentile is an element of the list; `None` for
/// an empty list.
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_more_less_or_other_is_a_difference_but_for_flushes_at_the_end() {
        let run = "time,cause\n1,evict\n2,evict\n";
        assert_eq!(difference("log", run, run), None);
        assert_eq!(difference("log", &format!("{run}3,flush\n"), run), None);
        let more = difference("log", &format!("{run}3,flush\n4,evict\n"), run);
        assert_eq!(more.as_deref(), Some("log: only live 4,evict"));
        let less = difference("log", "time,cause\n1,evict\n", run);
        let expected = "log, line 3: live nothing, run 2,evict";
        assert_eq!(less.as_deref(), Some(expected));
        assert!(difference("log", "time,cause\n1,evict\n2,fua\n", run).is_some());
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let list: Vec<f64> = (1..=200).map(f64::from).collect();
        let of = |share| percentile(&list, share);
        assert_eq!(
            (of(0.5), of(0.99), of(1.0)),
            (Some(100.0), Some(198.0), Some(200.0))
        );
        assert_eq!((of(0.0), percentile(&[], 0.5)), (Some(1.0), None));
    }
}
