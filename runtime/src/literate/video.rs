//! Videos: frames from an array, or from a function that makes one at a time.

use super::external::{Folder, run};
use crate::picture::{Picture, picture};
use crate::script::{Evaluator, ScriptValue, index};
use crate::session::Program;
use midend::ir::scalar::Const;
use midend::value::Value;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

/// Frames of a second, if the directive does not say it.
pub(super) const RATE: u16 = 24;

/// What makes frames.
enum Frames<'a> {
    /// All of them.
    Array(Value),
    /// A function of a state to a frame and the next state.
    Function {
        evaluator: &'a Evaluator<'a, Program>,
        step: ScriptValue,
        state: ScriptValue,
    },
}

impl Frames<'_> {
    fn next(&mut self, number: u32) -> Result<Picture, String> {
        match self {
            Frames::Array(frames) => picture(&[index(frames, &[i64::from(number)])?]),
            Frames::Function {
                evaluator,
                step,
                state,
            } => {
                let result = evaluator.apply_to(step, vec![state.clone()])?.open();
                let ScriptValue::Tuple(parts) = result else {
                    return Err(String::from("the function of a video gives a pair"));
                };
                let [frame, next] = <[ScriptValue; 2]>::try_from(parts)
                    .map_err(|_| "the function of a video gives a pair")?;
                *state = next;
                picture(&[frame.plain()?])
            }
        }
    }
}

/// Writes a video.
pub(super) fn write<'a>(
    evaluator: &'a Evaluator<'a, Program>,
    value: ScriptValue,
    path: &Path,
    format: &str,
    rate: u16,
) -> Result<(), String> {
    let (mut frames, count) = frames(evaluator, value)?;
    let count = u32::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or("a video has at least one frame")?;
    if format == "apng" {
        return animated(&mut frames, count, path, rate);
    }
    let folder = Folder::beside(path)?;
    for number in 0..count {
        let frame = frames.next(number)?;
        let file = folder.0.join(format!("{number:08}.png"));
        let cannot =
            |why: &dyn std::fmt::Display| format!("cannot write {}: {why}", file.display());
        let out = File::create(&file).map_err(|why| cannot(&why))?;
        frame
            .write_png(BufWriter::new(out))
            .map_err(|why| cannot(&why))?;
    }
    let mut command = Command::new("ffmpeg");
    command.args(["-y", "-framerate", &rate.to_string(), "-i"]);
    command.arg(folder.0.join("%08d.png"));
    if format == "webm" {
        command.args([
            "-c:v",
            "libvpx-vp9",
            "-pix_fmt",
            "yuv420p",
            "-b:v",
            "0",
            "-crf",
            "30",
        ]);
    }
    command.arg(path);
    run(&mut command, "`format: apng` needs no other program")
}

fn frames<'a>(
    evaluator: &'a Evaluator<'a, Program>,
    value: ScriptValue,
) -> Result<(Frames<'a>, i64), String> {
    if let ScriptValue::Tuple(parts) = value.clone().open() {
        let [step, state, count] = <[ScriptValue; 3]>::try_from(parts)
            .map_err(|_| "a video is an array of pictures, or a function, a state and a number")?;
        let count = if let ScriptValue::Number(text) = &count {
            text.parse().ok()
        } else if let Value::Scalar(Const::I64(count)) = count.plain()? {
            Some(count)
        } else {
            None
        };
        let count = count.ok_or("the number of frames is an i64")?;
        let frames = Frames::Function {
            evaluator,
            step,
            state,
        };
        return Ok((frames, count));
    }
    let value = value.plain()?;
    let count = value.shape().first().copied().unwrap_or(0);
    Ok((Frames::Array(value), count))
}

/// An animated PNG.
fn animated(frames: &mut Frames<'_>, count: u32, path: &Path, rate: u16) -> Result<(), String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot write {}: {why}", path.display());
    let first = frames.next(0)?;
    let out = BufWriter::new(File::create(path).map_err(|why| cannot(&why))?);
    let mut failure = None;
    let written = first.write_frames(out, Some((count, rate)), |writer| {
        writer.write_image_data(&first.bytes)?;
        for number in 1..count {
            match frames.next(number) {
                Ok(frame) if frame.bytes.len() == first.bytes.len() => {
                    writer.write_image_data(&frame.bytes)?;
                }
                Ok(_) => failure = Some(String::from("the frames of a video have one size")),
                Err(why) => failure = Some(why),
            }
            if failure.is_some() {
                break;
            }
        }
        Ok(())
    });
    match failure {
        Some(why) => Err(why),
        None => written.map_err(|why| cannot(&why)),
    }
}
