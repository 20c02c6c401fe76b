//! The work of the server for operators, who use the control socket.

use destage::json;
use serde_json::{Map, Value};

use super::core::{Core, Owner, Waits};
use super::peer::{Peer, PeerId, Role};
use super::power::POWER_OFF;
use crate::control::{self, LINE_MAX, Order};

impl Core<'_> {
    /// Processes the received orders of an operator.
    pub(super) fn orders(&mut self, id: PeerId) -> Waits {
        loop {
            let is_on = self.front.is_on();
            let Some(peer) = self.peer(id) else {
                return Waits::Room;
            };
            if !peer.has_room() {
                return Waits::Room;
            }
            let line = peer.order();
            // An operator that has closed its sending side still gets the answers to the orders that it has sent.
            if peer.leaving && (peer.waits_for_order() || line.is_none()) {
                return Waits::Room;
            }
            let received = peer.input.bytes().len();
            if peer.waits_for_order() {
                // While an order is carried out, the server still reads input, so that it notices the end of the
                // connection.
                peer.leaving = received > LINE_MAX;
                peer.needed = received + 1;
                return Waits::Input;
            }
            let Some(length) = line else {
                if received > LINE_MAX {
                    let text = format!("a line of more than {LINE_MAX} bytes");
                    say(peer, &control::failed(&text));
                    // The beginning of the line is no order.
                    peer.input.consume(received);
                    peer.leaving = true;
                }
                peer.needed = 1;
                return Waits::Input;
            };
            let order = Order::read(&peer.input.bytes()[..length]);
            peer.input.consume(received.min(length + 1));
            match order {
                Err(error) => say(peer, &control::failed(&error)),
                Ok(Order::Stats) => {
                    let stats = self.stats();
                    self.tell(id, &stats);
                }
                Ok(Order::Cut(after, seed)) => self.cut(id, after, seed),
                Ok(Order::Cancel) => {
                    let said = self.cancel_cut();
                    self.tell(id, &said);
                }
                Ok(Order::Restore) => {
                    let said = self.restore();
                    self.tell(id, &said);
                }
                Ok(Order::Ledger(to)) => {
                    let said = self.ledger(to.as_deref());
                    self.tell(id, &said);
                }
                Ok(Order::Check) => {
                    let said = self.check();
                    self.tell(id, &said);
                }
                Ok(Order::Flush) if !is_on => say(peer, &control::failed(POWER_OFF)),
                Ok(Order::Flush) => {
                    peer.role = Role::Operator { waits: true };
                    self.flush(Owner::Operator(id));
                }
                Ok(Order::Stop) => {
                    peer.role = Role::Operator { waits: true };
                    self.stopping.push(id);
                }
            }
        }
    }

    /// Sends the answer to an order of the operator `id`. The server then processes the operator's next order.
    pub(super) fn tell(&mut self, id: PeerId, answer: &Value) {
        if let Some(peer) = self.peer(id) {
            peer.role = Role::Operator { waits: false };
            say(peer, answer);
        }
        self.queue(id);
    }

    fn stats(&mut self) -> Value {
        let metrics = self.front.metrics();
        let mut more = Map::new();
        let power = if self.front.is_on() { "on" } else { "off" };
        more.insert("power".to_owned(), power.into());
        more.insert("armed".to_owned(), self.front.is_armed().into());
        let [writes, flushes] = self.front.accepted();
        more.insert("writes".to_owned(), writes.into());
        more.insert("flushes".to_owned(), flushes.into());
        more.insert("clients".to_owned(), self.peers.clients().into());
        more.insert("in_flight".to_owned(), self.requests.len().into());
        let now = match self.front.is_on() {
            true => self.front.present(),
            false => self.front.now(),
        };
        let now = destage_base::time::to_ms(now);
        more.insert("model_ms".to_owned(), now.into());
        if let Some(late) = self.front.lateness() {
            let [p50, _, p99, _] = late.percentiles_ms;
            more.insert("late_p50_ms".to_owned(), p50.into());
            more.insert("late_p99_ms".to_owned(), p99.into());
        }
        more.insert("metrics".to_owned(), json::metrics(&metrics));
        control::done(more)
    }
}

/// Appends a line to the output of an operator.
pub(super) fn say(peer: &mut Peer, answer: &Value) {
    let line = format!("{answer}\n");
    peer.output
        .piece(line.len())
        .extend_from_slice(line.as_bytes());
}
