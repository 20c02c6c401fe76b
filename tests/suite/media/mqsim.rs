//! Compares with MQSim's flash back end. Each row of MQSim's table has a configuration, a workload and results.

use std::collections::BTreeMap;

use crate::direct::{DirectConfig, Pins, run};
use destage_base::Random;
use destage_base::time::TICKS_PER_NS;
use destage_nand::media::dispatch::{CommandTimes, DispatchConfig, Order, Rules, Together};
use destage_nand::media::{Cells, PlaneGaps};
use destage_sim::engine::Replay;
use destage_sim::wire::Wire;
use destage_trace::{Operation, Request};
use sha2::{Digest, Sha256};

use super::{Compared, Named, form, lines, number, numbers};

/// The requests that a row describes.
pub fn requests(row: &Named<'_>) -> Vec<Request> {
    let page_sectors = number(row, "page_bytes") / 512;
    let sectors = number(row, "sectors");
    let pages = (sectors / page_sectors).max(1);
    let footprint = number(row, "footprint_pages");
    let read_percent = number(row, "read_pct");
    let is_mixed = (1..100).contains(&read_percent);
    let is_closed = row["replay"] == "closed";
    let mut random = Random::new(number(row, "seed"));
    let mut time = 0;
    (0..number(row, "requests"))
        .map(|index| {
            if !is_closed {
                time += random.next_u64() % (2 * number(row, "mean_gap_ns") + 1);
            }
            let drawn = is_mixed && random.next_u64() % 100 < read_percent;
            let is_read = match is_mixed {
                true => drawn || (is_closed && index < number(row, "queue_depth")),
                false => read_percent == 100,
            };
            let mut page = match row["pattern"] {
                "random" => random.next_u64() % (footprint - pages + 1),
                _ => index * pages % footprint,
            };
            if is_mixed && is_read {
                page += footprint;
            }
            let mut sector = page * page_sectors;
            if sectors < page_sectors {
                sector += sectors * (random.next_u64() % (page_sectors / sectors));
            }
            Request {
                arrival: time * TICKS_PER_NS,
                sector,
                sectors: sectors as u32,
                line: index as u32 + 1,
                operation: match is_read {
                    true => Operation::Read,
                    false => Operation::Write,
                },
                ..Request::BLANK
            }
        })
        .collect()
}

/// The rules of MQSim.
pub const RULES: Rules = Rules {
    order: Order::ReadsFirst(0),
    together: Together::AnyOrder,
    reads_wait: false,
};

/// The device that a row describes.
pub fn device(row: &Named<'_>) -> DirectConfig {
    let times = |key: &str| -> Vec<_> { numbers(row[key]).map(|ns| ns * TICKS_PER_NS).collect() };
    let is_closed = row["replay"] == "closed";
    DirectConfig {
        flash: DispatchConfig {
            channels: number(row, "channels") as u32,
            dies_per_channel: number(row, "chips") as u32,
            planes: number(row, "planes") as u32,
            cells: Cells {
                read: times("read_ns"),
                program: times("program_ns"),
                erase: 0,
            },
            command: CommandTimes {
                read: 290 * TICKS_PER_NS,
                program: 361 * TICKS_PER_NS,
                erase: 0,
            },
            gaps: PlaneGaps {
                read: 360 * TICKS_PER_NS,
                program: 455 * TICKS_PER_NS,
                erase: 0,
            },
            ready: 20 * TICKS_PER_NS,
            status: 0,
            rules: RULES,
            registers: None,
            suspension: None,
        },
        pages_per_block: number(row, "pages_per_block") as u32,
        page_sectors: (number(row, "page_bytes") / 512) as u32,
        page_types: match row["cell"] {
            "SLC" => 1,
            "MLC" => 2,
            "TLC" => 3,
            other => panic!("cell={other}: expected SLC, MLC or TLC"),
        },
        pins: Pins {
            width_bytes: number(row, "width") as u32,
            pair: 2 * (1000 / number(row, "mts")) * TICKS_PER_NS,
        },
        order: row["scheme"].parse().expect("a scheme"),
        link: (row["pcie_gbps"] != "inf")
            .then(|| Wire::mqsim(row["pcie_gbps"].parse().expect("pcie_gbps, a number"))),
        replay: match is_closed {
            true => Replay::Closed,
            false => Replay::Trace,
        },
        queue_depth: match is_closed {
            true => number(row, "queue_depth") as u32,
            false => 1,
        },
    }
}

