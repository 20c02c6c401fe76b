//! Tests that verdicts follow from runs. The reports in the folder `experiments` have to agree with the runs, and
//! replacing a scheme by a broken one has to change a verdict.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::own_scheme;
use destage::Effort;
use destage_study::reproduce::{Paper, Plan, Report, Thresholds, Verdict, shipped_traces};
use destage_study::{Extra, Scale, Store, Traces};

/// Claims that are written for these tests. Each depends on another rule of a scheme: the choice of the victim,
/// padding, or compensation.
const CLAIMS: &str = r#"
[[claim]]
id = "victim"
kind = "example"
place = "1"
statement = "The block whose last write is oldest leaves."
check = "equal"
published = "evict 0 1"
experiment = "small"
measured = 'm("destages", input="blocks", buffer="block-lru")[0]'

[[claim]]
id = "padding"
kind = "general"
place = "2"
statement = "Every full merge becomes a switch."
check = "property"
published = true
experiment = "small"
measured = 'm("ftl.merges.full", input="blocks", buffer="bplru") == 0 and m("ftl.merges.switch", input="blocks", buffer="bplru") > 0'

[[claim]]
id = "compensation"
kind = "example"
place = "3"
statement = "A block just written through is the next victim."
check = "equal"
published = "evict 8 9 10 11"
experiment = "small"
measured = 'm("destages", input="through", buffer="bplru")[0]'

[[claim]]
id = "sum"
place = "4"
statement = "Three and four are seven."
check = "arithmetic"
published = 7
measured = "3 + 4"
"#;

const SMALL: &str = r#"
title = "Blocks of four pages"
[settings]
ftl.kind = "bast"
ftl.log_blocks = 2
ftl.partial = false
flash = { dies = 1, planes_per_die = 1, blocks_per_plane = 64, pages_per_block = 4, page_bytes = 4096, summary_page = false }
sim = { costing = "op_count", drain = true, precondition = "sequential_fill" }
buffer.capacity_bytes = 32768
[[input]]
name = "blocks"
pages = "0 1 4 5 12 13 16 17 20 24 28 32 36 40"
[[input]]
name = "through"
pages = "0 1 8 9 10 5 11 16 20"
[[grid]]
buffers = ["block-lru", "bplru"]
destages = true
"#;

