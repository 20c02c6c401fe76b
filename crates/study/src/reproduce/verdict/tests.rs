//! Tests of judging claims: the verdicts, and the sentences that explain them.

use super::*;
use crate::rows::Row;

const STUDY: &str = r#"
title = "t"
[[input]]
name = "made"
pages = "1"
[[variant]]
name = "undrained"
kind = "unpublished"
[[variant]]
name = "empty"
kind = "unpublished"
about = "nothing is on the device"
[[variant]]
name = "slow"
kind = "cause"
about = "erases take longer"
[[grid]]
"#;

/// For each run, the variant, the seed, and the value of the metric `v`.
type Runs<'a> = &'a [(&'a str, &'a str, f64)];

fn rows(runs: Runs<'_>, role: Role) -> Arc<Rows> {
    let row = |(variant, seed, value): &(&str, &str, f64)| Row {
        labels: [("variant", *variant), ("seed", *seed)]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into(),
        input: InputFacts {
            name: "made".to_owned(),
            digest: None,
            role,
            differs: match role {
                Role::Relative => "An hour of it.".to_owned(),
                _ => String::new(),
            },
        },
        result: Arc::new(match value.is_nan() {
            true => json!({ "error": "no space" }),
            false => json!({ "metrics": { "v": value } }),
        }),
    };
    Arc::new(Rows {
        all: runs.iter().map(row).collect(),
        missing: [("real".to_owned(), "iozone".to_owned())].into(),
        ..Rows::default()
    })
}

const THRESHOLDS: &str = "effect_share = 0.3333\n[tolerances.times]\nis = '10 %'\nabout = 'a'\n[limits.best]\nis = 99\nabout = 'b'";

fn judged(claim: &str, runs: Runs<'_>, role: Role) -> Result<Judged, Error> {
    let head = "id = 'X'\nplace = 'p'\nstatement = 's'\n";
    let claim: Claim = toml::from_str(&format!("{head}{claim}")).unwrap();
    let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
    let rows = rows(runs, role);
    let is_arithmetic = claim.check.check == Check::Arithmetic;
    Case {
        paper: "p",
        claim: &claim,
        words: None,
        kind: match is_arithmetic {
            true => Kind::Consistency,
            false => claim.kind.unwrap_or_default(),
        },
        thresholds: &Thresholds::parse(THRESHOLDS, "t").unwrap(),
        over: (!is_arithmetic).then_some((&study, &rows)),
        scale: Scale::Reduced,
        readings: None,
    }
    .judge()
}

const WITHIN: &str = "check = 'within times'\npublished = 100\nmeasured = 'm(\"v\")'";
const SIGN: &str = "check = 'sign'\npublished = 1000\nmeasured = 'm(\"v\")'";
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
    use Role::{Made, Original, Relative, StandIn};
    let arithmetic = "check = 'arithmetic'\npublished = 12\nmeasured = '3 * 5'";
    let agrees = "check = 'arithmetic'\npublished = 15\nmeasured = '3 * 5'";
    let assumed = format!("{arithmetic}\nassumes = 'five are five'");
    let words = format!("{WITHIN}\nkind = 'consistency'");
    let general = format!("{WITHIN}\nkind = 'general'");
    let fitted = format!("{WITHIN}\nfitted = ['host.time_scale']");
    let missing = "check = 'property'\nmeasured = 'm(\"v\", input=\"real\") > 0'";
    let limit = "check = 'property'\nmeasured = 'm(\"v\") > limit.best'";
    for (claim, runs, role, verdict, share) in [
        (WITHIN, BOTH, Original, Verdict::Reproduced, Some((3, 3))),
        (WITHIN, &BOTH[..1], Original, Verdict::Reproduced, None),
        (WITHIN, BOTH, StandIn, Verdict::SignReproduced, Some((3, 3))),
        (WITHIN, ONE, StandIn, Verdict::UnderDetermined, Some((2, 3))),
        (SIGN, BOTH, Relative, Verdict::SignOnly, Some((3, 3))),
        (
            &fitted,
            BOTH,
            StandIn,
            Verdict::UnderDetermined,
            // The claim is under-determined because of the fitted parameter. The number of seeds and settings
            // does not explain this verdict, and is omitted.
            None,
        ),
        (&fitted, BOTH, Original, Verdict::Reproduced, Some((3, 3))),
        (WITHIN, NONE, Original, Verdict::Contradicted, Some((0, 2))),
        (WITHIN, NONE, Relative, Verdict::UnderDetermined, None),
        (WITHIN, NONE, StandIn, Verdict::NotSeen, Some((0, 2))),
        (
            WITHIN,
            &[("base", "1", f64::NAN)],
            Original,
            Verdict::NotCheckable,
            None,
        ),
        (arithmetic, &[], Made, Verdict::Inconsistent, None),
        (agrees, &[], Made, Verdict::Consistent, None),
        (&assumed, &[], Made, Verdict::UnderDetermined, None),
        (&words, NONE, Made, Verdict::Inconsistent, Some((0, 2))),
        (&general, BOTH, Made, Verdict::Holds, Some((3, 3))),
        (&general, NONE, Made, Verdict::Contradicted, Some((0, 2))),
        (
            limit,
            &BOTH[..2],
            Original,
            Verdict::Reproduced,
            Some((2, 2)),
        ),
        (missing, BOTH, Original, Verdict::TraceMissing, None),
        ("check = 'not'", BOTH, Original, Verdict::NotCheckable, None),
    ] {
        let judged = judged(claim, runs, role).unwrap();
        let found = judged.counts.cases.map(|share| (share.held, share.tried));
        assert_eq!(
            (judged.verdict, found),
            (verdict, share),
            "{claim} {runs:?} {role:?}"
        );
    }
}

