//! The reader of the text form.

use crate::vector::ir::{
    Address, Block, BlockData, Cell, Cond, Conv, Elem, FloatCond, Function, Inst, IntOp, MaskOp,
    Op, Slot, Terminator, Type, Value, VecOp, VecUn,
};

/// Reads a function; else tells the line and what is wrong there.
pub(crate) fn parse(text: &str) -> Result<Function, String> {
    let mut f = Function::new(0);
    let mut types: Vec<Option<Type>> = Vec::new();
    let mut at = None;
    for (k, line) in text.lines().enumerate() {
        let line = line.split(';').next().unwrap_or("").trim();
        if !line.is_empty() {
            read_line(&mut f, &mut types, &mut at, line)
                .map_err(|why| format!("line {}: {why}", k + 1))?;
        }
    }
    f.types = types
        .into_iter()
        .enumerate()
        .map(|(k, ty)| ty.ok_or_else(|| format!("v{k} is not defined")))
        .collect::<Result<_, _>>()?;
    Ok(f)
}

fn read_line(
    f: &mut Function,
    types: &mut Vec<Option<Type>>,
    at: &mut Option<usize>,
    line: &str,
) -> Result<(), String> {
    if let Some(rest) = line.strip_prefix("function ") {
        let (lanes, slots) = rest.split_once(" lanes").ok_or("how many lanes?")?;
        f.lanes = number(lanes)?;
        if let Some(slots) = slots.strip_prefix(", slots ") {
            f.slots = slots
                .split_whitespace()
                .map(number)
                .collect::<Result<_, _>>()?;
        }
        return Ok(());
    }
    if let Some(head) = line.strip_suffix("):") {
        let (name, params) = head.split_once('(').ok_or("a block without parameters")?;
        let (name, cold) = match name.strip_suffix(" cold") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let mut data = BlockData {
            cold,
            ..BlockData::default()
        };
        for param in params.split(", ").filter(|p| !p.is_empty()) {
            let (name, ty) = param.split_once(": ").ok_or("a parameter without a type")?;
            data.params.push(define(types, name, ty)?);
        }
        if block(name)? != Block(f.blocks.len() as u32) {
            return Err(format!("{name} is not the next block"));
        }
        f.blocks.push(data);
        *at = Some(f.blocks.len() - 1);
        return Ok(());
    }
    let here = at.ok_or("an instruction outside of blocks")?;
    let here = &mut f.blocks[here];
    if let Some(end) = terminator(line)? {
        here.end = Some(end);
        return Ok(());
    }
    let (result, op) = match line.split_once(" = ") {
        Some((head, op)) => {
            let (name, ty) = head.split_once(": ").ok_or("a value without a type")?;
            (Some(define(types, name, ty)?), op)
        }
        None => (None, line),
    };
    here.insts.push(Inst {
        op: read_op(op)?,
        result,
    });
    Ok(())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is no number"))
}

fn value(text: &str) -> Result<Value, String> {
    let digits = text.trim().strip_prefix('v');
    let digits = digits.ok_or_else(|| format!("`{text}` is no value"))?;
    number(digits).map(Value)
}

fn block(text: &str) -> Result<Block, String> {
    let digits = text.trim().strip_prefix('b');
    let digits = digits.ok_or_else(|| format!("`{text}` is no block"))?;
    number(digits).map(Block)
}

fn define(types: &mut Vec<Option<Type>>, name: &str, ty: &str) -> Result<Value, String> {
    let value = value(name)?;
    let ty = match ty.trim() {
        "i32" => Type::I32,
        "i64" => Type::I64,
        "mask" => Type::Mask,
        other => {
            let elem = other.strip_prefix("vec ").and_then(Elem::from_name);
            Type::Vector(elem.ok_or_else(|| format!("`{other}` is no type"))?)
        }
    };
    let k = value.0 as usize;
    if types.len() <= k {
        types.resize(k + 1, None);
    }
    types[k] = Some(ty);
    Ok(value)
}

/// Splits at commas that are outside of brackets.
fn operands(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (k, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..k].trim());
                start = k + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// A block and what it is given: `b1(v0, v2)`.
fn target(text: &str) -> Result<(Block, Vec<Value>), String> {
    let (name, args) = text.split_once('(').ok_or("a target without arguments")?;
    let args = args.strip_suffix(')').ok_or("a target without an end")?;
    let args = operands(args).into_iter().map(value);
    Ok((block(name)?, args.collect::<Result<_, _>>()?))
}

