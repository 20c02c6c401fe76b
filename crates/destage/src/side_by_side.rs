//! Independent tasks on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::compare::Effort;
use crate::error::Error;
use crate::progress::{Progress, Stage};

/// Does `work` for each of `tasks`, in order, on as many threads as `effort` allows. Each task has one thread, and
/// the memory is divided equally among the threads. When a task is done, progress grows by the number of `runs` of
/// the task.
///
/// # Errors
/// The first error of a task, after which no further task begins; or an interrupt, if `effort.progress` asked to stop.
pub fn side_by_side<T: Sync>(
    tasks: &[T],
    runs: impl Fn(&T) -> u64 + Sync,
    effort: &Effort<'_>,
    work: impl Fn(&T, &Effort<'_>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let threads = effort.all_threads().min(tasks.len()).max(1);
    let memory = effort.memory / threads as u64;
    let total = tasks.iter().map(&runs).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let stopped = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let worker = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let watch = Watch {
                progress: effort.progress,
                stopped: &stopped,
                done: &done,
                total,
            };
            let own = Effort {
                threads: 1,
                memory,
                progress: &watch,
            };
            let result = work(task, &own);
            done.fetch_add(runs(task), Ordering::Relaxed);
            if let Err(error) = result {
                stopped.store(true, Ordering::Relaxed);
                let mut first = failure.lock().unwrap_or_else(|lock| lock.into_inner());
                // An error of one task stops all others, which end with `Interrupted`. This `Interrupted` must not
                // replace the first error.
                if matches!(*first, None | Some(Error::Interrupted)) {
                    *first = Some(error);
                }
            }
            if stopped.load(Ordering::Relaxed) {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| effort.progress.on_thread(&mut || worker()));
        }
        worker();
    });
    match failure
        .into_inner()
        .unwrap_or_else(|lock| lock.into_inner())
    {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Collects the results of parallel tasks, by the number of the task.
pub struct Found<T>(Mutex<Vec<Option<T>>>);

impl<T> Found<T> {
    /// No results yet, of `tasks` tasks.
    #[must_use]
    pub fn of(tasks: usize) -> Self {
        Self(Mutex::new((0..tasks).map(|_| None).collect()))
    }

    /// Stores `what` as the result of the task number `place`, counted from 0.
    pub fn put(&self, place: usize, what: T) {
        let mut all = self.0.lock().unwrap_or_else(|lock| lock.into_inner());
        all[place] = Some(what);
    }

    /// The results in the order of the tasks; `None` for a task without a result.
    #[must_use]
    pub fn into_vec(self) -> Vec<Option<T>> {
        self.0.into_inner().unwrap_or_else(|lock| lock.into_inner())
    }
}

/// Reports progress in runs to the caller, although the tasks report requests.
struct Watch<'a> {
    progress: &'a dyn Progress,
    stopped: &'a AtomicBool,
    done: &'a AtomicU64,
    total: u64,
}

impl Progress for Watch<'_> {
    fn report(&self, _: Stage, _: u64, _: Option<u64>) -> bool {
        let done = self.done.load(Ordering::Relaxed);
        if !self.progress.report(Stage::Runs, done, Some(self.total)) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.stopped.load(Ordering::Relaxed)
    }

    fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        self.progress.on_thread(work);
    }
}