#[test]
fn a_verdict_says_on_what_it_rests() {
    let relative = judged(SIGN, &BOTH[..1], Role::Relative).unwrap();
    assert_eq!(relative.ran.on, "made (relative)");
    assert_eq!(relative.ran.runs, "1 run");
    assert_eq!(relative.ran.commands[0].command, "destage reproduce p/s");
    assert_eq!(relative.values.ratio, json!(0.1));
    let inputs = &relative.to_json()["inputs"];
    assert_eq!(inputs[0]["differs"], "An hour of it.");
    assert_eq!(
        relative.why.because,
        [
            "On a real relative (a part) of the paper's trace, made, the direction is as published (measured 100; published 1000), but measured over published is 0.1; at least 0.3333 is asked."
        ]
    );
    let assumed =
        "check = 'arithmetic'\npublished = 12\nmeasured = '3 * 5'\nassumes = 'five are five'";
    let assumed = judged(assumed, BOTH, Role::Made).unwrap();
    assert_eq!(assumed.ran.on, "numbers of the paper");
    assert!(assumed.ran.commands.is_empty() && assumed.ran.runs.is_empty());
    assert_eq!(
        assumed.why.because,
        [
            "This needs an assumption that the paper does not state: five are five. With this assumption the computed value is 15: the claim fails."
        ]
    );
    assert_eq!(assumed.check, "arithmetic: 3 * 5");
    assert_eq!(
        assumed.asked,
        "What follows from other published numbers is what the paper prints."
    );
}

