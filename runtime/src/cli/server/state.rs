//! The commands. A command that fails changes nothing, but that a call which fails has consumed what it was given to consume.

use super::super::profile::name_and_origin;
use super::elements::{array_of, constructor, constructors, element, replace, shape};
use super::types::{Kind, Types, alone, columns, fields, kind, name, output, parts, structure};
use super::variables::{Variable, Variables};
use super::words::words;
use crate::data::{Source, absent, leaves, read_arguments, write_results};
use crate::session::{Program, Resident, Session};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Entry, EntryParam, EntryType};
use midend::ir::threshold::{Forced, Threshold};
use midend::plan::Profile;
use midend::value::{Value, elements};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// A program that is served, and the variables of its client.
pub(super) struct Server {
    session: Session,
    program: Program,
    types: Types,
    variables: Variables,
    thresholds: Forced,
    profiles: Option<Profiles>,
}

/// What calls spent time on.
#[derive(Default)]
struct Profiles {
    is_paused: bool,
    gathered: Vec<Profile>,
}

/// What comes of a command.
type Reply = Result<(), String>;

/// The answer of a command, as far as it is known.
type Answer<'a> = &'a mut String;

fn line(answer: Answer<'_>, text: &str) {
    answer.push_str(text);
    answer.push('\n');
}

/// So many words.
fn exactly<'w, const N: usize>(command: &str, words: &[&'w str]) -> Result<[&'w str; N], String> {
    let found = words.len();
    let all: Result<[&str; N], _> = words.try_into();
    all.map_err(|_| format!("{command} takes {N} arguments, and {found} were given"))
}

/// So many words, and more.
fn at_least<'w, 'l, const N: usize>(
    command: &str,
    words: &'l [&'w str],
) -> Result<(&'l [&'w str; N], &'l [&'w str]), String> {
    let found = words.len();
    let split = words.split_first_chunk();
    split.ok_or_else(|| format!("{command} takes {N} arguments or more, and {found} were given"))
}

impl Server {
    pub(super) fn new(session: Session, program: Program, profiles: bool) -> Self {
        Self {
            types: Types::new(program.entries()),
            variables: Variables::default(),
            thresholds: session.options().thresholds.clone(),
            profiles: profiles.then(Profiles::default),
            session,
            program,
        }
    }

    /// Does what a line says; the answer, or why that cannot be done.
    pub(super) fn answer(&mut self, line: &str, answer: Answer<'_>) -> Reply {
        let words = words(line)?;
        let Some((command, words)) = words.split_first() else {
            return Err(String::from("Empty line"));
        };
        match *command {
            "types" => self.print_types(words, answer),
            "entry_points" => self.print_entry_points(words, answer),
            "call" => self.call(words, answer),
            "restore" => self.restore(words),
            "store" => self.store(words),
            "free" => self.free(words),
            "rename" => self.rename(words),
            "inputs" => self.print_inputs(words, answer),
            "output" | "outputs" => self.print_output(command, words, answer),
            "clear" => exactly(command, words).map(|[]: [&str; 0]| self.clear()),
            "kind" => self.print_kind(words, answer),
            "type" => self.print_type(words, answer),
            "pause_profiling" | "unpause_profiling" => {
                let [] = exactly(command, words)?;
                if let Some(profiles) = &mut self.profiles {
                    profiles.is_paused = *command == "pause_profiling";
                }
                Ok(())
            }
            "report" => self.report(words, answer),
            "set_tuning_param" => self.set_tuning_param(words),
            "tuning_params" => self.print_tuning_params(words, answer),
            "tuning_param_class" => self.print_tuning_param_class(words, answer),
            "attributes" => self.print_attributes(words, answer),
            "rank" => self.print_rank(words, answer),
            "elemtype" => self.print_element_type(words, answer),
            "new_array" => self.new_array(words),
            "set" => self.set(words),
            "shape" => self.print_shape(words, answer),
            "index" => self.index(words),
            "zip" => self.zip(words),
            "unzip" => self.unzip(words),
            "fields" => self.print_fields(words, answer),
            "new" => self.new_record(words),
            "project" => self.project(words),
            "variants" => self.print_variants(words, answer),
            "construct" => self.construct(words),
            "destruct" => self.destruct(words),
            "variant" => self.print_variant(words, answer),
            unknown => Err(format!("Unknown command: {unknown}")),
        }
    }

