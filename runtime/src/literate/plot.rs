//! Lines through points, as SVG.

use super::numbers;
use crate::script::ScriptValue;
use plotters::prelude::*;
use std::ops::Range;

/// The size of a plot, width and height in pixels.
pub(super) const SIZE: (u32, u32) = (800, 600);

/// Points with the name of their series.
pub(super) struct Series {
    pub(super) name: Option<String>,
    pub(super) points: Vec<(f64, f64)>,
}

/// The series that a value is: a pair of arrays, or a record of such pairs.
pub(super) fn series(value: ScriptValue) -> Result<Vec<Series>, String> {
    let value = value.open();
    let ScriptValue::Record(fields) = value else {
        let points = points(value)?;
        return Ok(vec![Series { name: None, points }]);
    };
    let series = fields.into_iter().map(|(name, value)| {
        let points = points(value).map_err(|why| format!("{name}: {why}"))?;
        Ok(Series {
            name: Some(name),
            points,
        })
    });
    series.collect()
}

fn points(value: ScriptValue) -> Result<Vec<(f64, f64)>, String> {
    let columns = columns(value)?;
    let [xs, ys] = columns.as_slice() else {
        return Err(String::from("a plot is of two arrays, of x and of y"));
    };
    Ok(xs.iter().copied().zip(ys.iter().copied()).collect())
}

/// The arrays of a tuple, which have one length.
pub(super) fn columns(value: ScriptValue) -> Result<Vec<Vec<f64>>, String> {
    let value = value.open();
    let parts = if let ScriptValue::Tuple(parts) = value {
        parts
    } else {
        vec![value]
    };
    let columns = parts.into_iter().map(|part| numbers(&part.plain()?));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let length = columns.first().map_or(0, Vec::len);
    match columns.iter().all(|column| column.len() == length) {
        true => Ok(columns),
        false => Err(String::from("the arrays of a plot must have one length")),
    }
}

/// The plot as the text of an SVG file.
pub(super) fn svg(series: &[Series], size: (u32, u32)) -> Result<String, String> {
    let mut text = String::new();
    draw(&mut text, series, size).map_err(|why| why.to_string())?;
    Ok(text)
}

type Failed = Box<dyn std::error::Error>;

fn draw(text: &mut String, series: &[Series], size: (u32, u32)) -> Result<(), Failed> {
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    let failed = |why: &dyn std::fmt::Display| -> Failed { why.to_string().into() };
    root.fill(&WHITE).map_err(|why| failed(&why))?;
    let all = || series.iter().flat_map(|series| &series.points);
    let (xs, ys) = (range(all().map(|p| p.0)), range(all().map(|p| p.1)));
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(32)
        .y_label_area_size(64)
        .build_cartesian_2d(xs, ys)
        .map_err(|why| failed(&why))?;
    chart.configure_mesh().draw().map_err(|why| failed(&why))?;
    for (number, series) in series.iter().enumerate() {
        let colour = crate::bench::colour(number);
        let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
        let points = series.points.iter().copied().filter(finite);
        let line = chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))
            .map_err(|why| failed(&why))?;
        if let Some(name) = &series.name {
            line.label(name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
        }
    }
    if series.iter().any(|series| series.name.is_some()) {
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()
            .map_err(|why| failed(&why))?;
    }
    root.present().map_err(|why| failed(&why))
}

/// The range of finite numbers, which is not empty.
fn range(numbers: impl Iterator<Item = f64>) -> Range<f64> {
    let finite = numbers.filter(|x| x.is_finite());
    let bounds = finite.fold(None, |bounds, x| match bounds {
        None => Some((x, x)),
        Some((low, high)) => Some((x.min(low), x.max(high))),
    });
    match bounds {
        None => 0.0..1.0,
        Some((low, high)) if low < high => low..high,
        Some((same, _)) => same - 0.5..same + 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_lines_with_names() {
        let series = ["one", "two"].map(|name| Series {
            name: Some(name.to_owned()),
            points: vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 4.0)],
        });
        let text = svg(&series, (400, 300)).expect("a plot");
        assert!(
            text.starts_with("<svg width=\"400\" height=\"300\""),
            "{text}"
        );
        assert!(text.contains("one") && text.contains("two"), "{text}");
        assert!(!text.contains("NaN"), "{text}");
    }

    #[test]
    fn ranges_are_not_empty() {
        assert_eq!(range([3.0, 1.0, f64::INFINITY].into_iter()), 1.0..3.0);
        assert_eq!(range([2.0].into_iter()), 1.5..2.5);
        assert_eq!(range(std::iter::empty()), 0.0..1.0);
    }
}
