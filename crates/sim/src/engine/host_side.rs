//! The host's side of a run: requests arrive, wait, are sent to the device, and complete.

use destage_base::{Lpn, Ticks};
use destage_device::Span;
use destage_trace::{Operation, Request};

use super::event::{
    Event, Message, PASSES_RELEASE, PASSES_SEND_ON_ARRIVAL, PASSES_SEND_ON_COMPLETION, Packed,
};
use super::link::Active;
use super::{Coming, Completion, Engine, Outcome, Probe, Replay, Window};
use crate::error::SimError;
use crate::events::LAST;
use crate::host::{Attribution, Identity, scaled};
use crate::observer::Response;

/// Number of requests whose first pages are looked up in the mapping table together, before the entries are needed.
/// The number is large enough for many memory accesses in parallel. It is small enough that the entries are still in
/// the processor's cache when they are used.
pub(super) const NEAR: usize = 256;

/// Number of requests between two calls of [`crate::observer::Observer::progress`].
const PROGRESS_STEP: u64 = 4096;

impl<P: Probe> Engine<'_, P> {
    #[inline(always)]
    pub(super) fn schedule_arrival(&mut self) -> Outcome {
        match self.next {
            Some(next) => self.schedule(&next),
            None => Ok(()),
        }
    }

    /// Schedules the arrival of `next`.
    #[inline(always)]
    fn schedule(&mut self, next: &Request) -> Outcome {
        let time = scaled(next.arrival, self.config.time_scale);
        // A product beyond 64 bits saturates, so it is refused as well.
        if time >= LAST {
            return Err(self.late_arrival(next));
        }
        self.link.events.at(time, Event::Arrival);
        Ok(())
    }

    #[cold]
    fn late_arrival(&self, request: &Request) -> Box<SimError> {
        Box::new(SimError::LateArrival {
            origin: self.origin.to_string(),
            line: request.line,
            arrival: request.arrival,
            time_scale: self.config.time_scale,
        })
    }

    /// The next request of the trace arrives and joins the host's queue. With `ON`, this call may also handle the end
    /// of the request's data transfer, as in `Engine::handle`.
    #[inline(always)]
    pub(super) fn arrive<const ON: bool>(&mut self, coming: &mut Coming<'_>) -> Outcome {
        let Some(request) = self.next else {
            return Ok(());
        };
        match coming.next() {
            Some(next) => {
                self.next = Some(*next);
                if self.config.replay == Replay::Trace {
                    self.schedule(next)?;
                }
            }
            None => self.next = None,
        }
        if coming.as_slice().is_empty() {
            self.is_under_way = false;
        }
        let now = self.link.events.now();
        self.measured.take_dirty_ages(&mut self.device);
        if self.arrived.count == self.config.statistics.warmup {
            self.open(now);
        }
        let identity = Identity {
            index: self.arrived.first_index + self.arrived.count,
            arrival: now,
            operation: request.operation,
        };
        self.arrived.count += 1;
        self.measured.host.requests += 1;
        if self.arrived.count.is_multiple_of(PROGRESS_STEP)
            && !self.link.observed.by.progress(self.arrived.count)
        {
            return Err(SimError::Interrupted.into());
        }
        let mut asked = self.config.addressing.asked(&request);
        let addressing = &self.config.addressing;
        if !addressing.fits(&asked.span, self.device.pages()) {
            asked = self.brought_in(&request)?;
        }
        self.device.announce(&asked.span);
        let id = self.link.active.insert(|| Active {
            request,
            identity,
            asked,
            sent: now,
        });
        self.arrived.last = id;
        if let Some(active) = self.link.active.get_mut(id) {
            self.link.probe.arrived(id, &mut active.asked);
        }
        if self.config.attribution == Attribution::DiskSim {
            self.queue.outstanding.push(identity, request.sector);
        }
        let has_front = self.link.front.is_some();
        let goes_at_once = self.queue.in_device < self.config.queue_depth
            && self.queue.waiting.is_empty()
            && !has_front;
        if has_front {
            self.link.arrived(id, PASSES_SEND_ON_ARRIVAL);
        } else if goes_at_once {
            self.queue.waiting.pass(request.sector);
            self.queue.in_device += 1;
        } else {
            self.queue.waiting.push(id, request.sector);
            if self.queue.in_device < self.config.queue_depth {
                self.send_next(PASSES_SEND_ON_ARRIVAL);
            }
        }
        if self.link.active.len() as u64 >= self.config.saturation {
            self.measured.saturated = true;
            self.close();
        }
        if self.next.is_none() && self.config.statistics.window == Window::LastArrival {
            self.close();
        }
        if !goes_at_once || !self.tell(Message::Send, PASSES_SEND_ON_ARRIVAL, id) {
            return Ok(());
        }
        if self.link.channel_busy || self.link.is_channel_wanted() {
            return self.hear_of(id);
        }
        if !ON || request.operation != Operation::Write || !self.is_under_way {
            return self.hear_of(id);
        }
        self.link.channel_busy = true;
        debug_assert!(
            self.link.events.is_instant_over(),
            "the device has heard of it"
        );
        let time = self.begin_moving(id, request.sectors);
        if self
            .link
            .events
            .delivers_after(time, Event::WriteDataIn(id))
        {
            self.note_moment();
            return self.data_in(id);
        }
        Ok(())
    }

    /// The request to the device for `request`. The pages of `request` lie beyond the device, so they are mapped to
    /// the device first.
    #[inline(never)]
    fn brought_in(&self, request: &Request) -> Result<destage_device::Request, Box<SimError>> {
        let (addressing, pages) = (&self.config.addressing, self.device.pages());
        Ok(addressing.request(request, pages, || self.origin.to_string())?)
    }

    /// The transfer of the data of request `id` over the host bus begins. At the end of the transfer, `event` is due.
    #[inline(always)]
    pub(super) fn move_data(&mut self, id: u32, event: Packed) {
        let sectors = self.link.active[id].request.sectors;
        let time = self.begin_moving(id, sectors);
        self.link.events.after(time, event);
    }

    /// The transfer of the `sectors` of request `id` over the host bus begins. Returns the length of the transfer in
    /// ticks.
    #[inline(always)]
    pub(super) fn begin_moving(&mut self, id: u32, sectors: u32) -> Ticks {
        self.link.probe.transfers(id);
        u64::from(sectors).saturating_mul(self.config.bus_per_sector)
    }

    /// Sends `message` about request `id`. Returns whether the caller has to deliver the message now, because no
    /// other event is due at this instant. Otherwise the message first passes through the event list up to `passes`
    /// times. After statistics have closed, every message passes through the event list, because the run may stop at
    /// this point. Apart from the delivery, the caller does nothing after this call.
    #[inline]
    fn tell(&mut self, message: Message, passes: u8, id: u32) -> bool {
        if self.link.closed {
            self.link.events.soon(message.about(id, passes));
            return false;
        }
        self.is_heard(message, passes + 1, id)
    }

    #[inline]
    pub(super) fn send_next(&mut self, passes: u8) {
        if !self.queue.waiting.is_empty() {
            self.send_first(passes);
        }
    }

    /// Sends the next waiting request, according to the scheduler.
    #[inline(never)]
    fn send_first(&mut self, passes: u8) {
        if !self.device.buffer().keeps_pages()
            && let Some(next) = self.queue.waiting.next(NEAR)
        {
            let first = next.map(|id| Lpn(self.link.active[id].asked.span.first));
            self.near.clear();
            self.near.extend(first);
            self.device.ftl().bring_near(&self.near);
        }
        if let Some(id) = self.queue.waiting.pop() {
            self.send(id, passes);
        }
    }

    /// The layer looks up the first pages of `requests`, which arrive next. This is only done without a buffer,
    /// because then every request reaches the layer.
    pub(super) fn bring_near_of(&mut self, requests: &[Request]) {
        if self.device.buffer().keeps_pages() {
            return;
        }
        self.config.addressing.first_pages(requests, &mut self.near);
        self.device.ftl().bring_near(&self.near);
    }

    fn send(&mut self, id: u32, passes: u8) {
        self.queue.in_device += 1;
        self.link.active[id].sent = self.link.events.now();
        self.link.events.soon(Message::Send.about(id, passes));
    }

    /// Request `id` is complete: the device has answered it.
    #[inline(always)]
    pub(super) fn complete(&mut self, id: u32) -> Outcome {
        if self.config.replay == Replay::Closed {
            return self.complete_in_loop(id);
        }
        let Some(span) = self.collect(id) else {
            return Ok(());
        };
        self.leave(id, &span);
        self.release(id)
    }

    /// Request `id` of a closed loop is complete, so the next request arrives. The host learns both now, unless its
    /// thread takes time for it.
    #[inline(never)]
    fn complete_in_loop(&mut self, id: u32) -> Outcome {
        if self.queue.job.is_some() {
            return self.answered(id);
        }
        let Some(span) = self.collect(id) else {
            return Ok(());
        };
        self.leave(id, &span);
        if self.next.is_none() {
            return self.release(id);
        }
        let release = Message::Release.about(id, PASSES_RELEASE);
        self.link.events.soon(release);
        self.link.events.soon(Event::Arrival);
        Ok(())
    }

    /// The device has answered request `id` of a closed loop, whose thread takes time to collect the answer and to send
    /// the next request.
    fn answered(&mut self, id: u32) -> Outcome {
        let now = self.link.events.now();
        let active = &mut self.link.active[id];
        if let Some(job) = &mut self.queue.job {
            let (at, next) = job.collects(now, active.request.operation);
            // The time until the thread collects the answer is a wait in the host.
            active.sent += at - now;
            self.link.events.at(at, Event::Collected(id));
            if self.next.is_some() {
                self.link.events.at(next, Event::Arrival);
            }
        }
        let span = self.link.active[id].asked.span;
        self.leave(id, &span);
        self.release(id)
    }

    /// Request `id`, which covers `span`, leaves the device, which may begin another request.
    #[inline(always)]
    fn leave(&mut self, id: u32, span: &Span) {
        self.device.retire(span, &mut self.link);
        if self.link.front.is_some() {
            self.link.front_completed(id, PASSES_SEND_ON_COMPLETION);
        } else {
            self.queue.in_device -= 1;
            self.send_next(PASSES_SEND_ON_COMPLETION);
        }
    }

    /// Frees the host bus, which brought the answer to request `id`.
    #[inline(always)]
    fn release(&mut self, id: u32) -> Outcome {
        match self.tell(Message::Release, PASSES_RELEASE, id) {
            true => self.release_channel(),
            false => Ok(()),
        }
    }

    /// The host learns that request `id` is complete, and the response time ends. Returns the pages that the request
    /// covers; `None` if there is no such request.
    #[inline(always)]
    pub(super) fn collect(&mut self, id: u32) -> Option<Span> {
        let now = self.link.events.now();
        // A removed request stays readable until its number is used again.
        let active = self.link.active.remove(id)?;
        let (own, span, sent) = (active.identity, active.asked.span, active.sent);
        let identity = match self.config.attribution {
            Attribution::Request => own,
            Attribution::DiskSim => self.queue.outstanding.credit(active.request.sector, own),
        };
        let response = now - identity.arrival;
        let counts = !self.link.closed && identity.index >= self.arrived.counted_from;
        if counts {
            let write = identity.operation != Operation::Read;
            self.measured.host.completed += 1;
            self.measured.responses.host.push(response, write);
            self.measured.responses.device.push(now - sent, write);
            if let Some(queue) = self.link.queue_of(id) {
                // The credited request may belong to another queue.
                self.measured.responses.queues[queue].push(now - own.arrival);
            }
        }
        let request = &self.link.active[id].request;
        if self.link.observed.responses {
            self.link.observed.by.response(&Response {
                index: identity.index,
                arrival: identity.arrival,
                waited: sent.saturating_sub(identity.arrival),
                response: Some(response),
                sector: request.sector,
                sectors: request.sectors,
                operation: request.operation,
            });
        }
        let completion = Completion {
            id,
            request,
            identity: &identity,
            counts,
        };
        self.link.probe.completed(&completion, now);
        Some(span)
    }
}
