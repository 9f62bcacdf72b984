//! Charts as SVG: a grid of panels with logarithmic axes, the vertical one the same for all, and one legend.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::prelude::*;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The colours of the curves, told apart also without colour vision.
const COLOURS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(230, 120, 0), RGBColor(90, 90, 90)];
/// Width and height of a panel, and the height of the legend.
const PANEL: (u32, u32) = (300, 280);
const LEGEND: i32 = 30;

/// Points with positive coordinates.
pub type Curve = Vec<(f64, f64)>;

/// A grid of panels.
pub struct Chart<'a> {
    pub columns: usize,
    pub x: &'a str,
    /// Where the points are, if it is empty.
    pub x_ticks: &'a [f64],
    /// Whether all panels have the same horizontal axis.
    pub x_shared: bool,
    pub y: &'a str,
    /// The names of the curves of every panel; at most three.
    pub names: Vec<&'a str>,
    /// Titles and curves.
    pub panels: Vec<(String, Vec<Curve>)>,
}

impl Chart<'_> {
    pub fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let rows = self.panels.len().div_ceil(self.columns);
        let size = (PANEL.0 * self.columns as u32, PANEL.1 * rows as u32 + LEGEND as u32);
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (legend, grid) = root.split_vertically(LEGEND);
        self.draw_legend(&legend)?;
        for (area, (title, curves)) in grid.split_evenly((rows, self.columns)).iter().zip(&self.panels) {
            self.draw_panel(area, title, curves)?;
        }
        root.present()?;
        Ok(())
    }

    fn draw_legend(&self, area: &Area) -> Result<(), Box<dyn Error>> {
        for (i, name) in self.names.iter().enumerate() {
            let (x, y, colour) = (15 + 190 * i as i32, LEGEND / 2, COLOURS[i]);
            area.draw(&PathElement::new([(x, y), (x + 30, y)], colour.stroke_width(2)))?;
            area.draw(&Circle::new((x + 15, y), 3, colour.filled()))?;
            area.draw(&Text::new(name.to_string(), (x + 38, y - 7), ("sans-serif", 14)))?;
        }
        Ok(())
    }

    fn draw_panel(&self, area: &Area, title: &str, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
        let all = || self.panels.iter().flat_map(|(_, curves)| curves);
        let x_range = if self.x_shared { range(all(), |point| point.0) } else { range(curves, |point| point.0) };
        let y_range = range(all(), |point| point.1);
        let x_ticks = match self.x_ticks {
            [] => curves.iter().max_by_key(|curve| curve.len()).into_iter().flatten().map(|point| point.0).collect(),
            ticks => ticks.iter().copied().filter(|tick| x_range.contains(tick)).collect(),
        };
        let y_ticks = (-9..=9).map(|exponent| 10f64.powi(exponent)).filter(|tick| y_range.contains(tick)).collect();
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 14))
            .margin(8)
            .x_label_area_size(38)
            .y_label_area_size(54)
            .build_cartesian_2d(
                x_range.log_scale().with_key_points(x_ticks),
                y_range.log_scale().with_key_points(y_ticks),
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&|x| format!("{x}"))
            .y_label_formatter(&|y| format!("{y}"))
            .label_style(("sans-serif", 12))
            .draw()?;
        for (curve, &colour) in curves.iter().zip(&COLOURS) {
            chart.draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?;
            chart.draw_series(curve.iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
        }
        Ok(())
    }
}

/// From a little below the smallest coordinate to a little above the largest.
fn range<'c>(curves: impl IntoIterator<Item = &'c Curve>, coordinate: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
    let bounds = |(least, most): (f64, f64), at: f64| (least.min(at), most.max(at));
    let (least, most) = curves.into_iter().flatten().map(coordinate).fold((f64::MAX, 0.0), bounds);
    least / 1.2..most * 1.2
}

/// The slope of the upper half of a curve and of three points at least, both axes logarithmic, by least squares.
pub fn slope(curve: &Curve) -> Option<f64> {
    let from = (curve.len() / 2).min(curve.len().checked_sub(3)?);
    Some(whole_slope(&curve[from..]))
}

/// The slope of two points and more, both axes logarithmic, by least squares.
pub fn whole_slope(points: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (over, under) = points
        .iter()
        .fold((0.0, 0.0), |(over, under), point| (over + (point.0 - x) * (point.1 - y), under + (point.0 - x).powi(2)));
    over / under
}
