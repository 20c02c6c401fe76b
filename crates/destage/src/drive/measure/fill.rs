//! Writing as many blocks of 4 KiB as the used capacity has, in order or at random.

use destage_base::Random;
use destage_base::time::TICKS_PER_SECOND;
use serde::{Deserialize, Serialize};

use super::super::experiment::BLOCK;
use super::load::{BLOCK_BYTES, Bench};
use super::target::Action;
use crate::error::Error;

/// Outstanding commands while a drive is filled.
const DEPTH: u32 = 512;
/// The write is divided into this many parts, which are measured separately.
const PARTS: u64 = 20;

/// One part of a write over the used capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    /// The amount written from the beginning to the end of this part, as a fraction of the used capacity.
    pub drive_writes: f64,
    pub mib_per_s: f64,
    /// Bytes programmed divided by bytes written; `None` if the drive has no counter of programmed bytes.
    pub waf: Option<f64>,
}

/// The measurements of one write over the used capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    pub seconds: f64,
    pub parts: Vec<Part>,
}

/// Writes as many blocks of [`BLOCK`] bytes as the used capacity has, one block in each command. Without a seed the
/// blocks are written in order; with a seed, at random addresses. A flush follows.
pub(super) fn write(bench: &mut Bench<'_>, seed: Option<u64>) -> Result<Written, Error> {
    let blocks = bench.used / BLOCK;
    let mut random = Random::new(seed.unwrap_or(0));
    let began = bench.target.now();
    let mut programmed = bench.target.programmed()?;
    let (mut written, mut time) = (0, began);
    let mut parts = Vec::new();
    for part in 1..=PARTS {
        let end = blocks * part / PARTS;
        let mut next = written;
        let place = || {
            let block = match seed {
                None => next,
                Some(_) => random.below(blocks),
            };
            next += 1;
            (next <= end).then_some(block * BLOCK)
        };
        bench.queue(Action::Write, BLOCK_BYTES, DEPTH, place, |_, _| {})?;
        let (now, counted) = (bench.target.now(), bench.target.programmed()?);
        let bytes = ((end - written) * BLOCK) as f64;
        let seconds = (now - time) as f64 / TICKS_PER_SECOND as f64;
        if bytes > 0.0 && seconds > 0.0 {
            parts.push(Part {
                drive_writes: end as f64 / blocks as f64,
                mib_per_s: bytes / seconds / f64::from(1 << 20),
                waf: counted
                    .zip(programmed)
                    .map(|(now, then)| (now - then) / bytes),
            });
        }
        (written, time, programmed) = (end, now, counted);
    }
    bench.alone(Action::Flush, 0, 0)?;
    Ok(Written {
        seconds: (bench.target.now() - began) as f64 / TICKS_PER_SECOND as f64,
        parts,
    })
}
