//! An NBD server that is measured.

use std::path::Path;
use std::thread::JoinHandle;

use destage::Error;
use destage::drive::{Action, Command, Done, Target, programmed_of};
use destage_base::Ticks;
use serde_json::Value;

use super::blank::{self, Pool};
use super::ends::{Clock, End, Ends};
use crate::address::Address;
use crate::client::{Client, ClientError};
use crate::control::Operator;
use crate::protocol::wire;

/// The bit of a cookie at which the length of the read begins. The lower bits contain the tag of the command.
const LENGTH_SHIFT: u32 = 32;
/// The bit of a cookie with which the data of the read are kept. All tags are smaller.
const KEPT: u64 = 1 << 31;

/// The connection to an NBD server.
pub struct Nbd {
    name: String,
    /// The connection; `None` only while this value is dropped.
    client: Option<Client>,
    receiver: Option<JoinHandle<()>>,
    control: Option<Operator>,
    ends: Ends,
    begun: std::sync::Arc<std::sync::Mutex<Vec<Ticks>>>,
    /// The data of reads that are [kept](KEPT).
    kept: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
    pool: Pool,
    data: Vec<u8>,
    bytes: u64,
}

fn failed(name: &str, cause: &ClientError) -> Error {
    Error::Input(format!(
        "{name}: {cause}; expected an NBD server at this address"
    ))
}

impl Nbd {
    /// Connects to the server at `address`. Errors call the server `name`. `control` is the control socket, if the
    /// server is a `destage serve`. If the export holds data that a measurement would overwrite, a sentence that says
    /// so is returned too.
    ///
    /// # Errors
    /// If there is no such server, or it does not accept writes.
    pub fn connect(
        name: &str,
        address: &Address,
        control: Option<&Path>,
    ) -> Result<(Self, Option<String>), Error> {
        let failed = |cause: &ClientError| failed(name, cause);
        let mut client = Client::connect(address, false).map_err(|cause| failed(&cause))?;
        if client.flags & wire::FLAG_READ_ONLY != 0 {
            return Err(Error::Input(format!(
                "{name}: can only be read; expected a server that accepts writes"
            )));
        }
        let bytes = client.bytes;
        let mut holds = None;
        for (offset, length) in blank::parts(bytes) {
            let range = (offset, length as u32);
            let answer = client.ask((wire::CMD_READ, 0), range, &[]);
            let answer = answer.map_err(|cause| failed(&cause))?;
            if answer.error != 0 {
                return Err(refused(name, answer.error));
            }
            holds = holds.or_else(|| blank::holds(&answer.data));
        }
        let control = control.map(Operator::connect).transpose();
        let control = control.map_err(|error| Error::Input(error.to_string()))?;
        let mut receiving = client.try_clone().map_err(|cause| failed(&cause))?;
        let ends = Ends::new();
        let begun = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let receiver = {
            let (name, begun) = (name.to_owned(), std::sync::Arc::clone(&begun));
            let kept = std::sync::Arc::clone(&kept);
            let (clock, sender) = (ends.clock, ends.sender.clone());
            std::thread::spawn(move || {
                loop {
                    let end = receive(&name, &mut receiving, clock, (&begun, &kept));
                    let is_gone = end.is_err();
                    // Sending fails after the end of the measurement, because the receiver of completions is gone.
                    if sender.send(end).is_err() || is_gone {
                        return;
                    }
                }
            })
        };
        let nbd = Self {
            name: name.to_owned(),
            client: Some(client),
            receiver: Some(receiver),
            control,
            ends,
            begun,
            kept,
            pool: Pool::new(),
            data: Vec::new(),
            bytes,
        };
        Ok((nbd, holds))
    }
}

fn refused(name: &str, error: u32) -> Error {
    Error::Input(format!(
        "{name}: the server answers with error {error}; expected it to carry out the request"
    ))
}

