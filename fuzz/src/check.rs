//! Checks what a trace reader promises for any input.

use destage_base::Random;
use destage_trace::{
    BadLines, Choices, Event, FORMATS, Format, InjectionRules, Operation, Order, ReadOptions,
    Reader, Slice, Streams, Volumes, ZeroLength,
};
use std::path::Path;

/// The number of sectors in 2^64 bytes.
const SECTORS_END: u64 = 1 << 55;

/// Random options of all kinds for reading a trace. If `format` is `None`, the reader detects the format.
#[must_use]
pub fn options(format: Option<&'static Format>, random: &mut Random) -> ReadOptions {
    let mut pick = |count: u64| usize::try_from(random.below(count)).unwrap_or(0);
    ReadOptions {
        format,
        volumes: [Volumes::Ignore, Volumes::Separate, Volumes::Concatenate][pick(3)],
        lba_shift: [0, 63, -63, i64::MIN, i64::MAX][pick(5)],
        zero_length: [ZeroLength::Error, ZeroLength::Drop][pick(2)],
        order: [Order::Auto, Order::Error, Order::Sort, Order::Clamp][pick(4)],
        bad_lines: [BadLines::Stop, BadLines::Skip][pick(2)],
        slice: Slice {
            limit: [None, Some(3)][pick(2)],
            ..Slice::default()
        },
        injection: InjectionRules {
            flush_every_writes: [0, 2][pick(2)],
            flush_every: [0, 10_000][pick(2)],
            fua_every_writes: [0, 2][pick(2)],
            trim_every_writes: [0, 2][pick(2)],
            streams: [Streams::Trace, Streams::Volume][pick(2)],
        },
        choices: Choices {
            event: [Event::Issue, Event::Queue, Event::Complete][pick(3)],
            block_bytes: [512, 1, 1 << 30][pick(3)],
            missing_operation: [None, Some(Operation::Write)][pick(2)],
            columns: None,
        },
        digest: false,
        ..ReadOptions::default()
    }
}

/// Reads the file at `path` with `options` and returns the number of requests.
///
/// # Errors
/// If the reader breaks a promise. The text says which. A panic is a broken promise too.
pub fn survives(path: &Path, options: &ReadOptions) -> Result<u64, String> {
    let told = |text: &str| {
        let one_line = text.contains("; expected ") && !text.contains('\n') && text.len() < 2000;
        one_line
            .then_some(())
            .ok_or(format!("an error is not one line that helps: {text}"))
    };
    let mut reader = match Reader::open(path, options) {
        Ok(reader) => reader,
        Err(error) => return told(&error.to_string()).map(|()| 0),
    };
    let (mut batch, mut latest, mut requests) = (Vec::new(), 0, 0u64);
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => {}
            Ok(false) => return Ok(requests),
            Err(error) => {
                let text = error.to_string();
                told(&text)?;
                // The path has no digits after a colon, so digits after a colon come from the error itself.
                let placed = text.contains(": byte ")
                    || text.contains(": request ")
                    || text
                        .split(':')
                        .any(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
                if !placed && !text.contains("holds no requests") && !text.contains(" stream is ") {
                    return Err(format!("an error names no line, request or byte: {text}"));
                }
                return match reader.fill(&mut batch) {
                    Ok(false) => Ok(requests),
                    _ => Err("reading went on after an error".to_owned()),
                };
            }
        }
        // A batch has 4096 requests. Each of two options may add 4096 flushes, and a block of 4096 more requests may
        // follow.
        if batch.capacity() > 1 << 16 {
            return Err(format!(
                "a batch has room for {} requests",
                batch.capacity()
            ));
        }
        for request in &batch {
            if request.arrival < latest {
                return Err(format!("time goes back: {request:?}"));
            }
            let end = request.sector.checked_add(u64::from(request.sectors));
            if end.is_none_or(|end| end > SECTORS_END) {
                return Err(format!("beyond the address space: {request:?}"));
            }
            let flush = request.operation == Operation::Flush;
            if flush != (request.sectors == 0) || flush && request.fua {
                return Err(format!("a flush with sectors, or the reverse: {request:?}"));
            }
            latest = request.arrival;
        }
        requests += batch.len() as u64;
    }
}

/// The format of the corpus file `name`, which is the first part of the name.
#[must_use]
pub fn format_of(name: &str) -> Option<&'static Format> {
    let first = name.split(['-', '.']).next()?;
    FORMATS.iter().find(|format| format.name == first)
}
