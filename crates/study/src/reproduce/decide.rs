//! The rules for verdicts. A verdict follows from the kind of the claim, the relation of its inputs to the paper,
//! the results of its checks, and a declared threshold.

use crate::Role;

/// The kinds of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A result that the authors of the paper measured on a trace.
    #[default]
    Measured,
    /// The result of a worked example that the paper prints.
    Example,
    /// A statement about all possible sequences of writes. A single counterexample refutes it.
    General,
    /// Published numbers that have to agree with each other, or published rules that have to agree with the
    /// paper's statements about them.
    Consistency,
    /// A statement of this project, not of a paper.
    Own,
}

impl Kind {
    /// The name of the kind in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Example => "example",
            Self::General => "general",
            Self::Consistency => "consistency",
            Self::Own => "own",
        }
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A run on the paper's own trace gives the published result, or a worked example gives the result that the
    /// paper prints. A measured claim that is checked for its sign and has a published size gets
    /// [`Self::SignReproduced`] instead.
    Reproduced,
    /// The result has the published direction and, if the paper published a size, at least the required share of
    /// this size. A claim without a published size gets this verdict only on an input other than the paper's own
    /// trace.
    SignReproduced,
    /// The result has the published direction, but less than the required share of the published size in all cases
    /// that were tried.
    SignOnly,
    /// A general statement, or a statement of this project, is true in all runs.
    Holds,
    /// Published numbers agree with each other, or the paper's rules agree with the paper's statements about
    /// them.
    Consistent,
    /// Published numbers contradict each other, or the paper's rules contradict the paper's statements about
    /// them.
    Inconsistent,
    /// Whether the claim holds, or how large its effect is, depends on something that the paper does not specify.
    UnderDetermined,
    /// A measured claim fails on a stand-in, a made-up stream or another recording.
    NotSeen,
    /// A measured claim fails on the paper's own trace; or a worked example, a general statement
    /// or a statement of this project is false.
    Contradicted,
    /// The claim needs a trace that was not found.
    TraceMissing,
    /// The claim cannot be checked, a run that it needs failed, or its check compares nothing.
    NotCheckable,
}

impl Verdict {
    /// All verdicts, in the order in which tables show them.
    pub const ALL: [Self; 11] = [
        Self::Reproduced,
        Self::SignReproduced,
        Self::SignOnly,
        Self::Holds,
        Self::Consistent,
        Self::Inconsistent,
        Self::UnderDetermined,
        Self::NotSeen,
        Self::Contradicted,
        Self::TraceMissing,
        Self::NotCheckable,
    ];

    /// The name of the verdict in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SignReproduced => "sign_reproduced",
            Self::SignOnly => "effect_not_seen",
            Self::Holds => "holds",
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
            Self::UnderDetermined => "under_determined",
            Self::NotSeen => "not_seen_on_stand_in",
            Self::Contradicted => "contradicted",
            Self::TraceMissing => "trace_missing",
            Self::NotCheckable => "not_checkable",
        }
    }

    /// The verdict in words, for tables.
    #[must_use]
    pub const fn spoken(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SignReproduced => "sign reproduced",
            Self::SignOnly => "sign only, effect not seen",
            Self::Holds => "holds",
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent in the paper",
            Self::UnderDetermined => "under-determined",
            Self::NotSeen => "not seen on the stand-in",
            Self::Contradicted => "contradicted",
            Self::TraceMissing => "trace missing",
            Self::NotCheckable => "not checkable",
        }
    }

    /// The meaning of the verdict, in one or more sentences.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Reproduced => {
                "The paper's own trace gives the published value within the declared tolerance or, if the paper publishes no value, shows what the paper says; or a worked example of the paper comes out as printed."
            }
            Self::SignReproduced => {
                "The effect has the published direction and, if the paper publishes its size, at least the declared share of that size; or what the paper says in words comes out within the declared limits, such as an order, a bound, or that something hardly changes. The result is the same with every seed, unpublished setting and open rule that was tried. The input is a stand-in, another recording or a relative (a part) of the paper's trace, or it is the paper's own trace, and the paper publishes the size of an effect, of which only the direction and at least the declared share come out."
            }
            Self::SignOnly => {
                "The effect has the published direction, but less than the declared share of the published size, with every seed, unpublished setting and open rule that was tried."
            }
            Self::Holds => {
                "A statement about all streams of requests is true of every stream that was tried. Or a statement about one stream, or a statement of this project, is true of the runs that its row names, at the scale of this report. No trace of a paper is needed."
            }
            Self::Consistent => {
                "Numbers or rules that the paper publishes agree with each other. No trace of the paper is involved."
            }
            Self::Inconsistent => {
                "Numbers that the paper publishes contradict each other, or the paper's rules, when they are carried out, contradict what the paper says about them."
            }
            Self::UnderDetermined => {
                "Whether the effect has the published direction, or the declared share of the published size, depends on something that the paper does not state: a named assumption, a seed, a setting, a reading of its rules, or a fitted parameter of a stand-in. A claim that needs a named assumption is under-determined whether it holds or fails, on any input. A claim that fails on a relative in all cases is under-determined as well: a relative is a part of the paper's trace, and it is only assumed that the whole behaves like the part. If a value that the paper prints comes out under one reading of its rules, on its own trace or in a worked example, that reading counts as the paper's for the claim with this value, and for no other claim: such a claim is reproduced, and its row names the reading. For other claims the reading stays open, because a printed value can come out under a reading by chance."
            }
            Self::NotSeen => {
                "On a stand-in, or on a recording of another system, the claim fails with every seed, unpublished setting and open rule that was tried. The cause may be the input or the paper, so the verdict contradicts neither."
            }
            Self::Contradicted => {
                "The claim fails on the paper's own trace with every unpublished setting and open rule that was tried, or a stream of requests refutes a general statement, or a statement of the project's own is false. A claim that needs a named assumption, and a claim that fails on a relative, is under-determined instead."
            }
            Self::TraceMissing => "The claim needs a trace that was not found.",
            Self::NotCheckable => {
                "This project cannot check the claim; or a run that the claim needs has failed; or the check compares pairs of values, and in the base run no pair differs by more than what counts as different in each of the quantities that are compared."
            }
        }
    }

    /// Whether the verdict confirms the claim.
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(
            self,
            Self::Reproduced
                | Self::SignReproduced
                | Self::SignOnly
                | Self::Holds
                | Self::Consistent
        )
    }
}