/// Waits for the next answer of the server. `begun` has the submission times of the commands by their tags. If the data
/// of the answer are to be kept, they are added to `kept`.
fn receive(
    name: &str,
    client: &mut Client,
    clock: Clock,
    (begun, kept): (&std::sync::Mutex<Vec<Ticks>>, &std::sync::Mutex<Vec<u8>>),
) -> End {
    let answer = client.receive(|cookie| (cookie >> LENGTH_SHIFT) as u32);
    let ended = clock.now();
    let answer = answer.map_err(|cause| failed(name, &cause).to_string())?;
    if answer.error != 0 {
        return Err(refused(name, answer.error).to_string());
    }
    if answer.cookie & KEPT != 0 {
        let mut kept = kept.lock().unwrap_or_else(|lock| lock.into_inner());
        kept.extend_from_slice(&answer.data);
    }
    let tag = (answer.cookie & !KEPT) as u32;
    let begun = begun.lock().unwrap_or_else(|lock| lock.into_inner());
    let begun = begun.get(tag as usize).copied();
    begun.map_or_else(
        || Err(format!("{name}: answers a request that was not sent")),
        |begun| Ok(Done { tag, begun, ended }),
    )
}

impl Target for Nbd {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn now(&mut self) -> Ticks {
        self.ends.clock.now()
    }

    fn ends(&mut self) -> Result<Option<Vec<u8>>, Error> {
        for (offset, length) in blank::parts(self.bytes) {
            let command = Command {
                action: Action::Read,
                offset,
                bytes: length as u32,
                tag: 0,
            };
            self.send(command, KEPT)?;
            self.ends.next(None)?;
        }
        let mut kept = self.kept.lock().unwrap_or_else(|lock| lock.into_inner());
        Ok(Some(std::mem::take(&mut *kept)))
    }

    fn submit(&mut self, command: Command) -> Result<(), Error> {
        self.send(command, 0)
    }

    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error> {
        self.ends.next(until)
    }

    fn programmed(&mut self) -> Result<Option<f64>, Error> {
        let Some(control) = &mut self.control else {
            return Ok(None);
        };
        let stats = control.ask("stats");
        let stats = stats.map_err(|error| Error::Input(error.to_string()))?;
        let metrics = stats.get("metrics").and_then(Value::as_object);
        Ok(programmed_of(|name| metrics?.get(name)?.as_f64()))
    }
}

impl Nbd {
    /// Sends `command` to the server. `kept` is [`KEPT`] if the data of a read are to be kept, and otherwise 0.
    fn send(&mut self, command: Command, kept: u64) -> Result<(), Error> {
        let Some(client) = &mut self.client else {
            return Err(Error::Internal("the connection has ended".to_owned()));
        };
        let (kind, length) = match command.action {
            Action::Read => (wire::CMD_READ, command.bytes),
            Action::Write => (wire::CMD_WRITE, 0),
            Action::Flush => (wire::CMD_FLUSH, 0),
        };
        self.data.clear();
        if command.action == Action::Write {
            self.data.resize(command.bytes as usize, 0);
            self.pool.fill(&mut self.data);
        }
        let cookie = u64::from(length) << LENGTH_SHIFT | kept | u64::from(command.tag);
        let mut begun = self.begun.lock().unwrap_or_else(|lock| lock.into_inner());
        if command.tag as usize >= begun.len() {
            begun.resize(command.tag as usize + 1, 0);
        }
        begun[command.tag as usize] = self.ends.clock.now();
        drop(begun);
        let range = (command.offset, command.bytes);
        let sent = client.send((kind, 0), cookie, range, &self.data);
        sent.map_err(|cause| failed(&self.name, &cause))
    }
}

impl Drop for Nbd {
    fn drop(&mut self) {
        // After the disconnect command the server closes the connection, and so the receiving thread ends. If the
        // server is gone, the receiving thread ends too.
        if let Some(client) = self.client.take() {
            let _ = client.disconnect();
        }
        if let Some(receiver) = self.receiver.take() {
            let _ = receiver.join();
        }
    }
}
