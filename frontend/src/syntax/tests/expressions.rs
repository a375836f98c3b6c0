//! Expressions: precedence, application, indexing, sections, literals, and the constructs with keywords.

use super::super::ast::{ExpKind, FloatType, IntType, Literal};
use super::{exp, reads_as, refused, same};

#[test]
fn precedence_follows_the_table() {
    same(
        "a |> f <| b || c && d == e | g << h + i * j ** k",
        "a |> (f <| (b || (c && (d == (e | (g << (h + (i * (j ** k)))))))))",
    );
    same("a - b - c", "(a - b) - c");
    same("a <| b <| c", "a <| (b <| c)");
    same("a |> b |> c", "(a |> b) |> c");
    same("a & b ^ c | d", "((a & b) ^ c) | d");
    same("a `f` b + c `g` d", "(a `f` (b + c)) `g` d");
    same("a +% b *! c", "a +% (b *! c)");
    same("f >-> g |> h", "(f >-> g) |> h");
    same("x m.* y + z", "(x m.* y) + z");
}

#[test]
fn signs_bind_tighter_than_operators_and_looser_than_application() {
    same("-a ** b", "(-a) ** b");
    same("-f x", "-(f x)");
    same("!a && b", "(!a) && b");
    same("a - -b", "a - (-b)");
    same("-x with [0] = 1", "(-x) with [0] = 1");
    same("- - x", "-(-x)");
}

#[test]
fn updates_and_ranges_are_looser_than_operators() {
    same("a + b with [i] = c + d", "(a + b) with [i] = (c + d)");
    same(
        "a with [0] = b with [1] = c",
        "(a with [0] = b) with [1] = c",
    );
    same("a `f` b with [0] = c", "a `f` (b with [0] = c)");
    same("a + 1..b - 1...c * 2", "(a + 1) .. (b - 1) ... (c * 2)");
    same("0..<n `f` m", "0 ..< (n `f` m)");
    same("a with x = 1 ..< 3", "(a with x = 1) ..< 3");
    reads_as("1...n", "1 ... n");
    reads_as("a..b..>c", "a .. b ..> c");
    reads_as("r with x.y[1, 2].z = v", "r with x.y[1, 2].z = v");
}

#[test]
fn ascription_is_loosest() {
    same("a + b : t", "(a + b) : t");
    same("a : t :> u", "(a : t) :> u");
    same("\\x -> x : t", "\\x -> (x : t)");
    same("if a then b else c : t", "if a then b else (c : t)");
    same("let x = a : t in x : u", "let x = (a : t) in (x : u)");
}

#[test]
fn open_ended_constructs_extend_to_the_right() {
    same(
        "a + if b then c else d + e",
        "a + (if b then c else (d + e))",
    );
    same("f \\x -> x + 1", "f (\\x -> (x + 1))");
    same("xs |> map \\x -> x |> g", "xs |> (map (\\x -> (x |> g)))");
    same("#[a] x + y", "#[a] (x + y)");
    same("a * #[b] x + y", "a * (#[b] (x + y))");
    same("assert c x + y", "assert c (x + y)");
    same("assert c.d[0] x", "assert (c.d[0]) x");
    same(
        "if a then b else if c then d else e",
        "if a then b else (if c then d else e)",
    );
    same("let a = 1 let b = 2 in a", "let a = 1 in let b = 2 in a");
    same(
        "match a case b -> match c case d -> e case f -> g",
        "match a case b -> (match c case d -> e case f -> g)",
    );
    same(
        "loop x = 1 for i < n do x + i",
        "loop x = 1 for i < n do (x + i)",
    );
}

#[test]
fn a_bracket_without_a_blank_indexes() {
    reads_as("a[i]", "a[i]");
    reads_as("a [i]", "a [i]");
    assert!(matches!(exp("a[i]").kind, ExpKind::Index(..)));
    assert!(matches!(exp("a [i]").kind, ExpKind::Apply(..)));
    same("f a[i] b", "f (a[i]) b");
    same("(f x)[0][1]", "((f x)[0])[1]");
    same("m.a[0].x", "((m.a)[0]).x");
    same("if c then[1]else[2]", "if c then [1] else [2]");
    reads_as(
        "a[1, :, 2:, :3, ::-1, i:j:k, i::k, :j:k]",
        "a[1, :, 2:, :3, ::-1, i:j:k, i::k, :j:k]",
    );
    reads_as("a[:, 0,]", "a[:, 0]");
    assert!(refused("def f = a[0] [1]").contains("applied to an array"));
    same("{x = a}[0]", "{x = a} [0]");
    same("\"ab\"[0]", "\"ab\" [0]");
}

