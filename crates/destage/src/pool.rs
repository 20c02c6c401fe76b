//! The workers of a comparison: they decode batches of requests, and let runs go on over them.
//!
//! An input has a feed: its decoder, the batches that some run has still to see, and its runs. A worker takes whatever
//! is to be done: the next batch, if few are there; else a run that is furthest behind, which it takes through all
//! batches there are. A run stands still between batches, so that any worker can go on with it; and since a run sees
//! nothing but its batches, results do not depend on who did what.
//!
//! Feeds are opened one after the other, the next once fewer runs than workers are left of those before.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use destage_sim::observer::{Observer, Silent};
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, Simulation};
use destage_sim::settings::Config;
use destage_sim::source::Source;
use destage_trace::Request;

use crate::devices::{Devices, Start};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Combination;
use crate::input::Input;
use crate::progress::{Counter, Watch};
use crate::survey::{Plan, Sizing, Survey};

/// Requests in a batch, at least, unless the input ends: half a MiB.
const BATCH: usize = 1 << 14;
/// Batches of an input that exist at a time: so far may a fast run be ahead of a slow one.
const WINDOW: usize = 4;

type Batch = Arc<Vec<Request>>;
type Outcome = Result<RunResult, Error>;
/// A run's configuration on its input, and what came of it.
type Finished = (Config, Outcome);

/// The workers' common ground. See the [module](self).
pub(crate) struct Pool<'a> {
    inputs: &'a [Input],
    combinations: &'a [Combination],
    counter: &'a Counter<'a>,
    workers: usize,
    /// Bytes of all inputs, if they are files: what an estimate of the requests to come rests on.
    bytes: Option<u64>,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

struct State<'a> {
    feeds: Vec<Feed<'a>>,
    devices: Devices,
    opening: bool,
    failure: Option<Error>,
    stopped: bool,
    /// Requests decoded of all inputs, and their bytes in feeds that have ended.
    decoded: u64,
    bytes_ended: u64,
}

struct Feed<'a> {
    /// Nobody has it while a worker decodes, or once it has ended.
    source: Option<Source<'a>>,
    batches: VecDeque<Batch>,
    /// The number of the first of them.
    first: usize,
    sizing: Option<Sizing>,
    /// What is known of the input, once it has ended.
    facts: Option<Facts>,
    runs: Vec<Run<'a>>,
}

struct Run<'a> {
    /// Its combination's, with the size of the device found.
    config: Config,
    /// Batches seen.
    position: usize,
    phase: Phase<'a>,
}

enum Phase<'a> {
    /// Its model is not built.
    New(Box<Result<Prepass, Error>>),
    Idle(Box<Simulation<'a>>),
    /// A worker has it.
    Busy,
    Done(Outcome),
}

