//! The control socket. Each order is a JSON object on a separate line, and so is each answer.
//!
//! | order | content of the answer, which the server sends when the order is done |
//! | --- | --- |
//! | `{"do": "stats"}` | `metrics` of a run that would end now, and the state of the server |
//! | `{"do": "flush"}` `{"do": "stop"}` | nothing more |
//! | `{"do": "cut"}`, with `"seed": S`, and one of `"at_write": K`, `"at_flush": K`, `"at_program": K`, `"at_ms": T` | `model_ms`, the number of interrupted `programs` and `erases`, and `energy_j` of a capacitor. A cut without a moment cuts now; the order of an armed cut is then answered with an error |
//! | `{"do": "cancel"}` | nothing more. The armed cut does not happen, and the server answers the order of this cut with an error |
//! | `{"do": "restore"}` | `mount_ms`, and `bad_sectors`, the number of bad sectors |
//! | `{"do": "ledger"}`, with `"to": FILE` | `sectors`, `must` and `may`, and `file` |
//! | `{"do": "check"}` | `bad`, the first sectors that break a promise, and `bad_sectors`, the number of all such sectors |
//!
//! A successful answer has `"ok": true`. A failed order is answered with `{"ok": false, "error": "..."}`.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use destage_sim::power::time_of_ms;
use destage_sim::run::live::CutAfter;
use serde_json::{Map, Value, json};

/// The largest number of bytes of a line.
pub const LINE_MAX: usize = 1 << 16;

/// An order to the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// Return the metrics, as if the run ended now.
    Stats,
    /// Make the data of all answered requests durable.
    Flush,
    /// Cut the power, now or after an event. The seed determines all random choices.
    Cut(Option<CutAfter>, Option<u64>),
    /// Cancel the armed cut.
    Cancel,
    /// Restore the power.
    Restore,
    /// Return the counts of the ledger, and write the whole ledger to a file if one is given.
    Ledger(Option<PathBuf>),
    /// Compare the contents of the device with the ledger.
    Check,
    /// Make the data of all answered requests durable, and then end the server.
    Stop,
}

/// The words of all orders.
const WORDS: [&str; 8] = [
    "stats", "flush", "cut", "cancel", "restore", "ledger", "check", "stop",
];
/// The keys that determine the moment of a cut.
const MOMENTS: [&str; 4] = ["at_write", "at_flush", "at_program", "at_ms"];

impl Order {
    /// Parses a line.
    ///
    /// # Errors
    /// What is wrong with the line, and what was expected.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        let refused = |what: &str| {
            let text = shortened(line);
            format!("{text:?}: is no {what}; expected an object such as {{\"do\": \"stats\"}}")
        };
        let value: Value = serde_json::from_slice(line).map_err(|_| refused("JSON"))?;
        let object = value.as_object().ok_or_else(|| refused("object"))?;
        let word = object.get("do").unwrap_or(&Value::Null);
        let known: &[&str] = match word.as_str() {
            Some("cut") => &["seed", MOMENTS[0], MOMENTS[1], MOMENTS[2], MOMENTS[3]],
            Some("ledger") => &["to"],
            _ => &[],
        };
        if let Some(key) = object
            .keys()
            .find(|key| *key != "do" && !known.contains(&&***key))
        {
            let expected = match known {
                [] => "only \"do\"".to_owned(),
                known => format!("\"do\" and {}", known.join(", ")),
            };
            return Err(format!("{key:?}: is not known; expected {expected}"));
        }
        match word.as_str() {
            Some("stats") => Ok(Self::Stats),
            Some("flush") => Ok(Self::Flush),
            Some("stop") => Ok(Self::Stop),
            Some("cancel") => Ok(Self::Cancel),
            Some("restore") => Ok(Self::Restore),
            Some("check") => Ok(Self::Check),
            Some("cut") => {
                let seed = object.get("seed").map(|seed| {
                    let number = seed.as_u64();
                    number
                        .ok_or_else(|| format!("seed = {seed}: expected a whole number from 0 on"))
                });
                Ok(Self::Cut(moment(object)?, seed.transpose()?))
            }
            Some("ledger") => match object.get("to") {
                None => Ok(Self::Ledger(None)),
                Some(Value::String(path)) if !path.is_empty() => {
                    Ok(Self::Ledger(Some(path.into())))
                }
                Some(other) => Err(format!("to = {other}: expected the name of a file")),
            },
            _ => Err(format!(
                "{word}: is not known here; expected one of {}",
                WORDS.join(", ")
            )),
        }
    }
}

/// The largest number of characters of a line that an error repeats.
const SHOWN: usize = 40;

/// The beginning of `line`. Bytes that are no UTF-8 are replaced.
fn shortened(line: &[u8]) -> String {
    // A character has at most four bytes, so the rest of a long line need not be decoded.
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN + 4)]);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// The event after which the power fails; `None` if the power fails at once.
fn moment(object: &Map<String, Value>) -> Result<Option<CutAfter>, String> {
    let mut given = MOMENTS
        .iter()
        .filter_map(|key| Some((*key, object.get(*key)?)));
    let Some((key, value)) = given.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = given.next() {
        return Err(format!(
            "{key} and {other}: both are given; expected one of them"
        ));
    }
    if key == "at_ms" {
        let time = value.as_f64().and_then(time_of_ms);
        let time = time.ok_or_else(|| {
            format!("{key} = {value}: expected milliseconds from 0 to less than 10^11")
        })?;
        return Ok(Some(CutAfter::Time(time)));
    }
    let number = value.as_u64().filter(|number| *number > 0);
    let number =
        number.ok_or_else(|| format!("{key} = {value}: expected a whole number from 1 on"))?;
    Ok(Some(match key {
        "at_write" => CutAfter::Write(number),
        "at_flush" => CutAfter::Flush(number),
        _ => CutAfter::Program(number),
    }))
}

