//! What was measured, as a picture in SVG: for each entry point bars with intervals, and where its inputs differ in size, time
//! against size.

use super::report::time;
use super::{Dataset, Group, Summary};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::BTreeSet;

/// A picture that could not be drawn.
pub type PlotError = Box<dyn std::error::Error + Send + Sync>;

/// The height of one diagram, in pixels.
const HEIGHT: u32 = 360;
/// The width of the picture.
const WIDTH: u32 = 960;
/// The room for the names of sides, at the right.
const LEGEND: u32 = 190;
/// Longer names of inputs are cut off.
const NAME: usize = 28;
/// Inputs of so many sizes are a family.
const FAMILY: usize = 3;

/// One measured point: the number of its dataset, the size, and the times.
struct Point {
    dataset: usize,
    size: Option<u64>,
    times: Summary,
}

/// All points of one side.
struct Series<'a> {
    name: &'a str,
    points: Vec<Point>,
}

/// The text of the picture.
pub fn svg(groups: &[Group]) -> Result<String, PlotError> {
    let panels: Vec<(&Group, bool)> = groups
        .iter()
        .filter(|group| !series(group).is_empty())
        .flat_map(|group| {
            let sizes = is_family(group).then_some((group, true));
            [Some((group, false)), sizes].into_iter().flatten()
        })
        .collect();
    let mut text = String::new();
    let height = HEIGHT
        * u32::try_from(panels.len())
            .unwrap_or(u32::MAX / HEIGHT)
            .max(1);
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        for (area, (group, against_size)) in root
            .split_evenly((panels.len().max(1), 1))
            .iter()
            .zip(panels)
        {
            if against_size {
                lines(area, group)?;
            } else {
                bars(area, group)?;
            }
        }
        root.present().map_err(failed)?;
    }
    Ok(text)
}

fn failed(why: impl std::fmt::Display) -> PlotError {
    why.to_string().into()
}

/// The sides of a group that have times.
fn series(group: &Group) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for (number, dataset) in group.datasets.iter().enumerate() {
        for side in &dataset.sides {
            let Some(times) = side.outcome.as_ref().ok().and_then(|m| m.summary()) else {
                continue;
            };
            let point = Point {
                dataset: number,
                size: dataset.size,
                times,
            };
            match all.iter_mut().find(|series| series.name == side.name) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name: &side.name,
                    points: vec![point],
                }),
            }
        }
    }
    all
}

fn is_family(group: &Group) -> bool {
    let sizes: BTreeSet<u64> = group.datasets.iter().filter_map(|d| d.size).collect();
    sizes.len() >= FAMILY
}

/// From below the least to above the greatest time, for an axis in powers of ten.
fn range(series: &[Series<'_>]) -> std::ops::Range<f64> {
    let all = || series.iter().flat_map(|series| &series.points);
    let least = all().map(|p| p.times.low).fold(f64::INFINITY, f64::min);
    let greatest = all().map(|p| p.times.high).fold(0.0, f64::max);
    (least.max(1e-3) / 2.0)..(greatest.max(2e-3) * 2.0)
}

fn colour(number: usize) -> RGBColor {
    // A palette that is told apart by all eyes (Okabe and Ito, "Color universal design", 2008).
    const COLOURS: [(u8, u8, u8); 6] = [
        (0, 114, 178),
        (230, 159, 0),
        (0, 158, 115),
        (204, 121, 167),
        (213, 94, 0),
        (86, 180, 233),
    ];
    let (r, g, b) = COLOURS[number % COLOURS.len()];
    RGBColor(r, g, b)
}

type Area<'a, 'b> = &'a DrawingArea<SVGBackend<'b>, Shift>;

/// A bar for each side of each dataset.
fn bars(area: Area<'_, '_>, group: &Group) -> Result<(), PlotError> {
    let series = series(group);
    let count = group.datasets.len();
    let times = range(&series);
    let floor = times.start;
    let mut chart = ChartBuilder::on(area)
        .caption(&group.name, ("sans-serif", 18))
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (0..count.saturating_sub(1)).into_segmented(),
            times.log_scale(),
        )
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(count)
        .x_label_formatter(&|at| match at {
            SegmentValue::CenterOf(number) => name(group.datasets.get(*number)),
            SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
        })
        .y_label_formatter(&|micros| time(*micros))
        .draw()
        .map_err(failed)?;
    // Bars are drawn in pixels of the area: the axis has no places between datasets.
    let plot = chart.plotting_area();
    let slot = f64::from(plot.dim_in_pixel().0) / count.max(1) as f64;
    let wide = slot * 0.8 / series.len().max(1) as f64;
    let (left, top) = area.get_base_pixel();
    let place = |dataset, micros: f64| {
        let (x, y) = plot.map_coordinate(&(SegmentValue::CenterOf(dataset), micros));
        (x - left, y - top)
    };
    let mut shapes = Vec::new();
    for (number, series) in series.iter().enumerate() {
        for point in &series.points {
            let centre = wide * (number as f64 + 0.5) - slot * 0.4;
            let at = |micros: f64| place(point.dataset, micros).1;
            let x = |offset: f64| place(point.dataset, floor).0 + (centre + offset).round() as i32;
            let heights = [
                at(floor),
                at(point.times.median),
                at(point.times.low),
                at(point.times.high),
            ];
            let sides = [x(-wide * 0.45), x(0.0), x(wide * 0.45)];
            shapes.push((number, sides, heights));
        }
    }
    for (number, [left, middle, right], [floor, median, low, high]) in shapes {
        let bar = Rectangle::new([(left, median), (right, floor)], colour(number).filled());
        area.draw(&bar).map_err(failed)?;
        let whisker = |from, to| PathElement::new(vec![from, to], BLACK);
        for line in [
            whisker((middle, low), (middle, high)),
            whisker((middle - 4, low), (middle + 4, low)),
            whisker((middle - 4, high), (middle + 4, high)),
        ] {
            area.draw(&line).map_err(failed)?;
        }
    }
    legend(area, &series)
}