fn terminator(line: &str) -> Result<Option<Terminator>, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let parts = operands(rest);
    Ok(match (word, &parts[..]) {
        ("jump", [to]) => {
            let (block, args) = target(to)?;
            Some(Terminator::Jump(block, args))
        }
        ("branch", [cond, yes, no]) => {
            Some(Terminator::Branch(value(cond)?, target(yes)?, target(no)?))
        }
        ("return", [result]) => Some(Terminator::Return(value(result)?)),
        _ => None,
    })
}

/// An address: `[v0 + v1*4 + 16]`.
fn address(text: &str) -> Result<Address, String> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("`{text}` is no address"))?;
    let mut parts = inner.split(" + ");
    let base = value(parts.next().unwrap_or(""))?;
    let mut at = Address::at(base, 0);
    for part in parts {
        match part.split_once('*') {
            Some((index, scale)) => at.index = Some((value(index)?, number(scale)?)),
            None => at.offset = number(part)?,
        }
    }
    Ok(at)
}

/// What has a name.
fn named<T>(name: &str, from_name: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    from_name(name).ok_or_else(|| format!("there is no `{name}`"))
}

fn read_op(text: &str) -> Result<Op, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    if word.starts_with("call") || text.starts_with("call ") {
        let (target, args) = rest.split_once('(').ok_or("a call without arguments")?;
        let args = args.strip_suffix(')').ok_or("a call without an end")?;
        let args = operands(args).into_iter().map(value);
        return Ok(Op::Call(number(target)?, args.collect::<Result<_, _>>()?));
    }
    let (word, kind) = word.split_once('.').unwrap_or((word, ""));
    let parts = operands(rest);
    let v = |k: usize| value(parts.get(k).copied().unwrap_or(""));
    let further = |k: usize| parts.get(k).map(|text| value(text)).transpose();
    let cell = || named(kind, Cell::from_name);
    let at = || address(parts.first().copied().unwrap_or(""));
    Ok(match word {
        "const" => Op::Const(number(rest)?),
        "int" => Op::Int(named(kind, IntOp::from_name)?, v(0)?, v(1)?),
        "cmp" => Op::Compare(named(kind, Cond::from_name)?, v(0)?, v(1)?),
        "select" => Op::Select(v(0)?, v(1)?, v(2)?),
        "sext" => Op::Extend(v(0)?, number(kind)?, true),
        "zext" => Op::Extend(v(0)?, number(kind)?, false),
        "low" => Op::Low(v(0)?),
        "ctz" => Op::TrailingZeros(v(0)?),
        "load" => Op::Load(cell()?, at()?),
        "store" => Op::Store(cell()?, at()?, v(1)?),
        "slot" => Op::SlotAddress(Slot(number(rest)?)),
        "splat" => Op::Splat(v(0)?),
        "splat_load" => Op::SplatLoad(cell()?, at()?),
        "vconst" => {
            let digits = rest.strip_prefix("0x").ok_or("bits are hexadecimal")?;
            let bits = u64::from_str_radix(digits, 16);
            Op::VecConst(bits.map_err(|_| format!("`{rest}` is no number"))?)
        }
        "iota" => Op::Iota,
        "first" => Op::First(v(0)?),
        "vec" => Op::Vec(named(kind, VecOp::from_name)?, v(0)?, v(1)?),
        "vec1" => Op::VecUn(named(kind, VecUn::from_name)?, v(0)?),
        "fma" => Op::Fma(v(0)?, v(1)?, v(2)?),
        "vcmp" => Op::VecCompare(named(kind, Cond::from_name)?, v(0)?, v(1)?),
        "fcmp" => Op::FloatCompare(named(kind, FloatCond::from_name)?, v(0)?, v(1)?),
        "blend" => Op::Blend(v(0)?, v(1)?, v(2)?),
        "conv" => Op::Convert(named(kind, Conv::from_name)?, v(0)?),
        "mask_const" => Op::MaskConst(rest.trim() == "true"),
        "mask_splat" => Op::MaskSplat(v(0)?),
        "first_lanes" => Op::FirstLanes(v(0)?),
        "mask" => Op::Mask(named(kind, MaskOp::from_name)?, v(0)?, v(1)?),
        "mask_not" => Op::MaskNot(v(0)?),
        "any" => Op::Any(v(0)?),
        "mask_bits" => Op::MaskBits(v(0)?),
        "vload" => Op::VecLoad(cell()?, at()?, further(1)?),
        "vstore" => Op::VecStore(cell()?, at()?, v(1)?, further(2)?),
        "gather" => Op::Gather(cell()?, v(0)?, v(1)?, further(2)?),
        "scatter" => Op::Scatter(cell()?, v(0)?, v(1)?, v(2)?, further(3)?),
        _ => return Err(format!("there is no operation `{word}`")),
    })
}
