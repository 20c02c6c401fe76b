//! Tests that the table of a comparison has the requested columns and the requested order of rows.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::Place;

const COMPARE: [&str; 7] = [
    "compare",
    "--workload",
    "zipf:requests=3000,footprint_pages=600",
    "--buffers",
    "nocache,lru,fifo",
    "--sizes",
    "256KiB,1MiB",
];

fn table(more: &[&str]) -> Vec<String> {
    let text = Place::new().succeed(&[&COMPARE[..], more].concat());
    let table = text.split("\n\n").nth(1).unwrap().lines();
    table.map(str::to_owned).collect()
}

/// The numbers in the last column of `rows`; `None` for a dash.
fn last(rows: &[String]) -> Vec<Option<f64>> {
    let cell = |row: &String| row.split_whitespace().last().unwrap().replace(',', "");
    rows[2..].iter().map(|row| cell(row).parse().ok()).collect()
}

#[test]
fn columns_are_those_that_were_asked_for() {
    let rows = table(&[
        "--columns",
        "response.write.p99_ms, host.queue_depth,buffer.evictions",
    ]);
    let head: Vec<_> = rows[0].split_whitespace().collect();
    let expected = [
        "buffer",
        "size",
        "response.write.p99_ms",
        "host.queue_depth",
        "buffer.evictions",
    ];
    assert_eq!(head, expected);
    assert!(
        rows[2..].iter().all(|row| row.contains("  20  ")),
        "{rows:?}"
    );
    assert_eq!(last(&rows)[0], None, "{rows:?}");
}

#[test]
fn rows_are_sorted_and_those_without_the_value_come_last() {
    let evictions = |sort: &str| last(&table(&["--columns", "buffer.evictions", "--sort", sort]));
    let up = evictions("buffer.evictions");
    let known: Vec<f64> = up.iter().flatten().copied().collect();
    assert_eq!(known.len(), 4);
    assert!(known.is_sorted() && known[0] < known[3], "{up:?}");
    assert!(up[4..].iter().all(Option::is_none), "{up:?}");
    let down = evictions("-buffer.evictions");
    let turned: Vec<f64> = down.iter().flatten().copied().collect();
    assert_eq!(turned, known.iter().rev().copied().collect::<Vec<_>>());
    assert!(down[4..].iter().all(Option::is_none), "{down:?}");
    // Rows can also be sorted by a parameter whose values are texts.
    let kinds = table(&["--sort", "buffer.kind"]);
    let first = |row: &String| row.split_whitespace().next().unwrap().to_owned();
    let kinds: Vec<_> = kinds[3..].iter().map(first).collect();
    assert!(kinds.is_sorted() && kinds.len() == 5, "{kinds:?}");
}

/// The buffer, the size and the value of `metric` of each run in the results, without the runs of schemes that are
/// bounds.
fn values(place: &Place, metric: &str) -> Vec<(String, u64, f64)> {
    let document = common::json(&place.read("r.json"));
    let runs = document["runs"].as_array().unwrap().iter();
    let of = |run: &serde_json::Value| {
        let kind = run["parameters"]["buffer.kind"].as_str().unwrap();
        let size = run["parameters"]["buffer.capacity_bytes"].as_u64();
        let value = run["metrics"][metric].as_f64();
        let is_bound = ["belady", "infinite"].contains(&kind);
        Some((kind.to_owned(), size?, value?)).filter(|_| !is_bound)
    };
    runs.filter_map(of).collect()
}

/// For each buffer, the mean over all sizes of its distance from the best value at the size. The list begins with the
/// smallest mean. `behind` computes a distance.
fn nearest(
    values: &[(String, u64, f64)],
    best: fn(f64, f64) -> f64,
    behind: fn(f64, f64) -> f64,
) -> Vec<(String, f64)> {
    let mut sums: std::collections::BTreeMap<&str, (f64, f64)> = std::collections::BTreeMap::new();
    for (kind, size, value) in values {
        let there = values.iter().filter(|(_, other, _)| other == size);
        let first = there.map(|(.., value)| *value).reduce(best).unwrap();
        let (sum, count) = sums.entry(kind).or_default();
        *sum += behind(*value, first);
        *count += 1.0;
    }
    let means = sums
        .into_iter()
        .map(|(kind, (sum, count))| (kind.to_owned(), sum / count));
    let mut means: Vec<_> = means.collect();
    means.sort_by(|a, b| a.1.total_cmp(&b.1));
    means
}

/// The names and numbers in the sentence that begins with `begin` and follows the table.
fn told(text: &str, begin: &str) -> Vec<(String, f64)> {
    let text = text.replace('\n', " ");
    let told = text.split(begin).nth(1).unwrap_or_else(|| panic!("{text}"));
    let told = told.split(". ").next().unwrap().split(", ");
    let pair = |one: &str| {
        let (name, number) = one.split_once(' ').unwrap();
        let number = number.split(' ').next().unwrap();
        (name.to_owned(), number.parse().unwrap())
    };
    told.map(pair).collect()
}

