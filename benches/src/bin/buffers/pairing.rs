//! Compares `lru` with the LRU of libCacheSim on the same page writes. The numbers of hits must be equal. The table
//! shows both speeds.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use destage_buffer::{Release, find};

use crate::drive::measure;
use crate::streams::{self, Stream};

/// The Python program that runs libCacheSim.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/libcachesim_lru.py");
/// The number of page writes of the synthetic stream.
const WRITES: u64 = 4_000_000;
/// Capacities of the buffers, in pages.
const CAPACITIES: [u32; 3] = [1 << 10, 1 << 13, 1 << 16];
/// The name of the real trace on which the two programs are also compared.
const TRACE: &str = "cloudphys";

/// Prints the table.
///
/// # Errors
/// If the two programs count different numbers of hits, or if libCacheSim is installed but fails.
pub fn print(python: &Path) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "lru beside libCacheSim's LRU: page writes, every page of size 1; hits have to be equal\n"
    );
    let probe = Command::new(python)
        .args(["-c", "import libcachesim"])
        .output();
    let reason = match probe {
        Err(error) => Some(format!("{}: {error}", python.display())),
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            Some(
                text.trim()
                    .lines()
                    .last()
                    .unwrap_or("no reason given")
                    .to_owned(),
            )
        }
        Ok(_) => None,
    };
    if let Some(reason) = reason {
        println!("skipped: libCacheSim cannot be used: {reason}");
        return Ok(());
    }
    let mut compared = vec![streams::zipf(WRITES)];
    let traces = streams::traces(|name, reason| {
        if name == TRACE {
            println!("{name:<10} skipped: {reason}");
        }
    });
    compared.extend(traces.into_iter().filter(|stream| stream.name == TRACE));
    println!(
        "{:<10} {:>8} {:>9} {:>9} {:>9} {:>12} {:>12}",
        "stream", "pages", "writes", "hits", "theirs", "M/s", "M/s theirs"
    );
    for stream in &compared {
        compare(python, stream)?;
    }
    Ok(())
}

fn compare(python: &Path, stream: &Stream) -> Result<(), Box<dyn std::error::Error>> {
    let lru = find("lru").ok_or("no scheme called lru")?;
    let file = tempfile::NamedTempFile::new()?;
    write(stream, &file)?;
    for capacity in CAPACITIES {
        let (seconds, hits) =
            measure(lru, capacity, Release::Issue, stream, 3).ok_or("lru buffers pages")?;
        let output = Command::new(python)
            .arg(SCRIPT)
            .arg(file.path())
            .arg(capacity.to_string())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = text.split_whitespace().collect();
        let (true, [their_hits, their_seconds]) = (output.status.success(), &words[..]) else {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{SCRIPT} failed: {text}{error}").into());
        };
        let (their_hits, their_seconds): (u64, f64) = (their_hits.parse()?, their_seconds.parse()?);
        let writes = stream.len();
        println!(
            "{:<10} {capacity:>8} {writes:>9} {hits:>9} {their_hits:>9} {:>12.1} {:>12.1}",
            stream.name,
            writes as f64 / seconds / 1e6,
            writes as f64 / their_seconds / 1e6,
        );
        if hits != their_hits {
            return Err(format!(
                "{} in {capacity} pages: {hits} hits here, {their_hits} there",
                stream.name
            )
            .into());
        }
    }
    Ok(())
}

/// Writes `stream` in libCacheSim's binary format. Each page write has the time, the page, the size, and the next
/// use, which is set to unknown.
fn write(stream: &Stream, file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(file);
    for (index, page) in stream.pages().enumerate() {
        out.write_all(&(index as u32).to_le_bytes())?;
        out.write_all(&page.0.to_le_bytes())?;
        out.write_all(&1u32.to_le_bytes())?;
        out.write_all(&(-1i64).to_le_bytes())?;
    }
    out.flush()
}
