//! Orders of operators about the power.

use std::fmt::Write as _;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use destage::Error;
use destage::files::{PendingFile, storage};
use destage_base::time::to_ms;
use destage_device::ledger::Ledger;
use destage_sim::run::live::CutAfter;
use serde_json::{Map, Value, json};

use super::core::{Core, Owner};
use super::memory::Need;
use super::peer::{PeerId, Role};
use crate::control::{done, failed};
use crate::device::PowerError;

/// The error for orders to a device without power.
pub(super) const POWER_OFF: &str = "the power is off; expected restore";
/// The largest number of bad sectors that an answer lists.
const BAD_MAX: usize = 100;

impl Core<'_> {
    /// Carries out the cut that operator `id` orders, now or `after` an event. The operator is answered after the
    /// cut. A cut now takes the place of an armed cut, whose operator gets an error.
    pub(super) fn cut(&mut self, id: PeerId, after: Option<CutAfter>, seed: Option<u64>) {
        let is_waited_for = self.armed.is_some_and(|other| self.peer(other).is_some());
        let Some(after) = after else {
            // If the event of the armed cut has come, the power is off already, and the order is refused.
            if is_waited_for && let Err(error) = self.disarm("another order cut the power before") {
                return self.tell(id, &failed(&error.to_string()));
            }
            self.armed = Some(id);
            return self.fail_power(seed);
        };
        if is_waited_for {
            let text =
                "another cut is armed already; expected it to happen, or the order cancel first";
            return self.tell(id, &failed(text));
        }
        match self.front.arm(Some(after), seed) {
            Ok(()) => {
                self.armed = Some(id);
                if let Some(peer) = self.peer(id) {
                    peer.role = Role::Operator { waits: true };
                }
                // The armed cut may be due already.
                self.deliver();
            }
            Err(error) => self.tell(id, &failed(&error.to_string())),
        }
    }

    /// Cancels the armed cut. The operator that waits for the cut gets an error.
    pub(super) fn cancel_cut(&mut self) -> Value {
        match self.disarm("the cut was cancelled") {
            Ok(true) => done(Map::new()),
            Ok(false) => failed("no cut is armed; expected a cut with a moment first"),
            Err(error) => failed(&error.to_string()),
        }
    }

    /// Cancels the armed cut, unless it is due already. Returns whether a cut was armed. The operator that waits for
    /// the cut gets the error `why`.
    pub(super) fn disarm(&mut self, why: &str) -> Result<bool, PowerError> {
        self.front.advance();
        self.deliver();
        if !self.front.is_armed() {
            return Ok(false);
        }
        self.front.arm(None, None)?;
        if let Some(id) = self.armed.take() {
            self.tell(id, &failed(why));
        }
        Ok(true)
    }

    /// Cuts the power, and disconnects all clients. Their requests in flight are lost. The operator that waits for
    /// the cut gets its answer.
    pub(super) fn fail_power(&mut self, seed: Option<u64>) {
        let outcome = self.front.cut(seed);
        if !self.front.is_on() {
            for request in self.requests.take_all() {
                if let Owner::Operator(id) = request.owner {
                    self.tell(id, &failed("the power has failed"));
                }
            }
            self.drop_clients();
            self.memory.forget_gone();
        }
        if let Some(id) = self.armed.take() {
            let said = match outcome {
                Err(error) => failed(&error.to_string()),
                Ok(cut) => {
                    let mut more = Map::new();
                    more.insert("model_ms".to_owned(), to_ms(cut.at).into());
                    more.insert("programs".to_owned(), cut.report.programs.into());
                    more.insert("erases".to_owned(), cut.report.erases.into());
                    if let Some(dump) = cut.dump {
                        let joules = dump.energy as f64 / 1e12;
                        more.insert("energy_j".to_owned(), joules.into());
                        more.insert("dump_ms".to_owned(), to_ms(dump.time).into());
                        more.insert("saved_pages".to_owned(), dump.pages.into());
                        more.insert("lost_pages".to_owned(), dump.left.into());
                    }
                    done(more)
                }
            };
            self.tell(id, &said);
        }
    }

    /// Closes the connections of all clients. Answers that are ready are sent as far as possible.
    fn drop_clients(&mut self) {
        let clients = self.peers.iter_mut();
        let clients: Vec<PeerId> = clients
            .filter_map(|(id, peer)| {
                let Role::Client(_) = peer.role else {
                    return None;
                };
                peer.send();
                Some(id)
            })
            .collect();
        for id in clients {
            self.close(id);
        }
    }

    pub(super) fn restore(&mut self) -> Value {
        let needed = self.front.mount_bytes();
        if !self.front.is_on() && !Need::Passing(needed as usize).is_granted() {
            return failed(&format!(
                "a mount takes {needed} bytes of memory, for which the server's limit has no room; expected a larger --memory-limit from the start"
            ));
        }
        match self.front.restore() {
            Err(error) => failed(&error.to_string()),
            Ok(restored) => {
                let mut more = Map::new();
                more.insert("mount_ms".to_owned(), to_ms(restored.mount.time).into());
                more.insert("spare_reads".to_owned(), restored.mount.spare_reads.into());
                more.insert("bad_sectors".to_owned(), restored.bad.into());
                more.insert("lost".to_owned(), json!(restored.lost));
                more.insert(
                    "lost_answered_sectors".to_owned(),
                    restored.lost_answered.into(),
                );
                done(more)
            }
        }
    }

    pub(super) fn check(&mut self) -> Value {
        match self.front.bad_sectors() {
            Err(PowerError::Off) => failed(POWER_OFF),
            Err(error) => failed(&error.to_string()),
            Ok(bad) => {
                let mut more = Map::new();
                more.insert(
                    "bad".to_owned(),
                    bad.iter().take(BAD_MAX).copied().collect(),
                );
                more.insert("bad_sectors".to_owned(), bad.len().into());
                done(more)
            }
        }
    }

    pub(super) fn ledger(&self, to: Option<&Path>) -> Value {
        let Some(ledger) = self.front.ledger() else {
            return failed(&PowerError::Disk.to_string());
        };
        let counts = ledger.counts();
        let mut more = Map::new();
        more.insert("sectors".to_owned(), counts.sectors.into());
        more.insert("must".to_owned(), counts.must.into());
        more.insert("may".to_owned(), counts.may.into());
        if let Some(path) = to {
            if let Some(kept) = storage(path)
                && self
                    .in_use
                    .iter()
                    .any(|file| storage(file).as_ref() == Some(&kept))
            {
                return failed(&format!(
                    "{}: this server uses the file; expected another file",
                    path.display()
                ));
            }
            if let Err(error) = write(ledger, path) {
                return failed(&error.to_string());
            }
            more.insert("file".to_owned(), path.display().to_string().into());
        }
        done(more)
    }
}

/// Writes all entries of `ledger` to the file at `path`.
fn write(ledger: &Ledger, path: &Path) -> Result<(), Error> {
    // Opening or writing a pipe would block the server, and so all clients, until another process reads from the
    // pipe.
    let kind = path.metadata().map(|data| data.file_type());
    if kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) {
        return Err(Error::Input(format!(
            "{}: is a pipe, which may block the server; expected the path of a file",
            path.display()
        )));
    }
    let mut file = PendingFile::create(path)?;
    file.put("sector,must,may\n")?;
    let (mut line, mut outcome) = (String::new(), Ok(()));
    ledger.each(|sector, must, may| {
        line.clear();
        // Writing to a string does not fail.
        let _ = write!(line, "{sector},{must},");
        for (position, version) in may.iter().enumerate() {
            let space = if position > 0 { " " } else { "" };
            let _ = write!(line, "{space}{version}");
        }
        line.push('\n');
        if outcome.is_ok() {
            outcome = file.put(&line);
        }
    });
    outcome?;
    file.commit()
}
