//! Rebuilds the state of the superblocks from spare areas after a loss of power.

use alloc::vec::Vec;
use core::cmp::Ordering;

use destage_base::Lpn;

use super::Striped;
use super::shape::NONE;
use destage_nand::found::{FoundBlock, Place, Scan};
use destage_nand::operation::{Purpose, Role};

impl Striped {
    /// Sets the state of the layer from `scan`; the layer was just built without contents. For each logical page,
    /// `take` receives the copy that is used.
    ///
    /// For each stream, at most two superblocks stay open: those that were programmed last and have free places.
    /// In these superblocks, each die continues after the last unit that it has begun. Other superblocks with
    /// valid pages may be collected.
    pub(super) fn take_over(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        for (nand, blocks) in self.dies.iter_mut().zip(&scan.dies) {
            for (block, found) in (0..).zip(blocks) {
                nand.restore(block, found);
            }
        }
        let pages = self.map.len() as u64;
        let mut valid = alloc::vec![0; self.shape.rows as usize];
        let mut places: Vec<Place> = Vec::new();
        scan.copies(|of_page| places.extend(of_page.last().filter(|place| place.page.0 < pages)));
        for place in &places {
            let address = self.shape.address(place.die, place.at);
            *self.map.get_mut(place.page.0 as usize) = address;
            *self.owner.get_mut(address as usize) = place.page.0 as u32;
            valid[self.shape.row_of(place.at) as usize] += 1;
            let block = &scan.dies[place.die as usize][(place.at.0 >> scan.page_bits) as usize];
            let owner = block.purpose().and_then(|purpose| purpose.owner);
            let count = self.moves() as u32;
            if let Some(handles) = &mut self.handles {
                *handles.get_mut(place.page.0 as usize) = owner.unwrap_or(0) % count;
            }
        }
        let mut used: Vec<(u64, u32)> = Vec::new();
        for row in 0..self.shape.rows {
            let last = self
                .blocks_of(scan, row)
                .filter_map(|block| block.programs());
            let last = last.map(|(_, last)| last).max().unwrap_or(0);
            if valid[row as usize] > 0 || last > 0 {
                used.push((last, row));
            }
            if valid[row as usize] > 0 {
                self.rows.found(row, valid[row as usize]);
            }
        }
        // `used` is sorted by the last program of each superblock, so the superblocks that were opened last are at
        // the end.
        used.sort_unstable();
        for stream in 0..self.streams.len() {
            self.open_at_mount(stream, scan, &used);
        }
        for (_, row) in &used {
            if valid[*row as usize] > 0 && !self.is_open(*row) {
                self.rows.offer(*row);
            }
        }
        if !self.has_room_to_collect() {
            self.discard_copies(scan, &used, &mut places);
        }
        if !self.has_room_to_collect() {
            self.move_into_open();
        }
        self.least_free = self.rows.free();
        places.into_iter().for_each(take);
    }

    /// Whether the valid pages of the superblock that would be collected first can be moved.
    fn has_room_to_collect(&self) -> bool {
        let Some(row) = self.best() else { return true };
        self.rows.free() > 0 || self.room_of(self.moves()) >= self.rows.valid(row)
    }

    /// Number of free places for data in the open superblocks of `stream`.
    fn room_of(&self, stream: usize) -> u32 {
        let part = self.shape.part();
        let state = &self.streams[stream];
        let left = |die: u32| {
            let next = state.next[die as usize];
            let of = |index: usize, from: u32| match state.rows[index] {
                NONE => 0,
                row => self.shape.data_places(row, die, from),
            };
            match next / part {
                0 => of(0, next) + of(1, 0),
                1 => of(1, next - part),
                _ => 0,
            }
        };
        (0..self.shape.dies).map(left).sum()
    }

    /// Makes the stream with the most free places in its open superblocks the stream of moved pages. This is
    /// needed if the power loss has undone writes and trims, so that no superblock is free. Moved pages then fill
    /// the open superblock of a handle, until a superblock is empty.
    fn move_into_open(&mut self) {
        let moves = self.moves();
        let most = (0..=moves).max_by_key(|stream| self.room_of(*stream));
        self.streams.swap(moves, most.unwrap_or(moves));
    }

    /// Makes a superblock free in which every valid page has an equal copy elsewhere. This is needed if
    /// interrupted programs have filled the superblock for moved pages. Such a superblock exists: no source is
    /// erased before all its pages have moved, so every page in the superblock that garbage collection opened last
    /// still has its source.
    fn discard_copies(&mut self, scan: &Scan, used: &[(u64, u32)], places: &mut [Place]) {
        let mut copies = Vec::new();
        scan.copies(|of_page| copies.extend_from_slice(of_page));
        let by_page = |page: Lpn| {
            let first = copies.partition_point(|copy| copy.page < page);
            copies[first..]
                .iter()
                .take_while(move |copy| copy.page == page)
        };
        let row_of = |place: &Place| self.shape.row_of(place.at);
        let other = |place: &Place| {
            let mut equal = by_page(place.page).filter(|copy| {
                copy.rank.version == place.rank.version
                    && copy.rank.is_whole
                    && !self.is_about_to_go(copy)
            });
            equal.find(|copy| row_of(copy) != row_of(place)).copied()
        };
        let can_go = |row: &u32| {
            let mut of_row = places.iter().filter(|place| row_of(place) == *row);
            self.rows.valid(*row) > 0 && of_row.all(|place| other(place).is_some())
        };
        let rows = used.iter().rev().map(|(_, row)| *row);
        let Some(row) = { rows }.find(can_go) else {
            return;
        };
        let of_row = places.iter_mut().filter(|place| row_of(place) == row);
        let moved: Vec<(u32, Place)> = of_row
            .filter_map(|place| {
                let before = self.shape.address(place.die, place.at);
                *place = other(place)?;
                Some((before, *place))
            })
            .collect();
        for stream in 0..self.streams.len() {
            if self.streams[stream].rows.contains(&row) {
                self.close(stream);
            }
        }
        for (before, place) in moved {
            let address = self.shape.address(place.die, place.at);
            let taken = self.shape.row_of(place.at);
            *self.map.get_mut(place.page.0 as usize) = address;
            *self.owner.get_mut(address as usize) = place.page.0 as u32;
            if !self.is_open(taken) {
                self.rows.withdraw(taken);
            }
            self.rows.found(taken, self.rows.valid(taken) + 1);
            if !self.is_open(taken) {
                self.rows.offer(taken);
            }
            self.forget(before);
        }
    }

