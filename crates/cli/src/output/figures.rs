//! The figures of a study in a page: a chart, and the data below it.

use destage::study::FigureKind;
use destage::study::figure::Figure;

use crate::output::charts::{Entry, Frame, Series, groups, legend, lines_on, scale_of};
use crate::output::html::{cells, escape};
use crate::output::scale::Scale;

/// All of `figures` side by side; `prefix` goes before their names in links.
pub(crate) fn figures(prefix: &str, figures: &[Figure]) -> String {
    let all: String = figures.iter().map(|figure| one(prefix, figure)).collect();
    format!("<div class=\"charts\">\n{all}</div>\n")
}

fn one(prefix: &str, figure: &Figure) -> String {
    let mut text = format!(
        "<figure id=\"{}{}\">\n<figcaption>{}</figcaption>\n",
        escape(prefix),
        escape(&figure.id),
        escape(&figure.heading())
    );
    let drawn = figure.kind != FigureKind::Table && has_values(figure);
    if drawn {
        text.push_str(&chart(figure));
    }
    for gap in &figure.gaps {
        text.push_str(&format!(
            "<p class=\"gap\">Not all is shown: {}.</p>\n",
            escape(gap)
        ));
    }
    if !has_values(figure) && figure.gaps.is_empty() {
        text.push_str("<p class=\"gap\">No run has what it shows.</p>\n");
    }
    if figure.x.is_empty() {
        return text + "</figure>\n";
    }
    let open = if drawn { "" } else { " open" };
    text.push_str(&format!(
        "<details{open}><summary>{}</summary>\n{}</details>\n</figure>\n",
        if figure.has_published() {
            "Data, and what the paper has"
        } else {
            "Data"
        },
        data(figure)
    ));
    text
}

fn has_values(figure: &Figure) -> bool {
    let mut points = figure.series.iter().flat_map(|series| &series.points);
    points.any(Option::is_some) || figure.has_published()
}

fn chart(figure: &Figure) -> String {
    let series = figure
        .series
        .iter()
        .enumerate()
        .map(|(style, series)| Series {
            name: series.name.clone(),
            style,
            level: false,
            values: series
                .points
                .iter()
                .map(|point| point.map(|point| point.mean))
                .collect(),
            ranges: series
                .points
                .iter()
                .map(|point| point.map(|point| [point.low, point.high]))
                .collect(),
            published: series.published.clone(),
        });
    let series: Vec<Series> = series.collect();
    let entries: Vec<_> = series
        .iter()
        .map(|series| Entry {
            name: series.name.clone(),
            style: series.style,
            level: false,
        })
        .collect();
    let mut text = legend(&entries, figure.has_published().then_some("published"));
    let [log_x, log_y] = figure.log;
    let at = figure
        .along
        .as_ref()
        .map(|values| Scale::places(values, log_x));
    let is_bar = figure.kind == FigureKind::Bar;
    let at = at.as_deref().filter(|_| !is_bar);
    let axis = match at {
        Some(_) if log_x => format!("{}, logarithmic", figure.x_title),
        _ => figure.x_title.clone(),
    };
    let frame = Frame {
        title: &figure.y_title,
        axis: &axis,
        places: &figure.x,
        at,
    };
    let scale = scale_of(&series, log_y);
    let drawing = match is_bar {
        true => groups(&scale, &frame, &series),
        false => lines_on(&scale, &frame, &series),
    };
    text.push_str(&drawing.in_page());
    text
}

/// The values as a table: mean, range over seeds, and what the paper has.
fn data(figure: &Figure) -> String {
    let names = figure.series.iter().map(|series| series.name.as_str());
    let head: Vec<_> = [figure.x_title.as_str()].into_iter().chain(names).collect();
    let mut text = format!("<div class=\"wide\"><table>\n{}", cells("th", &head));
    for (index, x) in figure.x.iter().enumerate() {
        let values: Vec<_> = figure
            .series
            .iter()
            .map(|series| series.cell(index))
            .collect();
        let row: Vec<_> = [x.as_str()]
            .into_iter()
            .chain(values.iter().map(String::as_str))
            .collect();
        text.push_str(&cells("td", &row));
    }
    text.push_str("</table></div>\n");
    text
}