    fn entry(&self, name: &str) -> Result<&Entry, String> {
        let entry = self.program.entry(name);
        entry.ok_or_else(|| format!("Unknown entry point: {name}"))
    }

    fn named(&self, name: &str) -> Result<EntryType, String> {
        let ty = self.types.get(name);
        ty.ok_or_else(|| format!("Unknown type: {name}"))
    }

    /// The type of this name, if it is an array: its dimensions, and the type of its elements.
    fn named_array(&self, name: &str) -> Result<(usize, EntryType), String> {
        let ty = self.named(name)?;
        let parts = parts(&ty).map(|(rank, elem)| (rank, elem.clone()));
        parts.ok_or_else(|| String::from("Not an array type"))
    }

    /// The array in a variable: its dimensions, the type of its elements, and its leaves.
    fn array(&self, variable: &str) -> Result<(usize, EntryType, Vec<Value>), String> {
        let array = self.variables.get(variable)?;
        let Some((rank, elem)) = parts(&array.ty) else {
            return Err(String::from("Not an array type"));
        };
        Ok((rank, elem.clone(), array.values(variable)?))
    }

    /// The values of a variable that is to be of a type.
    fn values_of(&self, variable: &str, ty: &EntryType, what: &str) -> Result<Vec<Value>, String> {
        let found = self.variables.get(variable)?;
        if !is_one(&found.ty, ty) {
            let (expected, got) = (name(ty), name(&found.ty));
            return Err(format!(
                "{what} mismatch: expected type {expected}, got {got}"
            ));
        }
        found.values(variable)
    }

    fn add(&mut self, variable: &str, ty: EntryType, values: Vec<Value>) -> Reply {
        self.variables.free_names(&[variable])?;
        let leaves = self.put(values)?;
        self.variables.add(variable, Variable::new(ty, leaves));
        Ok(())
    }

    fn put(&self, values: Vec<Value>) -> Result<Vec<Resident>, String> {
        let values = values.into_iter();
        let put = values.map(|value| self.session.put(value).map_err(|why| why.to_string()));
        put.collect()
    }

    fn print_types(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [] = exactly("types", words)?;
        self.types.names().for_each(|name| line(answer, name));
        Ok(())
    }

    fn print_entry_points(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [] = exactly("entry_points", words)?;
        let entries = self.program.entries().iter();
        entries.for_each(|entry| line(answer, &entry.name));
        Ok(())
    }