#[test]
fn paths_and_projections() {
    assert!(matches!(exp("a.b.c").kind, ExpKind::Name(name) if name.quals.len() == 2));
    assert!(matches!(exp("x.0.1").kind, ExpKind::Project(..)));
    reads_as("x.0.1", "x.0.1");
    reads_as("(f x).y.0", "(f x).y.0");
    reads_as("(a).b", "(a).b");
    reads_as("a.0.b", "a.0.b");
    same("m.n.(x + 1)", "m . n . ( x + 1 )");
    assert!(matches!(exp("m.(x)").kind, ExpKind::LocalOpen(..)));
    same("f x.y.0 z", "f (x.y.0) z");
}

#[test]
fn sections() {
    reads_as("(+)", "(+)");
    reads_as("(-)", "(-)");
    reads_as("(x-)", "(x -)");
    reads_as("(-x)", "-x");
    reads_as("(*x)", "(* x)");
    reads_as("(x f32.*)", "(x f32.*)");
    reads_as("(`f` x)", "(`f` x)");
    reads_as("(x `m.f`)", "(x `m.f`)");
    reads_as("(+ a * b)", "(+ a * b)");
    reads_as("(a * b +)", "(a * b +)");
    reads_as("(.x)", "(.x)");
    reads_as("(.0.y[1].z)", "(.0.y[1].z)");
    reads_as("(.[i, j])", "(.[i, j])");
    reads_as("(<= 3)", "(<= 3)");
    same("(-1)", "-1");
    same("()", "( )");
}

#[test]
fn application_and_constructors() {
    assert!(matches!(exp("f x y").kind, ExpKind::Apply(_, args) if args.len() == 2));
    assert!(matches!(exp("#c x y").kind, ExpKind::Constr(_, args) if args.len() == 2));
    assert!(matches!(exp("f #c x").kind, ExpKind::Apply(_, args) if args.len() == 2));
    reads_as("(#c) x", "(#c) x");
    reads_as("#c (#d x) ()", "#c (#d x) ()");
    reads_as("f (\\x -> x) y", "f (\\x -> x) y");
    reads_as("???", "???");
}

#[test]
fn bindings() {
    reads_as("let x = 1 in x", "let x = 1 in x");
    reads_as("let (x, _): (a, b) = y in x", "let (x, _): (a, b) = y in x");
    reads_as(
        "let [n] [m] (x: [n][m]t) = y in n",
        "let [n] [m] x: [n][m]t = y in n",
    );
    reads_as("let f x = x in f", "let f x = x in f");
    reads_as(
        "let f [n] 'a (x: [n]a): a = x[0] in f",
        "let f [n] 'a (x: [n]a) : a = x[0] in f",
    );
    reads_as("let f 'a (x: a) = x in f", "let f 'a (x: a) = x in f");
    reads_as("let x[0] = 1 in x", "let x[0] = 1 in x");
    reads_as("let x[0].y[1:] = 1 in x", "let x[0].y[1:] = 1 in x");
    reads_as("let x.y.0 = 1 in x", "let x.y.0 = 1 in x");
    reads_as("let #c x = y in x", "let #c x = y in x");
    assert!(matches!(
        exp("let f [n] (x: t) = x in f").kind,
        ExpKind::LetFun { .. }
    ));
    assert!(matches!(
        exp("let x[n] = y in x").kind,
        ExpKind::LetUpdate { .. }
    ));
    assert!(matches!(
        exp("let x : t = y in x").kind,
        ExpKind::Let { .. }
    ));
}

#[test]
fn loops_and_matches() {
    reads_as("loop x for i < n do x", "loop x for i < n do x");
    reads_as(
        "loop (x, y) = (1, 2) for z in zs do (x, z)",
        "loop (x, y) = (1, 2) for z in zs do (x, z)",
    );
    reads_as(
        "loop x : i32 = 1 while x < 3 do x",
        "loop x: i32 = 1 while x < 3 do x",
    );
    reads_as(
        "match x case (1, -2i8) -> a case #c {y = _, z} -> b case _ -> c",
        "match x case (1, -2i8) -> a case #c {y = _, z = z} -> b case _ -> c",
    );
    reads_as(
        "match x case 'a' -> 1 case true -> 2 case -1.5 -> 3",
        "match x case 'a' -> 1 case true -> 2 case -1.5 -> 3",
    );
    reads_as("match x case (y: i32) -> y", "match x case (y: i32) -> y");
}

#[test]
fn aggregates() {
    reads_as("{x = 1, y, 0 = z,}", "{x = 1, y, 0 = z}");
    reads_as("[1, 2,]", "[1, 2]");
    reads_as("(1, 2,)", "(1, 2)");
    reads_as("{}", "{}");
    reads_as("[]", "[]");
    assert!(refused("def f = (1,)").contains("two elements"));
    assert!(refused("def f = {0}").contains("needs a value"));
}

