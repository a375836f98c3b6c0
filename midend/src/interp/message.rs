//! The texts of failed checks, with their values filled in.

use crate::ir::scalar::Const;
use crate::ir::syntax::{Atom, Message, MessagePart};
use half::f16;

/// The text of a message; `value` gives the scalars that it names.
pub fn text<E>(
    message: &Message,
    mut value: impl FnMut(Atom) -> Result<Const, E>,
) -> Result<String, E> {
    let mut text = String::new();
    for part in &message.parts {
        match part {
            MessagePart::Text(fixed) => text.push_str(fixed),
            MessagePart::Value(atom) => text.push_str(&number(value(*atom)?)),
        }
    }
    Ok(text)
}

/// A scalar as messages show it: without its type, floats as short as they can be read back.
pub fn number(c: Const) -> String {
    match c {
        Const::I8(x) => x.to_string(),
        Const::I16(x) => x.to_string(),
        Const::I32(x) => x.to_string(),
        Const::I64(x) => x.to_string(),
        Const::U8(x) => x.to_string(),
        Const::U16(x) => x.to_string(),
        Const::U32(x) => x.to_string(),
        Const::U64(x) => x.to_string(),
        Const::F16(x) => float(&format!("{:?}", f16::from_bits(x))),
        Const::F32(x) => float(&format!("{:?}", f32::from_bits(x))),
        Const::F64(x) => float(&format!("{:?}", f64::from_bits(x))),
        Const::Bool(x) => x.to_string(),
    }
}

fn float(text: &str) -> String {
    text.replace("NaN", "nan")
}