/// What a worker does next.
enum Task<'a> {
    Open(usize),
    Decode(usize, Source<'a>),
    Build {
        feed: usize,
        run: usize,
        config: Box<Config>,
        prepass: Result<Prepass, Error>,
        start: Start,
    },
    Advance {
        feed: usize,
        run: usize,
        simulation: Box<Simulation<'a>>,
        batches: Vec<Batch>,
        /// There are no more.
        last: bool,
    },
    Wait,
    End,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(
        inputs: &'a [Input],
        combinations: &'a [Combination],
        counter: &'a Counter<'a>,
        workers: usize,
    ) -> Self {
        let state = State {
            feeds: Vec::new(),
            devices: Devices::new(combinations, inputs.len()),
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
            inputs,
            combinations,
            counter,
            workers,
            bytes: if is_known {
                None
            } else {
                inputs.iter().map(Input::bytes).sum()
            },
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Does everything; what is known of each input and the results of its runs, in order.
    pub(crate) fn run(self) -> Result<Vec<(Facts, Vec<Finished>)>, Error> {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers)
                .map(|_| scope.spawn(|| self.work()))
                .collect();
            let panics = workers.into_iter().filter_map(|worker| worker.join().err());
            match panics.count() {
                0 => Ok(()),
                _ => Err(Error::Internal("a run panicked".to_owned())),
            }
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
                Phase::Done(result) => Some((run.config, result)),
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
            match state.next(self.workers, self.inputs.len()) {
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

    /// The first failure counts; a worker that was stopped by it has nothing to add.
    fn fail(&self, state: &mut State<'a>, error: Error) {
        state.failure.get_or_insert(error);
        state.stopped = true;
        self.counter.stop();
    }

    /// What concerns one run becomes its result; an error here ends the comparison.
    fn carry_out(&self, task: Task<'a>) -> Result<(), Error> {
        match task {
            Task::Open(feed) => {
                let opened = self.open(&self.inputs[feed])?;
                let mut state = self.lock();
                state.opening = false;
                let configs = opened.runs.iter().map(|run| &run.config);
                state.devices.add_input(self.combinations, configs);
                state.feeds.push(opened);
            }
            Task::Decode(feed, source) => self.decode(feed, source)?,
            Task::Build {
                feed,
                run,
                config,
                prepass,
                start,
            } => {
                let built = self.build((feed, run), &config, prepass, start);
                self.put_back(feed, run, 0, built)?;
            }
            Task::Advance {
                feed,
                run,
                simulation,
                batches,
                last,
            } => {
                let phase = advance(simulation, &batches, last);
                self.put_back(feed, run, batches.len(), phase)?;
            }
            Task::Wait | Task::End => {}
        }
        Ok(())
    }

    /// Opens `input`, after the pass before it that some of the runs need.
    fn open(&self, input: &'a Input) -> Result<Feed<'a>, Error> {
        let configs: Vec<_> = self.combinations.iter().map(|each| &each.config).collect();
        let Survey { plans, sizing } = Survey::of(input, &configs, self.counter)?;
        let run = |plan: Plan| Run {
            config: plan.config,
            position: 0,
            phase: Phase::New(Box::new(plan.prepass)),
        };
        Ok(Feed {
            source: Some(input.open(configs[0])?),
            batches: VecDeque::new(),
            first: 0,
            sizing,
            facts: None,
            runs: plans.into_iter().map(run).collect(),
        })
    }

    /// Adds the next batch to a feed, or finds its end.
    fn decode(&self, feed: usize, mut source: Source<'a>) -> Result<(), Error> {
        let (mut requests, mut some) = (Vec::with_capacity(BATCH), Vec::new());
        let mut has_ended = false;
        while requests.len() < BATCH && !has_ended {
            has_ended = !source.fill(&mut some)?;
            requests.extend_from_slice(&some);
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
        // Where every run has failed, nobody reads on.
        if has_ended || of.have_all_failed() {
            of.facts = Some(self.facts(feed, of.sizing, &source)?);
        } else {
            of.source = Some(source);
        }
        Ok(())
    }

    fn facts(
        &self,
        feed: usize,
        sizing: Option<Sizing>,
        source: &Source<'_>,
    ) -> Result<Facts, Error> {
        let options = self.inputs[feed].options(&self.combinations[0].config)?;
        let mut facts = Facts::of_source(source, &options);
        facts.sizing = sizing;
        Ok(facts)
    }

    /// Estimates from what was decoded so far how many requests there will be.
    fn estimate(&self, state: &mut State<'a>, source: &Source<'a>, has_ended: bool) {
        let (Some(total), Some(reader)) = (self.bytes, source.reader()) else {
            return;
        };
        let read = state.bytes_ended + reader.bytes_read();
        if has_ended {
            state.bytes_ended = read;
        }
        let requests = state.decoded as f64 * total as f64 / read.max(1) as f64;
        self.counter
            .expect(requests as u64 * self.combinations.len() as u64);
    }

    /// Makes the model of a run, which is given by its feed and its number there.
    fn build(
        &self,
        (feed, run): (usize, usize),
        config: &Config,
        prepass: Result<Prepass, Error>,
        start: Start,
    ) -> Phase<'a> {
        let mut observer: Box<dyn Observer + 'a> = Box::new(Watch::new(self.counter, Silent));
        let ftl = start.ftl(config, &mut *observer);
        let (ftl, original) = match ftl {
            Ok((ftl, original)) => (Ok(ftl), original),
            Err(error) => (Err(error), None),
        };
        self.lock().devices.put_back(feed, run, original);
        let built = prepass.and_then(|prepass| {
            let origin = self.inputs[feed].name();
            Ok(Simulation::new(config, &origin, ftl?, &prepass, observer)?)
        });
        match built {
            Ok(simulation) => Phase::Idle(Box::new(simulation)),
            Err(error) => Phase::Done(Err(error)),
        }
    }

    /// A worker has done with a run, which has seen `seen` more batches.
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
            of.facts = Some(self.facts(feed, of.sizing, &source)?);
        }
        Ok(())
    }
}

/// Takes a run through `batches`, and to its end if they were the last or it wants no more.
fn advance<'a>(mut simulation: Box<Simulation<'a>>, batches: &[Batch], last: bool) -> Phase<'a> {
    for batch in batches {
        match simulation.feed(batch) {
            Ok(true) => {}
            Ok(false) => return Phase::Done(simulation.finish().map_err(Error::from)),
            Err(error) => return Phase::Done(Err(error.into())),
        }
    }
    if last {
        Phase::Done(simulation.finish().map_err(Error::from))
    } else {
        Phase::Idle(simulation)
    }
}