    /// `call ENTRY OUT IN..`, or with as many variables as a result has components before the inputs.
    fn call(&mut self, words: &[&str], answer: Answer<'_>) -> Reply {
        let ([called], variables) = at_least("call", words)?;
        let entry = self.entry(called)?.clone();
        let inputs = entry.params.len();
        let components = entry.results.len();
        let outputs = match variables.len().checked_sub(inputs) {
            Some(1) => 1,
            Some(outputs) if outputs == components => outputs,
            _ => {
                let found = variables.len();
                return Err(format!(
                    "{called} takes a variable for the result and {inputs} for its inputs, and {found} were given"
                ));
            }
        };
        let (outputs, inputs) = variables.split_at(outputs);
        self.variables.free_names(outputs)?;
        let args = self.arguments(&entry, inputs)?;
        let start = Instant::now();
        let profiles = self
            .profiles
            .as_mut()
            .filter(|profiles| !profiles.is_paused);
        let results = match profiles {
            None => self.program.call_resident(called, args),
            Some(profiles) => args
                .into_iter()
                .map(Resident::get)
                .collect::<Result<Vec<_>, _>>()
                .and_then(|args| self.program.profile(called, args))
                .and_then(|(results, profile)| {
                    profiles.gathered.push(profile);
                    let results = results.into_iter();
                    results.map(|result| self.session.put(result)).collect()
                }),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(answer, "runtime: {}", start.elapsed().as_micros());
        let mut results = results.map_err(|why| why.to_string())?.into_iter();
        let types = match outputs {
            [_] => vec![output(&entry)],
            _ => entry.results,
        };
        for (variable, ty) in outputs.iter().zip(types) {
            let mine = results.by_ref().take(leaves(&ty).len()).collect();
            self.variables.add(variable, Variable::new(ty, mine));
        }
        Ok(())
    }

    /// The arguments of a call. What it consumes is taken from its variable.
    fn arguments(&mut self, entry: &Entry, inputs: &[&str]) -> Result<Vec<Resident>, String> {
        for (input, param) in inputs.iter().zip(&entry.params) {
            let found = self.variables.get(input)?;
            found.leaves(input)?;
            if !is_one(&found.ty, &param.ty) {
                let (expected, got) = (name(&param.ty), name(&found.ty));
                return Err(format!("Wrong input type. Expected {expected}, got {got}."));
            }
            if param.unique && inputs.iter().filter(|other| *other == input).count() > 1 {
                return Err(format!(
                    "Variable is consumed, and used by the same call: {input}"
                ));
            }
        }
        let mut args = Vec::new();
        for (input, param) in inputs.iter().zip(&entry.params) {
            let leaves = self.variables.get(input)?.leaves(input)?.iter();
            if param.unique {
                args.extend(leaves.cloned());
                self.variables.get_mut(input)?.consume();
                continue;
            }
            let copies = leaves.map(|leaf| leaf.to_argument(false).map_err(|why| why.to_string()));
            args.extend(copies.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(args)
    }

    fn restore(&mut self, words: &[&str]) -> Reply {
        let ([file], pairs) = at_least("restore", words)?;
        let (pairs, rest) = pairs.as_chunks();
        if let [variable] = rest {
            return Err(format!("restore was given no type of {variable}"));
        }
        let variables: Vec<&str> = pairs.iter().map(|[variable, _]| *variable).collect();
        self.variables.free_names(&variables)?;
        let params = pairs.iter().map(|[variable, ty]| {
            Ok(EntryParam {
                name: (*variable).to_owned(),
                ty: self.named(ty)?,
                unique: false,
                streamed: false,
            })
        });
        // The values of a file are read as those of a call are.
        let read = Entry {
            name: String::from("restore"),
            size_params: 0,
            size_results: 0,
            params: params.collect::<Result<_, String>>()?,
            results: Vec::new(),
            streamed: false,
        };
        let path = Path::new(file);
        if path == Path::new("-") {
            return Err(String::from(
                "Failed to open -: standard input has the commands",
            ));
        }
        let source = Source::open(path).map_err(|why| why.to_string())?;
        let mut values = read_arguments(&read, &[source])
            .map_err(|why| why.to_string())?
            .into_iter();
        for param in read.params {
            let mine = values.by_ref().take(leaves(&param.ty).len()).collect();
            self.add(&param.name, param.ty, mine)?;
        }
        Ok(())
    }

    fn store(&self, words: &[&str]) -> Reply {
        let ([file], variables) = at_least("store", words)?;
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for variable in variables {
            let found = self.variables.get(variable)?;
            types.push(found.ty.clone());
            values.extend(found.values(variable)?);
        }
        let mut bytes = Vec::new();
        let written = write_results(&types, &values, &mut bytes);
        written
            .and_then(|()| std::fs::write(file, bytes))
            .map_err(|why| format!("Failed to write {file}: {why}"))
    }

    fn free(&mut self, words: &[&str]) -> Reply {
        for variable in words {
            self.variables.get(variable)?;
        }
        for variable in words {
            self.variables.remove(variable)?;
        }
        Ok(())
    }

    fn rename(&mut self, words: &[&str]) -> Reply {
        let [old, new] = exactly("rename", words)?;
        self.variables.get(old)?;
        self.variables.free_names(&[new])?;
        let variable = self.variables.remove(old)?;
        self.variables.add(new, variable);
        Ok(())
    }

    fn print_inputs(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [entry] = exactly("inputs", words)?;
        for param in &self.entry(entry)?.params {
            let mark = if param.unique { "*" } else { "" };
            line(answer, &format!("{mark}{}", name(&param.ty)));
        }
        Ok(())
    }

    /// `output` has the type of the result, `outputs` those of its components. Results share no memory that a client can see
    /// change: what a call consumes is copied where a variable still needs it.
    fn print_output(&self, command: &str, words: &[&str], answer: Answer<'_>) -> Reply {
        let [entry] = exactly(command, words)?;
        let entry = self.entry(entry)?;
        let types = match command {
            "outputs" => entry.results.clone(),
            _ => vec![output(entry)],
        };
        types
            .iter()
            .for_each(|ty| line(answer, &format!("*{}", name(ty))));
        Ok(())
    }

    fn clear(&mut self) {
        if let Some(profiles) = &mut self.profiles {
            profiles.gathered.clear();
        }
    }

    fn print_kind(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [ty] = exactly("kind", words)?;
        line(answer, kind(&self.named(ty)?).name());
        Ok(())
    }

    fn print_type(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [variable] = exactly("type", words)?;
        line(answer, &name(&self.variables.get(variable)?.ty));
        Ok(())
    }

    /// What was gathered since the last report.
    fn report(&mut self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [] = exactly("report", words)?;
        let profiles = self.profiles.as_mut();
        let gathered = profiles.map_or_else(Vec::new, |p| std::mem::take(&mut p.gathered));
        let events = gathered.iter().flat_map(|profile| {
            profile.events.iter().map(|event| {
                let (name, origin) = name_and_origin(&profile.work[event.work]);
                json!({
                    "name": name,
                    "provenance": origin,
                    "duration": event.time.as_nanos() as f64 / 1e3,
                    "details": {},
                })
            })
        });
        let events: Vec<_> = events.collect();
        let peak = gathered.iter().map(|profile| profile.peak).max();
        let memory = peak.map_or_else(|| json!({}), |peak| json!({ "peak": peak }));
        line(
            answer,
            &json!({ "memory": memory, "events": events }).to_string(),
        );
        Ok(())
    }

    fn threshold(&self, param: &str) -> Result<&Threshold, String> {
        let mut all = self.program.thresholds().iter();
        let found = all.find(|threshold| threshold.to_string() == param);
        found.ok_or_else(|| format!("Unknown tuning parameter: {param}"))
    }

    fn set_tuning_param(&mut self, words: &[&str]) -> Reply {
        let [param, value] = exactly("set_tuning_param", words)?;
        self.threshold(param)?;
        self.thresholds.add(&format!("{param}={value}"))?;
        self.program.force(self.thresholds.clone());
        Ok(())
    }

    /// The thresholds of the program. Which of them an entry point meets is not known: kernels share functions.
    fn print_tuning_params(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [entry] = exactly("tuning_params", words)?;
        self.entry(entry)?;
        let all = self.program.thresholds().iter();
        all.for_each(|threshold| line(answer, &threshold.to_string()));
        Ok(())
    }

    fn print_tuning_param_class(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [param] = exactly("tuning_param_class", words)?;
        line(
            answer,
            &format!("threshold ({})", self.threshold(param)?.kind.name()),
        );
        Ok(())
    }

    fn print_attributes(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [entry] = exactly("attributes", words)?;
        self.entry(entry)?;
        let attributes = self.program.attributes(entry).iter();
        attributes.for_each(|attribute| line(answer, &attribute.to_string()));
        Ok(())
    }

    fn print_rank(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [ty] = exactly("rank", words)?;
        line(answer, &self.named_array(ty)?.0.to_string());
        Ok(())
    }

    fn print_element_type(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [ty] = exactly("elemtype", words)?;
        line(answer, &name(&alone(&self.named_array(ty)?.1)));
        Ok(())
    }

    fn new_array(&mut self, words: &[&str]) -> Reply {
        let ([variable, ty], rest) = at_least("new_array", words)?;
        let (rank, elem) = self.named_array(ty)?;
        self.variables.free_names(&[variable])?;
        if rest.len() < rank {
            return Err(format!(
                "Expected {rank} dimensions, but got {}.",
                rest.len()
            ));
        }
        let (dims, items) = rest.split_at(rank);
        let extent = |(i, dim): (usize, &&str)| {
            let extent = dim.parse().ok().filter(|n: &i64| *n >= 0);
            extent.ok_or_else(|| format!("Invalid size `{dim}` of dimension {}.", i + 1))
        };
        let dims = dims.iter().enumerate().map(extent);
        let dims = dims.collect::<Result<Vec<i64>, _>>()?;
        if elements(&dims) != Some(items.len()) {
            return Err(match elements(&dims) {
                Some(count) => format!("Expected {count} values, but got {}.", items.len()),
                None => String::from("Invalid array size."),
            });
        }
        let one = alone(&elem);
        let items = items.iter().enumerate();
        let items = items.map(|(i, item)| self.values_of(item, &one, &format!("Value {i}")));
        let items = items.collect::<Result<Vec<_>, _>>()?;
        let values = array_of(&elem, &dims, &items)?;
        self.add(variable, self.named(ty)?, values)
    }

    fn set(&mut self, words: &[&str]) -> Reply {
        let ([variable, value], indices) = at_least("set", words)?;
        let (rank, elem, mut values) = self.array(variable)?;
        let new = self.values_of(value, &alone(&elem), "Type")?;
        let dims = shape(rank, &values)?;
        let at = offset(&dims, indices)?;
        replace(&elem, &dims, &mut values, (at, new))?;
        let leaves = self.put(values)?;
        let array = self.variables.get_mut(variable)?;
        *array = Variable::new(array.ty.clone(), leaves);
        Ok(())
    }

    fn print_shape(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [variable] = exactly("shape", words)?;
        let (rank, _, values) = self.array(variable)?;
        let shape = shape(rank, &values)?;
        shape
            .iter()
            .for_each(|extent| line(answer, &extent.to_string()));
        Ok(())
    }

    fn index(&mut self, words: &[&str]) -> Reply {
        let ([to, from], indices) = at_least("index", words)?;
        let (rank, elem, values) = self.array(from)?;
        let at = offset(&shape(rank, &values)?, indices)?;
        let values = element(&elem, rank, &values, at)?;
        self.add(to, alone(&elem), values)
    }

    fn zip(&mut self, words: &[&str]) -> Reply {
        let ([variable, ty], arrays) = at_least("zip", words)?;
        let ty = self.named(ty)?;
        let (Some(columns), Some((rank, _))) = (columns(&ty), parts(&ty)) else {
            return Err(String::from("Cannot zip this array type"));
        };
        if columns.len() != arrays.len() {
            let (expected, found) = (columns.len(), arrays.len());
            return Err(format!(
                "{expected} arrays expected but {found} values provided."
            ));
        }
        let (mut all, mut dims) = (Vec::new(), None);
        for ((field, ty), array) in columns.iter().zip(arrays) {
            let values = self.values_of(array, ty, &format!("Field {field}"))?;
            let shape = shape(rank, &values)?;
            let first = dims.get_or_insert_with(|| shape.clone());
            if *first != shape {
                return Err(format!(
                    "arrays of {first:?} and of {shape:?} elements cannot be zipped"
                ));
            }
            all.extend(values);
        }
        self.add(variable, ty, all)
    }

    fn unzip(&mut self, words: &[&str]) -> Reply {
        let ([variable], arrays) = at_least("unzip", words)?;
        let found = self.variables.get(variable)?;
        if parts(&found.ty).is_none() {
            return Err(String::from("Not an array type"));
        }
        let Some(columns) = columns(&found.ty) else {
            return Err(String::from("Cannot unzip this array type"));
        };
        self.destructure(
            variable,
            columns.into_iter().map(|(_, ty)| ty).collect(),
            arrays,
        )
    }

    /// Makes variables of the values that follow each other in one.
    fn destructure(&mut self, variable: &str, types: Vec<EntryType>, to: &[&str]) -> Reply {
        if types.len() != to.len() {
            let (expected, found) = (types.len(), to.len());
            return Err(format!(
                "{expected} variables expected but {found} provided."
            ));
        }
        self.variables.free_names(to)?;
        let mut all = self.variables.get(variable)?.leaves(variable)?.to_vec();
        for (to, ty) in to.iter().zip(types) {
            let rest = all.split_off(leaves(&ty).len().min(all.len()));
            let mine = std::mem::replace(&mut all, rest);
            self.variables.add(to, Variable::new(ty, mine));
        }
        Ok(())
    }

    fn print_fields(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [ty] = exactly("fields", words)?;
        let fields = fields(&self.named(ty)?).ok_or("Not a record type")?;
        for (field, ty) in fields {
            line(answer, &format!("{field} {}", name(&ty)));
        }
        Ok(())
    }

    fn new_record(&mut self, words: &[&str]) -> Reply {
        let ([variable, ty], values) = at_least("new", words)?;
        let ty = self.named(ty)?;
        let fields = fields(&ty).ok_or("Not a record type")?;
        if fields.len() != values.len() {
            let (expected, found) = (fields.len(), values.len());
            return Err(format!(
                "{expected} fields expected but {found} values provided."
            ));
        }
        let fields = fields.iter().zip(values);
        let all = fields.map(|((f, ty), value)| self.values_of(value, ty, &format!("Field {f}")));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        self.add(variable, ty, all.concat())
    }

    fn project(&mut self, words: &[&str]) -> Reply {
        let [to, from, field] = exactly("project", words)?;
        self.variables.free_names(&[to])?;
        let record = self.variables.get(from)?;
        let fields = fields(&record.ty).ok_or("Not a record type")?;
        let Some(at) = fields.iter().position(|(name, _)| name == field) else {
            return Err(format!("No such field: {field}"));
        };
        let before = fields[..at].iter().map(|(_, ty)| leaves(ty).len()).sum();
        let ty = fields[at].1.clone();
        let all = record.leaves(from)?.iter();
        let mine = all.skip(before).take(leaves(&ty).len()).cloned().collect();
        self.variables.add(to, Variable::new(ty, mine));
        Ok(())
    }

    fn print_variants(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [ty] = exactly("variants", words)?;
        for (constructor, payload) in constructors(&self.named(ty)?)? {
            line(answer, constructor);
            let payload = payload.iter();
            payload.for_each(|ty| line(answer, &format!("- {}", name(ty))));
        }
        Ok(())
    }

    fn construct(&mut self, words: &[&str]) -> Reply {
        let ([variable, ty, variant], values) = at_least("construct", words)?;
        let ty = self.named(ty)?;
        let constructors = constructors(&ty)?;
        let Some(at) = constructors.iter().position(|(name, _)| name == variant) else {
            return Err(format!("No such variant: {variant}"));
        };
        let payload = &constructors[at].1;
        if payload.len() != values.len() {
            let (expected, found) = (payload.len(), values.len());
            return Err(format!(
                "{expected} values expected but {found} values provided."
            ));
        }
        // A `u8` says which constructor there is: there are no more of them.
        let mut all = vec![Value::Scalar(Const::U8(
            u8::try_from(at).unwrap_or(u8::MAX),
        ))];
        for (i, (_, payload)) in constructors.iter().enumerate() {
            if i != at {
                let leaves = payload.iter().flat_map(leaves);
                all.extend(leaves.map(absent));
                continue;
            }
            for (i, (ty, value)) in payload.iter().zip(values).enumerate() {
                all.extend(self.values_of(value, ty, &format!("Value {i}"))?);
            }
        }
        self.add(variable, ty.clone(), all)
    }

    fn destruct(&mut self, words: &[&str]) -> Reply {
        let ([variable], to) = at_least("destruct", words)?;
        let sum = self.variables.get(variable)?;
        let constructors = constructors(&sum.ty)?;
        let values = sum.values(variable)?;
        let at = constructor(&values)?;
        let Some((_, payload)) = constructors.get(at) else {
            return Err(format!("constructor {at} is none of the type"));
        };
        if payload.len() != to.len() {
            let (expected, found) = (payload.len(), to.len());
            return Err(format!(
                "{expected} variables expected but {found} variables provided."
            ));
        }
        self.variables.free_names(to)?;
        let before = constructors[..at].iter().flat_map(|(_, payload)| payload);
        let before: usize = before.map(|ty| leaves(ty).len()).sum();
        let mut all = sum.leaves(variable)?[1 + before..].to_vec();
        for (to, ty) in to.iter().zip(payload.clone()) {
            let rest = all.split_off(leaves(&ty).len().min(all.len()));
            let mine = std::mem::replace(&mut all, rest);
            self.variables.add(to, Variable::new(ty, mine));
        }
        Ok(())
    }

    fn print_variant(&self, words: &[&str], answer: Answer<'_>) -> Reply {
        let [variable] = exactly("variant", words)?;
        let sum = self.variables.get(variable)?;
        let constructors = constructors(&sum.ty)?;
        let at = constructor(&sum.values(variable)?)?;
        let found = constructors.get(at);
        let (constructor, _) = found.ok_or("the value is not of its type")?;
        line(answer, constructor);
        Ok(())
    }
}

/// Whether values of one type are values of another one: it has the same name, or is made of the same, since a result whose type the
/// source leaves out has no name.
fn is_one(found: &EntryType, wanted: &EntryType) -> bool {
    if kind(found) == Kind::Opaque || kind(wanted) == Kind::Opaque {
        return name(found) == name(wanted);
    }
    structure(found) == structure(wanted)
}

/// Which element stands at indices, counted in row-major order.
fn offset(dims: &[i64], indices: &[&str]) -> Result<usize, String> {
    if dims.len() != indices.len() {
        let (expected, found) = (dims.len(), indices.len());
        return Err(format!(
            "{expected} indices expected but {found} values provided."
        ));
    }
    let mut at = 0;
    for (i, (index, extent)) in indices.iter().zip(dims).enumerate() {
        let found = index.parse().ok().filter(|n| (0..*extent).contains(n));
        let found =
            found.ok_or_else(|| format!("Invalid index `{index}` on dimension {}.", i + 1))?;
        at = at * extent + found;
    }
    usize::try_from(at).map_err(|_| String::from("Invalid index."))
}
