//! One run with payload in which the power fails at one moment. The run has one input and one configuration.

use destage_base::time::to_ms;
use destage_sim::observer::Observer;
use destage_sim::power::{CutPlan, CutResult, cut_run};
use destage_sim::watch::Recording;
use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::grid::Combination;
use crate::input::Input;
use crate::json;
use crate::manifest::Manifest;
use crate::numbers;
use crate::progress::Progress;
use crate::record::Record;
use crate::results::add_run;
use crate::run::single;

/// The largest number of bad sectors that the output names.
const MOST_NAMED: usize = 100;

/// The outcome of a power loss: whether every sector still holds data that the answers of the device allow.
#[derive(Clone, Debug)]
pub struct CutOutcome {
    /// How the result was computed.
    pub manifest: Manifest,
    /// The parameters and metrics of the run up to the power loss.
    pub record: Record,
    /// The moment of the power loss, and the seed.
    pub plan: CutPlan,
    /// The counts, the times and the bad sectors.
    pub result: CutResult,
}

impl CutOutcome {
    /// The document of [`Outcome::to_json`](crate::Outcome::to_json) with `"power"`: the output of `destage run
    /// --cut-at-program k --payload --json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(self)
    }

    /// Whether data were lost, and whether this was allowed; one or more sentences.
    #[must_use]
    pub fn conclusion(&self) -> String {
        let sectors = |count: u64| match count {
            1 => "1 sector".to_owned(),
            _ => format!("{} sectors", numbers::whole(count)),
        };
        let destroyed = self.result.lost.iter().filter(|(_, count)| **count > 0);
        let destroyed: Vec<String> = destroyed
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        match (self.result.bad.len() as u64, self.result.lost_answered) {
            (0, _) if !destroyed.is_empty() => format!(
                "The options of a drive that destroys data, or data that cannot be judged, concern sectors: {}. No other promise was broken.",
                destroyed.join(", ")
            ),
            (0, 0) => "No sector lost an answered write.".to_owned(),
            (0, lost) => format!(
                "{} lost the newest answered write. This is allowed, since no flush and no forced write that was answered covers these writes: no promise was broken.",
                sectors(lost)
            ),
            (bad, _) => format!(
                "{} {} not hold what was promised.",
                sectors(bad),
                if bad == 1 { "does" } else { "do" }
            ),
        }
    }

    /// The counts and times of the power loss, by name.
    fn power(&self) -> Value {
        let result = &self.result;
        let mut power = json!({
            "at": self.plan.at.to_string(),
            "seed": self.plan.seed,
            "time_ms": to_ms(result.time),
            "requests": result.requests[0],
            "answered": result.requests[1],
            "programs": result.programs,
            "cut_off": { "programs": result.cut.programs, "erases": result.cut.erases },
            "mount_ms": to_ms(result.mount.time),
            "mount": {
                "spare_reads": result.mount.spare_reads,
                "reads": result.mount.tally.reads.iter().sum::<u64>(),
                "programs": result.mount.tally.programs.iter().sum::<u64>(),
                "erases": result.mount.tally.erases.iter().sum::<u64>(),
            },
            "ledger": {
                "sectors": result.counts.sectors,
                "must": result.counts.must,
                "may": result.counts.may,
            },
            "bad_sectors": result.bad.len(),
            "bad": result.bad.iter().take(MOST_NAMED).collect::<Vec<_>>(),
            "lost": result.lost.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<Map<_, _>>(),
            "lost_answered_sectors": result.lost_answered,
            "conclusion": self.conclusion(),
        });
        if let (Some(dump), Some(power)) = (&result.dump, power.as_object_mut()) {
            power.insert("energy_j".to_owned(), json!(dump.energy as f64 / 1e12));
            power.insert("dump_ms".to_owned(), json!(to_ms(dump.time)));
            power.insert(
                "dump".to_owned(),
                json!({ "pages": dump.pages, "left": dump.left }),
            );
        }
        power
    }
}

impl Serialize for CutOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        add_run(&mut map, &self.manifest, &self.record)?;
        map.serialize_entry("power", &self.power())?;
        map.end()
    }
}

/// Simulates `input` with payload under `combination` until the moment at which `plan` cuts the power. Then the
/// device is mounted again, and every sector is compared with the data that the answers before the power loss allow.
/// `observer` receives the events of each request. With `recording`, the run is watched until the power fails.
///
/// # Errors
/// The errors of [`run`](crate::run()), or an error if the run ends before the power fails, or if the run cannot have
/// payload.
pub fn cut(
    input: &Input,
    combination: &Combination,
    plan: &CutPlan,
    recording: Option<&mut Recording>,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<CutOutcome, Error> {
    let combination = Combination {
        config: combination.config.clone().with_failing_power(),
        ..combination.clone()
    };
    let simulate = |config: &_, source, prepass: &_, watch: &mut dyn Observer| {
        cut_run(config, source, prepass, plan, recording, watch)
    };
    let ((run, result), config, manifest) =
        single(input, &combination, progress, observer, simulate)?;
    Ok(CutOutcome {
        manifest,
        record: Record::new(input, &combination, &config, Ok(run)),
        plan: *plan,
        result,
    })
}