/// The verdicts that a statement of this project can have.
pub(super) const OF_OWN: [Verdict; 5] = [
    Verdict::Holds,
    Verdict::UnderDetermined,
    Verdict::Contradicted,
    Verdict::TraceMissing,
    Verdict::NotCheckable,
];

/// The number of cases in which a claim holds, and the number of all cases in which it was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of cases in which the claim holds.
    pub held: usize,
    /// The number of all cases.
    pub tried: usize,
}

impl Share {
    const fn all(self) -> bool {
        self.held == self.tried
    }
}

impl Evidence {
    /// Whether a measured claim fails on a relative, a part of the paper's trace, in all cases that were tried. What a
    /// part shows contradicts nothing about the whole.
    pub(super) fn fails_on_part(&self) -> bool {
        (self.kind, self.role) == (Kind::Measured, Role::Relative)
            && self.share.held == 0
            && self.readings.is_none()
    }
}

/// The evidence that determines a verdict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) kind: Kind,
    /// The relation of the claim's inputs to the paper. If the inputs have different relations, it is the last of
    /// these in the order of [`Role`].
    pub(super) role: Role,
    /// In how many of these cases the claim holds: the base run, each other seed, and each unpublished setting.
    pub(super) share: Share,
    /// Whether the claim holds in the base run, which has the settings of the paper, the first seed, and the
    /// default interpretation of every open rule.
    pub(super) holds: bool,
    /// In how many combinations of interpretations of open rules the claim holds; `None` if the claim holds in
    /// all combinations or in none, or if only the default was executed.
    pub(super) readings: Option<Share>,
    /// In how many cases at least the required share of the published size is measured. The cases are the base
    /// run, each other seed, each unpublished setting and each other combination of interpretations. `None` if the
    /// claim is not checked for its sign or has no published size.
    pub(super) sized: Option<Share>,
    /// Whether the check compares the measured value with one that the paper published.
    pub(super) compared: bool,
    /// Whether the claim needs an assumption that the paper does not state.
    pub(super) assumed: bool,
    /// Whether parameters of the input were chosen so that the claim holds.
    pub(super) fitted: bool,
    /// Whether the check compares pairs of values, and leaves out all of them because they are too close.
    pub(super) untested: bool,
}

/// Decides the verdict on a claim.
pub(super) fn decide(evidence: &Evidence) -> Verdict {
    let Evidence {
        kind,
        role,
        share,
        readings,
        ..
    } = *evidence;
    if evidence.untested {
        return Verdict::NotCheckable;
    }
    if evidence.assumed {
        return Verdict::UnderDetermined;
    }
    // If the base run gives the result of a worked example, or a published value on the paper's own trace, the
    // authors probably used an interpretation under which the claim holds. The claim may then fail under other
    // interpretations. A sign, or a statement without a value, confirms no interpretation.
    let is_value = evidence.compared && (kind, role) == (Kind::Measured, Role::Original);
    let is_identified =
        evidence.holds && evidence.sized.is_none() && (kind == Kind::Example || is_value);
    if share.held > 0 && !share.all() || readings.is_some_and(|each| !each.all()) && !is_identified
    {
        return Verdict::UnderDetermined;
    }
    if evidence.fails_on_part() {
        return Verdict::UnderDetermined;
    }
    let holds = share.held > 0;
    match (kind, role) {
        (Kind::Consistency, _) if holds => Verdict::Consistent,
        (Kind::Consistency, _) => Verdict::Inconsistent,
        (Kind::Example, _) if holds => Verdict::Reproduced,
        (Kind::General | Kind::Own, _) if holds => Verdict::Holds,
        (Kind::Measured, Role::Made | Role::StandIn | Role::Unrelated) if !holds => {
            Verdict::NotSeen
        }
        (Kind::Example | Kind::General | Kind::Own | Kind::Measured, _) if !holds => {
            Verdict::Contradicted
        }
        (_, role) if evidence.fitted && role != Role::Original => Verdict::UnderDetermined,
        _ => match (role, evidence.sized) {
            (_, Some(Share { held: 0, .. })) => Verdict::SignOnly,
            (_, Some(sized)) if !sized.all() => Verdict::UnderDetermined,
            (Role::Original, None) => Verdict::Reproduced,
            _ => Verdict::SignReproduced,
        },
    }
}

#[cfg(test)]
mod tests;
