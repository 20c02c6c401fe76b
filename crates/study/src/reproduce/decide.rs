//! What a verdict may say: it follows from the kind of the claim, what it was checked on, and declared thresholds.

use crate::Role;

/// What sort of statement a claim is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A result that the paper measured, on a trace.
    #[default]
    Measured,
    /// A worked example that the paper prints.
    Example,
    /// A statement about whatever is written, which one counterexample refutes.
    General,
    /// Published numbers that have to agree with each other, or printed rules with what the paper says of them.
    Consistency,
    /// A statement of this project, and of no paper.
    Own,
}

impl Kind {
    /// The word for it in results.
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

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Measured on the paper's own trace as published, or a worked example of the paper.
    Reproduced,
    /// As published in direction, and in enough of the size, on a stand-in or a relative.
    SignReproduced,
    /// As published in direction, and in hardly any of the size.
    SignOnly,
    /// A general statement that is true in all that was tried.
    Holds,
    /// Published numbers agree with each other.
    Consistent,
    /// Published numbers contradict each other, or the paper's rules its own words.
    Inconsistent,
    /// What was not published decides.
    UnderDetermined,
    /// It does not hold on a stand-in.
    NotSeen,
    /// It does not hold where it would have to.
    Contradicted,
    /// It needs a trace that was not found.
    TraceMissing,
    /// Nothing can check it.
    NotCheckable,
}

impl Verdict {
    /// All of them, in the order of tables.
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

    /// The word for it in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SignReproduced => "sign_reproduced",
            Self::SignOnly => "sign_only",
            Self::Holds => "holds",
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
            Self::UnderDetermined => "under_determined",
            Self::NotSeen => "not_seen",
            Self::Contradicted => "contradicted",
            Self::TraceMissing => "trace_missing",
            Self::NotCheckable => "not_checkable",
        }
    }

    /// The words for it in tables.
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

    /// What it says of a claim, in a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Reproduced => {
                "On the paper's own trace the published value was measured within the declared tolerance, or, where no value was published, what the paper says was found; or a worked example of the paper comes out as printed."
            }
            Self::SignReproduced => {
                "On a stand-in or a real relative of the paper's trace the effect has the published direction and, where a size was published, at least the declared share of it; for every seed, unpublished setting and open rule that was tried."
            }
            Self::SignOnly => {
                "The effect has the published direction, and less than the declared share of the published size."
            }
            Self::Holds => {
                "A statement about whatever is written is true of all streams that were tried. No trace of the paper is behind it."
            }
            Self::Consistent => "Published numbers agree with each other. Nothing was measured.",
            Self::Inconsistent => {
                "Published numbers contradict each other, or the paper's rules, carried out, contradict what the paper says of them."
            }
            Self::UnderDetermined => {
                "What the paper does not say decides, of the direction or of how much of a published size is seen: an assumption that is named, a seed, a setting, a reading of its rules, or a parameter that was fitted. Where the original's own numbers come out under one reading of the rules, that reading is taken as the paper's: such a claim is reproduced, and its row names the reading."
            }
            Self::NotSeen => {
                "On a stand-in it holds with no seed, unpublished setting or open rule that was tried. That says as much about the stand-in as about the paper, and contradicts neither. A condition that was looked for afterwards to find the cause does not count."
            }
            Self::Contradicted => {
                "It does not hold on the paper's own trace, on a real relative that is named, or a stream refutes a general statement."
            }
            Self::TraceMissing => "It needs a trace that was not found.",
            Self::NotCheckable => "Nothing here can check it.",
        }
    }

    /// Whether the claim was borne out.
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

/// The verdicts that a statement of the project's own can have.
pub(super) const OF_OWN: [Verdict; 5] = [
    Verdict::Holds,
    Verdict::UnderDetermined,
    Verdict::Contradicted,
    Verdict::TraceMissing,
    Verdict::NotCheckable,
];

/// How often a claim holds among what was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How often it holds.
    pub held: usize,
    /// How often it was tried.
    pub tried: usize,
}

impl Share {
    const fn all(self) -> bool {
        self.held == self.tried
    }
}

/// Everything that a verdict follows from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) kind: Kind,
    /// What the farthest of its inputs is to the paper.
    pub(super) role: Role,
    /// Seeds and settings that were not published; the paper's own are among them.
    pub(super) share: Share,
    /// Whether it holds under the paper's own settings, with the default of every open rule.
    pub(super) holds: bool,
    /// Combinations of open rules, if it depends on them.
    pub(super) readings: Option<Share>,
    /// The smallest measured over published, of a claim that is checked for its direction.
    pub(super) effect: Option<f64>,
    /// Whether as much of a published size as has to be seen is measured with every seed, setting and combination of open rules; true of
    /// a claim without a published size.
    pub(super) lasting: bool,
    /// Whether it needs what the paper does not say.
    pub(super) assumed: bool,
    /// Whether a stand-in was chosen so that it holds.
    pub(super) fitted: bool,
}

/// The verdict on a claim. `effect_share` is how much of a published effect has to be seen.
pub(super) fn decide(evidence: &Evidence, effect_share: f64) -> Verdict {
    let Evidence {
        kind,
        role,
        share,
        readings,
        ..
    } = *evidence;
    if evidence.assumed {
        return Verdict::UnderDetermined;
    }
    // A value of the paper's own that comes out under one reading identifies that reading.
    let is_identified = evidence.holds
        && (kind == Kind::Example || (kind, role) == (Kind::Measured, Role::Original));
    if share.held > 0 && !share.all() || readings.is_some_and(|each| !each.all()) && !is_identified
    {
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
        _ => match (role, evidence.effect) {
            (_, Some(effect)) if effect < effect_share => Verdict::SignOnly,
            (_, Some(_)) if !evidence.lasting => Verdict::UnderDetermined,
            (Role::Original, None) => Verdict::Reproduced,
            _ => Verdict::SignReproduced,
        },
    }
}

#[cfg(test)]
mod tests;
