//! Tests of every branch of the function `decide`.

use super::*;

/// Evidence for a measured result that holds on a stand-in in all three cases.
const HELD: Evidence = Evidence {
    kind: Kind::Measured,
    role: Role::StandIn,
    share: Share { held: 3, tried: 3 },
    holds: true,
    readings: None,
    sized: None,
    compared: true,
    assumed: false,
    fitted: false,
    untested: false,
};

/// Evidence for a measured result that fails on a stand-in in all three cases.
const FAILED: Evidence = Evidence {
    share: Share { held: 0, tried: 3 },
    holds: false,
    ..HELD
};

fn of(kind: Kind, role: Role, evidence: Evidence) -> Verdict {
    decide(&Evidence {
        kind,
        role,
        ..evidence
    })
}

#[test]
fn what_is_checked_and_on_what_decides() {
    use Kind::{Consistency, Example, General, Measured, Own};
    use Role::{Made, Original, Relative, StandIn, Unrelated};
    for (kind, role, held, failed) in [
        (
            Measured,
            Original,
            Verdict::Reproduced,
            Verdict::Contradicted,
        ),
        (
            Measured,
            Relative,
            Verdict::SignReproduced,
            Verdict::UnderDetermined,
        ),
        (Measured, StandIn, Verdict::SignReproduced, Verdict::NotSeen),
        (
            Measured,
            Unrelated,
            Verdict::SignReproduced,
            Verdict::NotSeen,
        ),
        (Measured, Made, Verdict::SignReproduced, Verdict::NotSeen),
        (Example, Made, Verdict::Reproduced, Verdict::Contradicted),
        (General, Made, Verdict::Holds, Verdict::Contradicted),
        (General, StandIn, Verdict::Holds, Verdict::Contradicted),
        (Own, Made, Verdict::Holds, Verdict::Contradicted),
        (
            Consistency,
            Made,
            Verdict::Consistent,
            Verdict::Inconsistent,
        ),
    ] {
        assert_eq!(of(kind, role, HELD), held, "{kind:?} {role:?}");
        assert_eq!(of(kind, role, FAILED), failed, "{kind:?} {role:?}");
    }
}

/// A check that leaves out all values, because they lie too close together, tests nothing.
#[test]
fn a_check_that_compares_nothing_is_no_check() {
    for evidence in [HELD, FAILED] {
        let untested = Evidence {
            untested: true,
            assumed: true,
            ..evidence
        };
        for role in [Role::Original, Role::Relative, Role::StandIn] {
            assert_eq!(of(Kind::Measured, role, untested), Verdict::NotCheckable);
        }
    }
}

#[test]
fn an_effect_has_to_be_seen_and_not_only_its_direction() {
    // The size depends on a seed, a setting or an interpretation, if only some of the cases measure enough of it.
    for (held, verdict) in [
        (0, Verdict::SignOnly),
        (1, Verdict::UnderDetermined),
        (2, Verdict::UnderDetermined),
        (3, Verdict::SignReproduced),
    ] {
        let evidence = Evidence {
            sized: Some(Share { held, tried: 3 }),
            ..HELD
        };
        for role in [Role::StandIn, Role::Relative, Role::Original] {
            assert_eq!(
                of(Kind::Measured, role, evidence),
                verdict,
                "{held} {role:?}"
            );
        }
    }
}

#[test]
fn what_the_paper_does_not_say_decides_nothing() {
    let under = Verdict::UnderDetermined;
    let some = Evidence {
        share: Share { held: 2, tried: 3 },
        ..HELD
    };
    let assumed = |evidence| Evidence {
        assumed: true,
        ..evidence
    };
    let fitted = Evidence {
        fitted: true,
        ..HELD
    };
    for kind in [Kind::Measured, Kind::Example, Kind::General, Kind::Own] {
        assert_eq!(of(kind, Role::StandIn, some), under, "{kind:?}");
    }
    for evidence in [HELD, FAILED] {
        for kind in [Kind::Consistency, Kind::Measured, Kind::Example] {
            assert_eq!(of(kind, Role::Original, assumed(evidence)), under);
        }
    }
    assert_eq!(of(Kind::Measured, Role::StandIn, fitted), under);
    assert_eq!(of(Kind::Measured, Role::Relative, fitted), under);
    // On the paper's own trace, fitted parameters of a stand-in have no influence.
    assert_eq!(
        of(Kind::Measured, Role::Original, fitted),
        Verdict::Reproduced
    );
}

#[test]
fn open_rules_count_as_what_was_not_published() {
    let split = |evidence| Evidence {
        readings: Some(Share { held: 7, tried: 24 }),
        ..evidence
    };
    let under = Verdict::UnderDetermined;
    for role in [Role::StandIn, Role::Relative] {
        assert_eq!(of(Kind::Measured, role, split(HELD)), under);
        assert_eq!(of(Kind::Measured, role, split(FAILED)), under);
    }
    assert_eq!(of(Kind::General, Role::Made, split(HELD)), under);
    // If the base run gives the result of a worked example or a published value on the paper's own trace, the claim
    // may fail under other interpretations.
    for kind in [Kind::Measured, Kind::Example] {
        assert_eq!(of(kind, Role::Original, split(HELD)), Verdict::Reproduced);
        assert_eq!(of(kind, Role::Original, split(FAILED)), under);
        let sign = Evidence {
            sized: Some(Share { held: 0, tried: 3 }),
            ..split(HELD)
        };
        assert_eq!(of(kind, Role::Original, sign), under);
    }
    // A statement without a published value confirms no interpretation, unless it is a worked example.
    for (kind, verdict) in [
        (Kind::Measured, under),
        (Kind::Example, Verdict::Reproduced),
    ] {
        let stated = Evidence {
            compared: false,
            ..split(HELD)
        };
        assert_eq!(of(kind, Role::Original, stated), verdict, "{kind:?}");
    }
}

#[test]
fn every_verdict_has_words_and_a_meaning() {
    let names: std::collections::BTreeSet<_> = Verdict::ALL.map(Verdict::name).into();
    let spoken: std::collections::BTreeSet<_> = Verdict::ALL.map(Verdict::spoken).into();
    assert_eq!((names.len(), spoken.len()), (11, 11));
    assert!(
        Verdict::ALL
            .iter()
            .all(|verdict| verdict.meaning().ends_with('.'))
    );
}