fn paper(claims: &str) -> Paper {
    let files = [
        ("paper.toml", "source = 'Nobody'\nabout = 'A test.'"),
        ("claims.toml", claims),
        ("small.toml", SMALL),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Paper::parse("own", files.into()).unwrap()
}

fn carry_out(papers: Vec<Paper>, extra: Extra) -> Report {
    carry_out_on(papers, extra, shipped_traces().unwrap())
}

fn carry_out_on(papers: Vec<Paper>, extra: Extra, traces: Traces) -> Report {
    let plan = Plan {
        papers,
        scale: Scale::Reduced,
        traces,
        thresholds: Thresholds::shipped().unwrap(),
        extra,
        readings: false,
    };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let effort = Effort::default();
    plan.asked(&effort)
        .unwrap()
        .carry_out(&store, &effort)
        .unwrap()
}

fn verdicts(report: &Report) -> BTreeMap<&str, Verdict> {
    let claims = report.papers.iter().flat_map(|paper| &paper.claims);
    claims
        .map(|claim| (claim.id.as_str(), claim.verdict))
        .collect()
}

/// The ids of the claims that hold in `whole`, the report with the original schemes, and fail if the scheme `kind` is
/// replaced by the scheme `other`.
fn turned(whole: &Report, papers: &[Paper], kind: &str, other: &str) -> Vec<String> {
    let broken = carry_out(
        papers.to_vec(),
        Extra {
            schemes: vec![(&own_scheme::NEWEST, "1".to_owned())],
            replaced: [(kind.to_owned(), other.to_owned())].into(),
            ..Extra::default()
        },
    );
    let (whole, broken) = (verdicts(whole), verdicts(&broken));
    let turned = whole
        .iter()
        .filter(|(id, verdict)| verdict.holds() && !broken[*id].holds());
    turned.map(|(id, _)| (*id).to_owned()).collect()
}

fn shipped(name: &str) -> Vec<Paper> {
    Plan::choose(Paper::shipped().unwrap(), Some(name)).unwrap()
}

#[test]
fn what_holds_is_reproduced() {
    let report = carry_out(vec![paper(CLAIMS)], Extra::default());
    let expected = [
        ("victim", Verdict::Reproduced),
        ("padding", Verdict::Holds),
        ("compensation", Verdict::Reproduced),
        ("sum", Verdict::Consistent),
    ];
    assert_eq!(verdicts(&report), expected.into());
}

#[test]
fn a_broken_scheme_is_found_out() {
    let own = [paper(CLAIMS)];
    let whole = |papers: &[Paper]| carry_out(papers.to_vec(), Extra::default());
    let sound = whole(&own);
    // Compared with the replaced schemes, `newest` chooses the wrong victim, and `block-lru` lacks both padding
    // and compensation. `bplru:comp=false` lacks compensation, and `bplru:pad=false` lacks padding.
    assert_eq!(turned(&sound, &own, "block-lru", "newest"), ["victim"]);
    assert_eq!(
        turned(&sound, &own, "bplru", "block-lru"),
        ["compensation", "padding"]
    );
    assert_eq!(
        turned(&sound, &own, "bplru", "bplru:comp=false"),
        ["compensation"]
    );
    assert_eq!(
        turned(&sound, &own, "bplru", "bplru:pad=false"),
        ["padding"]
    );
    let examples = shipped("bplru/examples");
    let sound = whole(&examples);
    for (kind, other, lost) in [
        ("block-lru", "newest", &["B1", "B2"][..]),
        ("bplru", "block-lru", &["B3", "B4"]),
        ("bplru", "bplru:comp=false", &["B4"]),
        ("bplru", "bplru:pad=false", &["B3"]),
    ] {
        assert_eq!(
            turned(&sound, &examples, kind, other),
            lost,
            "{kind}: {other}"
        );
    }
    let examples = shipped("bpac/examples");
    let sound = whole(&examples);
    for (kind, lost) in [
        ("fab", &["P16", "P17"][..]),
        ("block-lru", &["P16.others", "P17"]),
        ("clc", &["P16.others", "P17"]),
        ("bpac", &["P16.others"]),
    ] {
        assert_eq!(turned(&sound, &examples, kind, "newest"), lost, "{kind}");
    }
    let examples = shipped("epo/examples");
    let sound = whole(&examples);
    assert_eq!(turned(&sound, &examples, "epo", "newest"), ["E1"]);
    let streams = shipped("bplru/streams");
    let sound = whole(&streams);
    for (kind, lost) in [("lru", "B6"), ("fifo", "B6"), ("cflru", "B21")] {
        let turned = turned(&sound, &streams, kind, "newest");
        assert!(turned.iter().any(|id| id == lost), "{kind}: {turned:?}");
    }
}

/// Tests schemes whose claims need long runs. Each scheme is replaced by the scheme `newest`, which evicts the
/// page that was written last. `make verdicts` runs this test.
#[test]
#[ignore = "needs recorded traces and long runs: make verdicts"]
fn a_broken_scheme_is_found_out_in_long_verdicts() {
    let shared = std::env::var_os("DESTAGE_TRACES");
    let shared = shared.expect("DESTAGE_TRACES is the folder of recorded traces");
    let mut traces = shipped_traces().unwrap();
    traces.look_in(Path::new(&shared)).unwrap();
    for (experiment, kinds) in [
        ("bplru/w5", &["fab"][..]),
        ("epo/sizes", &["lru", "bplru"]),
        ("apu/write-back", &["wb"]),
        ("apu/response", &["apu-lru", "apu-lfu", "apu-lru-d"]),
    ] {
        let papers = shipped(experiment);
        let whole = carry_out_on(papers.clone(), Extra::default(), traces.clone());
        for kind in kinds {
            let broken = Extra {
                schemes: vec![(&own_scheme::NEWEST, "1".to_owned())],
                replaced: [((*kind).to_owned(), "newest".to_owned())].into(),
                ..Extra::default()
            };
            let broken = carry_out_on(papers.clone(), broken, traces.clone());
            let (before, after) = (verdicts(&whole), verdicts(&broken));
            let changed: Vec<_> = before
                .iter()
                .filter(|(id, verdict)| after[**id] != **verdict)
                .collect();
            println!("{experiment}, {kind}: {changed:?}");
            assert!(
                !changed.is_empty(),
                "{experiment}: nothing says that {kind} is broken"
            );
        }
    }
}

#[test]
fn an_edited_number_is_found_out() {
    for (from, to, id, verdict) in [
        (
            "\"evict 0 1\"",
            "\"evict 4 5\"",
            "victim",
            Verdict::Contradicted,
        ),
        (
            "\"evict 8 9 10 11\"",
            "\"evict 8 9 10\"",
            "compensation",
            Verdict::Contradicted,
        ),
        (
            "published = 7",
            "published = 8",
            "sum",
            Verdict::Inconsistent,
        ),
    ] {
        let report = carry_out(vec![paper(&CLAIMS.replace(from, to))], Extra::default());
        assert_eq!(verdicts(&report)[id], verdict, "{to}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}; make reproduce writes it"))
}

/// The rows of the table in `text` whose first column has the heading `name`, as lists of cells.
fn rows<'a>(text: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(inner.split(" | ").collect::<Vec<_>>())
    };
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with(&format!("| {name} |")));
    lines.next();
    lines.next();
    lines.map_while(cells).collect()
}