#[test]
fn what_turns_a_verdict_is_named() {
    let of = |claim: &str, runs| judged(claim, runs, Role::Original).unwrap();
    let open = of(WITHIN, ONE);
    assert_eq!(
        open.why.because,
        [
            "Chance decides: the claim holds in the base run, and fails with seed 2.",
            "There it fails (measured 50), since that is not between 90 and 110. In the base run it holds (measured 100).",
        ]
    );
    assert_eq!(
        open.why.folded,
        [
            "Of the 3 cases (base run, 1 other seed, 1 unpublished setting) it holds in 2.",
            "Over the 2 seeds: 50 to 100 with mean 75."
        ]
    );
    assert_eq!(
        open.asked,
        "The measured value is the published one, within 10 %: between 90 and 110."
    );
    assert_eq!(
        open.why.turned,
        [
            "Of 1 other seed and 1 unpublished setting, tried one at a time, 1 seed makes the claim fail. With seed 2, it fails (measured 50). The claim comes out as in the base run with the setting undrained."
        ]
    );
    let steady = of(WITHIN, BOTH);
    assert_eq!(
        steady.why.because[0],
        "On the paper's own trace, the measured value is 100: the claim holds, since that is between 90 and 110. It also holds with each of 1 other seed and 1 unpublished setting."
    );
    assert_eq!(
        steady.why.turned,
        [
            "None of 1 other seed and 1 unpublished setting, tried one at a time, makes the claim fail. These were tried: seed 2, and the setting undrained."
        ]
    );
    assert!(of(WITHIN, &BOTH[..1]).why.turned.is_empty());
    let tried = "were tried to find the cause";
    let slow = "slow (erases take longer); the measured value is 100";
    assert_eq!(
        of(WITHIN, NONE).why.turned[1],
        format!("1 other condition was tried to find the cause. It makes the claim hold: {slow}.")
    );
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
    assert_eq!(
        of(&caused, NONE).why.turned[1],
        format!(
            "3 other conditions {tried}. 2 of them make the claim hold: {slow}; and twice as much; the measured value is 100. It also fails with half; the measured value is 25."
        )
    );
    let assumed = format!(
        "{WITHIN}
assumes = 'something'
[[cause]]
about = 'twice as much'
measured = '2 * m(\"v\", seed=2)'"
    );
    let assumed = of(&assumed, NONE);
    assert_eq!(assumed.verdict, Verdict::UnderDetermined);
    assert_eq!(
        assumed.why.turned[1],
        format!(
            "2 other conditions {tried}. Each of them makes the claim hold: {slow}; and twice as much; the measured value is 100."
        )
    );
    assert!(!of(&caused, ONE).why.turned.join(" ").contains("twice"));
    let noted = format!("{WITHIN}\nnote = 'A note.'");
    assert_eq!(of(&noted, &BOTH[..1]).why.because[1], "A note.");
    let sum = of(
        "check = 'arithmetic'\npublished = 12\nmeasured = '3 * 5'",
        BOTH,
    );
    assert_eq!(
        sum.why.because[0],
        "Numbers that the paper prints contradict each other (its other numbers give 15, and it prints 12)."
    );
}

/// A seed or setting whose run failed says nothing about the claim. It is left out of the number of cases, and
/// named.
#[test]
fn a_failed_case_is_left_out() {
    let runs: Runs<'_> = &[
        ("base", "1", 100.0),
        ("base", "2", f64::NAN),
        ("undrained", "1", 95.0),
        ("empty", "1", f64::NAN),
    ];
    let left = judged(WITHIN, runs, Role::Original).unwrap();
    assert_eq!(left.verdict, Verdict::Reproduced);
    let share = left.counts.cases.map(|share| (share.held, share.tried));
    assert_eq!(share, Some((2, 2)));
    assert_eq!(
        left.why.because[1..],
        [
            "The case with seed 2 is left out, since a run gave no result: seed=2 variant=base: no space.",
            "The case with the setting empty is left out, since a run gave no result: seed=1 variant=empty: no space.",
        ]
    );
    let cause: Runs<'_> = &[("base", "1", 10.0), ("slow", "1", f64::NAN)];
    let turned = judged(WITHIN, cause, Role::Original).unwrap().why.turned;
    assert!(turned.is_empty(), "{turned:?}");
}

/// A case in which every judged value is that of the base run tests nothing. It is left out of both numbers, and named.
/// Equal results of a check do not suffice: here only the case with seed 2 reads another value.
#[test]
fn a_case_that_changes_nothing_is_left_out() {
    let runs: Runs<'_> = &[
        ("base", "1", 100.0),
        ("base", "2", 99.0),
        ("undrained", "1", 100.0),
        ("empty", "1", 100.0),
    ];
    let above = "check = 'property'\nmeasured = 'm(\"v\") > 40'";
    let left = judged(above, runs, Role::StandIn).unwrap();
    assert_eq!(left.verdict, Verdict::SignReproduced);
    let share = left.counts.cases.map(|share| (share.held, share.tried));
    assert_eq!(share, Some((2, 2)));
    assert_eq!(
        left.why.turned,
        [
            "Seed 2, tried beside the base run, does not make the claim fail.",
            "The settings undrained and empty change nothing: every judged value is that of the base run. They are not counted.",
        ]
    );
    let idle = left.values.tries.iter().map(|each| each.is_idle);
    assert_eq!(idle.collect::<Vec<_>>(), [false, false, true, true]);
    let one = judged(above, &[runs[0], runs[3]], Role::StandIn).unwrap();
    assert_eq!(one.counts.cases, None);
    assert_eq!(
        one.why.turned,
        [
            "No other seed was tried.",
            "The setting empty changes nothing: every judged value is that of the base run. It is not counted."
        ]
    );
}

