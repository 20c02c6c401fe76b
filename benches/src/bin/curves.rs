//! Benchmarks of sampled curves. The first measurement gives the requests per second with samples. The second
//! measurement compares the time with samples and the time of full runs.
//!
//! `curves [REQUESTS]`; `make bench` calls it. All times are processor times of this process, which uses one worker
//! thread.
#![allow(
    clippy::print_stdout,
    reason = "a program whose results are what it prints"
)]

use std::error::Error;
use std::io::{BufWriter, Write};
use std::time::Duration;

use destage::{CurvePlan, Effort, Input, Rate, Reading, Sampling, Settings, curve};
use destage_base::Random;
use rustix::time::{ClockId, clock_gettime};

const REQUESTS: u64 = 40_000_000;
/// The number of requests of the second measurement.
const FEWER: u64 = 3_000_000;
const FOOTPRINT: u64 = 8_000_000;
/// The number of buffer sizes of a curve.
const SIZES: u64 = 24;

/// The processor time that this process has used so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Writes a trace in libCacheSim's `oracleGeneral` format. Each request writes one page. Pages with small numbers are
/// written more often than pages with large numbers.
fn write_trace(file: &mut dyn Write, requests: u64) -> std::io::Result<()> {
    let mut random = Random::new(1);
    for number in 0..requests {
        let page = (random.unit() * random.unit() * FOOTPRINT as f64) as u64;
        let mut record = [0_u8; 24];
        record[..4].copy_from_slice(&((number / 1_000_000) as u32).to_le_bytes());
        record[4..12].copy_from_slice(&page.to_le_bytes());
        record[12..16].copy_from_slice(&4096_u32.to_le_bytes());
        record[16..].copy_from_slice(&(-1_i64).to_le_bytes());
        file.write_all(&record)?;
    }
    file.flush()
}

fn measured(
    input: &Input,
    buffer: &str,
    sampling: Option<Sampling>,
) -> Result<f64, Box<dyn Error>> {
    let mut settings = Settings::new();
    for pair in ["trace.block_bytes=4096", "trace.missing_op=write"] {
        settings.set_pair(pair)?;
    }
    // In a sample of 1 %, the smallest size corresponds to a buffer of eight blocks. The largest size holds all
    // pages.
    let size = |index: u64| 52_000 + index * (FOOTPRINT - 52_000) / (SIZES - 1);
    let plan = CurvePlan {
        settings,
        buffers: Some(vec![buffer.to_owned()]),
        sizes: Some(
            (0..SIZES)
                .map(|index| (size(index) * 4096).to_string())
                .collect(),
        ),
        sampling,
    };
    let effort = Effort {
        threads: 1,
        ..Effort::default()
    };
    let before = cpu();
    curve(input, &plan, &effort)?;
    Ok((cpu() - before).as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let requests = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => REQUESTS,
    };
    let mut file = tempfile::NamedTempFile::new()?;
    write_trace(
        &mut BufWriter::with_capacity(1 << 20, file.as_file_mut()),
        requests,
    )?;
    let reading = |limit| Reading {
        format: Some("oraclegeneral".to_owned()),
        limit,
        ..Reading::default()
    };
    let share = |salts| {
        Some(Sampling {
            rate: Rate::Share(0.01),
            salts,
        })
    };
    let all = Input::trace(file.path()).read(reading(None))?;
    println!("lru, samples of 1 %, {requests} single pages in oracleGeneral:");
    for salts in [1, 8] {
        let took = measured(&all, "lru", share(salts))?;
        println!(
            "{salts:3} samples  {:7.1} M requests/s",
            requests as f64 / took / 1e6
        );
    }
    let fewer = Input::trace(file.path()).read(reading(Some(FEWER.min(requests))))?;
    println!("\n{SIZES} sizes, 8 samples of 1 % beside runs in step:");
    for buffer in ["fifo", "fab", "bplru"] {
        let (sampled, exact) = (
            measured(&fewer, buffer, share(8))?,
            measured(&fewer, buffer, None)?,
        );
        println!(
            "{buffer:7} {sampled:7.2} s  {exact:7.2} s  {:5.1} times as fast",
            exact / sampled
        );
    }
    Ok(())
}
