//! Every verdict is given where it should be.

use super::*;
use crate::study::rows::Row;

const STUDY: &str = r#"
title = "t"
[[input]]
name = "made"
pages = "1"
[[variant]]
name = "undrained"
kind = "unpublished"
[[variant]]
name = "slow"
kind = "cause"
about = "erases take longer"
[[grid]]
"#;

/// A value for each run: the variant, the seed, and what `v` is there.
type Runs<'a> = &'a [(&'a str, &'a str, f64)];

fn rows(runs: Runs<'_>, stand_in: bool) -> Arc<Rows> {
    let row = |(variant, seed, value): &(&str, &str, f64)| Row {
        labels: [("variant", *variant), ("seed", *seed)]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        input: InputFacts {
            name: "made".to_owned(),
            digest: None,
            stand_in,
        },
        result: Arc::new(match value.is_nan() {
            true => json!({ "error": "no space" }),
            false => json!({ "metrics": { "v": value } }),
        }),
    };
    Arc::new(Rows {
        all: runs.iter().map(row).collect(),
        missing: [("real".to_owned(), "iozone".to_owned())].into(),
    })
}

fn judged(claim: &str, runs: Runs<'_>, stand_in: bool) -> Result<Judged, Error> {
    let head = "id = 'X'\nplace = 'p'\nstatement = 's'\n";
    let claim: Claim = toml::from_str(&format!("{head}{claim}")).unwrap();
    let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
    let rows = rows(runs, stand_in);
    let over = (claim.check != Check::Arithmetic).then_some((&study, &rows));
    Case {
        paper: "p",
        claim: &claim,
        over,
    }
    .judge()
}

const WITHIN: &str = "check = 'within'\ntolerance = '10 %'\npublished = 100\nmeasured = 'm(\"v\")'";
const BOTH: Runs<'_> = &[
    ("base", "1", 100.0),
    ("base", "2", 105.0),
    ("undrained", "1", 95.0),
];
const ONE: Runs<'_> = &[
    ("base", "1", 100.0),
    ("base", "2", 50.0),
    ("undrained", "1", 95.0),
];
const NONE: Runs<'_> = &[
    ("base", "1", 10.0),
    ("base", "2", 50.0),
    ("slow", "1", 100.0),
];

#[test]
fn every_verdict_is_given() {
    let arithmetic = "check = 'arithmetic'\npublished = 12\nmeasured = '3 * 5'";
    let agrees = "check = 'arithmetic'\npublished = 15\nmeasured = '3 * 5'";
    let proof = format!("{WITHIN}\nproof = 'published > measured'");
    let fitted = format!("{WITHIN}\nfitted = ['host.time_scale']");
    let missing = "check = 'property'\nmeasured = 'm(\"v\", input=\"real\") > 0'";
    for (claim, runs, stand_in, verdict, share) in [
        (WITHIN, BOTH, false, Verdict::Reproduced, Some((3, 3))),
        (WITHIN, &BOTH[..1], false, Verdict::Reproduced, None),
        (WITHIN, BOTH, true, Verdict::SignReproduced, Some((3, 3))),
        (WITHIN, ONE, true, Verdict::UnderDetermined, Some((2, 3))),
        (&fitted, BOTH, true, Verdict::UnderDetermined, Some((3, 3))),
        (&fitted, BOTH, false, Verdict::Reproduced, Some((3, 3))),
        (WITHIN, NONE, false, Verdict::Contradicted, Some((0, 2))),
        (
            WITHIN,
            &[("base", "1", f64::NAN)],
            false,
            Verdict::NotCheckable,
            None,
        ),
        (arithmetic, &[], false, Verdict::Inconsistent, None),
        (agrees, &[], false, Verdict::Reproduced, None),
        (&proof, NONE, false, Verdict::Inconsistent, None),
        (missing, BOTH, false, Verdict::TraceMissing, None),
        (
            "check = 'not'\nneeds = 'cello'",
            BOTH,
            false,
            Verdict::TraceMissing,
            None,
        ),
        ("check = 'not'", BOTH, false, Verdict::NotCheckable, None),
    ] {
        let judged = judged(claim, runs, stand_in).unwrap();
        assert_eq!(
            (judged.verdict, judged.share),
            (verdict, share),
            "{claim} {runs:?}"
        );
    }
}

#[test]
fn what_turns_a_verdict_is_named() {
    let because = |claim: &str, runs| judged(claim, runs, false).unwrap().because;
    assert!(because(WITHIN, ONE).contains("Turned by seed 2."));
    let slow = "Turned by slow (erases take longer), measured 100";
    assert!(because(WITHIN, NONE).contains(&format!("{slow}.")));
    let caused = format!(
        "{WITHIN}
[[cause]]
about = 'twice as much'
measured = '2 * m(\"v\", seed=2)'
[[cause]]
about = 'half'
measured = 'm(\"v\", seed=2) / 2'
[[cause]]
about = 'runs that are not there'
measured = 'm(\"v\", seed=3)'"
    );
    assert!(because(&caused, NONE).contains(&format!("{slow}, or twice as much, measured 100.")));
    assert!(!because(&caused, ONE).contains("twice"));
    let noted = format!("{WITHIN}\nnote = 'A note.'");
    assert!(because(&noted, &BOTH[..1]) == "A note.");
    let sum = "check = 'arithmetic'\npublished = 12\nmeasured = '3 * 5'";
    assert_eq!(because(sum, BOTH), "3 * 5 = 15, where the paper has 12.");
}

#[test]
fn all_of_each_must_hold() {
    let both = "check = 'property'\nmeasured = 'm(\"v\") > 40'\neach = { seed = [1, 2] }";
    assert_eq!(
        judged(both, BOTH, false).unwrap().verdict,
        Verdict::Reproduced
    );
    let refused = judged(both, NONE, false).unwrap();
    assert_eq!(refused.verdict, Verdict::Contradicted);
    assert_eq!(refused.measured, json!([false, true]));
}

#[test]
fn a_wrong_formula_names_paper_and_claim() {
    for claim in [
        "check = 'property'\nmeasured = 'm(\"w\") > 0'",
        "check = 'property'\nmeasured = 'm(\"v\")'",
        "check = 'within'\npublished = 1\nmeasured = 'm(\"v\")'",
    ] {
        let error = judged(claim, BOTH, false).unwrap_err().to_string();
        assert!(error.starts_with("p: claim X: "), "{error}");
    }
}

#[test]
fn verdicts_have_words() {
    let spoken = Verdict::ALL.map(Verdict::spoken);
    assert!(spoken.contains(&"under-determined".to_owned()));
    assert!(spoken.contains(&"inconsistent in the paper".to_owned()));
    let claim = judged(WITHIN, ONE, true).unwrap();
    assert_eq!(claim.spoken(), "under-determined 2/3");
    assert_eq!(claim.checked(), "within 10 %");
    assert_eq!(claim.to_json()["share"], json!({ "held": 2, "tried": 3 }));
}
