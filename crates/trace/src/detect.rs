//! Finds the format of a trace from its first lines.
//!
//! The decoder of every text format tries to read each of the first lines, so detection is as strict as
//! reading. Most formats differ in the number and kind of their fields. The lines can fit several formats: five
//! columns of whole numbers are valid in `disksim` and in `ssdsim`. Then the extension of the file's name
//! decides. Without a known extension the user must name the format.

use crate::blocks::{BlockError, Blocks, LINE_BYTES_MAX};
use crate::compression::{Compression, strip_suffix};
use crate::cursor::next_line;
use crate::decode::State;
use crate::error::{Excerpt, Fault, TraceError};
use crate::format::{Encoding, FORMATS, Format, PARQUET_LEFT_OUT, names};
use crate::formats;
use crate::options::{BadLines, Choices, Columns, ReadOptions};
use crate::report::block_error;
use crate::variant::variant;

/// The byte order mark with which some programs begin a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes with which every Parquet file begins.
const PARQUET_MARK: &[u8] = b"PAR1";

/// The largest number of lines that are tried.
const SAMPLE_LINES: usize = 64;

/// Whether a format fits: its decoder can read at least half of the lines that were tried. The other lines may
/// be bad lines, which the decoder reports later with the exact cause.
fn fits(matched: usize, sampled: usize) -> bool {
    matched > 0 && 2 * matched >= sampled
}

/// Finds the format from the beginning of the stream; `None` if the stream is empty. Refuses bytes that are
/// neither text nor a known binary format. If bad lines are to be skipped, calls `long_line` with the error of
/// each line at the beginning of the file that is too long.
pub(crate) fn first_block(
    file: &str,
    compression: Compression,
    blocks: &mut Blocks,
    options: &ReadOptions,
    mut long_line: impl FnMut(TraceError),
) -> Result<Option<&'static Format>, TraceError> {
    let mut refilled = blocks.refill();
    let head = &blocks.in_sight()[..blocks.in_sight().len().min(LINE_BYTES_MAX)];
    let mark = head.strip_prefix(BYTE_ORDER_MARK).map(not_text);
    let is_marked = mark == Some(None);
    let odd = if is_marked { None } else { not_text(head) };
    let binary = match (options.format, odd) {
        (Some(format), _) if !format.is_text() => Some(format),
        (_, None) => None,
        (given, Some((offset, byte))) => {
            let found = match given {
                None => detect_binary(file, blocks.in_sight())?,
                Some(_) => None,
            };
            if found.is_none() {
                return Err(TraceError::NotText {
                    file: file.to_owned(),
                    offset: offset as u64,
                    byte,
                });
            }
            found
        }
    };
    let mut line = 1;
    let skips = binary.is_none() && options.bad_lines == BadLines::Skip;
    while let (Err(BlockError::LongLine), true) = (&refilled, skips) {
        long_line(block_error(
            file,
            compression,
            line,
            blocks,
            BlockError::LongLine,
        ));
        refilled = blocks.pass_line();
        line += 1;
    }
    match refilled {
        Err(BlockError::LongLine) if binary.is_some() => {}
        Err(error) => return Err(block_error(file, compression, line, blocks, error)),
        Ok(false) => return Ok(None),
        Ok(true) => {}
    }
    if binary.is_none() && is_marked {
        blocks.consume(BYTE_ORDER_MARK.len());
    }
    match (binary, options.format) {
        (Some(format), _) => {
            blocks.show_records();
            Ok(Some(format))
        }
        (None, Some(format)) => Ok(Some(format)),
        // If the user names columns, the file is read as a table, even if its lines fit other formats too.
        (None, None) if options.choices.columns.is_some() => Ok(Some(&formats::csv::FORMAT)),
        (None, None) => detect(file, blocks.lines(), &options.choices).map(Some),
    }
}

