//! Makes bytes durable on a thread of its own, since that takes as long as a disk takes: other requests are served meanwhile.
//!
//! All requests that wait when a sync begins are answered by it together. After a failure every sync fails: it is unknown what the disk has dropped,
//! and a second sync would report success.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use destage_device::backed::Fault;
use mio::Waker;

use super::core::Owner;
use crate::device::Sync;
use crate::media::fault_of;

pub(super) struct Syncer {
    /// None at the end.
    ask: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    told: Receiver<io::Result<()>>,
    /// The owners of requests that are answered when the running sync has ended.
    running: Vec<Owner>,
    is_running: bool,
    /// Requests that came too late for it.
    next: Vec<Owner>,
    /// The end of a sync that has been waited for.
    ended: Option<io::Result<()>>,
    fault: Option<Fault>,
}

impl Syncer {
    pub fn new(mut sync: Sync, waker: &Arc<Waker>) -> io::Result<Self> {
        let (ask, asked) = channel();
        let (tell, told) = channel();
        let waker = Arc::clone(waker);
        let thread = std::thread::Builder::new()
            .name("sync".to_owned())
            .spawn(move || {
                while asked.recv().is_ok() && tell.send(sync()).is_ok() {
                    // If it cannot be woken it is gone.
                    let _ = waker.wake();
                }
            })?;
        Ok(Self {
            ask: Some(ask),
            thread: Some(thread),
            told,
            running: Vec::new(),
            is_running: false,
            next: Vec::new(),
            ended: None,
            fault: None,
        })
    }

    /// The error after which nothing is durable any more.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Everything written up to now has to last before `owner` is answered.
    pub fn push(&mut self, owner: Owner) {
        self.next.push(owner);
        self.begin();
    }

    fn begin(&mut self) {
        if !self.is_running && !self.next.is_empty() {
            std::mem::swap(&mut self.running, &mut self.next);
            self.is_running = true;
            if self.ask.as_ref().is_none_or(|ask| ask.send(()).is_err()) {
                self.ended = Some(Err(io::Error::other("the thread that syncs is gone")));
            }
        }
    }

    /// The requests that can be answered, and with which result.
    pub fn done(&mut self) -> Option<(Vec<Owner>, Result<(), Fault>)> {
        let ended = self.ended.take().or_else(|| self.told.try_recv().ok())?;
        if let Err(error) = ended {
            self.fault.get_or_insert(fault_of(&error));
        }
        let owners = std::mem::take(&mut self.running);
        self.is_running = false;
        self.begin();
        Some((owners, self.fault.map_or(Ok(()), Err)))
    }

    /// Waits for the end of the sync that runs; whether there was one.
    pub fn wait(&mut self) -> bool {
        if self.is_running && self.ended.is_none() {
            let gone = |_| Err(io::Error::other("the thread that syncs is gone"));
            self.ended = Some(self.told.recv().unwrap_or_else(gone));
        }
        self.is_running
    }
}

impl Drop for Syncer {
    /// The file has no owner when the server is gone.
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has nothing to say.
            let _ = thread.join();
        }
    }
}