/// The seeds and the settings that make a claim fail are counted separately.
#[test]
fn seeds_and_settings_are_counted_apart() {
    let runs: Runs<'_> = &[
        ("base", "1", 100.0),
        ("base", "2", 50.0),
        ("base", "3", 50.0),
        ("undrained", "1", 50.0),
    ];
    let open = judged(WITHIN, runs, Role::StandIn).unwrap();
    assert_eq!(
        open.why.because.last().unwrap(),
        "It also fails with seed 3, and the setting undrained."
    );
    let counted = "Of 2 other seeds and 1 unpublished setting, tried one at a time, 2 seeds and 1 setting make the claim fail. With ";
    let turned = &open.why.turned;
    assert!(turned[0].starts_with(counted), "{turned:?}");
    let steady = judged(
        WITHIN,
        &[("base", "1", 100.0), ("base", "2", 95.0)],
        Role::Original,
    );
    assert_eq!(
        steady.unwrap().why.turned,
        [
            "Seed 2, tried beside the base run, does not make the claim fail. No unpublished setting was tried."
        ]
    );
}

/// The reason for a verdict names the fitted parameters, in a sentence that is correct for one parameter and for
/// several.
#[test]
fn what_was_fitted_is_named_in_words() {
    let why = |fitted: &str, runs| {
        let claim = format!("{WITHIN}\nfitted = {fitted}");
        let why = judged(&claim, runs, Role::StandIn).unwrap().why;
        why.because.last().cloned().unwrap_or_default()
    };
    assert_eq!(
        why("['the pauses', 'the size']", BOTH),
        "The claim holds, but the pauses and the size were fitted so that it holds: that is no evidence."
    );
    assert_eq!(
        why("['the size']", ONE),
        "Besides, the size was fitted so that it holds."
    );
    assert_eq!(
        why("['the pauses', 'the rate', 'the size']", ONE),
        "Besides, the pauses, the rate and the size were fitted so that it holds."
    );
}

/// If the measured value of a failed claim is a list, the reason names the pairs or elements that fail.
#[test]
fn what_fails_is_named() {
    let why = |claim: &str, labels: &str, runs: Runs<'_>| {
        let claim = format!("id = 'X'\nplace = 'p'\nstatement = 's'\n{claim}");
        let claim: Claim = toml::from_str(&claim).unwrap();
        let words = format!("quantity = 'v'\nunit = 's'\nlabels = {labels}");
        let words: Words = toml::from_str(&words).unwrap();
        let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
        let rows = rows(runs, Role::Original);
        let case = Case {
            paper: "p",
            claim: &claim,
            words: Some(&words),
            kind: Kind::Measured,
            thresholds: &Thresholds::parse(THRESHOLDS, "t").unwrap(),
            over: Some((&study, &rows)),
            scale: Scale::Reduced,
            readings: None,
        };
        case.judge().unwrap().why.because[0].clone()
    };
    let agree = |each: &str| {
        format!(
            "check = 'property'\nholds = 'agree(measured[0], measured[1], 10)'\nmeasured = '[[1, 2, 3], [m(\"v\"), 300, 200]]'\n{each}"
        )
    };
    let names = "[['evictions', 'time'], ['LRU', 'FAB', 'CLC']]";
    let pair = "FAB against CLC: evictions 2 and 3, time 300 and 200";
    assert_eq!(
        why(&agree(""), names, &BOTH[..1]),
        format!("On the paper's own trace, the claim fails ({pair}).")
    );
    assert_eq!(
        why(&agree("each = { seed = [1, 2] }"), names, &BOTH[..2]),
        format!(
            "On the paper's own trace, the claim fails for each of the 2 seeds (seed 1: {pair}; seed 2: FAB against CLC)."
        )
    );
    assert_eq!(
        why(
            "check = 'within times'\npublished = [100, 50]\nmeasured = '[m(\"v\"), 70]'",
            "[['plain', 'half']]",
            &BOTH[..1]
        ),
        "On the paper's own trace, the claim fails (measured half: 70 s, published 50 s)."
    );
}

