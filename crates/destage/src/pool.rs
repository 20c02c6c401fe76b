//! The worker threads of a comparison, which decode batches of requests and advance runs over these batches.
//!
//! Each reading of an input has a feed. A feed consists of a decoder, the decoded batches that some run has not seen
//! yet, and the runs. A worker does any available task: if few batches are decoded, it decodes the next batch;
//! otherwise it takes the run that has seen the fewest batches, and advances it through all decoded batches. A run
//! pauses between batches, so that any worker can continue it. A run depends only on its batches, so results do not
//! depend on the assignment of tasks to workers.
//!
//! Feeds are opened in order. The next feed is opened when the open feeds have fewer unfinished runs than there are
//! workers. An input has several feeds if the models of all its runs together would need too much memory
//! ([`passes`](crate::passes)).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use destage_sim::limits::Limits;
use destage_sim::observer::{Observer, Silent};
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, Simulation};
use destage_sim::settings::Config;
use destage_sim::source::Source;
use destage_trace::Request;

use crate::devices::{Devices, Start};
use crate::error::Error;
use crate::facts::Facts;
use crate::going::{Going, Gone};
use crate::grid::Combination;
use crate::input::Input;
use crate::passes::Pass;
use crate::progress::{Counter, Watch};
use crate::survey::Known;

/// The smallest number of requests in a batch, except at the end of an input. This many requests occupy half a MiB.
const BATCH: usize = 1 << 14;
/// The largest number of requests that a source returns at once.
const PART: usize = 1 << 12;
/// The largest number of decoded batches of a feed. A fast run can be this many batches ahead of a slow run.
const WINDOW: usize = 4;

type Batch = Arc<Vec<Request>>;
type Outcome = Result<RunResult, Error>;

/// The work of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) inputs: &'a [Input],
    pub(crate) combinations: &'a [Combination],
    /// The facts about each input.
    pub(crate) known: &'a [Known],
    /// The input and the combinations of each feed.
    pub(crate) passes: &'a [Pass],
    /// For each combination, the limits at which its runs are ended early. With an empty list, no run is ended early.
    pub(crate) limits: &'a [Option<Limits>],
}

/// For each run of each input, the result of the first reading of the input. The run removes it from the list.
pub(crate) type Prepasses = Vec<Vec<Option<Result<Prepass, Error>>>>;

/// The state that all workers share; see the [module](self).
pub(crate) struct Pool<'a> {
    work: Work<'a>,
    counter: &'a Counter<'a>,
    workers: usize,
    /// The number of bytes that all feeds together read; the number of requests is estimated from it. `None` if the
    /// number of requests is known, or if an input is not a file.
    bytes: Option<u64>,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

struct State<'a> {
    feeds: Vec<Feed<'a>>,
    prepasses: Prepasses,
    devices: Devices,
    opening: bool,
    failure: Option<Error>,
    stopped: bool,
    /// The number of requests decoded so far from all inputs, and the number of bytes read by feeds that have ended.
    decoded: u64,
    bytes_ended: u64,
}

struct Feed<'a> {
    /// The index of the input, and the index of the first combination of the feed.
    input: usize,
    offset: usize,
    /// The decoder. It is absent while a worker decodes with it, and after the feed has ended.
    source: Option<Source<'a>>,
    batches: VecDeque<Batch>,
    /// The memory of batches that every run has seen, for reuse.
    spare: Vec<Vec<Request>>,
    /// The number of the first batch in `batches`.
    first: usize,
    /// The facts about the input; `None` until the feed has ended.
    facts: Option<Facts>,
    runs: Vec<Run<'a>>,
}

struct Run<'a> {
    /// The number of batches that the run has seen.
    position: usize,
    phase: Phase<'a>,
}

enum Phase<'a> {
    /// The model of the run is not built yet.
    New(Box<Result<Prepass, Error>>),
    Idle(Box<Going<'a>>),
    /// A worker is advancing the run.
    Busy,
    Done(Outcome),
}

