//! Simulation of miniatures on several threads, while another thread reads requests.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use destage_sim::curve::OnePass;
use destage_sim::error::SimError;
use destage_sim::metrics::Metrics;
use destage_sim::run::Simulation;
use destage_sim::sample::Part;

use crate::error::Error;
use crate::progress::Counter;

/// The largest number of batches that wait for a worker.
const WAITING: usize = 2;

/// The requests of a batch, divided by splitter and then by sample.
pub(super) type Parts = Vec<Vec<Part>>;

/// A miniature: a scaled-down simulation of one sample.
pub(super) struct Miniature<'a> {
    pub(super) splitter: usize,
    pub(super) sample: usize,
    pub(super) model: Model<'a>,
}

/// The model of a miniature.
pub(super) enum Model<'a> {
    /// A run at one size.
    Run(Box<Simulation<'a>>),
    /// One pass for every size of page-level LRU.
    OnePass(Box<OnePass>),
    /// A run that accepts no more requests.
    Ended(Box<Simulation<'a>>),
    /// A run that failed.
    Failed(Error),
}

/// The result of a miniature.
pub(super) enum Measured {
    /// The metrics at one size.
    Run(Result<Metrics, Error>),
    /// The metrics at every size.
    OnePass(Box<destage_sim::curve::Curve>),
}

impl Miniature<'_> {
    fn feed(&mut self, parts: &Parts) {
        let part = &parts[self.splitter][self.sample];
        if part.requests.is_empty() {
            return;
        }
        let fed = match &mut self.model {
            Model::Run(run) => feed(run, part),
            Model::OnePass(pass) => pass.feed(&part.requests).map(|()| true),
            Model::Ended(_) | Model::Failed(_) => return,
        };
        let before = || Model::Failed(Error::Internal("a miniature was lost".to_owned()));
        match fed {
            Ok(true) => {}
            Ok(false) => {
                self.model = match std::mem::replace(&mut self.model, before()) {
                    Model::Run(run) => Model::Ended(run),
                    other => other,
                };
            }
            Err(error) => self.model = Model::Failed(error.into()),
        }
    }

    fn finish(self) -> Measured {
        match self.model {
            Model::Run(run) | Model::Ended(run) => {
                let finished = run.finish().map(|result| result.metrics);
                Measured::Run(finished.map_err(Error::from))
            }
            Model::OnePass(pass) => Measured::OnePass(Box::new(pass.finish())),
            Model::Failed(error) => Measured::Run(Err(error)),
        }
    }
}

/// Feeds `part` to `run`, in the virtual time of the whole input. Returns whether `run` accepts more requests.
fn feed(run: &mut Simulation<'_>, part: &Part) -> Result<bool, SimError> {
    for (request, passed) in part.requests.iter().zip(&part.passed) {
        run.pass_writes(*passed);
        if !run.feed(std::slice::from_ref(request))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Feeds `miniatures` with the batches that `next` returns, until `next` returns no more, on `threads` threads.
/// Returns the results in the order of the miniatures.
pub(super) fn carry_out(
    miniatures: Vec<Miniature<'_>>,
    (threads, counter): (usize, &Counter<'_>),
    mut next: impl FnMut() -> Result<Option<Parts>, Error>,
) -> Result<Vec<Measured>, Error> {
    if threads < 2 {
        let mut miniatures = miniatures;
        while let Some(parts) = next()? {
            miniatures.iter_mut().for_each(|each| each.feed(&parts));
        }
        return Ok(miniatures.into_iter().map(Miniature::finish).collect());
    }
    let mut shares: Vec<Vec<(usize, Miniature<'_>)>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, miniature) in miniatures.into_iter().enumerate() {
        shares[index % threads].push((index, miniature));
    }
    std::thread::scope(|scope| {
        let start = |share| {
            let (sender, receiver) = sync_channel::<Arc<Parts>>(WAITING);
            let worker = move || {
                let (mut own, mut done) = (Some((share, receiver)), Vec::new());
                counter.on_thread(&mut || {
                    let all = own.take();
                    done = all.map_or(Vec::new(), |(share, receiver)| work(share, &receiver));
                });
                done
            };
            (sender, scope.spawn(worker))
        };
        let (senders, workers): (Vec<SyncSender<_>>, Vec<_>) =
            shares.into_iter().map(start).unzip();
        let mut fed = Ok(());
        loop {
            let parts = match next() {
                Ok(Some(parts)) => Arc::new(parts),
                Ok(None) => break,
                Err(error) => {
                    fed = Err(error);
                    break;
                }
            };
            // Sending fails if a worker has panicked; the panic is reported below.
            senders
                .iter()
                .for_each(|sender| drop(sender.send(Arc::clone(&parts))));
        }
        drop(senders);
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(Error::of_panic)?);
        }
        fed?;
        all.sort_by_key(|(index, _)| *index);
        Ok(all.into_iter().map(|(_, measured)| measured).collect())
    })
}

fn work(
    mut share: Vec<(usize, Miniature<'_>)>,
    batches: &Receiver<Arc<Parts>>,
) -> Vec<(usize, Measured)> {
    for parts in batches {
        share
            .iter_mut()
            .for_each(|(_, miniature)| miniature.feed(&parts));
    }
    let finished = share.into_iter();
    finished
        .map(|(index, miniature)| (index, miniature.finish()))
        .collect()
}
