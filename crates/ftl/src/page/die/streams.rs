//! Streams of writes; writes of different streams do not share blocks. Writes are divided into streams by the
//! placement handle of the host, by how soon a page is written again, or by both.
//!
//! Stream 0 is the only host stream of a die that does not divide its writes. Each other stream has an open block
//! of its own in each pool.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::lazy::{LazyTable, Same};

use super::{Die, Old, Open, Stream};
use crate::NoSpace;
use crate::page::shape::NONE;
use destage_nand::array::Ppn;
use destage_nand::operation::{Cause, Operations};

/// How writes are divided into streams: by the placement handle of the host, by how soon a page is written again,
/// or by both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Separation {
    /// Number of placement handles.
    pub handles: u32,
    /// Pages of different handles that garbage collection moves do not share blocks.
    pub isolates: bool,
    /// A page is hot if its last write was at most this many page writes of its die ago; 0: no page is hot.
    pub window: u32,
}

impl Separation {
    /// All writes belong to one stream.
    pub const NONE: Self = Self {
        handles: 1,
        isolates: false,
        window: 0,
    };

    /// Number of host streams besides the first. The streams of hot pages have higher numbers than the other
    /// streams.
    pub fn further_host(self) -> u32 {
        self.handles * (1 + u32::from(self.window > 0)) - 1
    }

    /// Number of streams of moved pages besides that of the first handle.
    pub fn further_migrations(self) -> u32 {
        match self.isolates {
            true => self.handles - 1,
            false => 0,
        }
    }
}

/// The streams of a die besides those that every die has.
#[derive(Clone)]
pub(crate) struct Streams {
    separation: Separation,
    /// The open blocks by pool and stream; streams of the host come before those of moved pages.
    open: Vec<Open>,
    /// The handle of each page.
    handles: LazyTable<Same<u32>>,
    /// For each page, the value of `writes` at its last write; 0 if the page was never written.
    written: LazyTable<Same<u32>>,
    writes: u32,
    /// The first number of entry `i` is the number of pages written to host stream `i`. The second number is the
    /// number of moved pages of handle `i`.
    counts: Vec<[u64; 2]>,
}

impl Streams {
    /// The additional streams of a die of `pools` pools and `pages` pages, without open blocks. `None` if all
    /// writes belong to one stream, so that the die needs no additional streams.
    pub fn new(separation: Separation, pools: u32, pages: u32, sealed: Open) -> Option<Self> {
        let streams = separation.further_host() + separation.further_migrations();
        (streams > 0).then(|| Self {
            separation,
            open: vec![sealed; (pools * streams) as usize],
            handles: LazyTable::new(pages as usize, Same(0)),
            written: LazyTable::new(pages as usize, Same(0)),
            writes: 0,
            counts: vec![[0; 2]; separation.further_host() as usize + 1],
        })
    }

    /// Number of additional streams of the host, and of moved pages.
    pub fn numbers(&self) -> [u8; 2] {
        [
            self.separation.further_host() as u8,
            self.separation.further_migrations() as u8,
        ]
    }

    fn index(&self, pool: usize, stream: Stream) -> usize {
        let (host, migrations) = (
            self.separation.further_host() as usize,
            self.separation.further_migrations() as usize,
        );
        let of_pool = match stream {
            Stream::FurtherMigrations(number) => host + usize::from(number),
            Stream::FurtherHost(number) => usize::from(number),
            Stream::Host | Stream::Migrations | Stream::Map => 0,
        };
        pool * (host + migrations) + of_pool
    }

    /// The open block of `stream` in `pool`.
    pub fn open(&self, pool: usize, stream: Stream) -> Open {
        self.open[self.index(pool, stream)]
    }

    /// The open block of `stream` in `pool`, to be changed.
    pub fn open_mut(&mut self, pool: usize, stream: Stream) -> &mut Open {
        let index = self.index(pool, stream);
        &mut self.open[index]
    }

    /// Notes that `page` belongs to placement handle `handle` from now on. A mount only knows the number of the
    /// stream in which it found the page, and passes this number as `handle`. The number of the stream modulo the
    /// number of handles is the handle, also for hot and for moved pages.
    pub fn hint(&mut self, page: u32, handle: u32) {
        if self.separation.handles > 1 {
            *self.handles.get_mut(page as usize) = handle % self.separation.handles;
        }
    }

    /// The handle of `page`.
    pub fn handle(&self, page: u32) -> u32 {
        match self.separation.handles {
            1 => 0,
            _ => self.handles.get(page as usize),
        }
    }

    /// Whether `page`, which is on this die, would be hot if it were written now.
    pub fn is_hot(&self, page: u32) -> bool {
        let note = match self.separation.window {
            0 => 0,
            _ => self.written.get(page as usize),
        };
        note > 0 && self.writes.wrapping_sub(note) < self.separation.window
    }

    /// The stream for a write of a page of `handle`.
    pub fn of_write(&self, handle: u32, is_hot: bool) -> Stream {
        match handle + u32::from(is_hot) * self.separation.handles {
            0 => Stream::Host,
            number => Stream::FurtherHost(number as u8 - 1),
        }
    }

    /// The stream to which a copy of `page` goes; `None` if handles are not isolated, or if the page belongs to
    /// the first handle.
    pub fn of_copy(&self, page: u32) -> Option<Stream> {
        if self.separation.further_migrations() == 0 {
            return None;
        }
        let handle = self.handle(page) as u8;
        handle.checked_sub(1).map(Stream::FurtherMigrations)
    }