/// The next task of a worker.
enum Task<'a> {
    Open(usize),
    /// Decodes the next batch of this feed into the memory of a used batch.
    Decode(usize, Source<'a>, Vec<Request>),
    Build {
        feed: usize,
        run: usize,
        prepass: Result<Prepass, Error>,
        start: Start,
    },
    Advance {
        feed: usize,
        run: usize,
        going: Box<Going<'a>>,
        batches: Vec<Batch>,
        /// No more batches follow.
        last: bool,
    },
    Wait,
    End,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(
        work: Work<'a>,
        prepasses: Prepasses,
        counter: &'a Counter<'a>,
        workers: usize,
    ) -> Self {
        let Work { inputs, passes, .. } = work;
        let state = State {
            feeds: Vec::new(),
            prepasses,
            devices: Devices::new(work.known),
            opening: false,
            failure: None,
            stopped: false,
            decoded: 0,
            bytes_ended: 0,
        };
        let is_known = inputs
            .iter()
            .all(|input| input.expected_requests().is_some());
        Self {
            work,
            counter,
            workers,
            bytes: if is_known {
                None
            } else {
                let all = passes.iter();
                all.map(|pass| inputs[pass.input].bytes()).sum()
            },
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Does all work. Returns, for each feed in order, the facts about its input and the results of its runs.
    pub(crate) fn run(self) -> Result<Vec<(Facts, Vec<Outcome>)>, Error> {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers)
                .map(|_| scope.spawn(|| self.counter.on_thread(&mut || self.work())))
                .collect();
            let panics = workers.into_iter().filter_map(|worker| worker.join().err());
            let errors: Vec<Error> = panics.map(Error::of_panic).collect();
            errors.into_iter().next().map_or(Ok(()), Err)
        })?;
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = state.failure {
            return Err(failure);
        }
        let of_feed = |feed: Feed<'a>| {
            let facts = feed.facts?;
            let results = feed.runs.into_iter().map(|run| match run.phase {
                Phase::Done(result) => Some(result),
                _ => None,
            });
            Some((facts, results.collect::<Option<_>>()?))
        };
        let finished: Option<_> = state.feeds.into_iter().map(of_feed).collect();
        finished.ok_or_else(|| Error::Internal("a run has no result".to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let _alarm = Alarm(self);
        let mut state = self.lock();
        loop {
            match state.next(self.workers, self.work.passes.len()) {
                Task::End => return,
                Task::Wait => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                task => {
                    drop(state);
                    let done = self.carry_out(task);
                    state = self.lock();
                    if let Err(error) = done {
                        self.fail(&mut state, error);
                    }
                    self.changed.notify_all();
                }
            }
        }
    }

    /// Stops all workers because of `error`. Only the first error is stored, because later errors may be consequences
    /// of the first.
    fn fail(&self, state: &mut State<'a>, error: Error) {
        state.failure.get_or_insert(error);
        state.stopped = true;
        self.counter.stop();
    }

    /// Does `task`. An error of a run becomes the result of the run. An error that this function returns ends the
    /// comparison.
    fn carry_out(&self, task: Task<'a>) -> Result<(), Error> {
        match task {
            Task::Open(feed) => {
                let opened = self.open(&self.work.passes[feed])?;
                let mut state = self.lock();
                state.opening = false;
                state.feeds.push(opened);
            }
            Task::Decode(feed, source, batch) => self.decode(feed, source, batch)?,
            Task::Build {
                feed,
                run,
                prepass,
                start,
            } => {
                self.doing(feed, run);
                let built = self.build(feed, run, prepass, start);
                self.put_back(feed, run, 0, built)?;
            }
            Task::Advance {
                feed,
                run,
                going,
                batches,
                last,
            } => {
                self.doing(feed, run);
                let phase = match going.advance(&batches, last) {
                    Gone::On(going) => Phase::Idle(going),
                    Gone::Ended(outcome) => Phase::Done(outcome),
                };
                let seen = batches.len();
                // The feed can reuse the memory of a batch only if no other owner refers to the batch, so this worker
                // drops its references first.
                drop(batches);
                self.put_back(feed, run, seen, phase)?;
            }
            Task::Wait | Task::End => {}
        }
        Ok(())
    }

    /// The input of a feed.
    fn input(&self, feed: usize) -> &'a Input {
        &self.work.inputs[self.work.passes[feed].input]
    }

    /// The index of the combination of a run.
    fn combination(&self, feed: usize, run: usize) -> usize {
        self.work.passes[feed].combinations.start + run
    }

    fn doing(&self, feed: usize, run: usize) {
        let combination = &self.work.combinations[self.combination(feed, run)];
        destage_memory::doing(combination.doing(&self.input(feed).name()));
    }

    /// Opens a feed for `pass`.
    fn open(&self, pass: &Pass) -> Result<Feed<'a>, Error> {
        let input = &self.work.inputs[pass.input];
        destage_memory::doing(format!("reading {}", input.name()));
        let known = &self.work.known[pass.input];
        let source = input.open(&known.configs[0])?;
        let mut state = self.lock();
        let prepasses = &mut state.prepasses[pass.input];
        let run = |combination: usize| Run {
            position: 0,
            phase: Phase::New(Box::new(
                prepasses[combination]
                    .take()
                    .unwrap_or_else(|| Ok(Prepass::default())),
            )),
        };
        let runs = pass.combinations.clone().map(run).collect();
        Ok(Feed {
            input: pass.input,
            offset: pass.combinations.start,
            source: Some(source),
            batches: VecDeque::new(),
            spare: Vec::new(),
            first: 0,
            facts: None,
            runs,
        })
    }

    /// Decodes the next batch of a feed, or closes the feed at the end of its input.
    fn decode(
        &self,
        feed: usize,
        mut source: Source<'a>,
        mut requests: Vec<Request>,
    ) -> Result<(), Error> {
        destage_memory::doing(format!("reading {}", self.input(feed).name()));
        requests.clear();
        requests.reserve_exact(BATCH + PART);
        let mut part = Vec::with_capacity(PART);
        let mut has_ended = false;
        while requests.len() < BATCH && !has_ended {
            has_ended = !source.fill(&mut part)?;
            requests.extend_from_slice(&part);
        }
        if !self.counter.advance(0) {
            return Err(Error::Interrupted);
        }
        let mut state = self.lock();
        state.decoded += requests.len() as u64;
        self.estimate(&mut state, &source, has_ended);
        let of = &mut state.feeds[feed];
        if !requests.is_empty() && of.is_wanted() {
            of.batches.push_back(Arc::new(requests));
        }
        // If every run of the feed has failed, the rest of the input is not read.
        if has_ended || of.have_all_failed() {
            of.close(self.facts(feed, &source)?);
        } else {
            of.source = Some(source);
        }
        Ok(())
    }

    /// The facts about the input of `feed`. `source` has read everything that the runs need.
    fn facts(&self, feed: usize, source: &Source<'_>) -> Result<Facts, Error> {
        let known = &self.work.known[self.work.passes[feed].input];
        let options = self.input(feed).options(&known.configs[0])?;
        let mut facts = Facts::of_source(source, &options);
        if !known.configs.iter().any(Config::follows_arrivals) {
            facts.forget_times();
        }
        known
            .merged
            .iter()
            .for_each(|merged| facts.add_merged(merged));
        facts.sizing = known.sizing;
        Ok(facts)
    }

    /// Estimates the number of requests of all runs from the requests that are already decoded.
    fn estimate(&self, state: &mut State<'a>, source: &Source<'a>, has_ended: bool) {
        let (Some(total), Some(reader)) = (self.bytes, source.reader()) else {
            return;
        };
        let read = state.bytes_ended + reader.bytes_read();
        if has_ended {
            state.bytes_ended = read;
        }
        let requests = state.decoded as f64 * total as f64 / read.max(1) as f64;
        let Work {
            inputs,
            combinations,
            passes,
            ..
        } = self.work;
        let runs = combinations.len() * inputs.len() / passes.len();
        self.counter.expect(requests as u64 * runs as u64);
    }

    fn build(
        &self,
        feed: usize,
        run: usize,
        prepass: Result<Prepass, Error>,
        start: Start,
    ) -> Phase<'a> {
        let input = self.work.passes[feed].input;
        let combination = self.combination(feed, run);
        let config = &self.work.known[input].configs[combination];
        let mut observer: Box<dyn Observer + 'a> = Box::new(Watch::new(self.counter, Silent));
        // Only a configuration that was checked can be built. If the check of this one failed, `prepass` says so.
        let (begun, original) = match prepass {
            Err(error) => (Err(error), start.unused()),
            Ok(prepass) => match start.ftl(config, &mut *observer) {
                Ok((ftl, original)) => (Ok((prepass, ftl)), original),
                Err(error) => (Err(error), None),
            },
        };
        self.lock().devices.put_back(input, combination, original);
        let built = begun.and_then(|(prepass, ftl)| {
            let origin = self.input(feed).name();
            Ok(Simulation::new(config, &origin, ftl, &prepass, observer)?)
        });
        match built {
            Ok(simulation) => {
                let limits = self.work.limits.get(combination).cloned().flatten();
                Phase::Idle(Box::new(Going::new(simulation, limits)))
            }
            Err(error) => Phase::Done(Err(error)),
        }
    }

    /// Stores the `phase` of a run after a worker has advanced it by `seen` batches.
    fn put_back(
        &self,
        feed: usize,
        run: usize,
        seen: usize,
        phase: Phase<'a>,
    ) -> Result<(), Error> {
        if matches!(phase, Phase::Done(Err(Error::Interrupted))) {
            return Err(Error::Interrupted);
        }
        let mut state = self.lock();
        let of = &mut state.feeds[feed];
        of.runs[run].position += seen;
        of.runs[run].phase = phase;
        of.forget_batches();
        // If another worker is decoding this feed, that worker finds out that all runs have failed, and closes the
        // feed.
        if of.have_all_failed()
            && let Some(source) = of.source.take()
        {
            of.close(self.facts(feed, &source)?);
        }
        Ok(())
    }
}

