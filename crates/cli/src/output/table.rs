//! Text in aligned columns.

use std::ops::Range;

/// The markup language of a table that another program typesets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Markup {
    Markdown,
    /// A LaTeX table with the rules of the package `booktabs`.
    Latex,
}

/// The alignment of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows of cells. Each column is as wide as its widest cell, and two spaces separate columns.
pub(crate) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
    rule_after: usize,
}

impl Table {
    /// An empty table. `sides` has the alignment of each column.
    pub(crate) fn new(sides: Vec<Side>) -> Self {
        Self {
            sides,
            rows: Vec::new(),
            rule_after: 0,
        }
    }

    /// Appends a row. Missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Draws a line below the rows that the table has so far.
    pub(crate) fn rule(&mut self) {
        self.rule_after = self.rows.len();
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        (0..self.sides.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect()
    }

    /// The text, divided into several tables, so that no table is wider than `width` characters. Each table repeats
    /// the first column. A table with only one other column may be wider.
    pub(crate) fn within(&self, width: usize) -> String {
        let widths = self.lined_up().widths();
        let mut texts = Vec::new();
        let mut next = 1;
        while next < widths.len() {
            let mut room = width.saturating_sub(widths[0]);
            let fits = widths[next..].iter().take_while(|column| {
                let fits = **column + 2 <= room;
                room = room.saturating_sub(**column + 2);
                fits
            });
            let end = next + fits.count().max(1);
            texts.push(self.columns(next..end).text());
            next = end;
        }
        texts.join("\n")
    }

    /// This table with decimal points aligned in columns of numbers.
    fn lined_up(&self) -> Self {
        let fraction = |cell: &str| {
            let cell = cell.trim_end();
            let number = cell.replace(',', "").parse::<f64>();
            number
                .is_ok()
                .then(|| cell.find('.').map_or(0, |point| cell.len() - point))
        };
        let mut rows = self.rows.clone();
        for (column, side) in self.sides.iter().enumerate() {
            if *side == Side::Left {
                continue;
            }
            let cells = rows.iter().filter_map(|row| row.get(column));
            let most = cells.filter_map(|cell| fraction(cell)).max().unwrap_or(0);
            for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                if let Some(own) = fraction(cell) {
                    cell.truncate(cell.trim_end().len());
                    cell.push_str(&" ".repeat(most - own));
                }
            }
        }
        Self {
            sides: self.sides.clone(),
            rows,
            rule_after: self.rule_after,
        }
    }

    /// A table of the first column and the columns in `range`.
    fn columns(&self, range: Range<usize>) -> Self {
        let sides = [&self.sides[..1], &self.sides[range.clone()]].concat();
        let rows = self.rows.iter().map(|row| {
            let columns = std::iter::once(0).chain(range.clone());
            columns
                .map_while(|column| row.get(column).cloned())
                .collect()
        });
        Self {
            sides,
            rows: rows.collect(),
            rule_after: self.rule_after,
        }
    }

    /// The table in `markup`. The heading of each column joins the non-empty cells above the rule.
    pub(crate) fn marked_up(&self, markup: Markup) -> String {
        let width = self.sides.len();
        let (head, body) = self.rows.split_at(self.rule_after);
        let heading = (0..width).map(|column| {
            let cells = head.iter().filter_map(|row| row.get(column));
            let words: Vec<&str> = cells
                .map(|cell| cell.trim())
                .filter(|cell| !cell.is_empty())
                .collect();
            words.join(" ")
        });
        let cells = |row: &Vec<String>| -> Vec<String> {
            let cell = |column| row.get(column).map(|cell: &String| cell.trim().to_owned());
            (0..width)
                .map(|column| cell(column).unwrap_or_default())
                .collect()
        };
        let is_empty = |row: &Vec<String>| row.iter().all(String::is_empty);
        let body = body.iter().map(cells).filter(|row| !is_empty(row));
        let heading: Vec<String> = heading.collect();
        match markup {
            Markup::Markdown => markdown(&heading, &self.sides, body),
            Markup::Latex => latex(&heading, &self.sides, body),
        }
    }