    /// Whether the copy at `place` is in a part of an open superblock that is erased before `place.die` fills it.
    fn is_about_to_go(&self, place: &Place) -> bool {
        let (row, part) = (self.shape.row_of(place.at), self.shape.part());
        self.streams.iter().any(|stream| {
            let index = stream.rows.iter().position(|open| *open == row);
            index.is_some_and(|index| stream.next[place.die as usize] <= index as u32 * part)
        })
    }

    /// Closes the open superblocks of `stream`; their free places stay unused.
    fn close(&mut self, stream: usize) {
        while self.streams[stream].rows[0] != NONE {
            for die in 0..self.shape.dies {
                self.leave(stream, die);
            }
            self.go_on(stream);
        }
    }

    fn blocks_of<'s>(
        &self,
        scan: &'s Scan,
        row: u32,
    ) -> impl Iterator<Item = &'s FoundBlock> + use<'s> {
        let blocks: Vec<u32> = self.shape.blocks(row).collect();
        scan.dies.iter().flat_map(move |of_die| {
            blocks
                .clone()
                .into_iter()
                .map(|block| &of_die[block as usize])
        })
    }

    /// The use of the block of superblock `row` that was programmed last.
    fn purpose_of(&self, scan: &Scan, row: u32) -> Option<Purpose> {
        let blocks = self.blocks_of(scan, row);
        let latest = blocks.max_by_key(|block| block.programs().map_or(0, |(_, last)| last))?;
        latest.purpose()
    }

    /// The place after the last unit that `die` has begun in its part of `row`. The result is 0 if the part has no
    /// needed page: the part may not have been erased since the superblock was opened, so it is erased before it
    /// is filled. If only units of the drive's own would follow, the die leaves the part: the result is the end of
    /// the part.
    fn place_at_mount(&self, scan: &Scan, die: u32, row: u32) -> u32 {
        let (unit, planes) = (self.shape.unit, self.shape.planes);
        let is_needed = |place: u32| {
            let address = self.shape.address(die, self.shape.at(row, place));
            self.page_at(address).is_some()
        };
        if !(0..self.shape.part()).any(is_needed) {
            return 0;
        }
        let units = (0..).zip(self.shape.blocks(row)).map(|(plane, block)| {
            let end = scan.dies[die as usize][block as usize].end();
            let end = end.min(self.shape.data_pages);
            match end.div_ceil(unit) {
                0 => 0,
                begun => (begun - 1) * planes + plane + 1,
            }
        });
        let place = units.max().unwrap_or(0) * unit;
        match self.shape.data_places(row, die, place) {
            0 => self.shape.part(),
            _ => place,
        }
    }

    /// Chooses, among the `used` superblocks, those that `stream` continues to fill.
    fn open_at_mount(&mut self, stream: usize, scan: &Scan, used: &[(u64, u32)]) {
        let part = self.shape.part();
        let is_its = |row: u32| match self.purpose_of(scan, row) {
            Some(purpose) if purpose.role == Role::Migrations => stream == self.moves(),
            Some(purpose) if purpose.role == Role::Host => {
                stream < self.moves()
                    && purpose.owner.unwrap_or(0) as usize % self.moves() == stream
            }
            _ => false,
        };
        let has_room = |row: u32| {
            let mut dies = 0..self.shape.dies;
            dies.any(|die| self.place_at_mount(scan, die, row) < part)
        };
        let fitting = used.iter().rev().map(|(_, row)| *row);
        let mut rows: Vec<u32> = fitting
            .filter(|row| is_its(*row) && has_room(*row))
            .take(2)
            .collect();
        rows.reverse();
        if rows.is_empty() {
            return;
        }
        let mut next = alloc::vec![0; self.shape.dies as usize];
        let mut room = 0;
        for (die, next) in (0..).zip(&mut next) {
            let at = |row: u32| self.place_at_mount(scan, die, row);
            *next = match rows[..] {
                [first, second] if at(first) == part || at(second) > 0 => part + at(second),
                [first, ..] => at(first),
                [] => 0,
            };
            let (begun, place) = (*next / part, *next % part);
            for (index, row) in (0..).zip(&rows) {
                let left = match begun.cmp(&index) {
                    Ordering::Less => self.shape.data_places(*row, die, 0),
                    Ordering::Equal => self.shape.data_places(*row, die, place),
                    Ordering::Greater => 0,
                };
                room += u64::from(left);
            }
        }
        for row in &rows {
            self.rows.found(*row, self.rows.valid(*row));
        }
        self.room += room;
        let state = &mut self.streams[stream];
        state.rows = [rows[0], rows.get(1).copied().unwrap_or(NONE)];
        state.in_first = next.iter().filter(|next| **next < part).count() as u32;
        state.next = next;
        self.go_on(stream);
    }
}
