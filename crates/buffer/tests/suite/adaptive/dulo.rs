//! A naive model of `dulo`, with a list of staged pages and a list of sequences.

use crate::adaptive::differential::{Model, Now, Size, compare};

struct Dulo {
    capacity: usize,
    stage_pages: usize,
    /// A run of pages ends before each page number that is a multiple of this value.
    cut: u64,
    renews: bool,
    stage: Vec<u64>,
    /// For each sequence: its H in units of 2^-32, and its pages. The sequences are in the order in which they
    /// were formed.
    sequences: Vec<(u64, Vec<u64>)>,
    inflation: u64,
}

impl Dulo {
    fn new(size: &Size, stage_pages: usize, cut: u64, renews: bool) -> Self {
        Self {
            capacity: size.capacity,
            stage_pages,
            cut,
            renews,
            stage: Vec::new(),
            sequences: Vec::new(),
            inflation: 0,
        }
    }

    fn forget(&mut self, page: u64) {
        self.stage.retain(|held| *held != page);
        for sequence in &mut self.sequences {
            sequence.1.retain(|held| *held != page);
        }
        self.sequences.retain(|sequence| !sequence.1.is_empty());
    }

    fn close_run(&mut self) {
        let oldest = self.stage[0];
        let block = oldest / self.cut;
        let is_in = |page: &u64| self.stage.contains(page) && page / self.cut == block;
        let mut run: Vec<u64> = (oldest..).take_while(is_in).collect();
        run.extend((0..oldest).rev().take_while(is_in));
        run.sort();
        self.stage.retain(|page| !run.contains(page));
        let h = self.inflation + (1 << 32) / run.len() as u64;
        self.sequences.push((h, run));
    }

    fn pop(&mut self) -> Vec<u64> {
        if self.sequences.is_empty() {
            self.close_run();
        }
        let least = self.sequences.iter().map(|sequence| sequence.0).min();
        self.inflation = least.unwrap();
        let first = self
            .sequences
            .iter()
            .position(|sequence| Some(sequence.0) == least);
        self.sequences.remove(first.unwrap()).1
    }

    fn len(&self) -> usize {
        let in_sequences = self.sequences.iter().map(|sequence| sequence.1.len());
        self.stage.len() + in_sequences.sum::<usize>()
    }
}

impl Model for Dulo {
    fn write(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        let mut destaged = Vec::new();
        let is_staged = self.stage.contains(&page);
        if is_staged && !self.renews {
            return destaged;
        }
        let in_sequence = self.sequences.iter().any(|held| held.1.contains(&page));
        if !is_staged && !in_sequence && self.len() == self.capacity {
            destaged.push(self.pop());
        }
        self.forget(page);
        self.stage.push(page);
        if self.stage.len() > self.stage_pages {
            self.close_run();
        }
        destaged
    }

    fn trim(&mut self, page: u64) {
        self.forget(page);
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.forget(page);
        vec![vec![page]]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while self.len() > 0 {
            flushed.push(self.pop());
        }
        flushed
    }
}

#[test]
fn dulo() {
    compare("dulo", &[], |size| {
        Box::new(Dulo::new(size, 32, size.cluster, false))
    });
    compare("dulo", &["dulo_stage=7"], |size| {
        Box::new(Dulo::new(size, 7, size.cluster, false))
    });
    compare(
        "dulo",
        &["dulo_stage=12", "dulo_cut=none", "dulo_stage_hit=renew"],
        |size| Box::new(Dulo::new(size, 12, u64::MAX, true)),
    );
}
