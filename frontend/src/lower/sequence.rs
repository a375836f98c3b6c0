//! Sequences. While it is lowered, a sequence is a tuple of numbers and a function (`prelude/seq.fut`), so that all of it is known where it
//! is gone through: what is left in the program are loops over chunks. Those that cross an entry point are read and written by
//! steps of such loops.

use super::coerce::shape_parts;
use super::emit::{int, text};
use super::env::Frame;
use super::mentions::Mention;
use super::units::{Outside, outside, type_of_units};
use super::value::{Code, FunValue, Instance, Leaf, Ty, Value};
use super::{Lower, Res};
use crate::diagnostic::{Code as ErrorCode, Diagnostic};
use crate::source::Span;
use crate::typed::{Entry, EntryParam, Intrinsic, Name, Op, Type as SourceType, TypeArg};
use midend::ir::array::{ArrayOp, Stream, StreamOp};
use midend::ir::id::{FunId, SpanId};
use midend::ir::scalar::Const;
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Program, TrapKind};
use midend::ir::types::{Size, Type};
use midend::ir::walk::deep;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The type of the elements of a parameter that is a sequence.
pub(super) fn elements(param: &EntryParam) -> Option<&SourceType> {
    elements_of(&param.ty).filter(|_| param.streamed)
}

/// The type of the elements, of a type that is that of sequences.
pub(super) fn elements_of(ty: &SourceType) -> Option<&SourceType> {
    let SourceType::Named(named) = ty else {
        return None;
    };
    match named.args.first() {
        Some(TypeArg::Type(elem)) => Some(elem),
        Some(TypeArg::Size(_)) | None => None,
    }
}

/// A sequence that is a parameter of an entry point: nobody knows how long it is.
pub(super) fn read<'a>(stream: u32, elem: Ty) -> Value<'a> {
    let most = Value::scalar(int(i64::MAX));
    let exact = Value::scalar(Const::Bool(false));
    let chunk = Value::Fun(Rc::new(FunValue {
        code: Code::Intrinsic {
            intrinsic: Intrinsic {
                op: Op::SeqRead(stream),
                prim: None,
            },
            inst: Rc::new(Instance {
                types: vec![elem],
                sizes: Vec::new(),
            }),
        },
        args: Vec::new(),
    }));
    Value::tuple(vec![most, exact, chunk])
}

/// How often a function reads each sequence, more than once or not, and where.
type Reads = BTreeMap<u32, (bool, SpanId)>;

/// The same of functions that were looked at.
type Known = BTreeMap<FunId, Reads>;

impl<'a> Lower<'a> {
    /// Whether a type is or holds that of sequences.
    pub(super) fn mentions_sequences(&self, ty: &SourceType) -> bool {
        let mut found = false;
        super::mentions::ty(ty, &mut |m| match m {
            Mention::Name(name) => found |= self.typed.sequence == Some(name),
            Mention::Node => {}
        });
        found
    }

    /// The size of the next chunk.
    pub(super) fn next_chunk(
        &mut self,
        before: &Value<'a>,
        left: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let before = self.scalar_of(before, span)?;
        let left = self.scalar_of(left, span)?;
        let stream = self.streams;
        self.streams += 1;
        let step = Stream {
            op: StreamOp::Next,
            stream,
            args: vec![before, left],
        };
        let k = self.array_op("k", Type::I64, ArrayOp::Stream(step));
        Ok(Value::scalar(k))
    }

    /// The next elements of a sequence from outside.
    pub(super) fn read_chunk(
        &mut self,
        stream: u32,
        inst: &Instance,
        most: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let most = self.scalar_of(most, span)?;
        let elem = inst.types.first().cloned();
        let ty = Ty::array(None, elem.unwrap_or_else(|| Ty::Tuple(Rc::from([]))));
        let mut binds = Vec::new();
        let free = ty.map_dims(&mut |_| None);
        let v = self.template(
            &free,
            &mut Vec::new(),
            &mut |l, _| {
                let v = l.fresh("n", Type::I64);
                binds.push(v);
                Size::Var(v)
            },
            &mut |l, ty, _| Leaf::new(Atom::Var(l.fresh("xs", ty))),
            false,
        );
        for part in outside(&v) {
            match part {
                Outside::Data(leaf) => binds.extend(leaf.atom.as_var()),
                Outside::Units(shape) => binds.push(self.fresh("units", type_of_units(&shape))),
            }
        }
        let step = Stream {
            op: StreamOp::Read,
            stream,
            args: vec![most],
        };
        self.push(binds, ArrayOp::Stream(step).into());
        let v = self.rows_in(&v, &mut Vec::new())?;
        let mut message = |have: &[Size], want: &[Size]| {
            let mut parts = vec![text("Elements of a sequence have the shape ")];
            parts.extend(shape_parts(have));
            parts.push(text(" with their number, and not "));
            parts.extend(shape_parts(want));
            parts.push(text("."));
            parts
        };
        self.coerce(&v, &ty, TrapKind::Shape, &mut message)
    }

