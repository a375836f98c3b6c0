//! How the command is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if of("OS") == "linux" && of("ENV") == "gnu" {
        // A command that may lie anywhere has 40,000 addresses in its data put right each time that it starts.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
