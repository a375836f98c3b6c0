//! The words of the languages that are fuzzed, and what nests in them.

/// What mutations know of a language.
#[derive(Debug)]
pub struct Vocabulary {
    /// What begins a comment that ends with its line.
    pub comment: &'static str,
    /// Words that begin a declaration, at the start of a line.
    pub begins: Vec<&'static str>,
    /// Words and signs between phrases.
    pub separators: Vec<&'static str>,
    /// Words and signs to put anywhere.
    pub words: Vec<&'static str>,
    /// Numbers to put where a number stands.
    pub numbers: Vec<&'static str>,
    /// What can be put around a phrase, repeatedly.
    pub wraps: Vec<(&'static str, &'static str)>,
}

/// Words that are blanks, or look like nothing, in all languages.
const STRANGE: &[&str] = &[
    " ", "\n", "\r", "\t", "\0", "\u{feff}", "\u{202e}", "\u{e5}",
];

const NUMBERS: &str = "
    0 1 -1 2 3 7 10 100 127 128 255 256 32767 65535 65536 2147483647 2147483648 -2147483648 4294967295
    9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551615 18446744073709551616
    340282366920938463463374607431768211456 0.0 -0.0 0.1 1.5 1e5 1e400 1e-400 1e999999999999 0x7fff_ffff
    0xffffffffffffffff 0x1.8p3 0x1p99999 0b101 0b2 1_000 1__ 0i8 128i8 300u8 1i16 1u16 1i32 1u32 1i64 1u64 1f16
    70000f16 1f32 1.5f64 1e39f32 0x 0b 1. 1.e5 1e 1e+ 1i3 1f 3.14.15 0rXIV 0rq";

impl Vocabulary {
    /// The source language.
    pub fn source() -> Self {
        Self {
            comment: "--",
            begins: split("def let entry type module open import local"),
            separators: split(
                ", = -> | |> <| : in then else do case def let entry type module while for with match if loop open val",
            ),
            words: words(
                "( ) [ ] { } , . .. ... ..< ..> : :> -> \\ ' \" ` #[ # _ ? ??? = + - * / % ** // ! <| |> < <= == != && ||
                 -- ~ ^ | << >> >>> x y n i xs a.b m.+ 'a '^a '~a [n] [] #c #some () let in if then else loop for do
                 match case with def type type^ type~ module val open import local entry assert while include true
                 false i8 i32 i64 u8 u64 f16 f32 f64 bool *[]i32 ?[n].[n]i32 map map2 reduce reduce_comm scan filter
                 scatter reduce_by_index hist zip unzip iota replicate concat length transpose flatten unflatten
                 rotate reverse copy id head last tail init take drop split partition foldl foldr tabulate
                 tabulate_2d any all sum i32.sum i64.i32 f32.sqrt i32.max f64.nan manifest opaque trace jvp vjp",
            ),
            numbers: split(NUMBERS),
            wraps: wraps(SOURCE_WRAPS),
        }
    }

    /// Values in text form.
    pub fn values() -> Self {
        Self {
            comment: "--",
            begins: Vec::new(),
            separators: vec![","],
            words: words(
                "[ ] ( ) { } , . - + \" \\ _ -- = # empty empty( empty([0]i32) empty([0][1]f32) empty([1]i8)
                 empty([9223372036854775807][0]i8) true false nan inf f32.nan f64.inf -f16.inf f8.nan i32 f64 bool
                 \"abc\" \"\\n\\x\" b \u{2} e x",
            ),
            numbers: split(NUMBERS),
            wraps: wraps("[$]; [$, 1]; [[], $]; ($); -$; empty($); empty([0]$); {a = $}; [$"),
        }
    }

    /// The text form of the IR, all dialects.
    pub fn ir() -> Self {
        Self {
            comment: ";",
            begins: split("fun span entry"),
            separators: split(", = : -> let do yield fun"),
            words: words(
                "( ) [ ] { } , : = -> \\ @ @1 @99 < > * | \" \"s\" ; let do yield if else loop for while map reduce scan
                 comm hist into by filter scatter iota.i64 replicate reshape rearrange slice index update copy concat
                 literal assert call entry sizes span fun nested flat plan true false i8 i32 i64 u64 f16 f32 f64 bool
                 cert add.i32 sub.i64 mul.f32 div.i32 lt.i64 f32#nan f64#-inf n_0 x_1 x_99 acc",
            ),
            numbers: split(
                "0 1 -1 2 10 99 127 128 -129 2147483648 9223372036854775807 9223372036854775808
                 -9223372036854775808 18446744073709551616 0i8 128i8 7i32 7i64 7u64 1.0f32 1e400f64 1f16 -0.0f32 1.5
                 00 1i3",
            ),
            wraps: wraps(
                "($); [$]; {$}; *$; [2]$; <$>; -$; let q: i32 = if true { $ yield 1i32 } else { yield 1i32 };
                 if true {$} else {}; loop (q: i32 = 0i32) for w: i32 < 2i32 {$ yield q }",
            ),
        }
    }
}

/// What nests in the source language, around `$`.
const SOURCE_WRAPS: &str = r"
    ($); [$]; {$}; ($, 1); (1, $); {a = $}; (\x -> $); ((\x -> $) 1); ((\x -> (x, x)) $); (let a = $ in a);
    (let a = 1 in $); (let f x = $ in f 1); (if true then $ else ???); (if $ then 1 else 2);
    (loop a = $ for i < 2 do a); (loop a = 1 for i < 2 do $); (loop a = 1 while a < 2 do $);
    (match $ case a -> a); (match 1 case _ -> $); (map (\y -> y) $); (map (\y -> $) [1, 2]); (map $ (iota 3));
    (#c $); (assert true $); (id $); ($ |> id); (id <| $); -$; !$; #[a] $; (copy $); ($ : i32); ($ :> [2]i32);
    (replicate 2 $); (reduce (+) 0 $); (scan (\x y -> $) 0 [1]); (filter (> 0) $); [$][0]; ($)[0]; ($).0; ($).a;
    (+ $); ($ +); (\(x: i32) : i32 -> $); i32.($); ?[n].$; [2]$; []$; *$; ($ -> i32); (i32 -> $); (x: $);
    #a $ | #b; (1 + $); 1 + $; $ + 1; $ 1; f $; iota ($); (0..<$); ($ with [0] = 1);
    (let (a, b) = $ in (b, a)); { module m = $ }; (unzip (zip $ [1, 2])); (transpose [$]); (concat $ [1]);
    (scatter (copy $) [0] [1]); (flatten [$]); local $";

fn split(text: &'static str) -> Vec<&'static str> {
    text.split_whitespace().collect()
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.split_whitespace()
        .chain(STRANGE.iter().copied())
        .collect()
}

fn wraps(text: &'static str) -> Vec<(&'static str, &'static str)> {
    text.split(';')
        .filter_map(|wrap| wrap.trim().split_once('$'))
        .collect()
}
