//! Programs in C that use the library which this build made: the example, and checks of what the header promises, under the sanitizers for
//! addresses and for undefined behaviour.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the library.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("it is in a folder").to_owned()
}

/// Compiles a program, and gives its path.
fn compiled(compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = Path::new(source).file_stem().expect("a file");
    let out = folder.join(format!("{compiler}-{}-{}", name.display(), options.len()));
    let strict = [
        "-std=c11",
        "-D_DEFAULT_SOURCE",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-g",
    ];
    let output = Command::new(compiler)
        .args(strict)
        .args(options)
        .arg("-I")
        .arg(package().join("include"))
        .arg(package().join(source))
        .arg("-L")
        .arg(built())
        .args(["-larrc_c", "-lpthread"])
        .arg(format!("-Wl,-rpath,{}", built().display()))
        .arg("-o")
        .arg(&out)
        .output();
    let output = output.expect("a compiler of C links programs in Rust, too");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} {source}: {said}");
    out
}

fn run(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    // The threads of the library live as long as the process.
    command
        .args(arguments)
        .env("ASAN_OPTIONS", "detect_leaks=0");
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program:?} {arguments:?}: {}\n{said}",
        output.status
    );
    String::from_utf8(output.stdout).expect("text")
}

/// The compilers that are there; that which links programs in Rust is.
fn compilers() -> Vec<&'static str> {
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let all: Vec<&str> = ["cc", "clang"].into_iter().filter(is_there).collect();
    assert!(all.contains(&"cc"), "there is no `cc`");
    all
}

#[test]
fn the_example_runs() {
    for compiler in compilers() {
        let example = compiled(compiler, "example.c", &[]);
        assert_eq!(run(&example, &[]), "mean 3\n3\n6\n9\n18\n");
    }
}

#[test]
fn the_library_does_what_the_header_promises() {
    for compiler in compilers() {
        for options in [
            &[][..],
            &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        ] {
            let check = compiled(compiler, "tests/check.c", options);
            for target in ["cpu", "interp", "ptx-emu"] {
                assert_eq!(run(&check, &[target]), "ok\n");
            }
        }
    }
}

/// The header declares the functions of the library, and no others.
#[test]
fn the_header_is_complete() {
    let header = fs::read_to_string(package().join("include/arrc.h")).expect("the header");
    let mut declared: Vec<&str> = (header.lines())
        .filter(|line| {
            line.contains("arrc_") && line.contains('(') && !line.starts_with([' ', '/', '}'])
        })
        .filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next())
        .collect();
    let sources = ["error.rs", "lib.rs", "tensor.rs", "value.rs"];
    let sources =
        sources.map(|name| fs::read_to_string(package().join("src").join(name)).expect("a source"));
    let sources = sources.concat();
    let mut defined: Vec<&str> = (sources.split("#[unsafe(no_mangle)]").skip(1))
        .filter_map(|text| text.split_once("fn ")?.1.split('(').next())
        .collect();
    declared.sort_unstable();
    defined.sort_unstable();
    assert_eq!(declared, defined);
    assert!(declared.len() > 15);
}
