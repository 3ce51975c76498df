//! The text of untyped code: printing and parsing are inverse, and no text makes the parser panic.

use lh_ir::parse_untyped::{parse, parse_constant};
use lh_ir::untyped::{Code, PyConst};

/// Every instruction and terminator, in the short form.
const ALL: &str = r#"def f(a, /, b, *args, kw c, **kwargs) captures free, "not plain":
block0(v0 a, v1 b, v2 args, v3 c, v4 kwargs):
    v5 x = const 1
    v6 "two words" = global range
    v7 = free 1
    v8 = import numpy
    v9 = import linalg from numpy
    v10 = import "os.path"
    v11 = check_bound v5 x
    v12 = neg v0
    v13 = pos v0
    v14 = invert v0
    v15 = not v0
    v16 = v0 + v1
    v17 = v0 -= v1
    v18 = v0 ** v1
    v19 = v0 //= v1
    v20 = v0 @ v1
    v21 = v0 >>= v1
    v22 = v0 % v1
    v23 = v0 == v1
    v24 = v0 >= v1
    v25 = v0 is v1
    v26 = v0 is not v1
    v27 = v0 in v1
    v28 = v0 not in v1
    v29 = v0.real
    v0.real = v1
    v30 = v0[v1]
    v0[v1] = v2
    del v0[v1]
    v31 = tuple (v0, v1)
    v32 = tuple ()
    v33 = list [v0]
    v34 = set {v0, v1}
    v35 = dict {v0: v1, v1: v0}
    v36 = slice v0:v1:v2
    append v33, v0
    extend v33, v0
    add v34, v0
    put v35, v0: v1
    v37 = list_to_tuple v33
    v38 = format v0
    v39 = format v0!r:v1
    v40 = concat (v38, v39)
    v41 = concat ()
    v42 = call v6()
    v43 = call v6(v0, v1, v3=v2, "k w"=v0)
    v44 = call v6(*v31)
    v45 = call v6(*v31, **v35)
    v46 = function 0()
    v47 = function 0(v0) defaults v31 kwdefaults c=v0, d=v1
    v48 = iter v0
    v49 = unpack v0, 2
    v50 = unpack v0, 1, *, 3
    v51 = item v49, 1
    v52 = yield v0
    v59 = yield from v0
    v60 = cell x
    v61 = cell_get v60 x
    cell_set v60, v0
    cell_delete v60 "two words"
    v62 = sibling 3
    v63 = match_class v0, v1, 2
    v64 = match_class v0, v1, 0, x, y
    v65 = match_keys v0, v1
    if v0: block1, block2(v0)
block1: except block3(v0)
    for v48: block4(v0), block5
block2(v53 is):
    raise v0
block3(v54):
    v55 = catch
    v56 = v55 matches v0
    end_catch v55
    reraise v55
block4(v57, v58):
    raise v0 from v1
block5:
    jump block6
block6:
    return v0
block7:
    unreachable
inner 0: generator "<lambda>"(".0"):
block0(v0 ".0"):
    return v0
inner 0.0: def g("kw", kw other):
block0(v0, v1):
    return v0
inner 0.0.0: def h():
block0:
    (unfinished)
inner 0.1: def g():
block0:
    unreachable
inner 1: def f():
block0:
    unreachable
"#;