impl<'a> State<'a> {
    fn next(&mut self, workers: usize, passes: usize) -> Task<'a> {
        if self.stopped {
            return Task::End;
        }
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            if feed.batches.len() < WINDOW
                && let Some(source) = feed.source.take()
            {
                let batch = feed.spare.pop().unwrap_or_default();
                return Task::Decode(index, source, batch);
            }
        }
        if let Some((feed, run)) = self.furthest_behind() {
            return self.take(feed, run);
        }
        let is_open = |run: &&Run<'_>| !matches!(run.phase, Phase::Done(_));
        let runs = self.feeds.iter().flat_map(|feed| &feed.runs);
        let unfinished = runs.filter(is_open).count();
        if self.feeds.len() < passes && !self.opening && unfinished < workers {
            self.opening = true;
            return Task::Open(self.feeds.len());
        }
        let all_read = self.feeds.iter().all(|feed| feed.facts.is_some());
        if self.feeds.len() == passes && unfinished == 0 && all_read {
            return Task::End;
        }
        Task::Wait
    }

    /// The next run to advance. Of the runs in the first feed with runs that can continue, it is the one that has
    /// seen the fewest batches.
    fn furthest_behind(&self) -> Option<(usize, usize)> {
        let feeds = self.feeds.iter().enumerate();
        let runs = feeds.flat_map(|(feed, of)| {
            let runs = of.runs.iter().enumerate();
            runs.map(move |(run, state)| (feed, run, of, state))
        });
        let ready = runs.filter(|(_, index, feed, run)| match run.phase {
            Phase::New(_) => self.devices.is_free(feed.input, feed.offset + *index),
            Phase::Idle(_) => run.position < feed.end() || feed.facts.is_some(),
            Phase::Busy | Phase::Done(_) => false,
        });
        let first = ready.min_by_key(|(feed, run, _, state)| (*feed, state.position, *run));
        first.map(|(feed, run, ..)| (feed, run))
    }

    fn take(&mut self, feed: usize, run: usize) -> Task<'a> {
        let of = &mut self.feeds[feed];
        match std::mem::replace(&mut of.runs[run].phase, Phase::Busy) {
            Phase::New(prepass) => Task::Build {
                feed,
                run,
                prepass: *prepass,
                start: self.devices.take(of.input, of.offset + run),
            },
            Phase::Idle(going) => Task::Advance {
                feed,
                run,
                going,
                batches: of.from(of.runs[run].position),
                last: of.facts.is_some(),
            },
            other => {
                of.runs[run].phase = other;
                Task::Wait
            }
        }
    }
}

