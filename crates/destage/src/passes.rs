//! How often an input is read. It is read once, unless the models of all its runs together would need too much
//! memory.

use std::ops::Range;

use destage_base::parameter::Value;

use destage_sim::settings::Config;

use crate::input::Input;
use crate::survey::Known;

/// One reading of an input, for a range of the combinations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pass {
    pub(crate) input: usize,
    pub(crate) combinations: Range<usize>,
}

/// Bytes of a model for each flash page: the mapping entry, the reverse mapping entry, and a portion of the tables
/// for blocks.
const PER_FLASH_PAGE: u64 = 10;
/// Bytes of a model for each page of the buffer.
const PER_BUFFER_PAGE: u64 = 128;
/// Bytes of a model, at the end of a run, for each request whose exact response time is stored.
const PER_RESPONSE: u64 = 30;
/// Bytes of a model that do not depend on the flash, the buffer or the stored response times.
const BASE: u64 = 1 << 20;

/// If memory allows it, at least this many runs for each thread share a reading. The cost of reading is then small in
/// comparison with the runs, and every thread has work.
const RUNS_PER_THREAD: usize = 4;
/// If all models together need at most this many bytes, any number of models share a reading.
const SHARED: u64 = 256 << 20;

/// The readings of `inputs` in order. `known` has the configurations of each input's runs. A reading has enough runs
/// to keep `threads` busy, and more runs if their models are small. The models of a reading together need at most
/// `memory` bytes, unless a single model needs more. An input that can be read only once has one reading.
pub(crate) fn plan(inputs: &[Input], known: &[Known], memory: u64, threads: usize) -> Vec<Pass> {
    let enough = (RUNS_PER_THREAD * threads).max(2 * RUNS_PER_THREAD);
    let mut passes = Vec::new();
    for (input, (of, known)) in inputs.iter().zip(known).enumerate() {
        let requests = of.requests_at_most().unwrap_or(u64::MAX);
        let configs = known.configs.iter();
        let bytes: Vec<u64> = configs
            .map(|config| model_bytes(config, requests))
            .collect();
        let (memory, shared) = match of.allows_second_pass() {
            true => (memory, SHARED),
            false => (u64::MAX, u64::MAX),
        };
        let (mut start, mut sum) = (0, 0_u64);
        for (index, bytes) in bytes.iter().enumerate() {
            let (runs, with) = (index - start, sum.saturating_add(*bytes));
            if (runs > 0 && with > memory) || (runs >= enough && with > shared) {
                passes.push(Pass {
                    input,
                    combinations: start..index,
                });
                (start, sum) = (index, 0);
            }
            sum = sum.saturating_add(*bytes);
        }
        passes.push(Pass {
            input,
            combinations: start..bytes.len(),
        });
    }
    passes
}

/// An estimate of the largest size, in bytes, of the model of a run with `requests` requests.
pub(crate) fn model_bytes(config: &Config, requests: u64) -> u64 {
    let parameters = config.parameters();
    let whole = |name: &str| match parameters.get(name) {
        Some(Value::Integer(number)) => *number,
        _ => 1,
    };
    let flash = [
        "flash.dies",
        "flash.planes_per_die",
        "flash.blocks_per_plane",
        "flash.pages_per_block",
    ];
    let pages = flash.iter().map(|name| whole(name));
    let flash = pages.fold(PER_FLASH_PAGE, u64::saturating_mul);
    let slots = whole("buffer.capacity_bytes") / whole("flash.page_bytes").max(1);
    let kept = match config.is_timed() {
        true => requests.min(config.typed.sim.exact_responses.into()),
        false => 0,
    };
    flash
        .saturating_add(kept * PER_RESPONSE)
        .saturating_add(slots.saturating_mul(PER_BUFFER_PAGE))
        .saturating_add(BASE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use destage_sim::settings::Settings;

    #[test]
    fn an_input_is_read_as_often_as_the_models_ask_for() {
        let mut base = Settings::new();
        base.set_pair("flash.blocks_per_plane=64").unwrap();
        let grid = Grid::new(base).sizes(["1MiB", "2MiB", "3MiB", "4MiB", "5MiB"]);
        let combinations = grid.buffers(["lru"]).combinations().unwrap();
        let known = || Known {
            configs: combinations
                .iter()
                .map(|each| each.config.clone())
                .collect(),
            sizing: None,
            merged: Vec::new(),
        };
        let known = [known(), known()];
        let inputs = [Input::requests("requests", []), Input::trace("-")];
        let of = |memory| {
            let passes = plan(&inputs, &known, memory, 2).into_iter();
            passes
                .map(|pass| (pass.input, pass.combinations))
                .collect::<Vec<_>>()
        };
        let one = model_bytes(&combinations[4].config, 0);
        assert_eq!(of(u64::MAX), [(0, 0..5), (1, 0..5)]);
        assert_eq!(of(2 * one), [(0, 0..2), (0, 2..4), (0, 4..5), (1, 0..5)]);
        assert_eq!(of(0).len(), 6);
        // A run stores the response times of its requests up to a limit. The size of its model therefore grows with
        // the number of requests, up to this limit.
        let kept = |requests| model_bytes(&combinations[0].config, requests);
        assert_eq!(kept(1 << 20) - kept(0), PER_RESPONSE << 20);
        assert_eq!(kept(1 << 40), kept(1 << 24));
    }

    #[test]
    fn large_models_share_a_reading_only_as_far_as_that_saves_time() {
        let inputs = [Input::requests("requests", [])];
        let runs_of_passes = |blocks: u32, threads| {
            let mut base = Settings::new();
            base.set_pair(&format!("flash.blocks_per_plane={blocks}"))
                .unwrap();
            let sizes: Vec<String> = (1..=64).map(|size| format!("{size}MiB")).collect();
            let grid = Grid::new(base).sizes(sizes.iter().map(String::as_str));
            let combinations = grid.buffers(["lru"]).combinations().unwrap();
            let known = Known {
                configs: combinations.into_iter().map(|each| each.config).collect(),
                sizing: None,
                merged: Vec::new(),
            };
            let passes = plan(&inputs, &[known], u64::MAX, threads).into_iter();
            passes
                .map(|pass| pass.combinations.len())
                .collect::<Vec<_>>()
        };
        // Each model needs about 45 MB. A reading is shared by four runs for each thread, and by at least eight runs.
        assert_eq!(runs_of_passes(1024, 2), [8; 8]);
        assert_eq!(runs_of_passes(1024, 8), [32; 2]);
        // Small models need little memory, so all runs share one reading.
        assert_eq!(runs_of_passes(16, 2), [64]);
    }
}