/// The first byte that UTF-8 text does not contain, and its position. A character that is cut off at the end of
/// `bytes` is accepted.
fn not_text(bytes: &[u8]) -> Option<(usize, u8)> {
    let odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    // The compiler vectorises this fold, so it tests many bytes at a time. A search would test one byte at a
    // time.
    let has_control = bytes.iter().fold(false, |has, byte| has | odd(byte));
    let control = has_control.then(|| bytes.iter().position(odd)).flatten();
    let broken = std::str::from_utf8(bytes).err();
    let broken = broken
        .filter(|error| error.error_len().is_some())
        .map(|error| error.valid_up_to());
    let first = control.into_iter().chain(broken).min()?;
    Some((first, bytes[first]))
}

/// The format of a binary trace that begins with `bytes`; `None` if no format fits.
fn detect_binary(file: &str, bytes: &[u8]) -> Result<Option<&'static Format>, TraceError> {
    let fits = |format: &&Format| match format.encoding {
        Encoding::Text(_) => false,
        Encoding::Binary(binary) => (binary.begins)(bytes),
        Encoding::Table(_) => bytes.starts_with(PARQUET_MARK),
    };
    let candidates: Vec<&'static Format> = FORMATS.iter().filter(fits).collect();
    if candidates.is_empty() {
        // A Parquet file is recognised even if this build cannot read it.
        if bytes.starts_with(PARQUET_MARK) {
            return Err(TraceError::LeftOut {
                file: file.to_owned(),
                reason: PARQUET_LEFT_OUT,
            });
        }
        return Ok(None);
    }
    let text = || Excerpt::hexadecimal(&bytes[..bytes.len().min(32)]);
    decide(file, &candidates, 1, text).map(Some)
}

/// The format of a trace that begins with `lines`.
fn detect(file: &str, lines: &[u8], choices: &Choices) -> Result<&'static Format, TraceError> {
    let mut first = None;
    let mut sampled = 0;
    let mut matched = [0; FORMATS.len()];
    // In some formats the first lines define what later lines mean, so each format keeps one state over all
    // lines.
    let mut states: Vec<State> = FORMATS
        .iter()
        .map(|format| State::new(format.time_unit.exponent()).with(choices))
        .collect();
    // If the user names the columns, they would fit many tables, so they are not used here. A header line in the file
    // can still name the columns.
    for state in &mut states {
        state.choices.columns = None;
    }
    let mut at = 0;
    for number in 1.. {
        let next = next_line(lines, at);
        let line = &lines[at..next];
        if line.is_empty() || sampled == SAMPLE_LINES {
            break;
        }
        at = next;
        if says_nothing(line) {
            // A comment can still name the columns of a table.
            let is_comment = line.trim_ascii_start().starts_with(b"#");
            for (format, state) in FORMATS.iter().zip(&mut states) {
                let may_name = is_comment && format.general;
                if let (Encoding::Text(decode), true) = (format.encoding, may_name) {
                    decode(line, state, &mut Vec::new(), 1);
                }
            }
            continue;
        }
        first.get_or_insert((number, line));
        sampled += 1;
        for ((format, state), count) in FORMATS.iter().zip(&mut states).zip(&mut matched) {
            let Encoding::Text(decode) = format.encoding else {
                continue;
            };
            // A header is legal only on line 1, so the state needs the line's number.
            state.line = number;
            let problem = decode(line, state, &mut Vec::new(), 1).problem;
            // `BeyondAddressSpace` is detected after all other faults, so the line is valid in every other
            // respect.
            let whole = problem.is_none_or(|problem| problem.fault == Fault::BeyondAddressSpace);
            *count += usize::from(whole);
        }
    }
    let Some((line, text)) = first else {
        return Err(TraceError::Empty {
            file: file.to_owned(),
            lines: 0,
            skipped: 0,
            expected: "at least one",
        });
    };
    let best = matched.iter().copied().max().unwrap_or(0);
    let mut candidates: Vec<&'static Format> = FORMATS
        .iter()
        .zip(matched)
        .filter_map(|(format, count)| (count == best && fits(count, sampled)).then_some(format))
        .collect();
    if candidates.iter().any(|format| !format.general) {
        candidates.retain(|format| !format.general);
    }
    if candidates.is_empty() {
        let heading = std::str::from_utf8(text).unwrap_or_default();
        let needs_operation = choices.missing_operation.is_none();
        if let Some(wrong) = Columns::wrong(heading, needs_operation) {
            return Err(TraceError::Header {
                file: file.to_owned(),
                line,
                found: wrong.found,
                text: Excerpt::new(text),
                expected: wrong.expected,
            });
        }
        // If the file names all columns, the reader says which field of which line is wrong.
        let mut tried = FORMATS.iter().zip(&states);
        if tried.any(|(format, state)| format.general && state.choices.columns.is_some()) {
            return Ok(&formats::csv::FORMAT);
        }
        return Err(TraceError::UnknownFormat {
            file: file.to_owned(),
            line,
            text: Excerpt::new(text),
            known: match variant(lines) {
                Some((typed, name)) => format!(
                    "{typed}, which reads it as a table like {name}, one of {}",
                    names(FORMATS)
                ),
                None if text.trim_ascii_start().starts_with(b"[") => format!(
                    "a workload if this is a job file of fio, or one of {}",
                    names(FORMATS)
                ),
                None => format!("one of {}", names(FORMATS)),
            },
        });
    }
    decide(file, &candidates, line, || Excerpt::new(text))
}

