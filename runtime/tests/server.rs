//! `arrc server`: commands and their answers, on every target, and commands that make no sense.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TARGETS: [&str; 3] = ["--target=cpu", "--target=ptx-emu", "--target=interp"];

const PROGRAM: &str = r"
type vec = {x: f64, y: f64}
type shape = #circle f64 | #rect f64 f64 | #nothing
module m : { type state val init: i32 -> state val step: state -> state val get: state -> i32 } = {
  type state = i32
  def init (x: i32) = x
  def step (x: state) = x + 1
  def get (x: state) : i32 = x
}
#[inline] entry dot (a: vec) (b: vec) = a.x * b.x + a.y * b.y
entry mk (x: f64) (y: f64) : vec = {x, y}
entry vecs (n: i64) : []vec = tabulate n (\i -> {x = f64.i64 i, y = 1})
entry total (vs: []vec) = f64.sum (map (\v -> v.x + v.y) vs)
entry area (s: shape) : f64 = match s case #circle r -> r case #rect a b -> a * b case #nothing -> 0
entry shape_of (i: i32) : shape = if i == 0 then #circle 2 else if i == 1 then #rect 2 3 else #nothing
entry init (x: i32) : m.state = m.init x
entry step (x: m.state) : m.state = m.step x
entry get (x: m.state) : i32 = m.get x
entry both (xs: []i32) = (i32.sum xs, map (+1) xs)
entry update [n] (xs: *[n]i32) (i: i64) : *[n]i32 = xs with [i] = 7
entry rows (n: i64) : [n][..]i64 = map iota (iota n)
entry lengths [n] (xss: [n][..]i64) = map length xss
entry named (n: i64) : [n]{id: i64, rows: [..]i64} = map (\i -> {id = i, rows = iota i}) (iota n)
entry same [n] (xs: [n]i32) (ys: [n]i32) = map2 (+) xs ys
entry at (xs: []i32) (i: i64) = xs[i]
entry sums (xss: [][]f32) = map f32.sum xss
entry squares (xs: seq i64) = xs |> seq.map (\x -> x * x)
";

/// A directory of its own for each test and target.
fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&path).expect("a temporary directory can be made");
    path
}

/// The answers to commands, one for each line, and what the server says at first; it ends well.
#[track_caller]
fn answers(test: &str, options: &[&str], commands: &[u8]) -> Vec<String> {
    let directory = directory(test);
    std::fs::write(directory.join("program.fut"), PROGRAM).expect("a file can be written");
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(["server", "program.fut"])
        .args(options)
        .current_dir(&directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    let mut stdin = child.stdin.take().expect("it was piped");
    let commands = commands.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&commands));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("no panic").expect("all is read");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = String::from_utf8(output.stdout).expect("answers are text");
    let mut answers: Vec<String> = text.split("%%% OK\n").map(str::to_owned).collect();
    assert_eq!(answers.pop().as_deref(), Some(""), "it ends with an answer");
    answers
}

/// What a script says: lines `> COMMAND`, and below each what is answered. Times are left out.
#[track_caller]
fn holds(test: &str, script: &str) {
    let mut steps: Vec<(&str, String)> = Vec::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match (line.strip_prefix("> "), steps.last_mut()) {
            (Some(command), _) => steps.push((command, String::new())),
            (None, Some((_, answer))) => {
                answer.push_str(line);
                answer.push('\n');
            }
            (None, None) => panic!("{line} stands before all commands"),
        }
    }
    let commands: String = steps.iter().map(|(c, _)| format!("{c}\n")).collect();
    for target in TARGETS {
        let name = format!("server-{test}{target}");
        std::fs::write(directory(&name).join("input"), "1.5 2.5 [1, 2, 3] 2 1 ")
            .expect("a file can be written");
        let found = answers(&name, &[target], commands.as_bytes());
        assert_eq!(found[0], "", "{target}");
        assert_eq!(found.len(), steps.len() + 1, "{target}");
        for ((command, expected), found) in steps.iter().zip(&found[1..]) {
            let found: String = found
                .lines()
                .filter(|line| !line.starts_with("runtime: "))
                .map(|line| format!("{line}\n"))
                .collect();
            assert_eq!(&found, expected, "{target}: {command}");
        }
    }
}

