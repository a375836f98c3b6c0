//! How the command is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if of("OS") == "linux" && of("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
