//! Printing a tree and parsing the text gives the tree again.

use super::super::parse_program;
use super::super::print::print_program;
use super::{FILE, bare, program};

/// Our own programs, which together use every form of the syntax.
const SAMPLES: &[&str] = &[
    "-- | Sums.\n\n-- | The sum of squares.\nentry main [n] (xs: [n]f64) : f64 =\n  reduce (+) 0 (map (\\x -> x ** 2) xs)\n",
    "def a = -x ** -y - -z with [0] = !b && c || d |> f <| g `h` 3 : t :> [n]u\n\
     def b = ((x -), (- 1), (* 2), (.a[0].b), (.[1]), (`f` 2), (2 `m.f`), (m.+), (-))\n\
     def c = a[1:2, :, ::3][0] + (f a)[i] + {x = 1, y}.x + m.(p q) + r.0.1.x + \"s\\n\\\"\" [0]\n",
    "def f x = if a then b else if c then d else e\n\
     def g = let x = 1 let y: i32 = 2 in let (p, q) = z in let x[0].y = 3 in let h [n] 'a (v: [n]a) : a = v[0]\n\
     let [k] (w: [k]i32) = u let r.s.0 = 1 in h\n\
     def h = loop (i, j) = (0, 1) while i < 10 do (i + 1, j * 2)\n\
     def i = loop acc for k < n do loop acc for x in xs do acc + x * k\n",
    "def m x = match (x, y) case (#some v, -1) -> (match v case 'a' -> 1 case _ -> 2) case (#none, _) -> 0x1F\n\
     case ({a = 1.5e3, b, c: i32}, (d: t)) -> 0b101u8 + 0rXIV case #[q] _ -> 0x1.8p3f32\n\
     def n = assert (a == b) #[unroll(4, f(g))] f \\(x, _) (y: i32): (i32 -> i32) -> #pair x (#leaf) ??? () [] {}\n",
    "type t 'a [n] = {f: a -> (i: i64) -> [i + 1]*a, 0: #l | #r a ([n]a) ()}\n\
     type^ u 'a '~b '^c [n] [m] = ?[k].[k][][..]t [n] (a, b) c\n\
     type~ v = * [2 * n]m.t\n",
    "module type s = { type t 'a type^ u type v = i32 val x [n] 'a : [n]a -> a val (+) : t -> t val - : t\n\
     module n : s with t 'a = a include s -- comment\n #[deprecated] val y : i32 }\n\
     module type f = (x: s) -> s with t = x.t with u.v = i32 -> (s -> s)\n\
     module m (p: s) (q: s with t = p.t) : f = \\(r: s) : (s with t = q.t) -> { open p local def x = 1 -- c\n\
     -- | Documented.\n local type t = i32 import \"lib/a\" }\n\
     module k = f (g x) { def y = 2 } (import \"b\") : s\n",
    "def (x, y) <+> {z} : i32 = x\nlet (^^) (#c) 'q' = 1\ndef a `of` b = a\n#[inline] #[noinline] entry e = 1 ... 3\n\
     def r = (a..b...c, a ..< b, a..b..>c, 1i8, 2u64, 3f16, 4.5f64, '\\n', true, false)\n",
];

#[test]
fn samples_survive_printing() {
    for sample in SAMPLES {
        let tree = program(sample);
        let printed = print_program(&tree);
        assert_eq!(bare(&tree), bare(&program(&printed)), "{printed}");
        assert_eq!(printed, print_program(&program(&printed)));
    }
}

/// The outside test programs, if `FUTHARK_TESTS` names their directories.
#[test]
fn outside_programs_survive_printing() {
    let Some(directories) = std::env::var_os("FUTHARK_TESTS") else {
        return;
    };
    let mut waiting: Vec<_> = std::env::split_paths(&directories).collect();
    while let Some(path) = waiting.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            waiting.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let Ok(tree) = parse_program(FILE, &text) else {
                continue;
            };
            let printed = print_program(&tree);
            assert!(
                bare(&tree) == bare(&program(&printed)),
                "{}:\n{printed}",
                path.display()
            );
        }
    }
}