/// The answer to an order that was carried out. `more` are the fields that follow `ok`.
#[must_use]
pub fn done(more: Map<String, Value>) -> Value {
    let mut answer = Map::new();
    answer.insert("ok".to_owned(), Value::Bool(true));
    answer.extend(more);
    Value::Object(answer)
}

/// The answer to an order that was not carried out.
#[must_use]
pub fn failed(error: &str) -> Value {
    json!({"ok": false, "error": error})
}

/// Whether `cause` says that the other side has closed the connection.
#[must_use]
pub fn is_closed(cause: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(cause.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// A client of the control socket.
pub struct Operator {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

/// The error when a server does not carry out an order.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The server has closed the connection, because it has ended or has no place for another operator.
    #[error("{}: the server has closed the connection; expected an answer", .path.display())]
    Closed {
        /// The path of the socket.
        path: PathBuf,
    },
    /// The socket fails.
    #[error("{}: {cause}; expected the control socket of a server", .path.display())]
    Socket {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The answer does not have the form that a server uses.
    #[error("{}: answered {text:?}; expected the control socket of a server", .path.display())]
    Answer {
        /// The path of the socket.
        path: PathBuf,
        /// The text that was received.
        text: String,
    },
    /// The server refuses the order.
    #[error("{}: {error}", .path.display())]
    Refused {
        /// The path of the socket.
        path: PathBuf,
        /// The reason that the server gives.
        error: String,
    },
}

impl Operator {
    /// Connects to the control socket at `path`.
    ///
    /// # Errors
    /// If no server listens at `path`.
    pub fn connect(path: &Path) -> Result<Self, OperatorError> {
        let stream = UnixStream::connect(path).map_err(|cause| OperatorError::Socket {
            path: path.to_owned(),
            cause,
        })?;
        Ok(Self {
            path: path.to_owned(),
            stream: BufReader::new(stream),
        })
    }

    /// Sends the order `what`, without parameters, and waits for the answer.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    pub fn ask(&mut self, what: &str) -> Result<Map<String, Value>, OperatorError> {
        self.order(&json!({"do": what}))
    }

    /// Sends `order` as one line, and waits for the answer.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    pub fn order(&mut self, order: &Value) -> Result<Map<String, Value>, OperatorError> {
        let failed = |cause: io::Error| {
            let path = self.path.clone();
            match is_closed(&cause) {
                true => OperatorError::Closed { path },
                false => OperatorError::Socket { path, cause },
            }
        };
        let line = format!("{order}\n");
        let stream = self.stream.get_mut();
        stream.write_all(line.as_bytes()).map_err(failed)?;
        let mut text = String::new();
        if self.stream.read_line(&mut text).map_err(failed)? == 0 {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let answer = serde_json::from_str(&text);
        let (Ok(Value::Object(answer)), path) = (answer, self.path.clone()) else {
            return Err(OperatorError::Answer {
                path: self.path.clone(),
                text,
            });
        };
        if answer.get("ok") == Some(&Value::Bool(true)) {
            return Ok(answer);
        }
        let error = answer.get("error").and_then(Value::as_str);
        Err(OperatorError::Refused {
            path,
            error: error.unwrap_or("refused without a reason").to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_everything_else_is_refused() {
        assert_eq!(Order::read(br#"{"do": "flush"}"#), Ok(Order::Flush));
        let at_program = Some(CutAfter::Program(3));
        assert_eq!(
            Order::read(br#"{"do": "cut", "seed": 7, "at_program": 3}"#),
            Ok(Order::Cut(at_program, Some(7)))
        );
        for (line, expected) in [
            (
                &br#"{"do": "melt"}"#[..],
                "expected one of stats, flush, cut, cancel, restore, ledger, check, stop",
            ),
            (br#"{"do": "cut", "at_write": 0}"#, "from 1 on"),
            (br#"{"do": "cut", "at_flush": 1.5}"#, "from 1 on"),
            (
                br#"{"do": "cut", "at_write": 1, "at_ms": 1}"#,
                "expected one of them",
            ),
            (br#"{"do": "cut", "at_ms": -1}"#, "milliseconds"),
            (br#"{"do": "cut", "seed": "x"}"#, "seed = \"x\""),
            (br#"{"do": "cut", "when": 1}"#, "at_program"),
            (br#"{"do": "ledger", "to": 7}"#, "the name of a file"),
            (br#"{"do": "restore", "seed": 7}"#, "only \"do\""),
            (br#"{"do": "stats", "now": 1}"#, "\"now\": is not known"),
            (
                br#"[]"#,
                "\"[]\": is no object; expected an object such as {\"do\": \"stats\"}",
            ),
            (
                br#"{"#,
                "\"{\": is no JSON; expected an object such as {\"do\": \"stats\"}",
            ),
            (b"\xff", "is no JSON; expected an object"),
            (
                &[b'x'; 1000],
                "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\": is no JSON",
            ),
            (br#"{}"#, "null: is not known"),
        ] {
            let error = Order::read(line).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
