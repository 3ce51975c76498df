//! Spans that are packed, units of time, half floats.

use lh_ir::half::{bits, number, of_f64, of_integer, to_f64};
use lh_ir::time_unit::TimeUnit;
use lh_ir::{Span, Ty};

#[test]
fn places_survive_being_packed() {
    let span = Span { line: 1 << 23, end_line: (1 << 23) + 5, col: 65535, end_col: 7 };
    assert_eq!(Span::unpacked(span.packed()), span);
    let wide = Span { line: 3, end_line: 4, col: 1 << 20, end_col: (1 << 20) + 1 };
    assert_eq!(Span::unpacked(wide.packed()), Span { line: 3, end_line: 3, col: 0, end_col: 0 });
    assert_eq!(Span::default().packed(), 0);
}

fn unit(text: &str) -> TimeUnit {
    TimeUnit::parse(text).expect("a unit")
}

#[test]
fn common_units_are_numpys() {
    let common = |a, b, spans| TimeUnit::common((unit(a), spans), (unit(b), spans)).map(|u| u.to_string());
    assert_eq!(common("s", "ms", true).as_deref(), Some("ms"));
    assert_eq!(common("15s", "10s", true).as_deref(), Some("5s"));
    assert_eq!(common("2Y", "M", true).as_deref(), Some("M"));
    assert_eq!(common("Y", "D", true), None);
    assert_eq!(common("Y", "D", false).as_deref(), Some("D"));
    assert_eq!(common("generic", "7D", true).as_deref(), Some("7D"));
}

#[test]
fn factors_are_fractions() {
    assert_eq!(unit("W").factor(unit("h")), Some((168, 1)));
    assert_eq!(unit("Y").factor(unit("D")), Some((146_097, 400)));
    assert_eq!(unit("10s").factor(unit("m")), Some((1, 6)));
    assert_eq!(unit("W").factor(unit("as")), None);
}

#[test]
fn all_numbers_come_back() {
    for bits in 0..=u16::MAX {
        let x = to_f64(bits);
        assert!(x.is_nan() || of_f64(x) == bits, "{bits:#x}");
    }
}

#[test]
fn upper_halves_of_singles() {
    let t = Ty::bf16();
    for word in 0..=u16::MAX {
        let x = number(word, t);
        assert!(x.is_nan() || bits(x, t) == word, "{word:#x}");
    }
    for word in (0..0x7f80u16).step_by(7) {
        let (a, b) = (number(word, t), if word == 0x7f7f { 2f64.powi(128) } else { number(word + 1, t) });
        let middle = (a + b) / 2.0;
        assert_eq!(bits(middle, t), word + (word & 1));
        assert_eq!(bits(middle - middle * 1e-12, t), word);
        assert_eq!(bits(-middle - middle * 1e-12, t), 0x8000 | (word + 1));
    }
    assert_eq!(bits(1e308, t), 0x7f80);
    assert_eq!(bits(f64::NAN, t) & 0x7fff, 0x7fc0);
    assert_eq!(bits(of_integer((1 << 62) + (1 << 54)), t), 0x5e80);
    assert_eq!(bits(of_integer((1 << 62) + (1 << 54) + 1), t), 0x5e81);
    assert_eq!(bits(of_integer(-(1 << 62) - (1 << 54) - 1), t), 0xde81);
}

#[test]
fn between_two_numbers() {
    for bits in 0..0x7bffu16 {
        let (a, b) = (to_f64(bits), to_f64(bits + 1));
        let middle = (a + b) / 2.0;
        assert_eq!(of_f64(middle), bits + (bits & 1));
        assert_eq!(of_f64(middle - middle * 1e-12), bits);
        assert_eq!(of_f64(middle + middle * 1e-12), bits + 1);
    }
    assert_eq!(of_f64(65519.99), 0x7bff);
    assert_eq!(of_f64(-65520.0), 0xfc00);
}
