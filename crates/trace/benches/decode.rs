//! Measures how fast one thread decodes a file to requests: `cargo bench -p destage-trace`.
//!
//! For each format, a file of many lines or records is written, which stays in the page cache. The rate is that
//! of a complete [`Reader`], which reads the file, decodes it with every check, and checks the order of the
//! requests. The rate is measured with and without the digest. The fastest of several rounds counts, because
//! other work on the machine can only make a round slower.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destage_base::Random;
use destage_trace::writers::{self, OutputForm, Packing, TraceWriter};
use destage_trace::{Choices, FORMATS, Format, Operation, ReadOptions, Reader, Request};
use std::path::Path;
use std::time::Instant;

const LINES: u64 = 2_000_000;
const ROUNDS: usize = 7;

/// A file as `destage trace convert` would write it, with requests like those in the files of the text formats.
fn written(form: &OutputForm) -> Vec<u8> {
    let (mut out, mut random) = (Vec::new(), Random::new(1));
    let mut writer = TraceWriter::new(form, Packing::Plain, &mut out).expect("memory is writable");
    for index in 0..LINES {
        let request = Request {
            arrival: index * 4_123_450,
            sector: random.below(40_000_000),
            sectors: 8 << random.below(5),
            line: 0,
            operation: if random.below(3) > 0 {
                Operation::Write
            } else {
                Operation::Read
            },
            ..Request::BLANK
        };
        writer.write(&request).expect("memory is writable");
    }
    writer.finish().expect("memory is writable");
    out
}

/// The content of a benchmark file. The records of a binary format without a writer are all equal, because the
/// values in the fields do not change the speed of decoding.
fn content(format: &Format) -> Vec<u8> {
    if !format.is_text() {
        if let Some(form) = writers::find(format.name) {
            return written(form);
        }
        return format.example_file(usize::try_from(LINES).expect("it fits"));
    }
    let mut random = Random::new(1);
    let header = format.header.map(|header| format!("{header}\n"));
    let lines = (0..LINES).map(|index| line(format.name, index, &mut random));
    header
        .into_iter()
        .chain(lines)
        .collect::<String>()
        .into_bytes()
}

/// A line like those of real traces, with fields of varying length.
fn line(format: &str, index: u64, random: &mut Random) -> String {
    let sector = random.below(40_000_000);
    let sectors = 8 << random.below(5);
    let write = random.below(3) > 0;
    let flag = u8::from(!write);
    let bytes = sectors * 512;
    let ns = index * 412_345;
    let (s, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let word = if write { "Write" } else { "Read" };
    let letter = if write { "W" } else { "R" };
    match format {
        "disksim" => format!(
            "{}.{:03} 0 {sector} {sectors} {flag}\n",
            ns / 1_000_000,
            ns / 1000 % 1000
        ),
        "ssdsim" => format!("{ns} 0 {sector} {sectors} {flag}\n"),
        "spc" => format!(
            "{},{sector},{bytes},{letter},{s}.{:06}\n",
            random.below(20),
            rest / 1000
        ),
        "msr" => {
            let (time, response) = (128_166_372_003_061_629 + ns / 100, random.below(100_000));
            format!("{time},hm,1,{word},{},{bytes},{response}\n", sector * 512)
        }
        "cloudphysics" => format!(
            "1,{},{},{bytes},{sector}\n",
            5_633_898 + s,
            if write { "2a" } else { "28" }
        ),
        "diskmon" => format!(
            "{index}\t{s}.{:06}\t0.0000{}\t0\t{word}\t{sector}\t{sectors}\r\n",
            rest / 1000,
            random.below(10_000)
        ),
        "wiscsee" => format!(
            "39949 D {} {} {bytes} {s}.{rest:09} 0 True\n",
            word.to_lowercase(),
            sector * 512
        ),
        "tencent" => format!(
            "{},{sector},{sectors},{},{}\n",
            1_538_323_200 + s,
            u8::from(write),
            random.below(5000)
        ),
        "alibaba" => format!(
            "{},{letter},{},{bytes},{}\n",
            random.below(1000),
            sector * 512,
            1_577_808_000_000_000 + ns / 1000
        ),
        "blkparse" => format!(
            "  8,0    {} {index:8} {s:5}.{rest:09} {:5}  D {letter:>3} {sector} + {sectors} [fio]\n",
            random.below(8),
            random.below(40_000)
        ),
        "fio" => format!(
            "{} /dev/sdb {} {} {bytes}\n",
            ns / 1000,
            word.to_lowercase(),
            sector * 512
        ),
        "xperf" => format!(
            "              Disk{word}, {:>10}, p{} ( {}), {:>10}, 0xfffffade{:08x}, 0x{:010x}, 0x{bytes:08x}, {:>11}, {:>8}, 0x000043, {:>11},       0,  Unknown, 0xfffffade72165e40, \"Disk5:\\s71\\s72\\s123\"\n",
            ns / 1000,
            random.below(20),
            random.below(9000),
            random.below(9000),
            random.below(1 << 32),
            sector * 512,
            random.below(10_000),
            random.below(6),
            random.below(10_000)
        ),
        "tracerpt" => format!(
            "    DiskIo, {word:>10}, 0x{:04X}, {:>20}, {:>10}, {:>10}, 0, 0x00000043, {bytes}, 0, {}, 0x84E3F028, 0x85A1B008, {}\n",
            random.below(9000),
            128_166_372_003_061_629 + ns / 100,
            random.below(100),
            random.below(100),
            sector * 512,
            random.below(100_000)
        ),
        "csv" => format!("{ns}.0,0,{},{sector},{sectors},0,0\n", word.to_lowercase()),
        _ => format!(
            "{}.{rest:09},0.00{},{letter},0,{},{bytes}\n",
            1_456_095_145 + s,
            random.below(1_000_000),
            sector * 512
        ),
    }
}

fn seconds(path: &Path, options: &ReadOptions) -> f64 {
    let start = Instant::now();
    let mut reader = Reader::open(path, options).expect("the benchmark's own file");
    let (mut batch, mut requests, mut sum) = (Vec::new(), 0, 0u64);
    while reader.fill(&mut batch).expect("the benchmark's own file") {
        requests += batch.len() as u64;
        sum = batch.iter().fold(sum, |sum, request| {
            sum.wrapping_add(request.sector ^ request.arrival)
        });
    }
    assert_eq!(requests, LINES);
    std::hint::black_box(sum);
    start.elapsed().as_secs_f64()
}

fn main() {
    let path = std::env::temp_dir().join(format!("destage-decode-{}.txt", std::process::id()));
    println!(
        "{:<14}{:>8}{:>12}{:>14}{:>18}",
        "format", "MB", "MB/s", "Mrequests/s", "MB/s with digest"
    );
    for format in FORMATS {
        let text = content(format);
        std::fs::write(&path, &text).expect("room for the benchmark's own file");
        let rate = |digest| {
            let options = ReadOptions {
                format: Some(format),
                digest,
                choices: Choices {
                    missing_operation: Some(Operation::Write),
                    ..Choices::default()
                },
                ..ReadOptions::default()
            };
            let best = (0..ROUNDS)
                .map(|_| seconds(&path, &options))
                .fold(f64::INFINITY, f64::min);
            (text.len() as f64 / 1e6 / best, LINES as f64 / 1e6 / best)
        };
        let ((bytes, requests), (with_digest, _)) = (rate(false), rate(true));
        println!(
            "{:<14}{:>8.1}{bytes:>12.0}{requests:>14.1}{with_digest:>18.0}",
            format.name,
            text.len() as f64 / 1e6
        );
    }
    let _ = std::fs::remove_file(&path);
}
