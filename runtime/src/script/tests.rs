//! FutharkScript against a toy callee.

use super::*;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Entry, EntryParam, EntryType};
use midend::ir::types::ScalarType;
use midend::value::Value;

/// `pair x y` is an opaque pair, `sum p` adds its parts, `two` gives two results.
struct Toy(Vec<Entry>);

fn i32s() -> EntryType {
    EntryType::Scalar(ScalarType::I32)
}

fn toy() -> Toy {
    let pair = EntryType::Opaque {
        name: "pair".to_owned(),
        of: Box::new(EntryType::Tuple(vec![i32s(), i32s()])),
    };
    let entry = |name: &str, params: &[EntryType], results: &[EntryType]| Entry {
        name: name.to_owned(),
        size_params: 0,
        size_results: 0,
        params: params
            .iter()
            .map(|ty| EntryParam {
                name: "x".to_owned(),
                ty: ty.clone(),
                unique: false,
                streamed: false,
            })
            .collect(),
        results: results.to_vec(),
        streamed: false,
    };
    Toy(vec![
        entry("pair", &[i32s(), i32s()], std::slice::from_ref(&pair)),
        entry("sum", &[pair], &[i32s()]),
        entry("two", &[], &[i32s(), i32s()]),
    ])
}

impl Callee for Toy {
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.iter().find(|e| e.name == name)
    }
    fn call(&self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, String> {
        match (name, args.as_slice()) {
            ("pair", _) => Ok(args),
            ("sum", [Value::Scalar(Const::I32(a)), Value::Scalar(Const::I32(b))]) => {
                Ok(vec![Value::Scalar(Const::I32(a + b))])
            }
            ("two", []) => Ok(vec![
                Value::Scalar(Const::I32(1)),
                Value::Scalar(Const::I32(2)),
            ]),
            _ => Err(String::from("wrong arguments")),
        }
    }
}

fn eval(text: &str) -> Result<Value, String> {
    let toy = toy();
    let exp = parse(text)?;
    Evaluator::new(&toy, ".").eval(&exp)?.plain()
}

fn int(n: i32) -> Result<Value, String> {
    Ok(Value::Scalar(Const::I32(n)))
}

#[test]
fn calls_lets_tuples_and_fields() {
    assert_eq!(eval("sum (pair 1 2)"), int(3));
    assert_eq!(eval("sum (1, 2)"), int(3), "a tuple fits an opaque pair");
    assert_eq!(eval("let p = pair 3i32 4 in sum p"), int(7));
    assert_eq!(eval("let (a, b) = two in sum (pair a b)"), int(3));
    assert_eq!(
        eval("sum (pair two)"),
        int(3),
        "a tuple is spread over the parameters"
    );
    assert_eq!(eval("(pair 5 6).1"), int(6));
    assert_eq!(eval("{b = 1i32, a = 2i32}.a"), int(2));
    assert_eq!(eval("let f = pair 1 in sum (f 9)"), int(10));
}

#[test]
fn literals() {
    assert_eq!(eval("-3"), int(-3));
    assert_eq!(eval("[1i32, 2][1]"), int(2));
    assert_eq!(eval("1e-3f32"), Ok(Value::Scalar(Const::f32(1e-3))));
    assert_eq!(eval("true"), Ok(Value::Scalar(Const::Bool(true))));
    assert!(eval("\"ab\"").is_ok_and(|v| v.shape() == [2]));
    assert!(eval("empty([0][3]f32)").is_ok_and(|v| v.shape() == [0, 3]));
    assert!(
        eval("[[1i64, 2], [3, 4]]").is_err(),
        "rows of other types than the first"
    );
    assert!(eval("[[1, 2], [3, 4]]").is_ok_and(|v| v.shape() == [2, 2]));
}

#[test]
fn mistakes_are_told() {
    assert_eq!(
        eval("nothing 1"),
        Err("nothing is not an entry point".to_owned())
    );
    assert_eq!(
        eval("pair 1 2i64"),
        Err("in a call of pair: x: i32: a value of type i32 was expected, this is a value of type i64".to_owned())
    );
    assert!(eval("sum (").is_err());
    assert!(eval("$run \"x\"").is_err());
    assert!(
        eval(&"(".repeat(100_000)).is_err(),
        "deep nesting is refused"
    );
}
