//! Claims that make one statement of a paper on several inputs, and statements of the project on one question. Each of
//! them names the others, because the row of one alone can mislead: what holds on a stand-in may fail on a recording,
//! and what holds on one drive may fail on another.

use super::decide::{Kind, Verdict};
use super::reason::listed;
use super::verdict::{Judged, comes_out};

/// A row names at most this many other claims.
const MOST: usize = 6;

/// Adds to each claim of a paper in `claims` a remark that names the claims with the same sentence on other inputs.
pub(super) fn name(claims: &mut [Judged]) {
    let remarks: Vec<_> = claims.iter().map(|claim| remark(claim, claims)).collect();
    for (claim, remark) in claims.iter_mut().zip(remarks) {
        claim.why.because.extend(remark);
    }
}

fn remark(claim: &Judged, all: &[Judged]) -> Option<String> {
    if claim.kind == Kind::Own {
        let others: Vec<_> = all
            .iter()
            .filter(|other| is_of_same_question(claim, other))
            .collect();
        let (alike, apart): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|other| other.asked == claim.asked);
        let ids = |some: &[&Judged]| {
            let ids: Vec<_> = some.iter().map(|other| other.id.clone()).collect();
            listed(&ids)
        };
        let mut said = Vec::new();
        if !alike.is_empty() {
            let named: Vec<_> = alike.iter().map(|other| named(other)).collect();
            said.push(format!(
                "Other experiments ask the same: {}.",
                listed(&named)
            ));
        }
        if !apart.is_empty() {
            said.push(format!(
                "Other experiments judge the same question by other limits, or find the opposite: {}.",
                ids(&apart)
            ));
        }
        return (!said.is_empty()).then(|| said.join(" "));
    }
    let others = all.iter().filter(|other| is_of_same_sentence(claim, other));
    let others: Vec<_> = others.map(named).collect();
    match others.len() {
        0 => None,
        1..=MOST => Some(format!(
            "The same is judged on other inputs: {}.",
            listed(&others)
        )),
        count => Some(format!(
            "The same is judged on {count} other inputs: {}, and others.",
            others[..MOST].join(", ")
        )),
    }
}

/// Whether `other` has the number of `claim`, and is judged by another experiment.
fn is_of_same_question(claim: &Judged, other: &Judged) -> bool {
    let [own, of_other] = [claim, other].map(|of| of.id.split('.').next());
    own == of_other && claim.ran.experiment != other.ran.experiment
}

/// The id of `claim` with its verdict; for an under-determined claim also how it comes out in the base run.
fn named(claim: &Judged) -> String {
    let base = claim.values.tries.first();
    // A claim without counts says this of itself.
    let is_silent = claim.verdict == Verdict::UnderDetermined && claim.counts.base.is_none();
    let base = base.filter(|_| is_silent).map(comes_out);
    let base = base.map_or(String::new(), |does| format!("; {does} in the base run"));
    format!("{} ({}{base})", claim.id, claim.spoken())
}

/// Whether `other` says the sentence of `claim` of other inputs.
fn is_of_same_sentence(claim: &Judged, other: &Judged) -> bool {
    claim.kind == Kind::Measured
        && claim.place == other.place
        && quantity(&claim.values.quantity) == quantity(&other.values.quantity)
        && subject(claim) == subject(other)
        && claim.ran.inputs != other.ran.inputs
}

/// The name of a quantity without conditions, such as the size of the buffer: it is in proportion to the input, and has
/// another number for each.
fn quantity(text: &str) -> &str {
    let head = text.split([',', ';', ':']).next().unwrap_or_default();
    head.split(" with ").next().unwrap_or_default()
}

/// The name of `claim` without what names its input: `P12 best` for P12.financial1-asu9-best.
fn subject(claim: &Judged) -> String {
    let (head, rest) = claim.id.split_once('.').unwrap_or((&claim.id, ""));
    let labels = claim.ran.inputs.values();
    let own = labels.filter_map(|label| rest.strip_prefix(label.as_str()));
    let rest = own.min_by_key(|rest| rest.len()).unwrap_or(rest);
    let rest = rest.trim_end_matches("-head").trim_end_matches("-asu9");
    format!("{head} {}", rest.trim_start_matches('-'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::ran::Ran;
    use super::super::reason::Why;
    use super::super::values::{Try, Values};
    use super::super::verdict::Counts;
    use super::*;
    use crate::{InputFacts, Role};

    fn judged(id: &str, input: &str) -> Judged {
        let facts = InputFacts {
            name: input.to_owned(),
            digest: None,
            role: Role::Made,
            differs: String::new(),
        };
        Judged {
            id: id.to_owned(),
            paper: "p".to_owned(),
            place: "Fig. 1".to_owned(),
            statement: String::new(),
            kind: Kind::Measured,
            check: String::new(),
            tolerance: None,
            asked: String::new(),
            values: Values::default(),
            verdict: Verdict::SignReproduced,
            counts: Counts::default(),
            ran: Ran {
                inputs: BTreeMap::from([(facts, input.to_owned())]),
                ..Ran::default()
            },
            figures: Vec::new(),
            why: Why::default(),
        }
    }

    #[test]
    fn conditions_are_no_part_of_a_quantity() {
        for (text, head) in [
            ("best alphas with 8 MiB: those with fewest", "best alphas"),
            ("change from LRU, 8 MB", "change from LRU"),
            ("merges", "merges"),
        ] {
            assert_eq!(quantity(text), head);
        }
    }

    #[test]
    fn a_claim_names_the_claims_on_other_inputs() {
        let remarks = |pairs: &[(&str, &str)]| {
            let mut claims: Vec<_> = pairs.iter().map(|(id, on)| judged(id, on)).collect();
            name(&mut claims);
            let said = claims.into_iter().map(|claim| claim.why.because.concat());
            said.collect::<Vec<_>>()
        };
        assert_eq!(
            remarks(&[("B12", "p2p"), ("B12.other", "other"), ("B13", "other")]),
            [
                "The same is judged on other inputs: B12.other (sign reproduced).",
                "The same is judged on other inputs: B12 (sign reproduced).",
                "",
            ]
        );
        // Statements of the project with one number are judged by several experiments.
        let mut own = ["pe8110", "cm7-r"].map(|drive| {
            let mut own = judged(&format!("T20.{drive}"), "saturated");
            own.kind = Kind::Own;
            own.verdict = Verdict::Holds;
            own.ran.experiment = Some(drive.to_owned());
            own
        });
        name(&mut own);
        assert_eq!(
            own[0].why.because,
            ["Other experiments ask the same: T20.cm7-r (holds)."]
        );
        let mut under = judged("B12", "p2p");
        under.verdict = Verdict::UnderDetermined;
        assert_eq!(named(&under), "B12 (under-determined)");
        under.values.tries = vec![Try {
            name: "base run".to_owned(),
            measured: 1.into(),
            holds: false,
            sized: None,
            is_idle: false,
        }];
        assert_eq!(
            named(&under),
            "B12 (under-determined; fails in the base run)"
        );
        // One figure says different things of the two schemes.
        assert_eq!(
            remarks(&[
                ("E4.one-lru", "one"),
                ("E4.one-epo", "one"),
                ("E4.one-asu9-lru", "one-asu9"),
            ]),
            [
                "The same is judged on other inputs: E4.one-asu9-lru (sign reproduced).",
                "",
                "The same is judged on other inputs: E4.one-lru (sign reproduced).",
            ]
        );
    }
}
