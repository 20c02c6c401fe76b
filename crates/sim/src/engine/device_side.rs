//! The device's side of a run: its channel, and page operations on their way to the dies and back.

use destage_base::Lpn;
use destage_buffer::destage::DirtyPage;
use destage_flash::ftl::NoSpace;
use destage_trace::Operation;

use super::event::{Message, PASSES_BEFORE_READ_DATA, PASSES_BEFORE_WRITE_DATA, PASSES_COMPLETION};
use super::{Active, Engine, Outcome};
use crate::error::SimError;
use crate::operation::{PageOperation, Work};
use crate::paging::{Align, Span};

impl Engine<'_> {
    /// Gives the channel, if it is idle, to a done request or else to a new one.
    pub(super) fn check_channel(&mut self) -> Outcome {
        while !self.channel_busy {
            if let Some(id) = self.done.pop_front() {
                self.channel_busy = true;
                let message = if self.active[id].request.operation == Operation::Read {
                    Message::StartReadData.about(id, PASSES_BEFORE_READ_DATA)
                } else {
                    Message::Complete.about(id, PASSES_COMPLETION)
                };
                self.events.soon(message);
            } else if let Some(id) = self.dispatched.pop_front() {
                if self.active[id].request.operation == Operation::Write {
                    self.channel_busy = true;
                    self.events
                        .soon(Message::StartWriteData.about(id, PASSES_BEFORE_WRITE_DATA));
                } else {
                    // Reads, flushes and trims carry no data in.
                    self.start(id)?;
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    // ---- requests inside the device ----------------------------------------------------------------

    /// `id` is in the device: its pages go to the buffer and the dies.
    pub(super) fn start(&mut self, id: u32) -> Outcome {
        self.active[id].remaining = 1;
        let Active { request, span, .. } = self.active[id];
        self.measured.count_pages(&request, &span);
        match (request.operation, &self.buffer) {
            (Operation::Read, None) => self.read_past(id, &span)?,
            (Operation::Read, Some(_)) => self.read_through(id)?,
            (Operation::Write, None) => {
                self.observe_bypass(&span);
                self.write_past(id, &span)?;
            }
            (Operation::Write, Some(_)) => self.write_through(id)?,
            (Operation::Flush, _) => self.flush(id)?,
            (Operation::Trim, _) => self.trim(id)?,
        }
        self.lower(id)
    }

    /// All pages of a read come from the flash.
    fn read_past(&mut self, id: u32, span: &Span) -> Outcome {
        for offset in 0..span.pages {
            let page = self.page(span, offset);
            self.submit(id, PageOperation::new(page, Work::HostRead(id)))?;
        }
        Ok(())
    }

    /// All pages of a write go to the flash.
    pub(super) fn write_past(&mut self, id: u32, span: &Span) -> Outcome {
        let long_pages = self.dies.ftl().properties().long_write_pages;
        let is_long = long_pages.is_some_and(|least| span.pages >= least);
        for offset in 0..span.pages {
            self.fill_partial(id, span, offset)?;
            let page = self.page(span, offset);
            let program = PageOperation::new(page, Work::HostWrite(id));
            self.submit(id, program.with_long(is_long))?;
        }
        Ok(())
    }

    /// Under read-modify-write, page `offset` of `span` is read first if the write covers only part of it.
    pub(super) fn fill_partial(&mut self, id: u32, span: &Span, offset: u32) -> Outcome {
        if !span.is_partial(offset) || self.config.paging.align != Align::ReadModifyWrite {
            return Ok(());
        }
        let page = self.page(span, offset);
        if self.dies.ftl().is_written(page) {
            self.submit(id, PageOperation::new(page, Work::HostRead(id)))?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn page(&self, span: &Span, offset: u32) -> Lpn {
        self.config
            .address_map
            .page(span, offset, self.device_pages, self.config.span_pages)
    }

    /// One more operation for request `id`.
    #[inline]
    pub(super) fn submit(&mut self, id: u32, operation: PageOperation) -> Outcome {
        self.active[id].remaining += 1;
        self.dies
            .submit(operation, &mut self.events)
            .map_err(|full| self.device_full(full))
    }

    pub(super) fn activate(&mut self, die: u32) -> Outcome {
        self.dies
            .activate(die, &mut self.events)
            .map_err(|full| self.device_full(full))
    }

    #[cold]
    pub(super) fn device_full(&self, full: NoSpace) -> Box<SimError> {
        Box::new(SimError::DeviceFull {
            origin: self.source.origin().to_owned(),
            line: self.last_line,
            explanation: full.explanation.into(),
        })
    }

    /// One thing request `id` waited for is done.
    #[inline]
    pub(super) fn lower(&mut self, id: u32) -> Outcome {
        let active = &mut self.active[id];
        active.remaining -= 1;
        if active.remaining == 0 {
            self.done.push_back(id);
            self.check_channel()?;
        }
        Ok(())
    }

    pub(super) fn page_done(&mut self, operation: PageOperation) -> Outcome {
        match operation.work() {
            Work::HostRead(id) | Work::HostWrite(id) | Work::Trim(id) => self.lower(id),
            Work::Destage(record, slot) => {
                let page = DirtyPage {
                    page: operation.page(),
                    slot,
                };
                let keep = self.issued[record].keep;
                if let Some(buffer) = &mut self.buffer {
                    buffer.programmed(page, keep, self.events.now());
                }
                self.program_done(record)?;
                self.hand_out_place(slot)?;
                self.hand_out_slots()
            }
            Work::PadWrite(record) => self.program_done(record),
            Work::PadRead(record) => {
                let issued = &mut self.issued[record];
                issued.reads_left -= 1;
                if issued.reads_left == 0 {
                    self.submit_programs(record)
                } else {
                    Ok(())
                }
            }
        }
    }
}