#[test]
fn a_long_table_names_the_best_and_how_it_is_sorted() {
    let place = Place::new();
    let compare = |more: &[&str]| {
        let all = [
            "compare",
            "--workload",
            "zipf:requests=3000,footprint_pages=600",
            "--buffers",
            "all",
            "-o",
            "r.json",
        ];
        place.succeed(&[&all[..], more].concat())
    };
    let near = |told: &[(String, f64)], expected: &[(String, f64)]| {
        assert_eq!(told.len(), 5, "{told:?}");
        let is_near = |number: f64, value: f64| (number - value).abs() <= 0.001 * value.max(1.0);
        for ((name, number), (_, value)) in told.iter().zip(expected) {
            // Buffers with equal values may be in either order.
            let own = expected.iter().find(|(kind, _)| kind == name).unwrap().1;
            assert!(
                is_near(*number, *value) && is_near(*number, own),
                "{told:?} {expected:?}"
            );
        }
    };

    let text = compare(&["--sizes", "256KiB,1MiB"]);
    let factors = nearest(
        &values(&place, "response.mean_ms"),
        f64::min,
        |value, best| (value / best).ln(),
    );
    let factors: Vec<_> = factors
        .into_iter()
        .map(|(kind, mean)| (kind, mean.exp()))
        .collect();
    let begin = "Nearest to the best response.mean_ms over all sizes, with the mean factor to it: ";
    near(&told(&text, begin), &factors);
    assert!(
        text.replace('\n', " ")
            .contains(". --sort response.mean_ms sorts the rows. "),
        "{text}"
    );
    // If `--sort` is given, the output has no hint about `--sort`.
    let sorted = compare(&["--sizes", "256KiB,1MiB", "--sort", "response.mean_ms"]);
    assert!(!sorted.contains("--sort"), "{sorted}");

    let text = compare(&["--sizes", "256KiB"]);
    let mut least = values(&place, "response.mean_ms");
    least.sort_by(|a, b| a.2.total_cmp(&b.2));
    let least: Vec<_> = least
        .into_iter()
        .map(|(kind, _, value)| (kind, value))
        .collect();
    near(&told(&text, "The best response.mean_ms: "), &least);

    let text = compare(&["--sizes", "256KiB,1MiB", "--ftl", "none"]);
    let points = nearest(
        &values(&place, "buffer.write_hits_percent"),
        f64::max,
        |value, best| best - value,
    );
    let begin = "Nearest to the best buffer.write_hits_percent over all sizes, with the mean difference to it: ";
    near(&told(&text, begin), &points);
    assert!(
        text.replace('\n', " ")
            .contains("--sort -buffer.write_hits_percent sorts"),
        "{text}"
    );

    let text = compare(&["--sizes", "256KiB", "--columns", "flash.erases"]);
    assert!(
        text.contains("\n--sort flash.erases sorts the rows.\n"),
        "{text}"
    );
    let few = place.succeed(&COMPARE);
    assert!(
        !few.contains("--sort") && !few.contains("est response"),
        "{few}"
    );
}

#[test]
fn an_unknown_name_is_refused_before_anything_runs() {
    let place = Place::new();
    for (option, name, near) in [
        (
            "--columns",
            "flash.erases,response.men_ms",
            "response.men_ms",
        ),
        ("--sort", "-flash.erasse", "flash.erases"),
        ("--sort", "ftl.cleanings", "ftl.gc_runs"),
    ] {
        let outcome = place.run(&[&COMPARE[..], &[option, name]].concat());
        assert_eq!(outcome.status, 2);
        let start = format!("destage: error: {option}: ");
        assert!(outcome.errors.starts_with(&start), "{}", outcome.errors);
        assert!(outcome.errors.contains(near), "{}", outcome.errors);
    }
}

/// The layers with logs have both a parameter and a metric `ftl.merge_copies`.
#[test]
fn a_parameter_and_a_metric_of_one_name_have_two_columns() {
    const NAME: &str = "ftl.merge_copies";
    let place = Place::new();
    place.write("t.disksim", common::page_writes(&[0, 1, 2, 3, 0, 1, 2, 3]));
    let more = ["--ftl", "bast", "--csv", "--quiet"];
    for command in [&["run"][..], &["compare", "--buffers", "lru"]] {
        let text = place.succeed(&[command, &["t.disksim"], &more, &common::TINY].concat());
        let mut lines = text.lines().map(|line| line.split(','));
        let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
        let cells: Vec<_> = head.zip(row).collect();
        let of = |name: &str| {
            let found = cells.iter().filter(|(head, _)| *head == name);
            found.map(|(_, cell)| *cell).collect::<Vec<_>>()
        };
        assert_eq!(of("parameter.ftl.merge_copies"), ["valid"], "{text}");
        let metric = of(NAME);
        assert_eq!(metric.len(), 1, "{text}");
        assert!(metric[0].parse::<u64>().is_ok(), "{text}");
    }
}

/// Without the options, `run` prints a line for each metric.
#[test]
fn a_single_run_is_a_row_of_the_chosen_columns() {
    let place = Place::new();
    let run = [
        "run",
        "--workload",
        "zipf:requests=3000,footprint_pages=600",
    ];
    let columns = ["--columns", "flash.erases,buffer.capacity_bytes"];
    let text = place.succeed(&[&run[..], &columns].concat());
    let table: Vec<&str> = text.lines().filter(|line| line.contains("  ")).collect();
    assert!(
        table[0].ends_with("flash.erases  buffer.capacity_bytes"),
        "{text}"
    );
    assert!(!text.contains("response.mean_ms"), "{text}");
    let written = ["-o", "row.md"];
    place.succeed(&[&run[..], &columns, &written].concat());
    let written = std::fs::read_to_string(place.path("row.md")).unwrap();
    assert_eq!(written.lines().count(), 3, "{written}");
    assert!(written.contains("flash.erases"), "{written}");

    let outcome = place.run(&[&run[..], &["--columns", "ftl.merge_copies"]].concat());
    assert_eq!(outcome.status, 0);
    assert!(
        outcome
            .errors
            .contains("--columns ftl.merge_copies: no run has it"),
        "{}",
        outcome.errors
    );
    let outcome = place.run(&[&run[..], &["--sort", "flash.erasse"]].concat());
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.errors.contains("flash.erases"),
        "{}",
        outcome.errors
    );
}
