//! The control socket: one JSON object a line, each answered with one.
//!
//! `{"do": "stats"}`, `{"do": "flush"}` and `{"do": "stop"}` are answered with `{"ok": true, ...}` when it is done, or
//! with `{"ok": false, "error": "..."}`.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// Bytes of a line, at most.
pub const LINE_MAX: usize = 1 << 16;

/// What may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The metrics of a run that ended now.
    Stats,
    /// Everything answered so far is to be durable.
    Flush,
    /// The same, and then the server ends.
    Stop,
}

impl Order {
    /// All of them, with their words.
    pub const ALL: [(&'static str, Self); 3] = [
        ("stats", Self::Stats),
        ("flush", Self::Flush),
        ("stop", Self::Stop),
    ];

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, and what was expected.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(line).map_err(|cause| cause.to_string())?;
        let object = value.as_object().ok_or("expected an object")?;
        if let Some(key) = object.keys().find(|key| *key != "do") {
            return Err(format!("{key:?}: is not known; expected only \"do\""));
        }
        let word = object.get("do").and_then(Value::as_str);
        let found = Self::ALL.iter().find(|(name, _)| Some(*name) == word);
        found.map(|(_, order)| *order).ok_or_else(|| {
            let words = Self::ALL.map(|(name, _)| name).join(", ");
            format!(
                "{}: is not known here; expected one of {words}",
                object.get("do").unwrap_or(&Value::Null)
            )
        })
    }
}

/// The answer that it is done, with `more`.
#[must_use]
pub fn done(more: Map<String, Value>) -> Value {
    let mut answer = Map::new();
    answer.insert("ok".to_owned(), Value::Bool(true));
    answer.extend(more);
    Value::Object(answer)
}

/// The answer that it is not done.
#[must_use]
pub fn failed(error: &str) -> Value {
    json!({"ok": false, "error": error})
}

/// Somebody who asks a server.
pub struct Operator {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

/// A server does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The socket does not answer.
    #[error("{}: {cause}; expected the control socket of a server", .path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// What it answers is no answer.
    #[error("{}: answered {text:?}; expected the control socket of a server", .path.display())]
    Answer {
        /// The socket.
        path: PathBuf,
        /// What came.
        text: String,
    },
    /// It refuses.
    #[error("{}: {error}", .path.display())]
    Refused {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: String,
    },
}

impl Operator {
    /// Connects to the control socket at `path`.
    ///
    /// # Errors
    /// If nobody answers there.
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

    /// Asks for `what`, and waits until it is done.
    ///
    /// # Errors
    /// If the server refuses, or does not answer.
    pub fn ask(&mut self, what: &str) -> Result<Map<String, Value>, OperatorError> {
        let failed = |cause| OperatorError::Socket {
            path: self.path.clone(),
            cause,
        };
        let line = format!("{}\n", json!({"do": what}));
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
        for (line, expected) in [
            (
                &br#"{"do": "melt"}"#[..],
                "expected one of stats, flush, stop",
            ),
            (br#"{"do": "stats", "now": 1}"#, "\"now\": is not known"),
            (br#"[]"#, "expected an object"),
            (br#"{"#, "EOF"),
            (b"\xff", "expected"),
            (br#"{}"#, "null: is not known"),
        ] {
            let error = Order::read(line).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