/// Time against size, both in powers of ten.
fn lines(area: Area<'_, '_>, group: &Group) -> Result<(), PlotError> {
    let series = series(group);
    let sizes = || group.datasets.iter().filter_map(|d| d.size);
    let least = sizes().min().unwrap_or(1).max(1) as f64;
    let greatest = sizes().max().unwrap_or(1).max(2) as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("{}: time against size", group.name),
            ("sans-serif", 18),
        )
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (least / 1.2..greatest * 1.2).log_scale(),
            range(&series).log_scale(),
        )
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&|micros| time(*micros))
        .draw()
        .map_err(failed)?;
    for (number, series) in series.iter().enumerate() {
        let mut points: Vec<(f64, Summary)> = series
            .points
            .iter()
            .filter_map(|point| Some((point.size?.max(1) as f64, point.times)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let style = colour(number).stroke_width(2);
        let medians = points.iter().map(|(size, times)| (*size, times.median));
        chart
            .draw_series(LineSeries::new(medians, style))
            .map_err(failed)?;
        let intervals = points.iter().map(|(size, times)| {
            PathElement::new(vec![(*size, times.low), (*size, times.high)], style)
        });
        chart.draw_series(intervals).map_err(failed)?;
    }
    legend(area, &series)
}

/// The names of the sides, right of the diagram.
fn legend(area: Area<'_, '_>, series: &[Series<'_>]) -> Result<(), PlotError> {
    let right = i32::try_from(WIDTH - LEGEND).unwrap_or(i32::MAX) + 10;
    for (number, series) in series.iter().enumerate() {
        let y = 44 + 18 * i32::try_from(number).unwrap_or(0);
        let mark = Rectangle::new([(right, y), (right + 12, y + 12)], colour(number).filled());
        area.draw(&mark).map_err(failed)?;
        let text = Text::new(shorten(series.name), (right + 18, y), ("sans-serif", 14));
        area.draw(&text).map_err(failed)?;
    }
    Ok(())
}

fn name(dataset: Option<&Dataset>) -> String {
    dataset.map_or_else(String::new, |dataset| shorten(&dataset.name))
}

fn shorten(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Measured, Side};
    use super::*;

    fn dataset(size: u64, times: &[(&str, f64)]) -> Dataset {
        let side = |(name, time): &(&str, f64)| Side {
            name: (*name).to_owned(),
            outcome: Ok(Measured {
                times: vec![*time, time * 1.1, time * 1.3],
                ..Measured::default()
            }),
        };
        Dataset {
            name: format!("[{size}]f32"),
            size: Some(size),
            sides: times.iter().map(side).collect(),
        }
    }

    fn group(datasets: Vec<Dataset>) -> Group {
        Group {
            name: String::from("a.fut"),
            datasets,
        }
    }

    #[test]
    fn bars_stand_for_medians() {
        let two = group(vec![dataset(10, &[("cpu", 100.0), ("interp", 1e5)])]);
        let text = svg(&[two]).expect("a picture");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for part in ["a.fut", "[10]f32", "cpu", "interp"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        // The whiter ground, two bars and two marks in the legend.
        assert_eq!(text.matches("<rect").count(), 5, "{text}");
        assert!(!text.contains("time against size"));
    }

    #[test]
    fn a_family_of_inputs_is_drawn_against_size() {
        let sizes = [10, 1000, 100_000];
        let family = sizes.map(|n| dataset(n, &[("cpu", n as f64)]));
        let text = svg(&[group(family.to_vec())]).expect("a picture");
        assert!(text.contains("time against size"));
        assert!(text.contains("<polyline"));
    }

    #[test]
    fn what_failed_is_not_drawn() {
        let mut broken = dataset(1, &[("cpu", 1.0)]);
        broken.sides[0].outcome = Err(String::from("no"));
        let text = svg(&[group(vec![broken]), group(vec![])]).expect("a picture");
        assert!(!text.contains("a.fut"));
    }
}
