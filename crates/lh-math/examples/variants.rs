//! Prints the textual IR of the variants.

fn main() {
    print!("{}", *lh_math::VARIANTS);
}
