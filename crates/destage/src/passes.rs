//! How often an input is read: once, unless the models of all runs at a time would take too much memory.

use std::ops::Range;

use destage_base::parameter::Value;

use destage_sim::settings::Config;

use crate::input::Input;
use crate::survey::Known;

/// One reading of an input, for some of the runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pass {
    pub(crate) input: usize,
    pub(crate) combinations: Range<usize>,
}

/// Bytes that a model keeps for a page of flash: where it is, whose it is, and a part of the tables of its block.
const PER_FLASH_PAGE: u64 = 10;
/// Bytes for a page of the buffer.
const PER_BUFFER_PAGE: u64 = 128;
/// Bytes for a request whose response time is kept, at the end of a run.
const PER_RESPONSE: u64 = 30;
/// Bytes for everything else.
const BASE: u64 = 1 << 20;

/// The passes over `inputs`, of which the runs are `known`, in order: of each as few as give every run its model, with
/// models of some `memory` bytes at a time. What can be read once only is read once.
pub(crate) fn plan(inputs: &[Input], known: &[Known], memory: u64) -> Vec<Pass> {
    let mut passes = Vec::new();
    for (input, (of, known)) in inputs.iter().zip(known).enumerate() {
        let requests = of.requests_at_most().unwrap_or(u64::MAX);
        let configs = known.configs.iter();
        let bytes: Vec<u64> = configs
            .map(|config| model_bytes(config, requests))
            .collect();
        let memory = if of.can_be_read_again() {
            memory
        } else {
            u64::MAX
        };
        let (mut start, mut sum) = (0, 0_u64);
        for (index, bytes) in bytes.iter().enumerate() {
            if index > start && sum.saturating_add(*bytes) > memory {
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

/// About the most that the model of a run of so many `requests` takes, in bytes.
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
            let passes = plan(&inputs, &known, memory).into_iter();
            passes
                .map(|pass| (pass.input, pass.combinations))
                .collect::<Vec<_>>()
        };
        let one = model_bytes(&combinations[4].config, 0);
        assert_eq!(of(u64::MAX), [(0, 0..5), (1, 0..5)]);
        assert_eq!(of(2 * one), [(0, 0..2), (0, 2..4), (0, 4..5), (1, 0..5)]);
        assert_eq!(of(0).len(), 6);
        // A run keeps the response times of its requests, up to a number.
        let kept = |requests| model_bytes(&combinations[0].config, requests);
        assert_eq!(kept(1 << 20) - kept(0), PER_RESPONSE << 20);
        assert_eq!(kept(1 << 40), kept(1 << 24));
    }
}
