//! The path of a request through the front end: from its arrival until the device accepts it, and from its answer
//! to its completion.

use destage_trace::Operation;

use super::event::Message;
use super::front::{Front, FrontUsage, Place, Visit};
use super::link::Link;
use super::{Engine, Outcome, Probe, out_of_line};

/// The request number of visits that belong to no request.
pub(super) const NOBODY: u32 = u32::MAX;

impl<P: Probe> Link<'_, P> {
    /// Sends the message `visit` about request `id` over the link to the device or to the host, as `place` says.
    /// Does nothing without a link.
    fn tell(&mut self, place: Place, visit: Visit, id: u32) {
        let Some(link) = self.front.as_ref().and_then(|front| front.link) else {
            return;
        };
        let about = visit.is_of_request().then(|| &self.active[id]);
        let carried = Front::carried(visit, about);
        self.come(place, visit, id, (link.bytes(carried), link.time(carried)));
    }

    /// Request `id` arrives at the server `place` with `amount` (bytes, pages or requests), for `time` ticks of
    /// service.
    fn come(&mut self, place: Place, visit: Visit, id: u32, (amount, time): (u64, u64)) {
        let Some(front) = &mut self.front else {
            return;
        };
        let begins = front.come(place, (visit, id), amount, time, &mut self.events);
        if begins && visit.is_of_request() {
            self.probe.transfers(id);
        }
    }

    /// Whether a link, and not the host bus, leads from the host to the device.
    fn has_link(&self) -> bool {
        let front = self.front.as_ref();
        front.is_some_and(|front| front.link.is_some())
    }

    /// Request `id` has arrived at the host. With a link, the host rings the doorbell over the link. Without a link,
    /// the request joins its queue.
    pub fn arrived(&mut self, id: u32, passes: u8) {
        match self.has_link() {
            true => self.tell(Place::ToDevice, Visit::Doorbell, id),
            false => self.queue(id, passes),
        }
    }

    /// Puts request `id` into its queue, and sends the next request.
    fn queue(&mut self, id: u32, passes: u8) {
        if let Some(front) = &mut self.front {
            let active = &self.active[id];
            let queue = front.queue_of(active);
            front.queues.push(queue, id, active.request.sector);
        }
        self.send_next(passes);
    }

    /// The host sends one request if it may send one more. Without a free slot of the device, the request waits.
    fn send_next(&mut self, passes: u8) {
        let Some(front) = &mut self.front else {
            return;
        };
        let Some(id) = front.next() else {
            return;
        };
        self.active[id].sent = self.events.now();
        if front.takes_slot(id) {
            self.fetch(id, passes);
        }
    }

    /// The device has a slot for request `id`, and fetches it.
    fn fetch(&mut self, id: u32, passes: u8) {
        match self.has_link() {
            true => self.tell(Place::ToHost, Visit::AskEntry, id),
            false => self.events.soon(Message::Send.about(id, passes)),
        }
    }

    /// Request `id` has left the device: its slot goes to the request that has waited for the longest time, and the host
    /// may send one more.
    fn left(&mut self, id: u32, passes: u8) {
        let Some(front) = &mut self.front else {
            return;
        };
        let queue = front.queue_of(&self.active[id]);
        if let Some(next) = front.completed(queue) {
            self.fetch(next, passes);
        }
        self.send_next(passes);
    }

    /// The host has received the answer to request `id`. Without a link, the request leaves the device now, and the
    /// next request is sent.
    pub fn front_completed(&mut self, id: u32, passes: u8) {
        if !self.has_link() {
            self.left(id, passes);
        }
    }

    /// The queue of request `id`, if there are several queues.
    pub fn queue_of(&self, id: u32) -> Option<usize> {
        let front = self.front.as_ref()?;
        (front.queues.count() > 1).then(|| front.queue_of(&self.active[id]))
    }

    /// The device has answered request `id`. If DRAM is simulated, the pages of a read move through the DRAM before
    /// the request leaves the device.
    #[inline(never)]
    pub fn answer_front(&mut self, id: u32) {
        let active = &self.active[id];
        let pages = active.asked.span.pages;
        let is_read = active.request.operation == Operation::Read;
        let dram = self.front.as_ref().and_then(|front| front.in_dram(pages));
        match dram.filter(|_| is_read) {
            Some(time) => self.come(Place::Dram, Visit::Out, id, (pages.into(), time)),
            None => self.leave(id),
        }
    }

    /// Request `id` leaves the device, over the link or, without one, over the host bus.
    fn leave(&mut self, id: u32) {
        if !self.has_link() {
            return self.hand_to_channel(id);
        }
        if self.active[id].request.operation == Operation::Read {
            self.tell(Place::ToHost, Visit::ReadData, id);
        }
        self.left(id, 0);
        self.tell(Place::ToHost, Visit::Completion, id);
    }

    /// If DRAM is simulated, a page that a die programs or has read moves through the DRAM.
    #[inline(never)]
    pub fn pass_dram(&mut self) {
        if let Some(time) = self.front.as_ref().and_then(|front| front.in_dram(1)) {
            self.come(Place::Dram, Visit::Flash, NOBODY, (1, time));
        }
    }

    /// Programs begin at `count` pages or units; each of them occupies the DRAM if DRAM is simulated.
    pub fn programs_begin(&mut self, count: u32) {
        if let Some(front) = &mut self.front {
            front.program(count, &mut self.events);
        }
    }

    /// Whether reads that begin now take longer, because the drive is loaded.
    pub fn note_load(&mut self) {
        if let Some(front) = &mut self.front {
            let is_loaded = front.is_loaded(self.events.now());
            self.time.set_loaded(is_loaded);
        }
    }

    /// The work of the servers of the front end so far, if there is a front end.
    pub fn front_usage(&mut self) -> Option<FrontUsage> {
        let now = self.events.now();
        self.front.as_mut().map(|front| front.usage(now))
    }
}

