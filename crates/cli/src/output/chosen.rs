//! The table of a comparison with the user's `--columns` and `--sort`.

use std::cmp::Ordering;

use destage_sim::metrics;

use crate::args::TableArguments;
use crate::errors::{Failure, warn};
use crate::output::summary::{self, identity};
use crate::output::table::{Side, Table};
use crate::output::{numbers, ranking};
use destage::Record;

/// The columns of the table, and the order of its rows.
pub(crate) struct Chosen {
    /// Names of metrics and parameters. If there are none, the table has the usual columns.
    columns: Vec<String>,
    /// The column by which the rows are sorted, and whether the largest value is first.
    sort: Option<(String, bool)>,
}

impl Chosen {
    /// Checks the values of the two options. `is_parameter` returns whether a name is a parameter of the runs.
    pub(crate) fn new(
        options: &TableArguments,
        is_parameter: impl Fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let check = |option: &str, name: &str| {
            if is_parameter(name) {
                return Ok(name.to_owned());
            }
            match metrics::require(name) {
                Ok(_) => Ok(name.to_owned()),
                Err(error) => Err(Failure::input(format!(
                    "{option}: {error}, or a parameter of the runs"
                ))),
            }
        };
        let columns = options.columns.iter().flat_map(|list| list.split(','));
        let sort = options.sort.as_deref();
        let sort = sort.map(|key| match key.strip_prefix('-') {
            Some(key) => check("--sort", key).map(|key| (key, true)),
            None => check("--sort", key).map(|key| (key, false)),
        });
        Ok(Self {
            columns: columns
                .map(|name| check("--columns", name.trim()))
                .collect::<Result<_, _>>()?,
            sort: sort.transpose()?,
        })
    }

    /// The table as text. If the usual columns are too wide for the terminal, some are left out.
    pub(crate) fn table(&self, records: &[Record]) -> String {
        match self.columns.is_empty() {
            true => summary::table(&self.sorted(records)),
            false => self.whole(records).text(),
        }
    }

    /// Lines below a table with many rows: the best buffers, and the option that sorts the rows. Empty for a short
    /// table.
    pub(crate) fn best(&self, records: &[Record]) -> String {
        if records.len() <= ranking::MANY {
            return String::new();
        }
        let (best, key) = match (self.columns.first(), ranking::best(records)) {
            (Some(first), _) => (None, first.clone()),
            (None, Some((best, key))) => (Some(best), key),
            (None, None) => return String::new(),
        };
        let order = format!("--sort {key} sorts the rows.");
        let order = Some(order).filter(|_| self.sort.is_none());
        let said: Vec<String> = best.into_iter().chain(order).collect();
        match said.is_empty() {
            true => String::new(),
            false => format!(
                "\n{}\n",
                summary::wrapped(&said.join(" "), summary::width())
            ),
        }
    }

    /// Warns of a chosen column in which no record has a value, and of rows that are not sorted for this reason.
    pub(crate) fn warn_of_empty(&self, records: &[Record]) {
        let has_none = |name: &str| records.iter().all(|record| value(record, name).is_none());
        if let Some((key, _)) = &self.sort
            && has_none(key)
        {
            warn(format!(
                "--sort {key}: no run has it, so the rows are not sorted"
            ));
        }
        for name in self.columns.iter().filter(|name| has_none(name)) {
            warn(format!(
                "--columns {name}: no run has it, so all of its cells are empty"
            ));
        }
    }

    /// The records in the order of the rows. Records without a value in the column by which the rows are sorted are
    /// last.
    fn sorted(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        if let Some((key, is_descending)) = &self.sort {
            records.sort_by(|a, b| match (value(a, key), value(b, key)) {
                (Some(a), Some(b)) if *is_descending => compare(&b, &a),
                (Some(a), Some(b)) => compare(&a, &b),
                (a, b) => b.is_some().cmp(&a.is_some()),
            });
        }
        records
    }

    /// The table with all of its columns.
    pub(crate) fn whole(&self, records: &[Record]) -> Table {
        let records = self.sorted(records);
        if self.columns.is_empty() {
            return summary::whole(&records);
        }
        let first = identity(&records);
        let sides = first.iter().map(|column| column.side);
        let mut table = Table::new(
            sides
                .chain(self.columns.iter().map(|_| Side::Right))
                .collect(),
        );
        let own = first.iter().map(|column| column.head[1]);
        table.row(own.chain(self.columns.iter().map(String::as_str)));
        table.rule();
        for record in &records {
            let names = first.iter().map(|column| column.cell(record));
            let values = self.columns.iter().map(|name| match value(record, name) {
                Some(value) => value.shown,
                None => "-".to_owned(),
            });
            table.row(names.chain(values));
        }
        table
    }
}

/// The text of a cell, and its number if it has one.
struct Cell {
    shown: String,
    number: Option<f64>,
}

fn value(record: &Record, name: &str) -> Option<Cell> {
    if let Some(number) = record.metrics.get(name) {
        return Some(Cell {
            shown: numbers::metric(number),
            number: Some(number.as_f64()),
        });
    }
    let shown = record.parameters.get(name)?.to_string();
    let number = shown.parse().ok();
    Some(Cell { shown, number })
}

fn compare(a: &Cell, b: &Cell) -> Ordering {
    match (a.number, b.number) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.shown.cmp(&b.shown),
    }
}