    /// Hands elements of a sequence over to the outside.
    pub(super) fn put_chunk(&mut self, inst: &Instance, v: &Value<'a>) -> Res<Value<'a>> {
        let count = v.dims().first().copied().unwrap_or(Size::Const(0));
        let elem = inst.types.first().cloned();
        let ty = Ty::array(None, elem.unwrap_or_else(|| Ty::Tuple(Rc::from([]))));
        let v = self.irregular_as(v, &ty);
        let v = self.rows_out(&v, &mut Vec::new())?;
        let mut args = Vec::new();
        for part in outside(&v) {
            args.push(match part {
                Outside::Data(leaf) => leaf.atom,
                Outside::Units(shape) => self.units(&shape),
            });
        }
        let step = Stream {
            op: StreamOp::Write,
            stream: 0,
            args,
        };
        self.push(Vec::new(), ArrayOp::Stream(step).into());
        Ok(Value::scalar(count))
    }

    /// Goes through the result of an entry point.
    pub(super) fn drain(
        &mut self,
        drain: Name,
        v: Value<'a>,
        (entry, frame): (&'a Entry, &Rc<Frame<'a>>),
        file: &Rc<Frame<'a>>,
    ) -> Res<()> {
        let span = self.typed.names.get(entry.value).span.unwrap_or_default();
        let elem = elements_of(&entry.result.ty).map(|elem| self.eval_type(elem, frame));
        let inst = Instance {
            types: elem.into_iter().collect(),
            sizes: Vec::new(),
        };
        let f = self.name_value(drain, file, &inst)?;
        self.apply(f, vec![v], span)?;
        Ok(())
    }

    /// Makes one loop of those that go through one sequence. Sequences that are parameters can be gone through once.
    pub(super) fn check_streams(&mut self) -> Res<()> {
        if self.streams == 0 {
            return Ok(());
        }
        let program = Program {
            vars: std::mem::take(&mut self.vars),
            funs: std::mem::take(&mut self.funs),
            spans: Spans::new(),
        };
        let program = midend::passes::chunks::run(program);
        (self.vars, self.funs) = (program.vars, program.funs);
        let mut known = Known::new();
        for fun in self.funs.iter() {
            let Some(described) = &fun.entry else {
                continue;
            };
            let mut reads = Reads::new();
            self.reads(&fun.body, &mut known, &mut reads);
            let streams = described.params.iter().filter(|param| param.streamed);
            for (stream, param) in (0..).zip(streams) {
                if let Some((true, at)) = reads.get(&stream) {
                    let name = &param.name;
                    let message =
                        format!("the sequence `{name}` would be gone through more than once");
                    let entry = self.typed.entries.iter().find(|e| e.name == described.name);
                    let entry = entry.and_then(|e| self.typed.names.get(e.value).span);
                    let span = self.place_outside(*at).or(entry).unwrap_or_default();
                    let hint = "a parameter is read only once: its consumers go through it together if none needs the result of another, and not in a loop or inside of parallel code, nor beside one that ends after a number of elements known before; `seq.to_array` keeps all of it";
                    let error = Diagnostic::error(ErrorCode::BadEntry, span, message);
                    return Err(Box::new(error.hint(hint)));
                }
            }
        }
        Ok(())
    }

    /// Where in the program itself a statement comes from.
    fn place_outside(&self, mut at: SpanId) -> Option<Span> {
        while at != Spans::NONE {
            let (span, outer) = self.span_ids.iter().find(|(_, id)| **id == at)?.0;
            let file = self.sources.get(span.file)?;
            if file.name() != crate::prelude::FILE {
                return Some(*span);
            }
            at = *outer;
        }
        None
    }

    /// Which sequences a body reads. A loop over chunks does so directly.
    fn reads(&self, body: &Body<Soac>, known: &mut Known, reads: &mut Reads) {
        deep(|| {
            for stm in &body.stms {
                match &stm.exp {
                    Exp::Op(Soac::Array(ArrayOp::Stream(stream))) => {
                        if stream.op == StreamOp::Read {
                            add(reads, stream.stream, (false, stm.span));
                        }
                    }
                    Exp::If {
                        then, otherwise, ..
                    } => {
                        let (mut first, mut second) = (Reads::new(), Reads::new());
                        self.reads(then, known, &mut first);
                        self.reads(otherwise, known, &mut second);
                        for (stream, (twice, at)) in second {
                            let known = first.entry(stream).or_insert((twice, at));
                            known.0 |= twice;
                        }
                        first.into_iter().for_each(|(s, read)| add(reads, s, read));
                    }
                    Exp::Loop { form, body, .. } => {
                        let mut inner = Reads::new();
                        self.reads(body, known, &mut inner);
                        if let LoopForm::While(cond) = form {
                            self.reads(cond, known, &mut inner);
                        }
                        for (stream, (twice, at)) in inner {
                            let direct = body.stms.iter().any(|stm| is_read(&stm.exp, stream));
                            add(reads, stream, (twice || !direct, at));
                        }
                    }
                    Exp::Call { fun, args: _ } => {
                        if !known.contains_key(fun) {
                            // What a function reads by calling itself is what it reads.
                            known.insert(*fun, Reads::new());
                            let mut inner = Reads::new();
                            self.reads(&self.funs[*fun].body, known, &mut inner);
                            known.insert(*fun, inner);
                        }
                        let inner = known.get(fun).cloned().unwrap_or_default();
                        for (stream, (twice, at)) in inner {
                            let at = if twice { at } else { stm.span };
                            add(reads, stream, (twice, at));
                        }
                    }
                    Exp::Op(_) => {
                        let mut inner = Reads::new();
                        stm.exp
                            .scopes(&mut |_, body| self.reads(body, known, &mut inner));
                        for (stream, (_, at)) in inner {
                            add(reads, stream, (true, at));
                        }
                    }
                    Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
                }
            }
        });
    }
}

fn add(reads: &mut Reads, stream: u32, (twice, at): (bool, SpanId)) {
    match reads.get_mut(&stream) {
        Some(known) => *known = (true, if known.0 { known.1 } else { at }),
        None => {
            reads.insert(stream, (twice, at));
        }
    }
}

fn is_read(exp: &Exp<Soac>, number: u32) -> bool {
    match exp {
        Exp::Op(Soac::Array(ArrayOp::Stream(stream))) => {
            stream.op == StreamOp::Read && stream.stream == number
        }
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    }
}