fn literal(text: &str) -> Literal {
    let kind = exp(text).kind;
    let ExpKind::Literal(literal) = kind else {
        panic!("`{text}` is no literal: {kind:?}");
    };
    literal
}

#[test]
fn integer_literals() {
    let int = |value, suffix| Literal::Int { value, suffix };
    assert_eq!(literal("1_000"), int(1000, None));
    assert_eq!(literal("0xFF_ffu16"), int(0xffff, Some(IntType::U16)));
    assert_eq!(literal("0b1_01i64"), int(5, Some(IntType::I64)));
    assert_eq!(literal("0rMCMXC"), int(1990, None));
    assert_eq!(literal("0rXVIi8"), int(16, Some(IntType::I8)));
    assert_eq!(
        literal("300u8"),
        int(300, Some(IntType::U8)),
        "range is for the checker"
    );
    assert_eq!(
        literal("0xf16"),
        int(0xf16, None),
        "hexadecimal digits, no suffix"
    );
    let large = |text: &str| {
        let Literal::Large(digits) = literal(text) else {
            panic!("`{text}` fits into an integer type");
        };
        digits.to_f64()
    };
    assert_eq!(large("18_446_744_073_709_551_616"), 2f64.powi(64));
    assert_eq!(large("0x1_0000_0000_0000_0000"), 2f64.powi(64));
    assert_eq!(
        large(&format!("0b11{}", "0".repeat(200))),
        3.0 * 2f64.powi(200)
    );
    assert_eq!(large(&format!("1{}", "0".repeat(300))), 1e300);
    let bound = "340282366920938463463374607431768211456u64";
    assert!(refused(&format!("def x = {bound}")).contains("too large"));
}

#[test]
fn float_literals() {
    let float = |text: &str| {
        let Literal::Float { digits, suffix } = literal(text) else {
            panic!("`{text}` is no float");
        };
        (digits.to_f64(), suffix)
    };
    assert_eq!(float("1.5"), (1.5, None));
    assert_eq!(float("1e3"), (1000.0, None));
    assert_eq!(float("1_0.2_5e-1f32"), (1.025, Some(FloatType::F32)));
    assert_eq!(float("2f16"), (2.0, Some(FloatType::F16)));
    assert_eq!(float("0x1.8p1"), (3.0, None));
    assert_eq!(float("0xA.8p-1f64"), (5.25, Some(FloatType::F64)));
}

#[test]
fn characters_and_strings() {
    assert_eq!(literal("'a'"), Literal::Char('a'));
    assert_eq!(literal("'\\''"), Literal::Char('\''));
    assert_eq!(literal("'\\n'"), Literal::Char('\n'));
    assert_eq!(literal("'\\955'"), Literal::Char('λ'));
    assert_eq!(literal("'λ'"), Literal::Char('λ'));
    assert_eq!(literal("\"a\\\"b\\\\\""), Literal::Str(b"a\"b\\".to_vec()));
    assert_eq!(
        literal("\"\\x41\\66\\o103\\&4\\SOH\""),
        Literal::Str(b"ABC4\x01".to_vec())
    );
    assert_eq!(literal("\"å\""), Literal::Str("å".as_bytes().to_vec()));
    assert!(refused("def s = \"\\q\"").contains("escape"));
    assert!(refused("def s = \"abc\ndef t = \"").contains("does not end"));
}

#[test]
fn operators_are_read_by_longest_match() {
    assert!(refused("def f = let x =-1 in x").contains("=-"));
    same("a *-b", "a *- b");
    assert!(matches!(exp("a *- b").kind, ExpKind::BinOp { op, .. } if &*op.name.name == "*-"));
    assert!(matches!(exp("a --b\n + c").kind, ExpKind::BinOp { op, .. } if &*op.name.name == "+"));
    assert!(matches!(exp("a !! b").kind, ExpKind::BinOp { op, .. } if &*op.name.name == "!!"));
}

#[test]
fn spans_cover_what_was_written() {
    let text = "f (a + b) |> g.h[1]";
    let tree = exp(text);
    assert_eq!((tree.span.lo, tree.span.hi), (0, 19));
    let ExpKind::BinOp { lhs, rhs, op } = &tree.kind else {
        panic!("not an operator");
    };
    let slice = |span: crate::source::Span| &text[span.lo as usize..span.hi as usize];
    assert_eq!(slice(lhs.span), "f (a + b)");
    assert_eq!(slice(rhs.span), "g.h[1]");
    assert_eq!(slice(op.span()), "|>");
    let ExpKind::Apply(_, args) = &lhs.kind else {
        panic!("not an application");
    };
    assert_eq!(slice(args[0].span), "(a + b)");
}
