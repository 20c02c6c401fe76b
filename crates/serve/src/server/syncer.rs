//! A thread that makes bytes durable. A sync takes as long as the disk needs. Meanwhile the server serves other
//! requests.
//!
//! One sync answers all requests that wait when it begins. After a failed sync, every later sync counts as failed
//! too. The reason is that the system may have dropped data, and would nevertheless report success for a second sync.

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
    /// The channel to the thread; `None` once this value is being dropped.
    ask: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    told: Receiver<io::Result<()>>,
    /// The owners of the requests that the running sync answers.
    running: Vec<Owner>,
    is_running: bool,
    /// The owners of the requests that arrived after the running sync had begun.
    next: Vec<Owner>,
    /// The outcome of a sync that [`wait`](Self::wait) has waited for.
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
                    // If the waker fails, the event loop has ended.
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

    /// The error of the first failed sync. After it, every sync counts as failed.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Queues `owner`, which gets an answer after a sync that begins after this call. So all data that were written
    /// before this call are durable when the answer is sent.
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

    /// The owners that can be answered now, and the result of their sync; `None` if no sync has ended.
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

    /// Waits for the end of the running sync. Returns whether a sync was running.
    pub fn wait(&mut self) -> bool {
        if self.is_running && self.ended.is_none() {
            let gone = |_| Err(io::Error::other("the thread that syncs is gone"));
            self.ended = Some(self.told.recv().unwrap_or_else(gone));
        }
        self.is_running
    }
}

impl Drop for Syncer {
    /// Waits for the thread, so that no sync uses the file after the server has ended.
    fn drop(&mut self) {
        self.ask = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread needs no report here.
            let _ = thread.join();
        }
    }
}
