//! The smallest buffer for a goal is the one that a grid of all schemes and sizes finds.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::{Answers, Effort, Goal, Grid, Input, Record, Settings, SizePlan, compare, size};
use serde_json::Value;

const SCHEMES: [&str; 6] = ["nocache", "lru", "fab", "block-lru", "bplru", "fifo"];

fn workload() -> Input {
    let text =
        "zipf:requests=15000,footprint_pages=3000,cluster_pages=4,max_pages=4,write_percent=80";
    Input::workload(text, &[]).unwrap()
}

fn settings() -> Settings {
    let mut settings = Settings::new();
    settings.set_pair("flash.dies=2").unwrap();
    settings
}

fn answers(goals: &[&str]) -> Answers {
    answers_on(settings(), goals)
}

fn answers_on(settings: Settings, goals: &[&str]) -> Answers {
    let plan = SizePlan {
        settings,
        buffers: SCHEMES.map(str::to_owned).to_vec(),
        sizes: None,
        goals: goals.iter().map(|goal| Goal::read(goal).unwrap()).collect(),
    };
    size(&workload(), &plan, &Effort::default()).unwrap()
}

/// Of each scheme the smallest size that reaches all goals, in the order of answers.
fn of_grid(answers: &Answers) -> Vec<(String, u64)> {
    of_grid_on(settings(), answers)
}

fn of_grid_on(settings: Settings, answers: &Answers) -> Vec<(String, u64)> {
    let sizes = answers.sizes.iter().map(u64::to_string);
    let grid = Grid::new(settings).buffers(SCHEMES).sizes(sizes);
    let runs = compare(
        &[workload()],
        &grid.combinations().unwrap(),
        &Effort::default(),
    )
    .unwrap()
    .runs;
    assert_eq!(runs.len(), answers.grid);
    let reaches = |record: &&Record| answers.goals.iter().all(|goal| goal.is_met_by(record));
    let mut smallest: Vec<(u64, f64, String)> = Vec::new();
    for scheme in SCHEMES {
        let own = runs.iter().filter(|run| run.buffer == scheme);
        if let Some(run) = own.filter(reaches).min_by_key(|run| run.capacity()) {
            let first = run.metric(&answers.goals[0].metric).unwrap().unwrap();
            smallest.push((run.capacity().unwrap_or(0), first, scheme.to_owned()));
        }
    }
    smallest.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    smallest
        .into_iter()
        .map(|(bytes, _, scheme)| (scheme, bytes))
        .collect()
}

#[test]
fn the_two_best_are_those_of_the_grid() {
    for goals in [
        &["waf.host<0.5"][..],
        &["buffer.destaged_pages<9000"],
        &["response.write.mean_ms<0.4", "waf.host<0.8"],
    ] {
        let answers = answers(goals);
        let found = answers.answers.iter().take(2);
        let found: Vec<_> = found
            .map(|answer| (answer.record.buffer.clone(), answer.bytes))
            .collect();
        assert!(!found.is_empty(), "{goals:?}");
        assert_eq!(found[..], of_grid(&answers)[..found.len()], "{goals:?}");
        assert!(
            answers.runs * 2 < answers.grid,
            "{goals:?}: {} runs",
            answers.runs
        );
        assert!(answers.second_half.is_some() && answers.twice_the_load.is_some());
    }
}

/// How many pages garbage collection moves depends on the scheme, and no run of the buffer alone says it.
#[test]
fn the_two_best_are_those_of_the_grid_where_flash_collects_garbage() {
    for (ftl, blocks, limits) in [("page", 32, [1.4, 1.0, 0.6]), ("fast", 64, [2.5, 1.5, 0.5])] {
        let settings = || {
            let mut settings = settings();
            settings.set_kind("ftl", ftl).unwrap();
            settings.set_pair("flash.planes_per_die=1").unwrap();
            let pair = format!("flash.blocks_per_plane={blocks}");
            settings.set_pair(&pair).unwrap();
            settings
        };
        for limit in limits {
            let answers = answers_on(settings(), &[&format!("waf.bytes<{limit}")]);
            let wanted = of_grid_on(settings(), &answers);
            let found = answers.answers.iter().take(2);
            let found: Vec<(String, u64)> = found
                .map(|answer| (answer.record.buffer.clone(), answer.bytes))
                .collect();
            assert_eq!(found, wanted[..2], "{ftl} {limit}");
        }
    }
}