#[test]
fn all_of_each_must_hold() {
    let both = "check = 'property'\nmeasured = 'm(\"v\") > 40'\neach = { seed = [1, 2] }";
    assert_eq!(
        judged(both, BOTH, Role::Original).unwrap().verdict,
        Verdict::Reproduced
    );
    let refused = judged(both, NONE, Role::Original).unwrap();
    assert_eq!(refused.verdict, Verdict::Contradicted);
    assert_eq!(refused.values.measured, json!([false, true]));
    // The first case fails, so the reason names this case and its measured value.
    assert_eq!(
        refused.why.because[0],
        "On the paper's own trace, the claim fails for 1 of the 2 seeds (seed 1: false)."
    );
}

#[test]
fn a_wrong_formula_names_paper_and_claim() {
    for claim in [
        "check = 'property'\nmeasured = 'm(\"w\") > 0'",
        "check = 'property'\nmeasured = 'm(\"v\")'",
        "check = 'within time'\npublished = 1\nmeasured = 'm(\"v\")'",
        "check = 'property'\nmeasured = 'm(\"v\") > limit.bests'",
    ] {
        let error = judged(claim, BOTH, Role::Original).unwrap_err().to_string();
        assert!(error.starts_with("p: claim X: "), "{error}");
    }
}

#[test]
fn verdicts_have_words() {
    let claim = judged(WITHIN, ONE, Role::StandIn).unwrap();
    assert_eq!(claim.spoken(), "under-determined 2/3");
    assert_eq!(claim.check, "within 10 %");
    let asked = judged("check = 'property'\nmeasured = 'm(\"v\")'\nholds = 'measured > limit.best'\npublished = 50", BOTH, Role::StandIn).unwrap();
    assert_eq!(asked.check, "property: measured > limit.best");
    // The check of this claim is `property`. A formula decides and not the published number, so no ratio to the
    // published number is computed.
    assert_eq!(asked.values.ratio, Value::Null);
    assert_eq!(claim.ran.on, "made (stand-in)");
    let document = claim.to_json();
    assert_eq!(document["because"], json!(claim.why.because));
    assert_eq!(document["folded"], json!(claim.why.folded));
    assert_eq!(document["turned"], json!(claim.why.turned));
    let tries = json!([
        { "name": "base run", "measured": 100.0, "holds": true, "sized": null, "idle": false },
        { "name": "seed 2", "measured": 50.0, "holds": false, "sized": null, "idle": false },
        { "name": "undrained", "measured": 95.0, "holds": true, "sized": null, "idle": false },
    ]);
    assert_eq!(document["tries"], tries);
    assert_eq!(document["commands"][0]["command"], "destage reproduce p/s");
    assert_eq!(document["share"], json!({ "held": 2, "tried": 3 }));
    assert_eq!(document["base"], Value::Null);
    assert_eq!(document["tolerance"], "10 %");
    assert_eq!(document["effect"], 1.0);
    let asked = asked.to_json();
    assert_eq!(
        (&asked["tolerance"], &asked["effect"]),
        (&Value::Null, &json!(2.0))
    );
}

#[test]
fn an_input_has_a_kind_and_says_whether_it_stands_in() {
    for (role, kind, stands_in) in [
        (Role::Made, "definition", false),
        (Role::Measured, "own", false),
        (Role::Original, "own", false),
        (Role::Relative, "relative", false),
        (Role::StandIn, "stand_in", true),
        (Role::Unrelated, "stand_in", true),
    ] {
        let input = &judged(WITHIN, ONE, role).unwrap().to_json()["inputs"][0];
        assert_eq!(
            (&input["kind"], &input["stand_in"]),
            (&json!(kind), &json!(stands_in)),
            "{role:?}"
        );
    }
}