impl<P: Probe> Engine<'_, P> {
    /// The visit of `request` to the server `place` is over. First the request moves on, then the server begins its
    /// next visit.
    #[inline(never)]
    pub(super) fn visited(&mut self, place: Place, visit: Visit, request: u32) -> Outcome {
        if visit.is_of_request() {
            self.link.probe.moved(request);
        }
        let handed_on = self.hand_on(visit, request);
        if let Some(front) = &mut self.link.front
            && let Some(next) = front.go_on(place, &mut self.link.events)
        {
            self.link.probe.transfers(next);
        }
        handed_on
    }

    fn hand_on(&mut self, visit: Visit, id: u32) -> Outcome {
        let link = &mut self.link;
        match visit {
            Visit::Doorbell => link.queue(id, 0),
            Visit::AskEntry => link.tell(Place::ToDevice, Visit::Entry, id),
            Visit::Entry if link.active[id].request.operation == Operation::Write => {
                link.tell(Place::ToHost, Visit::AskData, id);
            }
            Visit::AskData => link.tell(Place::ToDevice, Visit::WriteData, id),
            Visit::Entry | Visit::WriteData => return self.enter_front(id),
            Visit::Command => return self.enter_dram(id),
            Visit::In => return self.start_behind(id),
            Visit::Out => link.leave(id),
            Visit::Completion => {
                link.tell(Place::ToDevice, Visit::Seen, id);
                return out_of_line(|| self.complete(id));
            }
            Visit::ReadData | Visit::Seen | Visit::Flash => {}
        }
        Ok(())
    }

    /// Request `id` and its data have arrived at the device. If cores are simulated, the request goes to a core.
    #[inline(never)]
    pub(super) fn enter_front(&mut self, id: u32) -> Outcome {
        let active = &self.link.active[id];
        let time = self
            .link
            .front
            .as_mut()
            .and_then(|front| front.on_core(active));
        match time {
            Some(time) => {
                self.link.come(Place::Core, Visit::Command, id, (1, time));
                Ok(())
            }
            None => self.enter_dram(id),
        }
    }

    /// Request `id` needs no core any more. If DRAM is simulated, the pages of a write move through the DRAM.
    fn enter_dram(&mut self, id: u32) -> Outcome {
        let active = &self.link.active[id];
        let pages = active.asked.span.pages;
        let is_write = active.request.operation == Operation::Write;
        let dram = self
            .link
            .front
            .as_ref()
            .and_then(|front| front.in_dram(pages));
        match dram.filter(|_| is_write) {
            Some(time) => {
                self.link
                    .come(Place::Dram, Visit::In, id, (pages.into(), time));
                Ok(())
            }
            None => self.start_behind(id),
        }
    }

    /// The device accepts request `id`, after its way through the front end.
    #[inline(never)]
    fn start_behind(&mut self, id: u32) -> Outcome {
        let active = &self.link.active[id];
        let (operation, pages) = (active.request.operation, active.asked.span.pages);
        if let Some(front) = &mut self.link.front
            && operation == Operation::Write
        {
            front.count_load(pages, self.link.events.now());
        }
        self.start(id)
    }
}