/// No buffer at all is smaller than the smallest, also where that does better.
#[test]
fn nothing_is_smaller_than_no_buffer() {
    for goal in ["waf.host<5", "response.write.mean_ms<1e6"] {
        let answers = answers(&[goal]);
        let (best, next) = (&answers.answers[0], &answers.answers[1]);
        assert_eq!(
            (&*best.record.buffer, best.confirmed),
            ("nocache", true),
            "{goal}"
        );
        assert_eq!(next.bytes, answers.sizes[0], "{goal}");
        let first = &answers.conclusions()[0];
        assert!(
            first.starts_with("nocache is the smallest buffer"),
            "{first}"
        );
    }
}

#[test]
fn of_times_the_next_is_that_of_the_grid() {
    for limit in [0.5, 0.2, 0.05] {
        let mut answers = answers(&[&format!("response.write.mean_ms<{limit}")]);
        let found = answers.answers.iter().take(2);
        let found: Vec<_> = found
            .map(|answer| (answer.record.buffer.clone(), answer.bytes))
            .collect();
        let of_grid = of_grid(&answers);
        assert_eq!(found.first(), of_grid.first(), "{limit}");
        // Whether another does with less is known here.
        assert_eq!(answers.nearest, None, "{limit}");
        assert_eq!(found.get(1), of_grid.get(1), "{limit}");
        // Where it is not, nothing is said to come next.
        answers.nearest = Some("fab".to_owned());
        let words = answers.conclusions().join("\n");
        assert!(!words.contains("Next comes"), "{words}");
        assert!(words.contains("Of the others fab came nearest"), "{words}");
        let json: Value = serde_json::from_str(&answers.to_json()).unwrap();
        assert_eq!(json["nearest"], "fab");
    }
}

#[test]
fn a_goal_that_nothing_reaches_has_no_answer() {
    let answers = answers(&["waf.host<0"]);
    assert!(answers.answers.is_empty() && answers.hold_up.is_none());
    assert_eq!(answers.missed.len(), SCHEMES.len());
    // At the largest size: what is missing there is missing everywhere.
    let largest = answers.sizes.last().copied();
    let of_lru = answers.missed.iter().find(|record| record.buffer == "lru");
    assert_eq!(of_lru.unwrap().capacity(), largest);
    // Two of them by full runs.
    assert_eq!((answers.runs, answers.manifest.inputs.len()), (2, 1));
    let words = answers.conclusions().join("\n");
    assert!(words.contains("2 full runs"), "{words}");
    assert!(!words.contains("No run has"), "{words}");
}

#[test]
fn what_is_not_known_is_said() {
    let input = Input::workload("zipf:requests=3000,footprint_pages=2000", &[]).unwrap();
    let words = |goal| {
        let plan = SizePlan {
            settings: settings(),
            buffers: vec!["lru".to_owned(), "fab".to_owned()],
            sizes: None,
            goals: vec![Goal::read(goal).unwrap()],
        };
        let answers = size(&input, &plan, &Effort::default()).unwrap();
        answers.conclusions().join("\n")
    };
    // There are no reads.
    let none = words("response.read.p99_ms<1");
    assert!(none.contains("No run has response.read.p99_ms"), "{none}");
    for (goal, is_first) in [
        ("buffer.write_hits>1", true),
        ("buffer.destaged_pages<500", false),
    ] {
        let found = words(goal);
        assert!(found.contains("is the smallest buffer"), "{found}");
        assert_eq!(
            found.contains("No smaller one was tried."),
            is_first,
            "{found}"
        );
    }
}

#[test]
fn the_json_says_what_was_found_and_what_it_takes() {
    let answers = answers(&["waf.host<0.5"]);
    let json: Value = serde_json::from_str(&answers.to_json()).unwrap();
    assert_eq!(json["goals"], serde_json::json!(["waf.host<0.5"]));
    let best = &json["answers"][0];
    assert_eq!(best["confirmed"], true);
    assert!(best["metrics"]["waf.host"].as_f64().unwrap() < 0.5);
    let bytes = best["bytes"].as_u64().unwrap();
    // Two dies program their halves of the pages side by side, 200 us and the transfer of a page each.
    let page_ms = 0.2 + 4096.0 * 25.0 / 1e6;
    let dump_ms = (bytes / 4096).div_ceil(2) as f64 * page_ms;
    let said = json["hold_up"]["dump_ms"].as_f64().unwrap();
    assert!((said - dump_ms).abs() < 1e-9 * dump_ms, "{said} {dump_ms}");
    assert_eq!(json["sensitivity"]["twice_the_load"]["goals_hold"], true);
}