impl<'a> State<'a> {
    fn next(&mut self, workers: usize, inputs: usize) -> Task<'a> {
        if self.stopped {
            return Task::End;
        }
        for (index, feed) in self.feeds.iter_mut().enumerate() {
            if feed.batches.len() < WINDOW
                && let Some(source) = feed.source.take()
            {
                return Task::Decode(index, source);
            }
        }
        if let Some((feed, run)) = self.furthest_behind() {
            return self.take(feed, run);
        }
        let is_open = |run: &&Run<'_>| !matches!(run.phase, Phase::Done(_));
        let runs = self.feeds.iter().flat_map(|feed| &feed.runs);
        let unfinished = runs.filter(is_open).count();
        if self.feeds.len() < inputs && !self.opening && unfinished < workers {
            self.opening = true;
            return Task::Open(self.feeds.len());
        }
        let all_read = self.feeds.iter().all(|feed| feed.facts.is_some());
        if self.feeds.len() == inputs && unfinished == 0 && all_read {
            return Task::End;
        }
        Task::Wait
    }

    /// The run, of those that can go on, that has seen the fewest batches, and of these the first.
    fn furthest_behind(&self) -> Option<(usize, usize)> {
        let feeds = self.feeds.iter().enumerate();
        let runs = feeds.flat_map(|(feed, of)| {
            let runs = of.runs.iter().enumerate();
            runs.map(move |(run, state)| (feed, run, of, state))
        });
        let ready = runs.filter(|(number, index, feed, run)| match run.phase {
            Phase::New(_) => self.devices.is_free(*number, *index),
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
                config: Box::new(of.runs[run].config.clone()),
                prepass: *prepass,
                start: self.devices.take(feed, run),
            },
            Phase::Idle(simulation) => Task::Advance {
                feed,
                run,
                simulation,
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

    /// Whether a run will see what is decoded.
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

    /// Drops the batches that every run has seen.
    fn forget_batches(&mut self) {
        let waiting = self
            .runs
            .iter()
            .filter(|run| !matches!(run.phase, Phase::Done(_)));
        let least = waiting.map(|run| run.position).min().unwrap_or(self.end());
        while self.first < least {
            self.batches.pop_front();
            self.first += 1;
        }
    }
}

/// Stops the other workers if this one panics: nobody would give back what it has.
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
