//! What was measured, as a picture in SVG: for each entry point bars with intervals, and where its inputs differ in size, time
//! against size.

use super::{Group, Summary};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeSet;
use std::ops::Range;

/// A picture that could not be drawn.
pub type PlotError = Box<dyn std::error::Error + Send + Sync>;

/// The height of one diagram, in pixels.
const HEIGHT: u32 = 360;
/// The width of the picture.
const WIDTH: u32 = 960;
/// The room for the names of sides, at the right.
const LEGEND: u32 = 190;
/// Longer names of sides are cut off.
const NAME: usize = 26;
/// No bar is wider.
const BAR: f64 = 56.0;
/// About the width of a character below the axis.
const CHARACTER: f64 = 6.5;
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

/// Whole powers of ten around what is greater than nothing.
fn decades(numbers: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let greatest = numbers.fold(0.0, f64::max);
    let low = least.clamp(1e-3, 1e15).log10().floor();
    let high = greatest.clamp(1e-3, 1e15).log10().ceil().max(low + 1.0);
    10f64.powf(low)..10f64.powf(high)
}

/// The axis of times. Below the shortest there is some room, so that its bar can be seen.
fn times(series: &[Series<'_>]) -> Range<f64> {
    let all = series.iter().flat_map(|series| &series.points);
    decades(all.flat_map(|p| [p.times.low / 1.5, p.times.high]))
}

/// Microseconds beside an axis.
fn time(micros: f64) -> String {
    let text = |number: f64, unit| format!("{} {unit}", (number * 1e3).round() / 1e3);
    match micros {
        0.0..1e3 => text(micros, "us"),
        1e3..1e6 => text(micros / 1e3, "ms"),
        _ => text(micros / 1e6, "s"),
    }
}

/// A size beside an axis.
fn size(size: f64) -> String {
    let text = |number: f64, unit| format!("{}{unit}", (number * 1e3).round() / 1e3);
    match size {
        0.0..1e3 => text(size, ""),
        1e3..1e6 => text(size / 1e3, "k"),
        1e6..1e9 => text(size / 1e6, "M"),
        _ => text(size / 1e9, "G"),
    }
}

/// The colour of a series by its number.
pub(crate) fn colour(number: usize) -> RGBColor {
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
    let count = group.datasets.len().max(1);
    let times = times(&series);
    let floor = times.start;
    let mut chart = ChartBuilder::on(area)
        .caption(&group.name, ("sans-serif", 18))
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(32)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..count as f64, times.log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_label_formatter(&|micros| time(*micros))
        .draw()
        .map_err(failed)?;
    let slot = f64::from(chart.plotting_area().dim_in_pixel().0) / count as f64;
    // As shares of a slot.
    let wide = (0.8 / series.len().max(1) as f64).min(BAR / slot);
    let cap = 4.0 / slot;
    for (number, side) in series.iter().enumerate() {
        let offset = 0.5 + wide * (number as f64 - series.len() as f64 / 2.0);
        for point in &side.points {
            let left = point.dataset as f64 + offset + wide * 0.05;
            let right = left + wide * 0.9;
            let middle = f64::midpoint(left, right);
            let Summary {
                median, low, high, ..
            } = point.times;
            let bar = Rectangle::new([(left, median), (right, floor)], colour(number).filled());
            chart.draw_series([bar]).map_err(failed)?;
            let line = |from, to| PathElement::new(vec![from, to], BLACK);
            let whiskers = [
                line((middle, low), (middle, high)),
                line((middle - cap, low), (middle + cap, low)),
                line((middle - cap, high), (middle + cap, high)),
            ];
            chart.draw_series(whiskers).map_err(failed)?;
        }
    }
    let (left, top) = area.get_base_pixel();
    let style = ("sans-serif", 12).into_text_style(area);
    let style = style.pos(Pos::new(HPos::Center, VPos::Top));
    for (number, dataset) in group.datasets.iter().enumerate() {
        let below = (number as f64 + 0.5, floor);
        let (x, y) = chart.plotting_area().map_coordinate(&below);
        let name = shorten(&dataset.name, (slot / CHARACTER) as usize);
        let text = Text::new(name, (x - left, y - top + 8), style.clone());
        area.draw(&text).map_err(failed)?;
    }
    legend(area, &series)
}

/// Time against size, both in powers of ten.
fn lines(area: Area<'_, '_>, group: &Group) -> Result<(), PlotError> {
    let series = series(group);
    let sizes = group.datasets.iter().filter_map(|d| d.size);
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
            decades(sizes.map(|n| n.max(1) as f64)).log_scale(),
            times(&series).log_scale(),
        )
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_label_formatter(&|n| size(*n))
        .y_label_formatter(&|micros| time(*micros))
        .draw()
        .map_err(failed)?;
    for (number, side) in series.iter().enumerate() {
        let points = side.points.iter();
        let points = points.filter_map(|p| Some((p.size?.max(1) as f64, p.times)));
        let mut points: Vec<(f64, Summary)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let style = colour(number).stroke_width(2);
        let medians = || points.iter().map(|(size, times)| (*size, times.median));
        let line = LineSeries::new(medians(), style);
        chart.draw_series(line).map_err(failed)?;
        let dots = medians().map(|at| Circle::new(at, 4, colour(number).filled()));
        chart.draw_series(dots).map_err(failed)?;
        let intervals = points.iter().map(|(size, times)| {
            let ends = vec![(*size, times.low), (*size, times.high)];
            PathElement::new(ends, colour(number))
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
        let text = Text::new(
            shorten(series.name, NAME),
            (right + 18, y),
            ("sans-serif", 14),
        );
        area.draw(&text).map_err(failed)?;
    }
    Ok(())
}

/// At most so many characters of a name, or a few.
fn shorten(name: &str, most: usize) -> String {
    let most = most.max(6);
    match name.char_indices().nth(most) {
        Some(_) => name.chars().take(most - 2).chain("..".chars()).collect(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dataset, Measured, Side};
    use super::*;

    fn dataset(size: u64, times: &[(&str, f64)]) -> Dataset {
        let side = |(name, time): &(&str, f64)| Side {
            name: (*name).to_owned(),
            device: None,
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
    fn axes_go_from_one_power_of_ten_to_another() {
        assert_eq!(decades([30.0, 4500.0].into_iter()), 10.0..10_000.0);
        assert_eq!(decades([10.0, 10.0].into_iter()), 10.0..100.0);
        assert_eq!([1.0, 1e4, 2.5e6].map(time), ["1 us", "10 ms", "2.5 s"]);
        assert_eq!([1.0, 1e5, 1e9].map(size), ["1", "100k", "1G"]);
        assert_eq!(shorten("[1000][1000]f32", 10), "[1000][1..");
    }

    #[test]
    fn what_failed_is_not_drawn() {
        let mut broken = dataset(1, &[("cpu", 1.0)]);
        broken.sides[0].outcome = Err(String::from("no"));
        let text = svg(&[group(vec![broken]), group(vec![])]).expect("a picture");
        assert!(!text.contains("a.fut"));
    }
}