/// The experiments that are small enough for every run of the test suite.
const SAMPLE: [&str; 2] = ["bpac/examples", "bplru/examples"];

#[test]
fn a_readme_has_every_claim_of_its_paper() {
    for paper in Paper::shipped().unwrap() {
        let readme = read(&format!("experiments/{}/README.md", paper.name));
        let claims: toml::Table = read(&format!("experiments/{}/claims.toml", paper.name))
            .parse()
            .unwrap();
        let claims = claims["claim"].as_array().unwrap();
        let ids: Vec<_> = claims
            .iter()
            .map(|claim| claim["id"].as_str().unwrap())
            .collect();
        let shown: Vec<_> = rows(&readme, "claim").iter().map(|row| row[0]).collect();
        assert_eq!(shown, ids, "{}: make reproduce renews it", paper.name);
    }
}

#[test]
fn what_does_not_hold_has_a_cause() {
    for paper in Paper::shipped().unwrap() {
        let readme = read(&format!("experiments/{}/README.md", paper.name));
        let claims: toml::Table = read(&format!("experiments/{}/claims.toml", paper.name))
            .parse()
            .unwrap();
        let has_note = |id: &str| {
            let mut all = claims["claim"].as_array().unwrap().iter();
            all.any(|claim| claim["id"].as_str() == Some(id) && claim.get("note").is_some())
        };
        for row in rows(&readme, "claim") {
            let fails = ["**contradicted", "**not seen"];
            let fails = fails.iter().any(|word| row[9].starts_with(word));
            let because = row.last().unwrap();
            // A failed claim has to be explained. If its input is a relative, the table of inputs says how the
            // relative differs from the paper's trace. Otherwise other conditions have to be tried, or the claim
            // has to have a note.
            let is_told = because.contains("Other conditions were tried")
                || row[3].contains("(relative)")
                || has_note(row[0]);
            assert!(
                !fails || is_told,
                "{} {}: nothing says why: {because}",
                paper.name,
                row[0]
            );
        }
    }
}

/// For every claim that can be checked, `words.toml` names the quantity. For every claim with the formula
/// `holds`, it also expresses this formula in words.
#[test]
fn every_claim_has_words() {
    for paper in Paper::shipped().unwrap() {
        let table = |file: &str| -> toml::Table {
            read(&format!("experiments/{}/{file}", paper.name))
                .parse()
                .unwrap()
        };
        let words = table("words.toml");
        for claim in table("claims.toml")["claim"].as_array().unwrap() {
            let id = claim["id"].as_str().unwrap();
            if claim["check"].as_str() == Some("not") {
                continue;
            }
            let row = id.split_once('.').map_or(id, |(row, _)| row);
            let found = words.get(id).or_else(|| words.get(row));
            let has = |key: &str| found.is_some_and(|words| words.get(key).is_some());
            assert!(has("quantity"), "{} {id}: no quantity", paper.name);
            let is_asked = claim.get("holds").is_none() || has("asks");
            assert!(is_asked, "{} {id}: no words for its formula", paper.name);
        }
    }
}

