//! Which format a trace is in, by its first lines.
//!
//! Every format's own decoder is tried on each of them, so the rules for a match are as strict as reading. Most
//! formats differ in the number and kind of their fields; where lines fit several (whole numbers in five columns
//! are `disksim` as well as `ssdsim`), the file's name decides, and if it does not, the user must.

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

/// The bytes with which some programs begin a file of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines looked at.
const SAMPLE_LINES: usize = 64;

/// A format may fail on some of the lines: the decoder reports a bad line better, and for its real cause.
fn fits(matched: usize, sampled: usize) -> bool {
    matched > 0 && 2 * matched >= sampled
}

/// Finds the format from the beginning of the stream; `None` if the stream is empty. Makes sure that text is
/// text. First lines that are too long to be any go to `long_line`, if such lines are to be skipped.
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
        // If the user names columns, the file is a table; its lines would also fit many other formats.
        (None, None) if options.choices.columns.is_some() => Ok(Some(&formats::csv::FORMAT)),
        (None, None) => detect(file, blocks.lines(), &options.choices).map(Some),
    }
}

/// The first byte that text, which is UTF-8, does not contain, and where. A character that is cut off at the end is none.
fn not_text(bytes: &[u8]) -> Option<(usize, u8)> {
    let odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    // A sum takes many bytes at a time, a search one.
    let has_control = bytes.iter().fold(false, |has, byte| has | odd(byte));
    let control = has_control.then(|| bytes.iter().position(odd)).flatten();
    let broken = std::str::from_utf8(bytes).err();
    let broken = broken
        .filter(|error| error.error_len().is_some())
        .map(|error| error.valid_up_to());
    let first = control.into_iter().chain(broken).min()?;
    Some((first, bytes[first]))
}

/// The format of a binary trace that begins with `bytes`; `None` if none fits.
fn detect_binary(file: &str, bytes: &[u8]) -> Result<Option<&'static Format>, TraceError> {
    let fits = |format: &&Format| match format.encoding {
        Encoding::Text(_) => false,
        Encoding::Binary(binary) => (binary.begins)(bytes),
        Encoding::Table(table) => (table.begins)(bytes),
    };
    let candidates: Vec<&'static Format> = FORMATS.iter().filter(fits).collect();
    if candidates.is_empty() {
        // Known even where it cannot be read.
        if bytes.starts_with(b"PAR1") {
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
    // In some formats the first lines say what the others mean.
    let mut states: Vec<State> = FORMATS
        .iter()
        .map(|format| State::new(format.time_unit.exponent()).with(choices))
        .collect();
    // Columns that the user names would fit many tables. Columns named in the file are its header.
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
            // Unless it names the columns of a table.
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
            // The header is a header only on the first line.
            state.line = number;
            let problem = decode(line, state, &mut Vec::new(), 1).problem;
            // This fault is found after all others, so the rest of the line is sound.
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
        if let Some(missing) = Columns::missing(heading) {
            return Err(TraceError::Header {
                file: file.to_owned(),
                line,
                missing,
                text: Excerpt::new(text),
            });
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
                None => format!("one of {}", names(FORMATS)),
            },
        });
    }
    decide(file, &candidates, line, || Excerpt::new(text))
}

/// The format that fits, or the one of several that the file's name ends in.
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
