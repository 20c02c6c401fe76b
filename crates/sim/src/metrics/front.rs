//! Metrics of the path between host and buffer.

use destage_base::time::TICKS_PER_MS;

use super::{FrontScope, MetricRow, Metrics, Number, rows};
use crate::engine::Usage;
use crate::latencies::{Counted, Summary};
use crate::measured::Measured;

/// Adds the response times of each queue.
pub(super) fn queues(metrics: &mut Metrics, queues: &[Counted]) {
    let summaries: Vec<_> = queues.iter().map(Counted::summary).collect();
    for (queue, summary) in summaries.iter().enumerate() {
        let count = summary.map_or(0, |summary| summary.count);
        let name = rows::HOST_QUEUE_COMPLETED.of(&queue.to_string());
        metrics.rows.push((name, Number::Integer(count)));
    }
    let mut each = |row: &MetricRow, of: &dyn Fn(&Summary) -> f64| {
        for (queue, summary) in summaries.iter().enumerate() {
            if let Some(summary) = summary {
                metrics.figure(row, &queue.to_string(), of(summary));
            }
        }
    };
    each(rows::HOST_QUEUE_MEAN_MS, &|summary| summary.mean_ms);
    each(rows::HOST_QUEUE_P99_MS, &|summary| {
        summary.percentiles_ms[2]
    });
    each(rows::HOST_QUEUE_MAX_MS, &|summary| summary.max_ms);
}

/// Adds the utilization, the waits and the energy of each server.
pub(super) fn servers(metrics: &mut Metrics, measured: &Measured, scope: &FrontScope) {
    let Some(usage) = measured.front else {
        return;
    };
    let [core, dram, link_in, link_out] = usage.0;
    for (usage, places, busy, wait) in [
        (
            link_in,
            1,
            rows::HOST_LINK_IN_UTILIZATION,
            rows::HOST_LINK_IN_WAIT_MS,
        ),
        (
            link_out,
            1,
            rows::HOST_LINK_OUT_UTILIZATION,
            rows::HOST_LINK_OUT_WAIT_MS,
        ),
        (
            core,
            scope.cores,
            rows::DEVICE_FIRMWARE_UTILIZATION,
            rows::DEVICE_FIRMWARE_WAIT_MS,
        ),
        (
            dram,
            1,
            rows::DEVICE_DRAM_UTILIZATION,
            rows::DEVICE_DRAM_WAIT_MS,
        ),
    ] {
        if let Some(usage) = usage {
            let time = measured.makespan as f64 * f64::from(places);
            metrics.real(busy, usage.busy as f64 / time);
            metrics.real(
                wait,
                usage.waited as f64 / usage.visits as f64 / TICKS_PER_MS as f64,
            );
        }
    }
    let amount = |usage: Option<Usage>| usage.map_or(0, |usage| usage.amount) as f64;
    for (row, amount, energy) in [
        (
            rows::ENERGY_LINK_MJ,
            amount(link_in) + amount(link_out),
            scope.link_byte,
        ),
        (rows::ENERGY_FIRMWARE_MJ, amount(core), scope.request),
        (rows::ENERGY_DRAM_MJ, amount(dram), scope.dram_page),
    ] {
        if energy > 0.0 {
            metrics.real(row, amount * energy / 1e3);
        }
    }
}
