//! Damaged code objects: whatever the bytes are, translation answers with code or a diagnostic.
//!
//! In debug builds every translated function is verified too, so a panic here is a bug in either.

use crate::support::{VERSIONS, recorded};
use lh_frontend::raw::{RawCode, RawConst};
use lh_frontend::translate;
use lh_ir::diag::TOO_LARGE;

/// Damaged copies of each recorded function.
const COPIES: u32 = 40;

/// Pseudo-random numbers (xorshift), the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n.max(1)
    }
    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

fn damage(raw: &mut RawCode, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(raw.code.len());
        match random.below(9) {
            0 => raw.code[at] = random.byte(),
            1 => raw.code[at & !1] = random.byte(),
            2 => raw.code[at | 1] = random.byte() & 7,
            3 => raw.code.truncate(at & !1),
            4 => {
                let other = random.below(raw.code.len());
                raw.code.swap(at & !1, other & !1);
            }
            5 if !raw.exceptiontable.is_empty() => {
                let at = random.below(raw.exceptiontable.len());
                raw.exceptiontable[at] = random.byte();
            }
            6 => raw.exceptiontable = (0..random.below(12)).map(|_| random.byte() & 0x1f).collect(),
            7 if !raw.consts.is_empty() => {
                let (a, b) = (random.below(raw.consts.len()), random.below(raw.consts.len()));
                raw.consts.swap(a, b);
            }
            _ => raw.argcount = random.below(4) as u32,
        }
        if raw.code.is_empty() {
            return;
        }
    }
}

#[test]
fn damaged_code_never_panics() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut fine, mut refused) = (0, 0);
    for version in VERSIONS {
        for function in recorded(version) {
            for _ in 0..COPIES {
                let mut raw = function.clone();
                damage(&mut raw, &mut random);
                match translate(&raw, version) {
                    Ok(_) => fine += 1,
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(fine > 100 && refused > 100, "the damage is too small or too large: {fine} fine, {refused} refused");
}

#[test]
fn code_of_another_version_never_panics() {
    for version in VERSIONS {
        for other in VERSIONS {
            for function in recorded(version) {
                drop(translate(&function, other));
            }
        }
    }
}

#[test]
fn noise_never_panics() {
    let mut random = Random(88_172_645_463_325_252);
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    for version in VERSIONS {
        for _ in 0..1000 {
            let raw = RawCode {
                code: (0..random.below(120)).map(|_| random.byte()).collect(),
                names: names.clone(),
                varnames: names.clone(),
                cellvars: names[..random.below(3)].to_vec(),
                freevars: vec!["free".to_owned()],
                exceptiontable: (0..random.below(9)).map(|_| random.byte()).collect(),
                consts: vec![RawConst::Other("thing".to_owned()); 3],
                argcount: random.below(4) as u32,
                ..RawCode::default()
            };
            drop(translate(&raw, version));
        }
    }
}

#[test]
fn nesting_and_size_are_limited() {
    let mut raw = recorded((3, 11)).remove(0);
    for _ in 0..200 {
        let outer = recorded((3, 11)).into_iter().find(|f| f.name == "nested_capture").expect("it is recorded");
        raw = RawCode { consts: outer.consts.iter().map(|c| replaced(c, &raw)).collect(), ..outer };
    }
    assert_eq!(translate(&raw, (3, 11)).map(|c| c.name).map_err(|d| d.id), Err(TOO_LARGE));
    let raw = RawCode { code: vec![9; 3 << 20], ..RawCode::default() };
    assert_eq!(translate(&raw, (3, 11)).map(|c| c.name).map_err(|d| d.id), Err(TOO_LARGE));
}

fn replaced(constant: &RawConst, code: &RawCode) -> RawConst {
    match constant {
        RawConst::Code(_) => RawConst::Code(Box::new(code.clone())),
        other => other.clone(),
    }
}