#[test]
fn a_verdict_that_another_number_would_get_says_so() {
    let because = |claim: &str, runs, role| judged(claim, runs, role).unwrap().why.folded.join(" ");
    let sign =
        |published: f64| format!("check = 'sign'\npublished = {published}\nmeasured = 'm(\"v\")'");
    // The measured values are 95 to 105. They are more than 0.3333 of 3 * 10, but less than 0.3333 of 3 * 150.
    let small = because(&sign(10.0), BOTH, Role::StandIn);
    assert!(
        small.ends_with("The verdict would be the same if the paper had printed three times the published number, since 0.3333 of the published value is enough."),
        "{small}"
    );
    let large = because(&sign(150.0), BOTH, Role::StandIn);
    assert!(!large.contains("would be the same"), "{large}");
    let unseen = because(&sign(1000.0), BOTH, Role::StandIn);
    assert!(
        unseen.contains(
            "if the paper had printed three times the published number. The measured value is below 0.3333 of that number as well."
        ),
        "{unseen}"
    );
    let within = because(WITHIN, BOTH, Role::Original);
    assert!(!within.contains("would"), "{within}");
    let beyond = because(WITHIN, NONE, Role::Original);
    assert!(
        beyond.contains(
            "The claim would also fail if the paper had printed three times the published number, or its negative."
        ),
        "{beyond}"
    );
    let beside = "check = 'property'\nmeasured = 'm(\"v\")'\nholds = 'measured > 0'\npublished = 5";
    let beside = because(beside, BOTH, Role::Original);
    assert!(
        beside.contains(
            "or its negative. What the check asks does not depend on the published number."
        ),
        "{beside}"
    );
    let compared =
        "check = 'property'\nmeasured = 'm(\"v\")'\nholds = 'measured > published'\npublished = 5";
    let compared = because(compared, BOTH, Role::Original);
    assert!(
        compared.contains(
            "or its negative. The check compares the measured value with the published number, and it holds with that number as well."
        ),
        "{compared}"
    );
    // The reason of an under-determined claim already names what its verdict depends on, so the sentence about
    // another number is omitted.
    let open = because(WITHIN, ONE, Role::StandIn);
    assert!(!open.contains("would"), "{open}");
}