/// The completion time of each request, in nanoseconds.
pub fn completions(requests: &[Request], config: &DirectConfig) -> Vec<u64> {
    let outcome = run(config, requests).expect("a run");
    let ticks = outcome.completions.iter();
    ticks.map(|ticks| ticks / TICKS_PER_NS).collect()
}

/// All results of the row, in the form of the table.
fn results(row: &Named<'_>, config: &DirectConfig) -> BTreeMap<&'static str, String> {
    let requests = requests(row);
    let outcome = run(config, &requests).expect("a run");
    let mut completions: Vec<u64> = outcome
        .completions
        .iter()
        .map(|ticks| ticks / TICKS_PER_NS)
        .collect();
    let arrivals = requests
        .iter()
        .map(|request| request.arrival / TICKS_PER_NS);
    let responses: Vec<u64> = completions
        .iter()
        .zip(arrivals)
        .map(|(completion, arrival)| completion - arrival)
        .collect();
    let text: String = responses
        .iter()
        .enumerate()
        .map(|(index, response)| format!("{index} {response}\n"))
        .collect();
    let digest: String = Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let sum: u64 = responses.iter().sum();
    let least = responses.iter().copied().min().unwrap_or(0);
    let most = responses.iter().copied().max().unwrap_or(0);
    completions.sort_unstable();
    let in_flight = match config.replay {
        Replay::Trace => sum,
        Replay::Closed => {
            let others = completions
                .len()
                .saturating_sub(config.queue_depth as usize);
            completions.iter().sum::<u64>() - completions[..others].iter().sum::<u64>()
        }
    };
    let commands = outcome.commands;
    let numbers = [
        ("mean_us", sum / responses.len().max(1) as u64 / 1000),
        ("min_us", least / 1000),
        ("max_us", most / 1000),
        ("sum_ns", sum),
        ("min_ns", least),
        ("max_ns", most),
        ("end_ns", completions.last().copied().unwrap_or(0)),
        ("sum_in_flight_ns", in_flight),
        ("reads", commands.reads),
        ("multiplane_reads", commands.multiplane_reads),
        ("programs", commands.programs),
        ("multiplane_programs", commands.multiplane_programs),
    ];
    let mut results: BTreeMap<&str, String> = numbers
        .into_iter()
        .map(|(name, number)| (name, number.to_string()))
        .collect();
    results.insert("responses_sha256", digest);
    results
}

/// Compares all results of each row of `text`. `change` may break a rule of the device.
pub fn compare(text: &str, change: impl Fn(&mut DirectConfig)) -> Compared {
    let (columns, lines) = lines(text);
    let (mut all, mut equal, mut wrong) = (0, 0, Vec::new());
    for (number, line) in lines {
        let row = form::fields(&columns, line);
        let row = row.and_then(|row| form::row(&row).map(|()| row));
        let row = form::told(number, line, row)?;
        let mut config = device(&row);
        change(&mut config);
        let results = results(&row, &config);
        let mut different = results
            .iter()
            .filter(|(name, result)| row.get(*name) != Some(&result.as_str()));
        all += 1;
        if let Some((name, result)) = different.next() {
            let expected = row.get(name).copied().unwrap_or("nothing");
            wrong.push(format!(
                "line {number}, row {}: {name} {result}, not {expected}",
                row["row"]
            ));
        } else {
            equal += 1;
        }
    }
    Ok((all, equal, wrong))
}