    /// The text. Every line ends with a line break and has no trailing spaces.
    pub(crate) fn text(&self) -> String {
        let lined_up = self.lined_up();
        let widths = lined_up.widths();
        let mut text = String::new();
        for (index, row) in lined_up.rows.iter().enumerate() {
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

fn markdown(heading: &[String], sides: &[Side], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|"))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rules: Vec<&str> = sides
        .iter()
        .map(|side| if *side == Side::Left { "---" } else { "---:" })
        .collect();
    let mut text = line(heading);
    text.push_str(&format!("| {} |\n", rules.join(" | ")));
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}

fn latex(heading: &[String], sides: &[Side], rows: impl Iterator<Item = Vec<String>>) -> String {
    let escaped = |cell: &String| {
        let mut text = String::new();
        for letter in cell.chars() {
            match letter {
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => text.extend(['\\', letter]),
                '\\' => text.push_str("\\textbackslash{}"),
                '~' => text.push_str("\\textasciitilde{}"),
                '^' => text.push_str("\\textasciicircum{}"),
                '<' => text.push_str("\\textless{}"),
                '>' => text.push_str("\\textgreater{}"),
                other => text.push(other),
            }
        }
        text
    };
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(escaped).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let sides: String = sides
        .iter()
        .map(|side| if *side == Side::Left { 'l' } else { 'r' })
        .collect();
    let mut text = format!(
        "\\begin{{tabular}}{{{sides}}}\n\\toprule\n{}\\midrule\n",
        line(heading)
    );
    rows.for_each(|row| text.push_str(&line(&row)));
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_stands_below() {
        let mut table = Table::new(vec![Side::Left, Side::Right, Side::Right, Side::Right]);
        table.row(["name", "one", "two", "three"]);
        table.rule();
        table.row(["a", "1", "2", "3"]);
        assert_eq!(table.within(21), table.text());
        let all = [
            "name  one  two",
            "----  ---  ---",
            "a       1    2",
            "",
            "name  three",
            "----  -----",
            "a         3",
            "",
        ];
        assert_eq!(table.within(20), all.join("\n"));
        assert_eq!(table.within(14), all.join("\n"));
        assert_eq!(table.within(13).lines().count(), 11);
        assert_eq!(table.within(1).lines().count(), 11);
    }

    #[test]
    fn decimal_points_stand_under_each_other() {
        let mut table = Table::new(vec![Side::Left, Side::Right]);
        table.row(["name", "ms"]);
        table.rule();
        table.row(["a", "0.09274"]);
        table.row(["b", "23.97"]);
        table.row(["c", "1,064"]);
        table.row(["d", "-"]);
        let lines = [
            "name           ms",
            "----  -----------",
            "a         0.09274",
            "b        23.97",
            "c     1,064",
            "d               -",
        ];
        assert_eq!(table.text().lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn other_programs_set_the_same_cells() {
        let mut table = Table::new(vec![Side::Left, Side::Right]);
        table.row(["", "mean"]);
        table.row(["a|b", "ms"]);
        table.rule();
        table.row([""]);
        table.row(["x_1 < 5 %", "1,064"]);
        let markdown = "| a\\|b | mean ms |\n| --- | ---: |\n| x_1 < 5 % | 1,064 |\n";
        assert_eq!(table.marked_up(Markup::Markdown), markdown);
        let lines = [
            "\\begin{tabular}{lr}",
            "\\toprule",
            "a|b & mean ms \\\\",
            "\\midrule",
            "x\\_1 \\textless{} 5 \\% & 1,064 \\\\",
            "\\bottomrule",
            "\\end{tabular}",
        ];
        let latex = table.marked_up(Markup::Latex);
        assert_eq!(latex.lines().collect::<Vec<_>>(), lines);
    }

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
