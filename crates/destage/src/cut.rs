//! A run with bytes whose power fails: one input, one configuration, one moment.

use std::time::Instant;

use destage_base::time::TICKS_PER_MS;
use destage_sim::observer::Observer;
use destage_sim::power::{CutPlan, CutResult, cut_run};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Combination;
use crate::input::Input;
use crate::json;
use crate::manifest::Manifest;
use crate::progress::{Counter, Progress, Watch};
use crate::survey::{Plan, Survey};

/// Bad sectors that are named.
const MOST_NAMED: usize = 100;

/// What a loss of power has left, held against what was promised.
#[derive(Clone, Debug)]
pub struct CutOutcome {
    /// How it came to be.
    pub manifest: Manifest,
    /// When the power failed, and what the seed was.
    pub plan: CutPlan,
    /// What came of it.
    pub result: CutResult,
}

impl CutOutcome {
    /// `{"manifest", "parameters", "power"}`: what `destage run --cut-at-program k --payload --json` prints.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::text(&json!({
            "manifest": self.manifest.single(),
            "parameters": json::parameters(&self.result.parameters),
            "power": self.power(),
        }))
    }

    /// What happened, by name.
    fn power(&self) -> Value {
        let result = &self.result;
        let ms = |ticks: u64| ticks as f64 / TICKS_PER_MS as f64;
        let mut power = json!({
            "at": self.plan.at.to_string(),
            "seed": self.plan.seed,
            "time_ms": ms(result.time),
            "requests": result.requests[0],
            "answered": result.requests[1],
            "programs": result.programs,
            "cut_off": { "programs": result.cut.programs, "erases": result.cut.erases },
            "mount_ms": ms(result.mount.time),
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
        });
        if let (Some(dump), Some(power)) = (&result.dump, power.as_object_mut()) {
            power.insert("energy_j".to_owned(), json!(dump.energy as f64 / 1e12));
            power.insert("dump_ms".to_owned(), json!(ms(dump.time)));
            power.insert(
                "dump".to_owned(),
                json!({ "pages": dump.pages, "left": dump.left }),
            );
        }
        power
    }
}

/// Simulates `input` under `combination` with bytes until the power fails by `plan`, mounts the device again, and holds every sector
/// against what was promised. `observer` sees what happens to each request.
///
/// # Errors
/// As of [`run`](crate::run()), and that the run ended before the power failed or cannot have bytes.
pub fn cut(
    input: &Input,
    combination: &Combination,
    plan: &CutPlan,
    progress: &dyn Progress,
    observer: &mut dyn Observer,
) -> Result<CutOutcome, Error> {
    let started = Instant::now();
    let options = input.options(&combination.config)?;
    let counter = Counter::new(progress, input.expected_requests());
    destage_memory::doing(format!("reading {}", input.name()));
    let Survey { mut plans, sizing } = Survey::of(input, &[&combination.config], &counter)?;
    let Some(Plan { config, prepass }) = plans.pop() else {
        return Err(Error::Internal("a run has no plan".to_owned()));
    };
    let prepass = prepass?;
    let source = input.open(&config)?;
    destage_memory::doing(combination.doing(&input.name()));
    let mut watch = Watch::new(&counter, observer);
    let (result, source) = cut_run(&config, source, &prepass, plan, &mut watch)?;
    let mut facts = Facts::of_source(&source, &options);
    facts.sizing = sizing;
    Ok(CutOutcome {
        manifest: Manifest {
            command: Vec::new(),
            inputs: vec![facts],
            seed: config.typed.sim.seed,
            wall_time_s: started.elapsed().as_secs_f64(),
        },
        plan: *plan,
        result,
    })
}
