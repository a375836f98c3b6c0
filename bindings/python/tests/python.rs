//! The suite of the Python package, with the extension module that this build made: `pytest` in a virtual environment, to which `pip`
//! brings what the suite needs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the suite needs.
const REQUIREMENTS: &[&str] = &[
    "awkward",
    "dask[array]",
    "distributed",
    "ipython",
    "jax",
    "numpy",
    "pyarrow",
    "pytest",
    "scipy",
];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command; what it says if it fails.
fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output();
    let output = output.map_err(|why| format!("{command:?}: {why}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?}: {}\n{}", output.status, text(&output)))
}

fn text(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// The Python of a virtual environment with the requirements, which is new when these change.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    let (stamp, wanted) = (folder.join("requirements.txt"), REQUIREMENTS.join("\n"));
    if fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let base = std::env::var("PYO3_PYTHON").unwrap_or_else(|_| String::from("python3"));
    let new = "import sys; sys.exit(sys.version_info < (3, 10))";
    run(Command::new(&base).args(["-c", new]))?;
    run(Command::new(&base)
        .args(["-m", "venv", "--clear"])
        .arg(folder))?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    run(Command::new(&python).args(install).args(REQUIREMENTS))?;
    fs::write(stamp, wanted).map_err(|why| why.to_string())?;
    Ok(python)
}

/// The folder of the package, with the extension module of this build.
fn with_extension(folder: &Path) -> std::io::Result<()> {
    let inner = folder.join("arrc");
    if inner.exists() {
        fs::remove_dir_all(&inner)?;
    }
    fs::create_dir_all(&inner)?;
    for entry in fs::read_dir(package().join("python/arrc"))? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|name| *name != "__pycache__") {
            symlink(&path, inner.join(name))?;
        }
    }
    let test = std::env::current_exe()?;
    let built = test.with_file_name("lib_arrc.so");
    symlink(built, inner.join("_arrc.abi3.so"))
}

#[test]
fn the_package_passes_its_suite() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let python = environment(&folder.join("environment"));
    let python = python.unwrap_or_else(|why| {
        panic!("the tests of the Python package need Python 3.10 with `venv` and `pip`: {why}")
    });
    with_extension(&folder).expect("a folder for the package");
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"];
    let output = run(Command::new(python)
        .args(pytest)
        .current_dir(package())
        .env("PYTHONPATH", &folder)
        .env("PYTHONDONTWRITEBYTECODE", "1"));
    let output = output.unwrap_or_else(|why| panic!("{why}"));
    // A suite in which nothing is found passes, too.
    assert!(text(&output).contains(" passed"), "{}", text(&output));
}

/// What `pip` reads says the same as what was built: the name of the module, the files of the package, the profile of the build.
#[test]
fn the_project_file_is_right() {
    let read = |path: &Path| fs::read_to_string(path).expect("a file of the package");
    let project = read(&package().join("pyproject.toml"));
    let manifest = read(&package().join("Cargo.toml"));
    let value = |name: &str| {
        let line = project
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} = ")));
        let value = line.unwrap_or_else(|| panic!("pyproject.toml has no {name}"));
        value.trim_matches('"').to_owned()
    };
    let module = value("module-name");
    let (folder, extension) = module.split_once('.').expect("a module in a package");
    assert!(manifest.contains(&format!("name = \"{extension}\"")));
    let python = package().join(value("python-source")).join(folder);
    for file in ["__init__.py", "py.typed", &format!("{extension}.pyi")] {
        assert!(python.join(file).is_file(), "{file} is missing");
    }
    let workspace = read(&package().join("../../Cargo.toml"));
    let profile = format!("[profile.{}]", value("profile"));
    let (_, profile) = workspace
        .split_once(&profile)
        .expect("the profile is there");
    let profile = profile.split("\n[").next().unwrap_or("");
    assert!(
        profile.contains("panic = \"unwind\""),
        "a panic would end the interpreter"
    );
    assert!(package().join(value("readme")).is_file());
    assert_eq!(value("build-backend"), "maturin");
}