/// The only candidate or, if there are several, the candidate to which the extension of the file's name
/// belongs.
fn decide(
    file: &str,
    candidates: &[&'static Format],
    line: u64,
    text: impl Fn() -> Excerpt,
) -> Result<&'static Format, TraceError> {
    if let [format] = candidates {
        return Ok(format);
    }
    let ending = strip_suffix(file)
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending);
    candidates
        .iter()
        .find(|format| format.extensions.contains(&ending))
        .copied()
        .ok_or_else(|| TraceError::AmbiguousFormat {
            file: file.to_owned(),
            line,
            text: text(),
            candidates: names(candidates.iter().copied()),
        })
}

fn says_nothing(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_known_by_its_look_or_its_name() {
        for format in FORMATS {
            let bytes = format.example_file(20);
            let file = format!("some.{}.zst", format.extensions[0]);
            let found = if format.is_text() {
                detect(&file, &bytes, &Choices::default())
            } else {
                detect_binary(&file, &bytes).map(Option::unwrap)
            };
            assert_eq!(found.unwrap(), format);
        }
    }

    #[test]
    fn whole_numbers_in_five_columns_need_a_name() {
        let lines = b"0 0 303567 7 0\n979 0 287641400 128 1\n";
        for (file, format) in [
            ("a.disksim", "disksim"),
            ("a.ssdsim.gz", "ssdsim"),
            ("b.mqsim.xz", "ssdsim"),
        ] {
            assert_eq!(
                detect(file, lines, &Choices::default()).unwrap().name,
                format,
                "{file}"
            );
        }
        for file in ["a.txt", "-", "disksim", "a.disksim.txt", "a.msr"] {
            let error = detect(file, lines, &Choices::default())
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("several formats fit (disksim, ssdsim)"),
                "{error}"
            );
        }
        assert_eq!(
            detect(
                "a.ssdsim",
                b"0 0 303567 7 0\n979.5 0 2 128 1\n",
                &Choices::default()
            )
            .unwrap()
            .name,
            "disksim"
        );
    }

    #[test]
    fn one_bad_line_does_not_hide_the_format() {
        let lines = b"nonsense\n0.5 0 303567 7 0\n0.6 0 303567 7 0\n";
        assert_eq!(
            detect("-", lines, &Choices::default()).unwrap().name,
            "disksim"
        );
        let error = detect("job.fio", b"[global]\nrw=write\n", &Choices::default());
        assert!(error.unwrap_err().to_string().contains(
            "\"[global]\"; expected a workload if this is a job file of fio, or one of disksim"
        ));
        let error = detect(
            "x",
            b"\n# a comment\nonce upon a time\n",
            &Choices::default(),
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with(
                "x:3: no known format fits: \"once upon a time\"; expected one of disksim"
            ),
            "{error}"
        );
    }
}
