//! The workers of a comparison: they decode batches of requests, and let runs go on over them.
//!
//! An input has a feed: its decoder, the batches that some run has still to see, and its runs. A worker takes any available work: the next batch, if
//! few are decoded; otherwise the run that is furthest behind, which it takes through all decoded batches. A run pauses between batches, so that any
//! worker can continue it; and since a run depends only on its batches, results do not depend on which worker did what.
//!
//! Feeds are opened one after the other, the next once fewer runs than workers are left of the earlier ones. An input has
//! several feeds if the models of all its runs would take too much memory ([`passes`](crate::passes)).

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

/// Requests in a batch, at least, unless the input ends: half a MiB.
const BATCH: usize = 1 << 14;
/// Requests that a source gives at once, at most.
const PART: usize = 1 << 12;
/// Most batches of an input at a time: a fast run can be this far ahead of a slow one.
const WINDOW: usize = 4;

type Batch = Arc<Vec<Request>>;
type Outcome = Result<RunResult, Error>;

/// The pending work.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) inputs: &'a [Input],
    pub(crate) combinations: &'a [Combination],
    /// The facts about each input.
    pub(crate) known: &'a [Known],
    /// The description of each feed.
    pub(crate) passes: &'a [Pass],
    /// For each combination the limits at which its runs are stopped; an empty list lets all runs go to their end.
    pub(crate) limits: &'a [Option<Limits>],
}

/// The data that each run of each input needs, until it takes them.
pub(crate) type Prepasses = Vec<Vec<Option<Result<Prepass, Error>>>>;

/// The state that all workers share. See the [module](self).
pub(crate) struct Pool<'a> {
    work: Work<'a>,
    counter: &'a Counter<'a>,
    workers: usize,
    /// Bytes of all feeds, if they are files: the base of an estimate of the number of requests.
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
    /// Requests decoded of all inputs, and their bytes in feeds that have ended.
    decoded: u64,
    bytes_ended: u64,
}

struct Feed<'a> {
    /// Its input, and the first of its combinations.
    input: usize,
    offset: usize,
    /// Absent while a worker decodes from it, and once it has ended.
    source: Option<Source<'a>>,
    batches: VecDeque<Batch>,
    /// Batches that every run has seen: their memory is used again.
    spare: Vec<Vec<Request>>,
    /// The number of the first of these batches.
    first: usize,
    /// The facts about the input, once it has ended.
    facts: Option<Facts>,
    runs: Vec<Run<'a>>,
}

struct Run<'a> {
    /// Batches seen.
    position: usize,
    phase: Phase<'a>,
}

enum Phase<'a> {
    /// Its model is not built yet.
    New(Box<Result<Prepass, Error>>),
    Idle(Box<Going<'a>>),
    /// A worker is simulating it.
    Busy,
    Done(Outcome),
}

/// The next work of a worker.
enum Task<'a> {
    Open(usize),
    /// Of this feed, into a batch that all have seen.
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
        /// There are no more.
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

    /// Does all work; returns the facts about the input of each pass and the results of its runs, in order.
    pub(crate) fn run(self) -> Result<Vec<(Facts, Vec<Outcome>)>, Error> {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers)
                .map(|_| scope.spawn(|| self.work()))
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

    /// The first failure counts; a worker that was stopped by it adds nothing.
    fn fail(&self, state: &mut State<'a>, error: Error) {
        state.failure.get_or_insert(error);
        state.stopped = true;
        self.counter.stop();
    }

    /// An error of one run becomes its result; an error here ends the comparison.
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
                // The feed looks next which batches every run has seen, and this worker's copies would count.
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

    /// The number of a run among the combinations.
    fn combination(&self, feed: usize, run: usize) -> usize {
        self.work.passes[feed].combinations.start + run
    }

    fn doing(&self, feed: usize, run: usize) {
        let combination = &self.work.combinations[self.combination(feed, run)];
        destage_memory::doing(combination.doing(&self.input(feed).name()));
    }

    /// Opens the input of `pass`.
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

    /// Adds the next batch to a feed, or finds its end.
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
        // Where every run has failed, the rest of the input is not read.
        if has_ended || of.have_all_failed() {
            of.close(self.facts(feed, &source)?);
        } else {
            of.source = Some(source);
        }
        Ok(())
    }

    /// The facts about an input of which nothing more is read.
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

    /// Estimates the number of requests from the decoded part.
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
        let ftl = start.ftl(config, &mut *observer);
        let (ftl, original) = match ftl {
            Ok((ftl, original)) => (Ok(ftl), original),
            Err(error) => (Err(error), None),
        };
        self.lock().devices.put_back(input, combination, original);
        let built = prepass.and_then(|prepass| {
            let origin = self.input(feed).name();
            Ok(Simulation::new(config, &origin, ftl?, &prepass, observer)?)
        });
        match built {
            Ok(simulation) => {
                let limits = self.work.limits.get(combination).cloned().flatten();
                Phase::Idle(Box::new(Going::new(simulation, limits)))
            }
            Err(error) => Phase::Done(Err(error)),
        }
    }

    /// A worker has finished its turn with a run, which has seen `seen` more batches.
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
        // A worker that is decoding sees it by itself.
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

    /// Among the runs that can continue, the one that has seen the fewest batches, and among these the first.
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
    /// Batches decoded.
    fn end(&self) -> usize {
        self.first + self.batches.len()
    }

    fn from(&self, position: usize) -> Vec<Batch> {
        self.batches
            .range(position - self.first..)
            .cloned()
            .collect()
    }

    /// Whether a run will use the decoded batches.
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

    /// Nothing more is decoded.
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

/// Stops the other workers if this one panics: they would wait for ever for its run.
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