const LOAD: &str = "> restore input a f64 b f64 xs []i32 i i64 k i32\n";

/// A script that begins with values.
fn loaded(script: &str) -> String {
    format!("{LOAD}{script}")
}

#[test]
fn a_program_tells_what_it_has() {
    holds(
        "interface",
        "
        > inputs dot
        vec
        vec
        > output dot
        *f64
        > inputs update
        *[]i32
        i64
        > output both
        *(i32, []i32)
        > outputs both
        *i32
        *[]i32
        > attributes dot
        inline
        > attributes mk
        > kind vec
        record
        > kind shape
        sum
        > kind i32
        primitive
        > kind [][][]f16
        array
        > kind m.state
        opaque
        > fields vec
        x f64
        y f64
        > fields \"(i32, []i32)\"
        0 i32
        1 []i32
        > variants shape
        circle
        - f64
        nothing
        rect
        - f64
        - f64
        > rank [][]f32
        2
        > elemtype [][]f32
        f32
        > rank [][..]i64
        1
        > elemtype [][..]i64
        []i64
        > elemtype \"[]{x: f64, y: f64}\"
        {x: f64, y: f64}
        > inputs squares
        []i64
        > output squares
        *[]i64
        > clear
        > report
        {\"events\":[],\"memory\":{}}
        > pause_profiling
        > unpause_profiling
        > set_tuning_param none 3
        %%% FAILURE
        Unknown tuning parameter: none
        > tuning_param_class none
        %%% FAILURE
        Unknown tuning parameter: none
        ",
    );
    for target in TARGETS {
        let all = answers("server-lists", &[target], b"types\nentry_points\n");
        for name in [
            "vec",
            "shape",
            "m.state",
            "[]{x: f64, y: f64}",
            "[][..]i64",
            "(i32, []i32)",
        ] {
            assert!(
                all[1].lines().any(|line| line == name),
                "{name} in {}",
                all[1]
            );
        }
        assert_eq!(all[2].lines().count(), 18);
        assert!(all[2].starts_with("dot\nmk\nvecs\n"), "{}", all[2]);
    }
}

#[test]
fn calls_take_and_give_variables() {
    holds(
        "calls",
        &loaded(
            "
            > type xs
            []i32
            > shape xs
            3
            > call both p xs
            > type p
            (i32, []i32)
            > project s p 0
            > project ys p 1
            > call both s2 ys2 xs
            > type s2
            i32
            > shape ys2
            3
            > call same zs ys ys2
            > index z zs 2
            > call init z8 z
            > type z8
            m.state
            > call step z9 z8
            > call get z9i z9
            > call init t s
            > call step t2 t
            > call get six t2
            > call at e xs i
            > call squares none xs
            %%% FAILURE
            Wrong input type. Expected []i64, got []i32.
            > index bad xs 3
            %%% FAILURE
            Invalid index `3` on dimension 1.
            > free a b
            > free a
            %%% FAILURE
            Unknown variable: a
            > rename xs a
            > shape a
            3
            > rename a ys
            %%% FAILURE
            Variable already exists: ys
            > free none a
            %%% FAILURE
            Unknown variable: none
            > type a
            []i32
            ",
        ),
    );
}

#[test]
fn sequences_are_arrays() {
    holds(
        "sequences",
        &loaded(
            "
            > new_array is []i64 3 i i i
            > call squares qs is
            > shape qs
            3
            > index q qs 1
            > index none xs q
            %%% FAILURE
            Invalid index `q` on dimension 1.
            ",
        ),
    );
}

#[test]
fn consumed_variables_can_be_freed_alone() {
    holds(
        "consumption",
        &loaded(
            "
            > call update ys xs i
            > shape xs
            %%% FAILURE
            Variable was consumed: xs
            > store out xs
            %%% FAILURE
            Variable was consumed: xs
            > call update zs xs i
            %%% FAILURE
            Variable was consumed: xs
            > free xs
            > index seven ys 2
            > call both p ys
            > project qs p 1
            > project rs p 1
            > call update us qs i
            > index four rs 2
            > call same sum us rs
            > index fifteen sum 2
            > index eight rs 2
            > call same fail us us us
            %%% FAILURE
            same takes a variable for the result and 2 for its inputs, and 4 were given
            ",
        ),
    );
}

#[test]
fn records_are_constructed_and_destructured() {
    holds(
        "records",
        &loaded(
            "
            > new v vec a b
            > call mk w a b
            > call dot d v w
            > type d
            f64
            > call vecs vs i
            > shape vs
            2
            > unzip vs vx vy
            > type vx
            []f64
            > zip vs2 \"[]{x: f64, y: f64}\" vy vx
            > index v1 vs2 1
            > set vs2 v 0
            > call total t vs2
            > new_array vs3 \"[]{x: f64, y: f64}\" 3 v v1 w
            > shape vs3
            3
            > call total t3 vs3
            > new fails vec a
            %%% FAILURE
            2 fields expected but 1 values provided.
            > new fails vec a xs
            %%% FAILURE
            Field y mismatch: expected type f64, got []i32
            > zip fails \"[]{x: f64, y: f64}\" vx
            %%% FAILURE
            2 arrays expected but 1 values provided.
            > new_array one []f64 1 a
            > zip fails \"[]{x: f64, y: f64}\" vx one
            %%% FAILURE
            arrays of [2] and of [1] elements cannot be zipped
            > zip fails []i32 xs
            %%% FAILURE
            Cannot zip this array type
            > unzip xs y
            %%% FAILURE
            Cannot unzip this array type
            > unzip v x y
            %%% FAILURE
            Not an array type
            > project x v z
            %%% FAILURE
            No such field: z
            > project x xs z
            %%% FAILURE
            Not a record type
            > fields i32
            %%% FAILURE
            Not a record type
            ",
        ),
    );
}

#[test]
fn sums_are_constructed_and_destructured() {
    holds(
        "sums",
        &loaded(
            "
            > construct s shape rect a b
            > variant s
            rect
            > destruct s u v
            > type u
            f64
            > call area d s
            > construct n shape nothing
            > variant n
            nothing
            > destruct n
            > call area z n
            > call shape_of r k
            > variant r
            rect
            > call area six r
            > construct fails shape circle
            %%% FAILURE
            1 values expected but 0 values provided.
            > construct fails shape square a
            %%% FAILURE
            No such variant: square
            > construct fails shape circle k
            %%% FAILURE
            Value 0 mismatch: expected type f64, got i32
            > construct fails vec x a b
            %%% FAILURE
            Not a sum type
            > destruct r only
            %%% FAILURE
            2 variables expected but 1 variables provided.
            > destruct r same same
            %%% FAILURE
            Variable already exists: same
            > variant xs
            %%% FAILURE
            Not a sum type
            > variants vec
            %%% FAILURE
            Not a sum type
            ",
        ),
    );
}

#[test]
fn rows_of_any_lengths_are_elements() {
    holds(
        "rows",
        &loaded(
            "
            > call rows rs i
            > type rs
            [][..]i64
            > shape rs
            2
            > index r0 rs 0
            > shape r0
            0
            > index r1 rs 1
            > type r1
            []i64
            > shape r1
            1
            > new_array is []i64 3 i i i
            > new_array rs3 [][..]i64 3 is r0 r1
            > call lengths ls rs3
            > index l0 ls 0
            > set rs3 r1 0
            > index now rs3 0
            > shape now
            1
            > index last rs3 2
            > shape last
            1
            > call named ns i
            > index n1 ns 1
            > fields \"{id: i64, rows: []i64}\"
            id i64
            rows []i64
            > project n1rows n1 rows
            > shape n1rows
            1
            > new_array ns3 \"[]{id: i64, rows: [..]i64}\" 2 n1 n1
            > unzip ns3 ids nrows
            > type nrows
            [][..]i64
            > call lengths nl nrows
            > shape nl
            2
            ",
        ),
    );
}

#[test]
fn values_are_stored_and_restored() {
    holds(
        "store",
        &loaded(
            "
            > new v vec a b
            > call rows rs i
            > construct s shape circle a
            > call init st k
            > store out xs v rs s st
            > restore out xs2 []i32 v2 vec rs2 [][..]i64 s2 shape st2 m.state
            > call same twice xs xs2
            > call dot d v v2
            > call lengths ls rs2
            > variant s2
            circle
            > call get g st2
            > restore out y []i32
            %%% FAILURE
            out: line 1, column 28: expected the end of the input, found `b`
            > type y
            %%% FAILURE
            Unknown variable: y
            > restore none y i32
            %%% FAILURE
            cannot read none: No such file or directory (os error 2)
            > restore - y i32
            %%% FAILURE
            Failed to open -: standard input has the commands
            > restore input y
            %%% FAILURE
            restore was given no type of y
            > restore input y thing
            %%% FAILURE
            Unknown type: thing
            > restore input y i32 y i32
            %%% FAILURE
            Variable already exists: y
            > restore input xs i32
            %%% FAILURE
            Variable already exists: xs
            > store no/such/directory xs
            %%% FAILURE
            Failed to write no/such/directory: No such file or directory (os error 2)
            > store out none
            %%% FAILURE
            Unknown variable: none
            ",
        ),
    );
}

#[test]
fn failures_of_programs_are_answers() {
    for target in TARGETS {
        let commands = b"restore input xs []i32 i i64\ncall at x xs i\ncall at y xs i\nnew_array two []i32 0\ncall same z xs two\ncall both p xs\nshape xs\n";
        let name = format!("server-failures{target}");
        std::fs::write(directory(&name).join("input"), "[1, 2] 2").expect("it can be written");
        let found = answers(&name, &[target], commands);
        for (i, part) in [(2, "Index [2]"), (3, "Index [2]"), (5, "invalid size")] {
            assert!(found[i].contains("%%% FAILURE\n"), "{target}: {}", found[i]);
            assert!(found[i].contains(part), "{target}: {}", found[i]);
        }
        assert!(found[2].starts_with("runtime: "), "{}", found[2]);
        assert!(!found[6].contains("FAILURE"), "{target}: {}", found[6]);
        assert_eq!(found[7], "2\n", "{target}");
    }
}

#[test]
fn calls_are_profiled_on_demand() {
    for target in ["--target=cpu", "--target=ptx-emu"] {
        let name = format!("server-profiles{target}");
        std::fs::write(directory(&name).join("input"), "[1, 2, 3]").expect("it can be written");
        let commands = b"restore input xs []i32\ncall both p xs\npause_profiling\ncall both q xs\nreport\nreport\nunpause_profiling\ncall both r xs\nreport\n";
        let found = answers(&name, &[target, "-P"], commands);
        assert!(
            found[5].contains("\"provenance\":\"program.fut:"),
            "{}",
            found[5]
        );
        assert!(found[5].contains("\"memory\":{\"peak\":"), "{}", found[5]);
        assert_eq!(found[6], "{\"events\":[],\"memory\":{}}\n");
        assert!(found[9].contains("\"duration\":"), "{}", found[9]);
    }
}

#[test]
fn thresholds_are_tuning_parameters() {
    let found = answers("server-tuning", &["--target=cpu"], b"tuning_params sums\n");
    let name = found[1]
        .lines()
        .next()
        .expect("it has a threshold")
        .to_owned();
    let commands = format!(
        "tuning_param_class {name}\nset_tuning_param {name} 0\nset_tuning_param {name} inf\nset_tuning_param {name} x\nset_tuning_param {name} -1\nrestore input xs [][]f32\ncall sums s xs\nset_tuning_param {name} 0\ncall sums t xs\n"
    );
    let path = directory("server-tuning").join("input");
    std::fs::write(path, "[[1, 2], [3, 4]]").expect("it can be written");
    let found = answers("server-tuning", &["--target=cpu"], commands.as_bytes());
    assert!(found[1].starts_with("threshold ("), "{}", found[1]);
    assert_eq!((found[2].as_str(), found[3].as_str()), ("", ""));
    assert!(found[4].starts_with("%%% FAILURE\n"), "{}", found[4]);
    assert!(found[5].starts_with("%%% FAILURE\n"), "{}", found[5]);
    assert!(
        !found[7].contains("FAILURE") && !found[9].contains("FAILURE"),
        "{found:?}"
    );
}

/// Commands in which words were left out, doubled, exchanged and broken get an answer each.
#[test]
fn senseless_commands_are_answered() {
    const COMMANDS: &str = "types|entry_points|call dot o v v|call vecs vs i|restore input a f64|store out a v|free a|rename a c|inputs dot|output dot|outputs dot|clear|kind vec|type v|pause_profiling|unpause_profiling|report|set_tuning_param p 1|tuning_params dot|tuning_param_class p|attributes dot|rank []i32|elemtype []i32|new_array n []f64 2 a a|new_array n [][]f64 1 1 a|set xs k 0|shape xs|index e xs 0|zip z \"[]{x: f64, y: f64}\" fs fs|unzip vs p q|fields vec|new w vec a a|project px v x|variants shape|construct s shape rect a a|destruct s d e|variant s";
    let commands: Vec<&str> = COMMANDS.split('|').collect();
    let words: Vec<&str> = COMMANDS.split(['|', ' ']).collect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n as u64).unwrap_or(0)
    };
    let mut script: Vec<u8> = b"restore input a f64 b f64 xs []i32 i i64 k i32\nnew v vec a b\ncall vecs vs i\nunzip vs fs gs\nconstruct s shape rect a b\n".to_vec();
    for word in [
        "\"",
        "\"\"",
        "-1",
        "9223372036854775807",
        "99999999999999999999",
        "",
        " ",
        "%%% OK",
        "\0",
        "ä\u{2028}",
    ] {
        for command in &commands {
            script.extend(format!("{command} {word}\n").into_bytes());
            let first = command.split(' ').next().unwrap_or_default();
            script.extend(format!("{first} {word}\n{first} {word} {word} {word}\n").into_bytes());
        }
    }
    for _ in 0..4000 {
        let mut line: Vec<&str> = commands[random(commands.len())].split(' ').collect();
        for _ in 0..=random(3) {
            let at = random(line.len());
            match random(4) {
                0 if line.len() > 1 => drop(line.remove(at)),
                1 => line.insert(at, words[random(words.len())]),
                2 => line[at] = words[random(words.len())],
                _ => {
                    let other = random(line.len());
                    line.swap(at, other);
                }
            }
        }
        script.extend(line.join(" ").into_bytes());
        script.push(b'\n');
    }
    for _ in 0..200 {
        let bytes = (0..random(40))
            .map(|_| (random(255) as u8).max(1))
            .filter(|b| *b != b'\n');
        script.extend(bytes.collect::<Vec<u8>>());
        script.push(b'\n');
    }
    script.extend(b"types");
    let lines = script.split(|byte| *byte == b'\n').count();
    let name = "server-senseless";
    std::fs::write(directory(name).join("input"), "1.5 2.5 [1, 2, 3] 2 1 ").expect("written");
    let found = answers(name, &["--target=interp"], &script);
    assert_eq!(found.len(), lines + 1);
    let failures = found
        .iter()
        .filter(|answer| answer.contains("%%% FAILURE\n"))
        .count();
    assert!(failures > 1000, "{failures}");
}
