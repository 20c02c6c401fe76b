//! The canvas of one chart, and the styles of everything drawn: one source for pages and for pictures.

/// Units of a drawing, which are pixels of a page at its natural size.
pub(crate) const WIDTH: f64 = 520.0;
/// As [`WIDTH`].
pub(crate) const HEIGHT: f64 = 300.0;
/// Room for the labels left of the marks.
pub(crate) const LEFT: f64 = 62.0;
/// Room right of the marks.
pub(crate) const RIGHT: f64 = 14.0;
/// Room for the title.
pub(crate) const TOP: f64 = 34.0;
/// Room for the labels below the marks and the name of their axis.
pub(crate) const BOTTOM: f64 = 46.0;

/// How text and lines of drawings look. Selectors are those that readers of SVG understand as well as browsers.
pub(crate) const STYLE: &str = "
.charts text { font-size: 12px; fill: #333; }
.charts .title { font-size: 14px; font-weight: 600; fill: #1c1c1c; }
.charts .name, .charts .value, .charts .none { fill: #555; }
.charts .value { font-size: 10px; }
.grid { stroke: #e6e6e6; }
.axis { stroke: #444; }
.level { stroke: #222; }
.range { stroke: #555; stroke-width: 1.2; fill: none; }
.hollow { fill: #fff; }
.cells { shape-rendering: crispEdges; }
";

/// A chart: its SVG dies, without the one around them.
pub(crate) struct Drawing {
    title: String,
    dies: String,
}

impl Drawing {
    /// With its title; `title` is escaped.
    pub(crate) fn new(title: String) -> Self {
        let dies = format!("<text x=\"{LEFT}\" y=\"16\" class=\"title\">{title}</text>\n");
        Self { title, dies }
    }

    /// A chart of nothing: `reason`, escaped, stands where marks would be.
    pub(crate) fn empty(title: String, reason: &str) -> Self {
        let mut drawing = Self::new(title);
        drawing.push(&format!(
            "<line x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\" class=\"axis\"/><text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"middle\" class=\"none\">{reason}</text>\n",
            HEIGHT - BOTTOM,
            WIDTH - RIGHT,
            f64::midpoint(LEFT, WIDTH - RIGHT),
            f64::midpoint(TOP, HEIGHT - BOTTOM),
        ));
        drawing
    }

    /// Adds dies.
    pub(crate) fn push(&mut self, dies: &str) {
        self.dies.push_str(dies);
    }

    /// As it stands in a page.
    pub(crate) fn in_page(&self) -> String {
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            self.title, self.dies
        )
    }

    /// As it stands in a larger drawing, with its corner at (`x`, `y`).
    #[cfg(feature = "png")]
    pub(crate) fn at(&self, x: f64, y: f64) -> String {
        format!("<g transform=\"translate({x} {y})\">\n{}</g>\n", self.dies)
    }
}