#[test]
fn values_are_called_by_their_names() {
    let words: Words = toml::from_str("quantity = 'v, below {best}: in seconds'\nunit = 's'\nlabels = [['plain', 'half']]\nasks = 'each is above 1'").unwrap();
    let claim = "id = 'X'\nplace = 'p'\nstatement = 's'\ncheck = 'within times'\npublished = [100, 50]\nmeasured = '[m(\"v\"), m(\"v\") / 2]'";
    let claim: Claim = toml::from_str(claim).unwrap();
    let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
    let rows = rows(&BOTH[..1], Role::Original);
    let thresholds = Thresholds::parse(THRESHOLDS, "t").unwrap();
    let case = Case {
        paper: "p",
        claim: &claim,
        words: Some(&words),
        kind: Kind::Measured,
        thresholds: &thresholds,
        over: Some((&study, &rows)),
        scale: Scale::Reduced,
        readings: None,
    };
    let judged = case.judge().unwrap();
    assert_eq!(
        judged.values.shown().unwrap(),
        [
            "plain: 100 s; half: 50 s",
            "plain: 100 s; half: 50 s",
            "plain: 1; half: 1"
        ]
    );
    assert_eq!(judged.asked, "V, below 99: each is above 1.");
    for (from, to, said) in [
        ("'plain', 'half'", "'plain'", "2 values"),
        ("{best}", "{bets}", "\"bets\""),
        ("unit = 's'", "figures = ['none']", "the figure \"none\""),
    ] {
        let wrong = "quantity = 'v, below {best}'\nunit = 's'\nlabels = [['plain', 'half']]"
            .replace(from, to);
        let wrong: Words = toml::from_str(&wrong).unwrap();
        let words = Some(&wrong);
        let error = Case { words, ..case }.judge().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_is_within_a_tolerance_is_an_interval() {
    let asked = |claim: &str| judged(claim, BOTH, Role::Original).unwrap().asked;
    for (claim, said) in [
        (
            "check = 'within times'\npublished = [100, 50]\nmeasured = '[95, 50]'",
            "The measured value is the published one, within 10 %: between 90 and 110, between 45 and 55.",
        ),
        (
            "check = 'between times'\npublished = [100, 200]\nmeasured = '95'",
            "The measured value lies between the two published ones, within 10 %: between 90 and 220.",
        ),
        (
            "check = 'sign'\npublished = -30\nmeasured = '-20'",
            "Each measured value has the sign of the published one. The size counts as seen if each is at least 0.3333 of the published value (-9.999).",
        ),
    ] {
        assert_eq!(asked(claim), said);
    }
}

/// The main reason of an under-determined claim names a single seed, setting or choice of rules that changes the
/// result of the check: first its kind, then the results and its name. Further details are in `folded`.
#[test]
fn one_thing_decides() {
    let runs: Runs<'_> = &[("base", "1", 100.0), ("undrained", "1", 50.0)];
    let open = judged(WITHIN, runs, Role::StandIn).unwrap();
    assert_eq!(
        open.why.because[0],
        "A setting that the paper does not print decides: the claim holds in the base run, and fails with the setting undrained."
    );
    assert!(!open.why.because.join(" ").contains("cases"));
    assert_eq!(
        open.why.folded,
        ["Of the 2 cases (base run, 1 unpublished setting) it holds in 1."]
    );
    let assumed = format!("{WITHIN}\nassumes = 'a is b'");
    let assumed = judged(&assumed, BOTH, Role::Original).unwrap();
    assert_eq!(
        assumed.why.because,
        [
            "This needs an assumption that the paper does not state: a is b. With this assumption the claim holds."
        ]
    );
    assert!(assumed.why.turned[0].contains("makes the claim fail"));
}

/// With the words for a claim, the cases of its `each` have names, and a list of two numbers is shown as a range.
#[test]
fn words_name_cases_and_ranges() {
    let claim = "id = 'X'\nplace = 'p'\nstatement = 's'\ncheck = 'property'\nmeasured = '[m(\"v\"), 300]'\nholds = 'measured[0] > 60'\neach = { seed = [1, 2] }";
    let claim: Claim = toml::from_str(claim).unwrap();
    let words =
        "quantity = 'v'\nrange = true\neach = ['first', 'second']\nasks = 'the first is above 60'";
    let words: Words = toml::from_str(words).unwrap();
    let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
    let rows = rows(&ONE[..2], Role::Original);
    let case = Case {
        paper: "p",
        claim: &claim,
        words: Some(&words),
        kind: Kind::Measured,
        thresholds: &Thresholds::parse(THRESHOLDS, "t").unwrap(),
        over: Some((&study, &rows)),
        scale: Scale::Reduced,
        readings: None,
    };
    let judged = case.judge().unwrap();
    assert_eq!(
        judged.values.shown().unwrap()[1],
        "first: 100 to 300; second: 50 to 300"
    );
    assert_eq!(
        judged.why.because[0],
        "On the paper's own trace, the claim fails for 1 of the 2 cases (second: 50 to 300); the check asks that the first is above 60."
    );
}

/// If a setting changes whether enough of the published size is measured, but not the sign, the verdict and its
/// reason say so.
#[test]
fn a_size_has_to_last() {
    let runs: Runs<'_> = &[("base", "1", 95.0), ("undrained", "1", 5.0)];
    let sized = |published: i32, runs| {
        let claim = format!("check = 'sign'\npublished = {published}\nmeasured = 'm(\"v\")'");
        judged(&claim, runs, Role::StandIn).unwrap()
    };
    assert_eq!(sized(10, runs).verdict, Verdict::SignReproduced);
    let open = sized(100, runs);
    assert_eq!(
        (open.verdict, open.counts.cases),
        (Verdict::UnderDetermined, None)
    );
    assert_eq!(
        open.why.because,
        [
            "The direction is as published in all that was tried, and whether the size is seen depends on what the paper does not say: the size is seen in the base run, and is not seen with the setting undrained. At least 0.3333 of the published value is asked.",
            "With the setting undrained measured over published is 0.05, and in the base run 0.95.",
        ]
    );
    let small: Runs<'_> = &[("base", "1", 5.0), ("undrained", "1", 95.0)];
    let small = sized(100, small);
    assert_eq!(
        (small.verdict, small.counts.cases),
        (Verdict::UnderDetermined, None)
    );
    assert_eq!(
        small.why.because[0],
        "The direction is as published in all that was tried, and whether the size is seen depends on what the paper does not say: the size is not seen in the base run, and is seen with the setting undrained. At least 0.3333 of the published value is asked."
    );
    let seen = |judged: &Judged| -> Vec<_> {
        let tries = judged.values.tries.iter();
        tries.map(|each| each.sized).collect()
    };
    assert_eq!(seen(&open), [Some(true), Some(false)]);
    assert_eq!(seen(&small), [Some(false), Some(true)]);
    let never = sized(1000, runs);
    assert_eq!(never.verdict, Verdict::SignOnly);
    assert!(never.why.because[0].ends_with("is asked. The same is so with the setting undrained."));
    assert_eq!(never.why.because.len(), 1);
}

/// The reasons list the seeds and settings that were varied. For a claim that was not measured on the paper's own
/// trace, the reasons also say if no seeds or settings were varied.
#[test]
fn what_was_not_varied_is_said() {
    let turned = |runs, role| judged(WITHIN, runs, role).unwrap().why.turned;
    assert_eq!(
        turned(&BOTH[..1], Role::StandIn),
        ["Neither another seed nor an unpublished setting was tried."]
    );
    assert_eq!(
        turned(&BOTH[..1], Role::Relative),
        ["No unpublished setting was tried."]
    );
    let settings: Runs<'_> = &[("base", "1", 100.0), ("undrained", "1", 95.0)];
    assert_eq!(
        turned(settings, Role::StandIn),
        [
            "The setting undrained, tried beside the base run, does not make the claim fail. No other seed was tried."
        ]
    );
    let settings: Runs<'_> = &[("base", "1", 100.0), ("empty", "1", 95.0)];
    let why = judged(WITHIN, settings, Role::Original).unwrap().why;
    let empty = "the setting empty (nothing is on the device)";
    assert!(why.because[0].ends_with(&format!("It also holds with {empty}.")));
    assert_eq!(
        why.turned,
        [format!(
            "T{}, tried beside the base run, does not make the claim fail.",
            &empty[1..]
        )]
    );
    let settings = [settings, &[("undrained", "1", 95.0)]].concat();
    let turned = judged(WITHIN, &settings, Role::Original)
        .unwrap()
        .why
        .turned;
    assert_eq!(
        turned,
        [
            "None of 2 unpublished settings, tried one at a time, makes the claim fail. These were tried: the settings undrained and empty (empty: nothing is on the device)."
        ]
    );
    // This formula gives the variant and the seed of its run. Every setting therefore uses the same run, and no
    // setting was varied.
    let named =
        "check = 'within times'\npublished = 100\nmeasured = 'm(\"v\", variant=\"base\", seed=1)'";
    let named = judged(named, &settings, Role::StandIn).unwrap();
    assert_eq!(named.counts.cases, None);
    assert_eq!(
        named.why.turned,
        ["Neither another seed nor an unpublished setting was tried."]
    );
}

/// If the text of the checked condition does not name the quantity, the name of the quantity precedes it.
#[test]
fn what_holds_is_said_with_its_noun() {
    let said = |asks: &str| {
        let claim = "id = 'X'\nplace = 'p'\nstatement = 's'\ncheck = 'property'\nmeasured = 'm(\"v\")'\nholds = 'measured > 60'";
        let claim: Claim = toml::from_str(claim).unwrap();
        let words: Words = toml::from_str(&format!(
            "quantity = 'loss, in all: by hand'\nasks = '{asks}'"
        ))
        .unwrap();
        let study = Study::parse("s", STUDY, "s.toml", "".into()).unwrap();
        let rows = rows(&BOTH[..1], Role::Made);
        let case = Case {
            paper: "p",
            claim: &claim,
            words: Some(&words),
            kind: Kind::Own,
            thresholds: &Thresholds::parse(THRESHOLDS, "t").unwrap(),
            over: Some((&study, &rows)),
            scale: Scale::Reduced,
            readings: None,
        };
        case.judge().unwrap().why.because[0].clone()
    };
    assert_eq!(
        said("each is above 60"),
        "Loss, in all: each is above 60. The measured value is 100: the claim holds."
    );
    assert_eq!(
        said("the loss is above 60"),
        "The loss is above 60: the measured value is 100: the claim holds."
    );
}

/// An under-determined claim without a count says how it comes out in the base run.
#[test]
fn a_claim_without_a_count_says_how_the_base_run_comes_out() {
    for (check, runs, spoken) in [
        (WITHIN, BOTH, "under-determined; holds in the base run"),
        (WITHIN, NONE, "under-determined; fails in the base run"),
        (
            SIGN,
            BOTH,
            "under-determined; holds in its sign only in the base run",
        ),
        (WITHIN, ONE, "under-determined 2/3"),
    ] {
        let claim = format!("assumes = 'a trace is like another'\n{check}");
        let claim = judged(&claim, runs, Role::Original).unwrap();
        assert_eq!(claim.spoken(), spoken);
        let base = spoken
            .strip_prefix("under-determined; ")
            .and_then(|rest| rest.strip_suffix(" in the base run"));
        assert_eq!(claim.to_json()["base"], json!(base));
    }
}
