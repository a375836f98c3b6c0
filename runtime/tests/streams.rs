//! Sequences: results do not depend on chunks, and what does not fit in memory can be gone through.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use arrc::session::{Options, Session};
use arrc::stream::Ends;
use arrc::target::Target;
use arrc::{RunError, Value};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const CONSUMERS: &str = "
entry fold (n: i64) = seq.fold (\\a x -> a * 0.99 + x) 0f32 (seq.produce n (\\i -> 1 / f32.i64 (i + 1)))
entry reduce (n: i64) = seq.reduce (+) 0f32 (seq.produce n (\\i -> 1 / f32.i64 (i + 1)))
entry vectors (n: i64) = seq.reduce (map2 (+)) [0f32, 0] (seq.produce n (\\i -> [f32.i64 i / 3, 1 / f32.i64 (i + 1)]))
entry elements (n: i64) = seq.elements (seq.produce n (\\i -> iota (i % 4)))
entry rows (n: i64) : [][..]i64 = seq.rows (seq.produce n (\\i -> filter (\\x -> x % 3 == i % 3) (iota (i % 7))))
entry tabulate (n: i64) = seq.tabulate (seq.produce n (\\i -> iota (2 + i % 3)))
entry array (n: i64) = seq.to_array (seq.zip (seq.produce n (* 2)) (seq.produce (n - 1) f32.i64))
entry result (n: i64) : seq i64 = seq.produce n (\\i -> i * i)
entry together (n: i64) = let s = seq.produce n (\\i -> 1 / f32.i64 (i + 1)) in (seq.reduce (+) 0 s, seq.fold (\\a x -> a * 0.99 + x) 0 s, seq.to_array (seq.map f32.sqrt s))
entry inside (n: i64) = map (\\i -> seq.reduce (+) 0f32 (seq.produce i (\\j -> 1 / f32.i64 (j + 1)))) (iota (n % 300))
";

fn results(target: Target, chunk: Option<i64>) -> Vec<Vec<Value>> {
    let options = Options {
        target,
        chunk,
        ..Options::default()
    };
    let session = Session::new(options).unwrap();
    let program = session.compile("consumers.fut", CONSUMERS).unwrap();
    let mut all = Vec::new();
    for entry in program.entries() {
        for n in [0, 1, 2, 7, 255, 256, 257, 1000] {
            let n = Value::Scalar(i64::into(n));
            all.push(program.call(&entry.name, vec![n]).unwrap());
        }
    }
    all
}

