//! Charts as SVG text: lines over an ordered axis, and bars.
//!
//! Everything a reader needs stands in the picture: unit, axes from zero, a legend, and the exact value of
//! each mark as its title.

use crate::output::html::escape;
use crate::output::numbers;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

/// Colours that stay apart for readers who see few of them; the dashes repeat them.
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5195", "#8c6d1f", "#56a0d3", "#444444",
];
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

/// A named row of values, one per place of the axis.
pub(crate) struct Series {
    /// As in the legend.
    pub(crate) name: String,
    /// The style: the same name has the same one in all charts of a report.
    pub(crate) style: usize,
    /// Holds for all places: drawn across all of them.
    pub(crate) level: bool,
    /// One per place; nothing where there is none.
    pub(crate) values: Vec<Option<f64>>,
}

/// What stands around the marks.
pub(crate) struct Frame<'a> {
    /// What is shown, with its unit.
    pub(crate) title: &'a str,
    /// What the axis below is.
    pub(crate) axis: &'a str,
    /// Its places in order.
    pub(crate) places: &'a [String],
}

/// The colour of style `style`.
fn colour(style: usize) -> &'static str {
    COLOURS[style % COLOURS.len()]
}

fn dash(style: usize) -> &'static str {
    DASHES[style / COLOURS.len() % DASHES.len()]
}

/// The names of all series with a sample of their line.
pub(crate) fn legend(series: &[(String, usize, bool)]) -> String {
    let mut text = String::from("<p class=\"legend\">");
    for (name, style, level) in series {
        let pattern = if *level { "7 4" } else { dash(*style) };
        text.push_str(&format!(
            "<span><svg width=\"34\" height=\"12\" aria-hidden=\"true\"><line x1=\"1\" y1=\"6\" x2=\"33\" y2=\"6\" stroke=\"{0}\" stroke-width=\"2.5\" stroke-dasharray=\"{pattern}\"/>{1}</svg> {2}</span>\n",
            colour(*style),
            if *level { String::new() } else { format!("<circle cx=\"17\" cy=\"6\" r=\"3.5\" fill=\"{}\"/>", colour(*style)) },
            escape(name)
        ));
    }
    text.push_str("</p>\n");
    text
}

/// A line per series.
pub(crate) fn lines(frame: &Frame<'_>, series: &[Series]) -> String {
    let scale = Scale::new(
        series
            .iter()
            .flat_map(|series| series.values.iter().flatten()),
    );
    let mut text = open(frame, &scale);
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    let x = |index: usize| LEFT + (index as f64 + 0.5) * step;
    for series in series {
        let (colour, name) = (colour(series.style), escape(&series.name));
        if series.level {
            if let Some(value) = series.values.iter().flatten().next() {
                let (y, shown) = (scale.y(*value), numbers::real(*value));
                text.push_str(&format!(
                    "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"7 4\"><title>{name}: {shown}</title></line>\n",
                    WIDTH - RIGHT
                ));
            }
            continue;
        }
        let points: Vec<(usize, f64)> = series
            .values
            .iter()
            .enumerate()
            .filter_map(|(index, value)| Some((index, (*value)?)))
            .collect();
        let path: Vec<String> = points
            .iter()
            .map(|(index, value)| format!("{:.1},{:.1}", x(*index), scale.y(*value)))
            .collect();
        text.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
            path.join(" "),
            dash(series.style)
        ));
        for (index, value) in points {
            text.push_str(&format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{name}, {}: {}</title></circle>\n",
                x(index),
                scale.y(value),
                escape(&frame.places[index]),
                numbers::real(value)
            ));
        }
    }
    text.push_str("</svg>\n");
    text
}

/// A bar per place, with its value above.
pub(crate) fn bars(frame: &Frame<'_>, values: &[Option<f64>], styles: &[usize]) -> String {
    let scale = Scale::new(values.iter().flatten());
    let mut text = open(frame, &scale);
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    let width = (step * 0.62).min(64.0);
    for (index, value) in values.iter().enumerate() {
        let Some(value) = *value else { continue };
        let middle = LEFT + (index as f64 + 0.5) * step;
        let (y, shown) = (scale.y(value), numbers::real(value));
        text.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}: {shown}</title></rect>\n<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"value\">{shown}</text>\n",
            middle - width / 2.0,
            HEIGHT - BOTTOM - y,
            colour(styles.get(index).copied().unwrap_or(0)),
            escape(&frame.places[index]),
            y - 4.0
        ));
    }
    text.push_str("</svg>\n");
    text
}

/// Frame, title, grid and axes.
fn open(frame: &Frame<'_>, scale: &Scale) -> String {
    let title = escape(frame.title);
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n<text x=\"{LEFT}\" y=\"16\" class=\"title\">{title}</text>\n"
    );
    for (value, label) in scale.ticks() {
        let y = scale.y(value);
        let class = if value == 0.0 { "axis" } else { "grid" };
        text.push_str(&format!(
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" class=\"{class}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0
        ));
    }
    let step = (WIDTH - LEFT - RIGHT) / frame.places.len() as f64;
    // Labels that would run into each other stand aslant.
    let longest = frame
        .places
        .iter()
        .map(|place| place.chars().count())
        .max()
        .unwrap_or(0);
    let slanted = longest as f64 * 7.0 > step;
    for (index, place) in frame.places.iter().enumerate() {
        let (x, y) = (LEFT + (index as f64 + 0.5) * step, HEIGHT - BOTTOM + 17.0);
        let (anchor, turn) = match slanted {
            true => ("end", format!(" transform=\"rotate(-28 {x:.1} {y:.1})\"")),
            false => ("middle", String::new()),
        };
        text.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{turn}>{}</text>\n",
            escape(place)
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"name\">{}</text>\n",
        WIDTH - RIGHT,
        HEIGHT - 6.0,
        escape(frame.axis)
    ));
    text
}

/// The axis of values: from zero to a round number at or above the largest.
struct Scale {
    step: f64,
    steps: usize,
}

impl Scale {
    fn new<'v>(values: impl Iterator<Item = &'v f64>) -> Self {
        let most = values.copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return Self {
                step: 1.0,
                steps: 1,
            };
        }
        let rough = most / 4.0;
        let power = 10_f64.powi(rough.log10().floor() as i32);
        let factor = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .find(|factor| factor * power >= rough)
            .unwrap_or(10.0);
        let step = factor * power;
        Self {
            step,
            steps: (most / step).ceil() as usize,
        }
    }

    fn y(&self, value: f64) -> f64 {
        let share = value / (self.step * self.steps as f64);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    /// Values and labels of the grid.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        // As many decimals as the step needs: 2.5 and 0.25 one more than 2 and 0.2.
        let exponent = -self.step.log10().floor();
        let mantissa = self.step * 10_f64.powf(exponent);
        let extra = f64::from(u8::from((mantissa - 2.5).abs() < 0.01));
        let decimals = (exponent + extra).max(0.0) as usize;
        (0..=self.steps).map(move |index| {
            let value = index as f64 * self.step;
            let label = match decimals {
                0 => numbers::whole(value.round() as u64),
                _ => format!("{value:.decimals$}"),
            };
            (value, label)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let labels = |most: f64| -> Vec<String> {
            Scale::new([most].iter())
                .ticks()
                .map(|(_, label)| label)
                .collect()
        };
        assert_eq!(labels(7.3), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(0.9), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(41_000.0), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(labels(0.0), ["0", "1"]);
    }
}
