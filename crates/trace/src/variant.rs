//! Recognises files that differ from a known format only in the separators, or in upper and lower case of
//! words.
//!
//! The reader does not guess how such a file is to be read. The error message tells the user with which options
//! the file can be read as a table.

use crate::cursor::next_line;
use crate::decode::{State, decode};
use crate::format::{FORMATS, Format};
use crate::formats::csv::{Csv, NUMBERS};
use crate::options::{Choices, Columns};

/// The largest number of lines that are tried.
const SAMPLE_LINES: usize = 64;

/// The options with which a file that begins with `lines` can be read, and the name of the format to which the
/// file is similar. `None` if the file is similar to no format.
pub(crate) fn variant(lines: &[u8]) -> Option<(String, &'static str)> {
    let mut best = (0, None);
    for format in FORMATS {
        let Some(columns) = format.as_table else {
            continue;
        };
        // A blank as the separator also means tabs.
        for separator in [",", ";", "|", " "] {
            let columns = columns.replace(',', separator);
            let (fitting, lines) = fitting(lines, format, &columns);
            // One line may fail, because the first line may be a header, or the last line may be cut off.
            if fitting > best.0 && fitting + 1 >= lines {
                best = (fitting, Some((columns, format)));
            }
        }
    }
    let (columns, format) = best.1?;
    let unit = format.time_unit.name();
    let order = if format.sorted {
        ""
    } else {
        " --set trace.order=sort"
    };
    let typed = format!(
        "--format csv --set \"trace.columns={columns}\" --set trace.time_unit={unit}{order}"
    );
    Some((typed, format.name))
}

/// How many of the first lines are valid requests in a table with `columns`, and how many lines were tried.
fn fitting(lines: &[u8], format: &Format, columns: &str) -> (usize, usize) {
    let columns: Columns = columns.parse().expect("columns of a row of the registry");
    let choices = Choices {
        columns: Some(columns),
        ..Choices::default()
    };
    let mut state = State::new(format.time_unit.exponent()).with(&choices);
    // These formats number their volumes. A word in this place is the column of a table that differs from them.
    state.kind = NUMBERS;
    let (mut at, mut fitting, mut all) = (0, 0, 0);
    let mut batch = Vec::new();
    while at < lines.len() && all < SAMPLE_LINES {
        let next = next_line(lines, at);
        let line = &lines[at..next];
        at = next;
        if line.trim_ascii().is_empty() {
            continue;
        }
        all += 1;
        batch.clear();
        let sound = decode::<Csv>(line, &mut state, &mut batch, 1)
            .problem
            .is_none();
        fitting += usize::from(sound && !batch.is_empty());
    }
    (fitting, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Field;

    #[test]
    fn every_row_that_is_a_table_reads_its_example_as_one() {
        for format in FORMATS {
            let Some(columns) = format.as_table else {
                continue;
            };
            let columns: Columns = columns.parse().unwrap();
            assert!(columns.fields.contains(&Field::Time));
            let example = format.example.replace(['\t', ' '], ",") + "\n";
            let columns = format.as_table.unwrap();
            assert_eq!(
                fitting(example.as_bytes(), format, columns),
                (1, 1),
                "{format:?}"
            );
        }
    }
}
