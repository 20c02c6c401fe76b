//! Writes one stream of pages to one buffer.

use std::collections::VecDeque;

use destage_base::Lpn;
use destage_base::parameter::Values;
use destage_buffer::config::{BufferConfig, Release};
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, Destage, Outlet, SchemeConfig, SchemeRow};

use crate::clock::Stopwatch;
use crate::streams::Stream;

/// The number of pages of a cluster.
pub const CLUSTER_PAGES: u32 = 64;
/// The number of dies in the configuration of the scheme. There is no device behind the buffer.
const DIES: u32 = 8;

/// Builds a buffer with the defaults of its scheme; `None` if the scheme buffers nothing.
pub fn build(
    row: &SchemeRow,
    capacity: u32,
    release: Release,
    future: Option<&[Lpn]>,
) -> Option<Buffer> {
    let config = BufferConfig {
        release,
        ..BufferConfig::new(capacity, CLUSTER_PAGES)
    };
    let values = Values::defaults(row.parameters);
    let scheme = (row.build)(&SchemeConfig {
        dies: DIES,
        future,
        ..SchemeConfig::new(capacity, config.cluster_pages, &values)
    });
    let buffer = Buffer::new(config, scheme);
    buffer.keeps_pages().then_some(buffer)
}

/// All page writes of `stream`, if the scheme needs to know them before the run.
pub fn future_of(row: &SchemeRow, stream: &Stream) -> Option<Vec<Lpn>> {
    row.needs_future().then(|| stream.pages().collect())
}

/// The programs in flight. They end in the order in which they began. A program ends only when a new page waits for
/// its slot.
#[derive(Default)]
pub struct Programs(VecDeque<destage_buffer::destage::DirtyPage>);

impl Programs {
    /// Writes `page` to `buffer`.
    #[inline]
    pub fn write(&mut self, buffer: &mut Buffer, page: Lpn, now: u64) {
        let takes_time = buffer.config().release != Release::Issue;
        let keep = |record: &Destage| {
            if takes_time {
                self.0.extend(record.pages.iter().copied());
            }
        };
        Outlet::new(buffer, &NoDevice, keep).write(page, now);
        while buffer.over_capacity() > 0 {
            let page = self
                .0
                .pop_front()
                .expect("what is too much is being programmed");
            buffer.programmed(page, false, now);
        }
        while buffer.is_eager() && buffer.eager_next(now, &NoDevice) {
            if buffer.config().release != Release::Issue {
                self.0.extend(buffer.record().pages.iter().copied());
            }
        }
    }
}

/// Writes all pages of `stream` to `buffer`.
pub fn run(buffer: &mut Buffer, stream: &Stream) {
    let mut programs = Programs::default();
    let mut now = 0;
    for request in &stream.requests {
        buffer.begin_request(request.pages);
        for page in request.first..request.first + u64::from(request.pages) {
            programs.write(buffer, Lpn(page), now);
            now += 1;
        }
    }
}

/// Writes all of `stream` in each of `runs` runs. Returns the median of the processor times of the runs in seconds,
/// and the number of write hits. `None` if the scheme buffers nothing.
pub fn measure(
    row: &SchemeRow,
    capacity: u32,
    release: Release,
    stream: &Stream,
    runs: usize,
) -> Option<(f64, u64)> {
    let future = future_of(row, stream);
    let mut seconds = Vec::new();
    let mut hits = 0;
    for _ in 0..runs {
        let mut buffer = build(row, capacity, release, future.as_deref())?;
        let watch = Stopwatch::start();
        run(&mut buffer, stream);
        seconds.push(watch.seconds());
        assert!(buffer.counts().are_balanced());
        hits = buffer.counts().write_hits;
    }
    seconds.sort_by(f64::total_cmp);
    Some((seconds[seconds.len() / 2], hits))
}
