//! Questions that are asked of each character of a text.

use crate::characters::{
    self, ALPHA, CASED, DECIMAL, DIGIT, IN_NAME, LOWER, NUMERIC, PRINTABLE, STARTS_NAME, UPPER, classes, is_in,
};
use crate::memory::alloc::MemInfo;
use crate::strings::parse_number::is_space;
use crate::strings::value::text;
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use lh_ir::consts::ASCII;

/// Whether a question is answered by yes for all bytes: 64 at a time, for which vectors serve.
#[inline]
pub(crate) fn all_bytes(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    let (many, rest) = bytes.as_chunks::<64>();
    let all = |some: &[u8]| some.iter().fold(true, |all, b| all & test(*b));
    many.iter().all(|some| all(some)) && all(rest)
}

/// Whether a text has surrogates: only of these the second byte is so large after this first one.
fn has_surrogates(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0xed, bytes).any(|at| bytes.get(at + 1).is_some_and(|second| *second >= 0xa0))
}

/// Whether all characters are of some classes, and there is one.
fn all(s: &Text, n: i64, some: u32) -> bool {
    if n & ASCII != 0 {
        return !s.is_empty() && s.as_bytes().iter().all(|b| is_in(*b, some));
    }
    !s.is_empty() && s.points().all(|c| is_in(c, some))
}

/// Whether all cased characters are of a class, and there is one.
fn all_cased(s: &Text, n: i64, of: u32) -> bool {
    let mut found = 0;
    if n & ASCII != 0 {
        for some in s.as_bytes().chunks(64) {
            found |= some.iter().fold(0, |all, b| all | classes(*b));
            if found & CASED & !of != 0 {
                return false;
            }
        }
        return found & of != 0;
    }
    for c in s.points() {
        found |= classes(c);
        if found & CASED & !of != 0 {
            return false;
        }
    }
    found & of != 0
}

/// Predicates on texts, which get the third word of the text, too.
macro_rules! predicates {
    ($($name:ident => $test:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(_: *mut MemInfo, s: *const u8, n: i64) -> u8 {
            let test: fn(&Text, i64) -> bool = $test;
            // SAFETY: compiled code passes a live string.
            u8::from(test(unsafe { text(s, n) }, n))
        }
    )*};
}

predicates! {
    lh_str_isascii => |s, n| n & ASCII != 0 || s.is_ascii();
    lh_str_isspace => |s, n| match n & ASCII {
        0 => !s.is_empty() && s.points().all(is_space),
        _ => !s.is_empty() && all_bytes(s.as_bytes(), |b| matches!(b, 9..=13 | 28..=32)),
    };
    lh_str_isdecimal => |s, n| all(s, n, DECIMAL);
    lh_str_isdigit => |s, n| all(s, n, DECIMAL | DIGIT);
    lh_str_isnumeric => |s, n| all(s, n, NUMERIC);
    lh_str_isalpha => |s, n| all(s, n, ALPHA);
    lh_str_isalnum => |s, n| all(s, n, ALPHA | DECIMAL | DIGIT | NUMERIC);
    lh_str_isprintable => |s, n| s.is_empty() || all(s, n, PRINTABLE);
    lh_str_isidentifier => |s, n| all(s, n, IN_NAME) && s.points().next().is_some_and(|c| is_in(c, STARTS_NAME));
    lh_str_isupper => |s, n| all_cased(s, n, UPPER);
    lh_str_islower => |s, n| all_cased(s, n, LOWER);
    lh_str_istitle => |s, _| characters::is_titled(s);
    lh_str_is_utf8 => |s, n| n & ASCII != 0 || !has_surrogates(s.as_bytes());
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _) lh_str_isspace lh_str_isdigit lh_str_isalpha lh_str_isalnum lh_str_isupper lh_str_islower lh_str_isascii;
        (_ _ _) lh_str_isdecimal lh_str_isnumeric lh_str_isprintable lh_str_isidentifier lh_str_istitle;
        (_ _ _) lh_str_is_utf8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::value::tests::call;

    #[test]
    fn predicates() {
        assert_eq!(
            [call!(lh_str_isspace(" \t\x1c")), call!(lh_str_isspace("")), call!(lh_str_isspace("a "))],
            [1, 0, 0]
        );
        assert_eq!([call!(lh_str_isdigit("012")), call!(lh_str_isdigit("²")), call!(lh_str_isdigit("1.0"))], [1, 1, 0]);
        assert_eq!([call!(lh_str_isalpha("aé")), call!(lh_str_isalpha("a1")), call!(lh_str_isalnum("a1"))], [1, 0, 1]);
        assert_eq!([call!(lh_str_isupper("AB1")), call!(lh_str_isupper("12")), call!(lh_str_isupper("Ab"))], [1, 0, 0]);
        assert_eq!([call!(lh_str_islower("ab1")), call!(lh_str_islower("")), call!(lh_str_islower("Ab"))], [1, 0, 0]);
    }

    /// The answers for ASCII are those for any text.
    #[test]
    fn ascii_is_asked_as_any_text() {
        let singles = (0..128u8).map(|b| char::from(b).to_string());
        let long = ["a", "1", " ", "~"].map(|c| c.repeat(64) + "b");
        for s in singles.chain(long).chain(["", "Ab Cd", "aB", "AB1", "a_1"].map(str::to_owned)) {
            for f in [
                lh_str_isspace,
                lh_str_isdecimal,
                lh_str_isdigit,
                lh_str_isnumeric,
                lh_str_isalpha,
                lh_str_isalnum,
                lh_str_isprintable,
                lh_str_isupper,
                lh_str_islower,
                lh_str_isascii,
                lh_str_is_utf8,
            ] {
                let asked = |flag: i64| {
                    // SAFETY: a live text.
                    unsafe { f(std::ptr::null_mut(), s.as_ptr(), s.len() as i64 | flag) }
                };
                assert_eq!(asked(ASCII), asked(0), "{s:?}");
            }
        }
    }
}
