//! Prints the textual IR of the variants, and what keeps them until the vectoriser has run.

fn main() {
    print!("{}", lh_math::variants(|_| true));
    let names: Vec<String> =
        lh_math::RARE.iter().flat_map(|r| [2, 4, 8, 16].map(|n| format!("ptr @{}.v{n}", r.name))).collect();
    let (count, list) = (names.len(), names.join(", "));
    println!("@llvm.compiler.used = appending global [{count} x ptr] [{list}], section \"llvm.metadata\"");
}