#[test]
fn results_do_not_depend_on_chunks() {
    let wanted = results(Target::Interp, None);
    for target in [Target::Interp, Target::Cpu] {
        for chunk in [Some(1), Some(7), Some(256), Some(i64::MAX), None] {
            assert!(results(target, chunk) == wanted, "{target}, {chunk:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_gone_through() {
    const LIMIT: u64 = 1 << 20;
    let count = 8 * LIMIT as i64 / 8;
    let options = Options {
        target: Target::Cpu,
        memory_limit: Some(LIMIT),
        ..Options::default()
    };
    let session = Session::new(options).unwrap();
    let text = "entry twice (s: seq i64) : seq i64 = seq.map (* 2) s
        entry sum (s: seq i64) : i64 = seq.reduce (+) 0 s
        entry all (s: seq i64) : []i64 = seq.to_array s";
    let program = session.compile("twice.fut", text).unwrap();
    let mut sum = 0;
    let ends = Ends::new()
        .input(0..count)
        .output(|chunk: Vec<i64>| sum += chunk.iter().sum::<i64>());
    program.call_streaming("twice", vec![], &ends).unwrap();
    drop(ends);
    assert_eq!(sum, count * (count - 1));
    let results = program.call_streaming("sum", vec![], &Ends::new().input(0..count));
    assert_eq!(
        results,
        Ok(vec![Value::Scalar((count * (count - 1) / 2).into())])
    );
    let all = program.call_streaming("all", vec![], &Ends::new().input(0..count));
    assert!(matches!(all, Err(RunError::OutOfMemory { .. })));
}

#[test]
fn ends_that_are_missing_are_errors() {
    let session = Session::new(Options::default()).unwrap();
    let text = "entry sum (s: seq i64) : i64 = seq.fold (+) 0 s";
    let program = session.compile("sum.fut", text).unwrap();
    let none = program.call_streaming("sum", vec![], &Ends::new());
    assert!(matches!(none, Err(RunError::BadArguments(_))));
    let failing = Ends::new().input_values(|_| Err(RunError::BadArguments("gone".into())));
    let failed = program.call_streaming("sum", vec![], &failing);
    assert_eq!(failed, Err(RunError::BadArguments("gone".into())));
}

/// What is computed of an element in parallel: sums, running sums, histograms, of rows of one length and of any.
const INSIDE: &str = "
def xs (i: i64) (m: i64) = map (\\j -> 1 / f32.i64 (i + j + 1)) (iota m)
entry sums (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (xs i m)) (seq.produce n id)
entry ragged (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (xs i (i * 7 % m))) (seq.produce n id)
entry scans (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (scan (+) 0 (xs i m))) (seq.produce n id)
entry ragged_scans (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.sum (scan (+) 0 (xs i (i * 7 % m)))) (seq.produce n id)
entry hists (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.maximum (reduce_by_index (replicate 3 0) (+) 0 (map (% 3) (iota m)) (xs i m))) (seq.produce n id)
entry columns (n: i64) (m: i64) : seq f32 = seq.map (\\i -> f32.maximum (map f32.sum (transpose (map (\\j -> xs (i * j) 5) (iota m))))) (seq.produce n id)
entry folds (n: i64) (m: i64) : f32 = seq.fold (\\a ys -> a * 0.5 + f32.sum (map (* a) ys)) 1 (seq.map (\\i -> xs i (i * 7 % m)) (seq.produce n id))
";

fn do_not_depend_on_chunks_inside(target: Target, sizes: &[(i64, i64)]) {
    let mut wanted = None;
    for chunk in [Some(1), Some(7), Some(256), Some(i64::MAX), None] {
        let options = Options {
            target,
            chunk,
            threads: Some(2),
            ..Options::default()
        };
        let session = Session::new(options).unwrap();
        let program = session.compile("inside.fut", INSIDE).unwrap();
        let mut all = Vec::new();
        for entry in program.entries() {
            for &(n, m) in sizes {
                let args = vec![Value::Scalar(n.into()), Value::Scalar(m.into())];
                all.push((
                    entry.name.clone(),
                    n,
                    m,
                    program.call(&entry.name, args).unwrap(),
                ));
            }
        }
        let wanted = wanted.get_or_insert_with(|| all.clone());
        for (found, wanted) in all.iter().zip(wanted) {
            assert!(
                found == wanted,
                "{target}, {chunk:?}: {found:?}, not {wanted:?}"
            );
        }
    }
}

#[test]
fn sums_inside_of_elements_do_not_depend_on_chunks() {
    do_not_depend_on_chunks_inside(Target::Cpu, &[(300, 3), (300, 70), (100, 20_000)]);
}

#[test]
fn sums_inside_of_elements_do_not_depend_on_chunks_on_gpus() {
    do_not_depend_on_chunks_inside(Target::PtxEmu, &[(70, 3), (70, 40), (70, 300), (3, 1500)]);
}

/// A directory of its own for each test.
fn file(test: &str, name: &str, bytes: &[u8]) -> String {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn arrc(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[track_caller]
fn prints(output: &Output, wanted: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{told}");
    assert!(output.status.success(), "{told}");
}

#[track_caller]
fn fails(output: &Output, wanted: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains(wanted), "{told}");
    assert_eq!(output.status.code(), Some(1), "{told}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// The sequence in a NumPy file; in the order of rows unless Fortran has it.
fn npy(shape: &str, order: &str, kind: &str, elements: &[u8]) -> Vec<u8> {
    let about = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\0\x76\0".to_vec();
    bytes.extend(format!("{about:<117}\n").bytes());
    bytes.extend(elements);
    bytes
}

const FILES: &str = "
entry twice (s: seq i32) : seq i32 = seq.map (* 2) s
entry scaled (k: i32) (s: seq i32) : seq i32 = seq.map (* k) s
entry sum (s: seq i32) : i32 = seq.reduce (+) 0 s
entry pairs (s: seq (i32, f64)) : seq (f64, i32) = seq.map (\\(x, y) -> (y * 2, x)) s
entry records (s: seq i32) : seq {a: i32, b: [2]i32} = seq.map (\\x -> {a = x, b = [x, -x]}) s
entry rows (s: seq ([..]i32)) : seq ([..]i32) = seq.map (map (+ 1)) s
entry triples (s: seq ([3]i32)) : seq i32 = seq.map i32.sum s
entry choices (s: seq (#a | #b)) : i64 = seq.fold (\\a x -> a + match x case #a -> 1 case #b -> 10) 0 s
";

#[test]
fn sequences_are_read_from_files_of_every_kind() {
    let program = file("files", "files.fut", FILES.as_bytes());
    let text = b"[1, 2, 3]";
    let ints: Vec<u8> = [1_i32, 2, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
    let swapped: Vec<u8> = [1_i32, 2, 3].iter().flat_map(|n| n.to_be_bytes()).collect();
    let files = [
        file("files", "plain", text),
        file("files", "compressed", &gzip(text)),
        file("files", "compressed.gz", &gzip(text)),
        file("files", "numbers.npy", &npy("(3,)", "False", "<i4", &ints)),
        file(
            "files",
            "swapped.npy",
            &npy("(3,)", "False", ">i4", &swapped),
        ),
        file(
            "files",
            "numbers.npy.gz",
            &gzip(&npy("(3,)", "False", "<i4", &ints)),
        ),
    ];
    for path in &files {
        prints(
            &arrc(&["run", "-e", "twice", &program, path], b""),
            "[2i32, 4i32, 6i32]\n",
        );
        prints(&arrc(&["run", "-e", "sum", &program, path], b""), "6i32\n");
    }
    prints(
        &arrc(&["run", "-e", "sum", &program], &gzip(text)),
        "6i32\n",
    );
    let both = gzip(b"3 [1, 2, 3]");
    prints(
        &arrc(&["run", "-e", "scaled", &program], &both),
        "[3i32, 6i32, 9i32]\n",
    );
    let three = file("files", "three", b"3");
    let from_two = arrc(&["run", "-e", "scaled", &program, &three, &files[5]], b"");
    prints(&from_two, "[3i32, 6i32, 9i32]\n");
    let columns: Vec<u8> = (1..=6_i32).flat_map(i32::to_le_bytes).collect();
    let columns = file(
        "files",
        "columns.npy",
        &npy("(2, 3)", "True", "<i4", &columns),
    );
    prints(
        &arrc(&["run", "-e", "triples", &program, &columns], b""),
        "[9i32, 12i32]\n",
    );
    let cut = gzip(text);
    fails(
        &arrc(&["run", "-e", "sum", &program], &cut[..cut.len() - 9]),
        "standard input",
    );
    let other = file("files", "other.npy", &npy("(3,)", "False", "<f4", &ints));
    fails(
        &arrc(&["run", "-e", "sum", &program, &other], b""),
        "of type []f32",
    );
    let short = file("files", "short.npy", &npy("(4,)", "False", "<i4", &ints));
    fails(
        &arrc(&["run", "-e", "sum", &program, &short], b""),
        "the input ends inside of an array",
    );
    prints(
        &arrc(&["run", "-e", "choices", &program], b"[0u8, 1u8, 1u8]"),
        "21i64\n",
    );
    let wrong = arrc(&["run", "-e", "choices", &program], b"[0u8, 7u8]");
    fails(&wrong, "constructor 7 of element 1");
}

#[test]
fn sequences_are_written_in_every_form() {
    let program = file("forms", "files.fut", FILES.as_bytes());
    let numbers = file("forms", "numbers", b"[1, 2]");
    let floats = file("forms", "floats", b"[0.5, 1.5]");
    let pairs = "([1.0f64, 3.0f64], [1i32, 2i32])\n";
    prints(
        &arrc(&["run", "-e", "pairs", &program, &numbers, &floats], b""),
        pairs,
    );
    prints(
        &arrc(&["run", "-e", "pairs", &program], b"[1, 2] [0.5, 1.5]"),
        pairs,
    );
    let one = file("forms", "one", b"[0.5]");
    let differ = arrc(&["run", "-e", "pairs", &program, &numbers, &one], b"");
    fails(&differ, "the components of a sequence differ in length");
    let records = "{a = [1i32, 2i32], b = [[1i32, -1i32], [2i32, -2i32]]}\n";
    prints(
        &arrc(
            &["run", "--chunk=1", "-e", "records", &program, &numbers],
            b"",
        ),
        records,
    );
    let none = "{a = empty([0]i32), b = empty([0][0]i32)}\n";
    prints(&arrc(&["run", "-e", "records", &program], b"[]"), none);
    // In binary form, which says first how many elements there are.
    for (entry, input) in [
        ("twice", &b"[1, 2, 3]"[..]),
        ("twice", b"[]"),
        ("records", b"[1, 2, 3]"),
        ("rows", b"[[1], [], [2, 3]]"),
    ] {
        let streamed = arrc(&["run", "-b", "--chunk=1", "-e", entry, &program], input);
        let whole = arrc(&["run", "-b", "-r2", "-e", entry, &program], input);
        assert!(streamed.status.success() && whole.status.success());
        assert_eq!(streamed.stdout, whole.stdout, "{entry}");
    }
    let ragged = arrc(&["run", "-b", "-e", "rows", &program], b"[[1], [], [2, 3]]").stdout;
    prints(
        &arrc(&["run", "-e", "rows", &program], &ragged),
        "[[3i32], [], [4i32, 5i32]]\n",
    );
    let archive = file("forms", "rows.npz", b"");
    let written = arrc(
        &["run", "--npz", &archive, "-e", "rows", &program],
        b"[[1], [], [2, 3]]",
    );
    prints(&written, "");
    prints(
        &arrc(&["run", "-e", "rows", &program, &archive], b""),
        "[[3i32], [], [4i32, 5i32]]\n",
    );
    let told = arrc(
        &[
            "run",
            "-v",
            "--target=cpu",
            "-e",
            "twice",
            &program,
            &numbers,
        ],
        b"",
    );
    assert!(String::from_utf8_lossy(&told.stderr).contains("ran on cpu"));
}

/// The most memory that a process has had, in kilobytes.
#[cfg(target_os = "linux")]
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().trim_end_matches("kB").trim();
    kilobytes.parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn the_process_keeps_to_the_memory_limit() {
    const LIMIT: u64 = 128 << 20;
    const PIECE: usize = 1 << 20;
    let text = "entry sums (s: seq f32) : f32 = seq.reduce (+) 0 (seq.map f32.sin s)
        entry rows (s: seq ([16]f32)) : f32 = seq.reduce (+) 0 (seq.map (\\xs -> f32.sum (map f32.abs xs)) s)
        entry twice (s: seq f32) : seq f32 = seq.map (* 2) s";
    let program = file("limit", "limit.fut", text.as_bytes());
    // Code that is not optimised reads slowly: less of it shows as much, that memory does not grow with the input.
    let times = if cfg!(debug_assertions) { 2 } else { 8 };
    let count = times * LIMIT as usize / 4;
    for (entry, rank, extents) in [
        ("sums", 1, vec![count as i64]),
        ("rows", 2, vec![count as i64 / 16, 16]),
        ("twice", 1, vec![count as i64]),
    ] {
        let arguments = [
            "run",
            "--mem-limit=128MiB",
            "--threads=2",
            "-b",
            "-e",
            entry,
            &program,
        ];
        let mut child = Command::new(env!("CARGO_BIN_EXE_arrc"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&[b'b', 2, rank]).unwrap();
        input.write_all(b" f32").unwrap();
        for extent in extents {
            input.write_all(&extent.to_le_bytes()).unwrap();
        }
        let piece: Vec<u8> = (0..PIECE / 4)
            .flat_map(|i| (i as f32).to_le_bytes())
            .collect();
        for _ in 1..count * 4 / PIECE {
            input.write_all(&piece).unwrap();
        }
        // The last element is waited for while the rest is worked on.
        input.write_all(&piece[..PIECE - 4]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let most = most_memory(child.id());
        input.write_all(&piece[PIECE - 4..]).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success());
        assert!(most << 10 < LIMIT, "{entry}: {most} kB");
    }
}