    fn note_write(&mut self, page: u32, number: u8) {
        self.counts[usize::from(number)][0] += 1;
        if self.separation.window > 0 {
            self.writes = self.writes.wrapping_add(1).max(1);
            *self.written.get_mut(page as usize) = self.writes;
        }
    }

    /// Counts the move of `page`.
    pub fn note_copy(&mut self, page: u32) {
        let handle = self.handle(page);
        self.counts[handle as usize][1] += 1;
    }

    /// The first number of entry `i` is the number of pages written to host stream `i`. The second number is the
    /// number of moved pages of handle `i`.
    pub fn counts(&self) -> &[[u64; 2]] {
        &self.counts
    }

    /// Sets all counts to 0.
    pub fn reset_counts(&mut self) {
        self.counts.fill([0; 2]);
    }
}

impl Die {
    /// All streams that have blocks of their own.
    pub(super) fn all_streams(&self) -> impl Iterator<Item = Stream> + use<> {
        let of = |streams: &Streams| streams.numbers();
        let [host, migrations] = self.extras.streams.as_ref().map_or([0; 2], of);
        [Stream::Host, Stream::Migrations, Stream::Map]
            .into_iter()
            .chain((0..host).map(Stream::FurtherHost))
            .chain((0..migrations).map(Stream::FurtherMigrations))
    }

    #[cold]
    pub(super) fn open_of_further(&self, pool: usize, stream: Stream) -> Open {
        match &self.extras.streams {
            Some(streams) => streams.open(pool, stream),
            // The stream does not exist, so no block is open.
            None => Open {
                block: 0,
                page: self.shape.data_pages,
            },
        }
    }

    /// Makes `open` the open block of `stream` in `pool`; `stream` is not [`Stream::Host`].
    #[cold]
    pub(super) fn set_open(&mut self, pool: usize, stream: Stream, open: Open) {
        match stream {
            Stream::Host => {}
            Stream::Migrations => self.rest.asides[pool].open[0] = open,
            Stream::Map => self.rest.asides[pool].open[1] = open,
            Stream::FurtherHost(_) | Stream::FurtherMigrations(_) => {
                if let Some(streams) = &mut self.extras.streams {
                    *streams.open_mut(pool, stream) = open;
                }
            }
        }
    }

    /// The stream for a write of `page`, which is on this die or was never written.
    pub fn stream_of_write(&self, page: u32) -> Stream {
        let of = |streams: &Streams| streams.of_write(streams.handle(page), streams.is_hot(page));
        self.extras.streams.as_ref().map_or(Stream::Host, of)
    }

    /// Writes `page` to the open block of `stream`. A call that fails has changed nothing.
    pub fn write_to_stream(
        &mut self,
        (page, stream): (u32, Stream),
        same_plane: bool,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let old = self.old_copy(page);
        let pool = self.pool_for(stream, page, old, same_plane);
        let target = match self.next_of(pool, stream) {
            Ok(target) => target,
            Err(full) => {
                self.search.pointer = self.search.before;
                return Err(full);
            }
        };
        if let Some(Old { block, .. }) = old {
            self.invalidate_in(block);
        }
        operations.push_host_program(cause, target, || stream.purpose());
        self.program(pool, stream, page, operations);
        if let Some(streams) = &mut self.extras.streams {
            let number = match stream {
                Stream::FurtherHost(number) => number + 1,
                _ => 0,
            };
            streams.note_write(page, number);
        }
        Ok(())
    }

    /// The stream of the host whose open block in `pool` is `block`, and the next page of that block. `None` if
    /// `block` is not the open block of a stream of the host.
    pub fn host_stream_of(&self, pool: usize, block: u32) -> Option<(Stream, u32)> {
        let host = self
            .extras
            .streams
            .as_ref()
            .map_or(0, |streams| streams.separation.further_host());
        let streams = (0..host as u8).map(Stream::FurtherHost);
        core::iter::once(Stream::Host)
            .chain(streams)
            .find_map(|stream| {
                let open = self.open_page(pool, stream);
                let is_open = open.block == block && open.page < self.shape.data_pages;
                is_open.then_some((stream, open.page))
            })
    }

    /// Number of blocks that have to be opened in `pool` for the copies of the valid pages of `block`.
    pub fn blocks_for_copies(&self, block: u32, pool: usize) -> u32 {
        let first = block << self.shape.page_bits;
        let pages = first..first + self.shape.data_pages;
        let mut of_stream: Vec<(Stream, u32)> = Vec::new();
        for page in pages.filter_map(|ppn| self.valid_at(ppn)) {
            let stream = self.stream_of_copy(page);
            match of_stream.iter_mut().find(|(other, _)| *other == stream) {
                Some((_, pages)) => *pages += 1,
                None => of_stream.push((stream, 1)),
            }
        }
        let needs_one = |(stream, pages): &&(Stream, u32)| {
            *pages > self.shape.data_pages - self.open_page(pool, *stream).page
        };
        of_stream.iter().filter(needs_one).count() as u32
    }

    /// Programs a filler at `place`; no logical page owns it.
    pub fn program_filler(&mut self, place: Ppn) {
        let within = place.0 & ((1 << self.shape.page_bits) - 1);
        self.nand.program(place.0 >> self.shape.page_bits, within);
        *self.owner.get_mut(place.0 as usize) = NONE;
    }
}