/// The number of a figure or table alone does not say which statement of the paper is meant. The field `place` of
/// a claim therefore has to contain the subject after this number. A worked example needs no subject, because the
/// figure itself is the statement.
#[test]
fn a_figure_alone_is_no_place() {
    for paper in Paper::shipped().unwrap() {
        let claims: toml::Table = read(&format!("experiments/{}/claims.toml", paper.name))
            .parse()
            .unwrap();
        for claim in claims["claim"].as_array().unwrap() {
            let of = |key: &str| claim.get(key).and_then(toml::Value::as_str).unwrap_or("");
            let place = of("place");
            let is_alone = place.starts_with("Fig.") || place.starts_with("Table");
            let is_told = of("kind") == "example" || place.contains(": ");
            assert!(
                !is_alone || is_told,
                "{} {}: {place} says no sentence",
                paper.name,
                of("id")
            );
            let words = place
                .split_once(": ")
                .map_or(0, |(_, words)| words.split(' ').count());
            assert!(words <= 20, "{} {}: {place} is long", paper.name, of("id"));
        }
    }
}

#[test]
fn a_readme_has_what_comes_out() {
    for name in SAMPLE {
        let report = carry_out(shipped(name), Extra::default());
        let found = report.papers[0].to_markdown();
        let readme = read(&format!("experiments/{}/README.md", report.papers[0].name));
        let rows = found
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip_while(|line| !line.starts_with("| claim |"));
        for row in rows {
            let row = row.trim_end_matches([' ', '|']);
            let (front, because) = row.rsplit_once(" | ").unwrap();
            // In the README a verdict can have a number of readings behind it.
            let front = match front.rsplit_once("** | ") {
                Some((verdict, _)) => verdict,
                None => front,
            };
            let line = readme.lines().find(|line| line.starts_with(front));
            // This test executes only the default combination of interpretations of open rules. The README also
            // has sentences about other combinations, so it may contain more sentences than `found`.
            let has = |sentence: &str| line.is_some_and(|line| line.contains(sentence));
            assert!(
                because.split_terminator(". ").all(has),
                "make reproduce renews what is not\n{row}\n{line:?}"
            );
        }
    }
}

/// The README of all papers has the meanings of the verdicts, the thresholds and the glossary of this program.
#[test]
fn the_readme_of_all_papers_explains_what_this_program_says() {
    let report = carry_out(vec![paper(CLAIMS)], Extra::default());
    let after = |text: &str| {
        let (_, after) = text.split_once("## What the verdicts say").unwrap();
        after.to_owned()
    };
    let readme = after(&read("experiments/README.md"));
    assert_eq!(
        readme,
        after(&report.to_markdown()),
        "make reproduce renews it"
    );
}

#[test]
fn the_table_of_the_project_counts_what_the_papers_have() {
    let table = read("experiments/README.md");
    let papers = Paper::shipped().unwrap();
    for (own, name) in [(false, "paper"), (true, "of the project's own")] {
        let rows_of_table = rows(&table, name);
        let papers: Vec<_> = papers.iter().filter(|each| each.is_own() == own).collect();
        assert_eq!(rows_of_table.len(), papers.len());
        let head = table
            .lines()
            .find(|line| line.starts_with(&format!("| {name} |")))
            .unwrap();
        let words: Vec<_> = head.trim_matches(['|', ' ']).split(" | ").skip(2).collect();
        let all = Verdict::ALL.map(Verdict::spoken);
        assert!(words.iter().all(|word| all.contains(word)), "{words:?}");
        for (row, paper) in rows_of_table.iter().zip(papers) {
            let readme = read(&format!("experiments/{}/README.md", paper.name));
            assert!(row[0].starts_with(&format!("[{}]", paper.name)), "{row:?}");
            let claims = rows(&readme, "claim");
            assert_eq!(row[1], claims.len().to_string());
            let verdict = |cells: &Vec<&str>, word: &str| {
                let said = cells[9].trim_matches('*');
                said == word
                    || said.strip_prefix(word).is_some_and(|rest| {
                        rest.starts_with("; ")
                            || rest.starts_with(' ')
                                && (rest.contains('/') || rest.contains(" readings"))
                    })
            };
            let mut counted = 0;
            for (count, word) in row[2..].iter().zip(&words) {
                let found = claims.iter().filter(|cells| verdict(cells, word)).count();
                assert_eq!(*count, found.to_string(), "{}: {word}", paper.name);
                counted += found;
            }
            assert_eq!(counted, claims.len(), "{}", paper.name);
        }
    }
    let overview = read("experiments/README.md");
    let cells = |text: &str| {
        rows(text, "paper")
            .iter()
            .map(|row| row[1..].join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(&overview), cells(&table));
}
