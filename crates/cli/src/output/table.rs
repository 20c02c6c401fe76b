//! Text in aligned columns.

/// Which side of its column a cell stands at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows of cells; the widest cell of a column is its width, two spaces between columns.
pub(crate) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
    rule_after: usize,
}

impl Table {
    /// With columns aligned as `sides` say.
    pub(crate) fn new(sides: Vec<Side>) -> Self {
        Self {
            sides,
            rows: Vec::new(),
            rule_after: 0,
        }
    }

    /// Appends a row; cells that are left out are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Draws a line under the rows so far.
    pub(crate) fn rule(&mut self) {
        self.rule_after = self.rows.len();
    }

    /// The text, each line ended, none with spaces at its end.
    pub(crate) fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.sides.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 && index == self.rule_after {
                let rules: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
                text.push_str(rules.join("  ").trim_end());
                text.push('\n');
            }
            let mut line = String::new();
            for ((cell, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let gap = " ".repeat(width - cell.chars().count());
                match side {
                    Side::Left => line.extend([cell.as_str(), gap.as_str(), "  "]),
                    Side::Right => line.extend([gap.as_str(), cell.as_str(), "  "]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left]);
        table.row(["name", "value", "unit"]);
        table.rule();
        table.row(["a", "1,000"]);
        table.row(["long name", "1", "ms"]);
        let lines = [
            "name       value  unit",
            "---------  -----  ----",
            "a          1,000",
            "long name      1  ms",
        ];
        assert_eq!(table.text().lines().collect::<Vec<_>>(), lines);
    }
}