impl Feed<'_> {
    /// The number of batches that were decoded so far.
    fn end(&self) -> usize {
        self.first + self.batches.len()
    }

    fn from(&self, position: usize) -> Vec<Batch> {
        self.batches
            .range(position - self.first..)
            .cloned()
            .collect()
    }

    /// Whether any run still needs decoded batches.
    fn is_wanted(&self) -> bool {
        self.runs
            .iter()
            .any(|run| !matches!(run.phase, Phase::Done(_)))
    }

    fn have_all_failed(&self) -> bool {
        self.runs
            .iter()
            .all(|run| matches!(run.phase, Phase::Done(Err(_))))
    }

    /// Ends the feed: no more batches are decoded.
    fn close(&mut self, facts: Facts) {
        self.facts = Some(facts);
        self.spare = Vec::new();
    }

    /// Drops the batches that every run has seen.
    fn forget_batches(&mut self) {
        let waiting = self
            .runs
            .iter()
            .filter(|run| !matches!(run.phase, Phase::Done(_)));
        let least = waiting.map(|run| run.position).min().unwrap_or(self.end());
        while self.first < least {
            let seen = self.batches.pop_front().and_then(Arc::into_inner);
            if self.facts.is_none() {
                self.spare.extend(seen);
            }
            self.first += 1;
        }
    }
}

/// Stops all workers if one panics. Otherwise the other workers would wait forever for the run of this worker.
struct Alarm<'p, 'a>(&'p Pool<'a>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.lock();
            state.stopped = true;
            self.0.counter.stop();
            self.0.changed.notify_all();
        }
    }
}