/// The only function of a text.
fn one(text: &str) -> Code {
    let mut all = parse(text).unwrap_or_else(|e| panic!("{e} of\n{text}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn every_instruction_parses_to_what_prints_the_same() {
    let code = one(ALL);
    assert_eq!(code.to_string(), ALL);
    assert_eq!(code.inner.len(), 2);
    assert_eq!(code.inner[0].inner.len(), 2);
    assert_eq!((code.posonly, code.value_count), (1, 66));
    assert_eq!(code.value_names[6].as_deref(), Some("two words"));
}

#[test]
fn the_long_form_has_places_and_origins() {
    let mut code = one(ALL);
    code.qualname = "outer.<locals>.f".to_owned();
    code.file = "a \"quoted\" path.py".to_owned();
    code.first_line = 7;
    for (i, inst) in code.blocks.iter_mut().flat_map(|b| &mut b.insts).enumerate() {
        inst.span = lh_ir::Span { line: i as u32, col: 4, end_line: i as u32 + 1, end_col: 9 };
    }
    let text = format!("{code:#}");
    let again = one(&text);
    assert_eq!(format!("{again:#}"), text);
    assert_eq!(format!("{again:?}"), format!("{code:?}"));
}

#[test]
fn functions_follow_each_other_and_comments_are_left_out() {
    let text = "; a comment\ndef f():\nblock0: ; the entry\n\n    v0 = const 1 ; one\n    return v0\ndef g():\nblock0:\n    unreachable\n";
    let all = parse(text).expect("two functions");
    assert_eq!(all.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["f", "g"]);
    assert_eq!(all[0].to_string(), "def f():\nblock0:\n    v0 = const 1\n    return v0\n");
}

#[test]
fn constants_keep_their_kinds_and_bits() {
    let nan = f64::from_bits(0x7ff8_0000_0000_0123);
    let all = vec![
        PyConst::None,
        PyConst::Bool(true),
        PyConst::Bool(false),
        PyConst::Int(i128::MIN),
        PyConst::Int(-1),
        PyConst::BigInt("1701411...5728".to_owned()),
        PyConst::Float(1.0),
        PyConst::Float(-0.0),
        PyConst::Float(1e300),
        PyConst::Float(5e-324),
        PyConst::Float(f64::NEG_INFINITY),
        PyConst::Float(f64::NAN),
        PyConst::Float(nan),
        PyConst::Complex(0.0, -f64::INFINITY),
        PyConst::Str("a \"b\"\\\n\t\0\u{301}\u{1f600}".to_owned()),
        PyConst::Str(String::new()),
        PyConst::Bytes((0..=255).collect()),
        PyConst::Ellipsis,
        PyConst::Tuple(vec![]),
        PyConst::Tuple(vec![PyConst::Tuple(vec![PyConst::Int(1)]), PyConst::Float(2.0)]),
        PyConst::Slice(Box::new([PyConst::None, PyConst::Int(2), PyConst::None])),
        PyConst::Unbound,
    ];
    for c in all {
        let text = c.to_string();
        let again = parse_constant(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(format!("{again:?}"), format!("{c:?}"), "{text}");
        if let (PyConst::Float(a), PyConst::Float(b)) = (&c, &again) {
            assert_eq!(a.to_bits(), b.to_bits(), "{text}");
        }
    }
}

#[test]
fn errors_say_the_line_and_what_was_expected() {
    let nested = format!("def f():\nblock0:\n    v0 = const {}\n", "(".repeat(100));
    let cases = [
        ("function %f() {}", "line 1: expected `def` or `generator`, not `function %f() {}`"),
        ("def f(:\n", "line 1: expected a name, not `:`"),
        ("def f():\nblock1:\n", "line 2: block1 is out of order"),
        ("def f():\nblock0:\n    v0 = const 1\n", "line 2: block0 has no end"),
        ("def f():\nblock0:\n    v0 = const 1 2\n", "line 3: expected the end of the line, not `2`"),
        ("def f():\nblock0:\n    v0 = const\n", "line 3: expected a number, not ``"),
        ("def f():\nblock0:\n    v0 = const \"a\n", "line 3: unfinished string"),
        ("def f():\nblock0:\n    v0 = const b\"\u{101}\"\n", "line 3: a byte is at most `\\xff`"),
        ("def f():\nblock0:\n    v0 = const 1e\n", "line 3: expected a number, not `1e`"),
        (&nested, "line 3: constants are nested deeper than 64"),
        ("def f():\nblock0:\n    v0 = does v1\n", "line 3: expected an instruction, not `does v1`"),
        ("def f():\nblock0:\n    v0 = v1 ? v2\n", "line 3: expected an operator, not `? v2`"),
        ("def f():\nblock0:\n    v0 = v1 not v2\n", "line 3: expected an operator, not `v2`"),
        ("def f():\nblock0:\n    v0 = neg x\n", "line 3: expected a value, not `x`"),
        ("def f():\nblock0:\n    jump block\n", "line 3: expected a number in range, not ``"),
        ("def f():\nblock0:\n    return v4000000000\n", "line 3: a function has at most 1048576 values"),
        ("def f():\nblock0:\n    return v99999999999\n", "line 3: expected a number in range, not `99999999999`"),
        ("def f():\nblock0:\n    unreachable\ninner 1: def g():\n", "line 4: expected `def` or `generator`"),
    ];
    for (text, message) in cases {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

/// Pseudo-random numbers (xorshift), the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n.max(1)
    }
}

/// Texts made of a text by moving, removing and replacing characters.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(6) {
        let (at, other) = (random.below(chars.len()), random.below(chars.len()));
        let letters: Vec<char> = "v0 9(){}[]:;,.=*\"\\%@!\n-_eéx\u{2028}".chars().collect();
        match random.below(5) {
            0 => chars[at] = letters[random.below(letters.len())],
            1 => chars.insert(at, letters[random.below(letters.len())]),
            2 => _ = chars.remove(at),
            3 => chars.swap(at, other),
            _ => {
                let end = (at + random.below(40)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                chars.splice(other..other, piece);
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn damaged_text_is_refused_or_means_what_it_prints() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut fine, mut refused) = (0, 0);
    let long = format!("{:#}", one(ALL));
    for round in 0..6000 {
        let text = damaged(if round % 2 == 0 { ALL } else { &long }, &mut random);
        let Ok(all) = parse(&text) else {
            refused += 1;
            continue;
        };
        fine += 1;
        let printed: String = all.iter().map(|c| format!("{c:#}")).collect();
        let again = parse(&printed).unwrap_or_else(|e| panic!("{e} of\n{printed}"));
        assert_eq!(again.iter().map(|c| format!("{c:#}")).collect::<String>(), printed);
    }
    assert!(fine > 100 && refused > 100, "the damage is too small or too large: {fine} fine, {refused} refused");
}
