//! The format of a file of the cache.
//!
//! ```text
//! "LHCACHE6" · hash of the rest · key · facts · steps · words · files · types · result type · kernel · loops that run
//! in order · facts of GPU code · parts · object · objects by level
//! ```

use crate::digest::{Digest, Hasher, blake2b};
use crate::kernel::GpuKernel;
use lh_cuda::KernelInfo;
use lh_ir::func::{self, Extern, Race};
use lh_ir::{ExcId, ObjId, Span};

/// First bytes of a file; the last one is the version of the format.
const MAGIC: &[u8; 8] = b"LHCACHE6";

/// How an object that was read while compiling is found again. Parents are numbers of earlier steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The function itself.
    Root,
    /// A function, class or other object in the types of the arguments, by its number in order of mention.
    Argument(u32),
    /// A global or builtin of a function.
    Global(u32, String),
    /// A captured variable of a function.
    Free(u32, u32),
    /// An attribute.
    Attribute(u32, String),
    /// `import name`, `from name import attr`.
    Import(String, Option<String>),
    /// An item of a tuple or list, a default of a function.
    Part(u32, u32),
}

/// An object that was read: where, and the hash of what the compiler saw there; none if nothing was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The way to it.
    pub place: Place,
    /// The hash of it.
    pub digest: Option<Digest>,
}

/// An entry's facts for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The function.
    pub function: String,
    /// Its source file and line when it was compiled.
    pub file: String,
    /// Line of the definition.
    pub line: u32,
    /// Argument and result types.
    pub signature: String,
    /// The processor.
    pub cpu: String,
    /// Version of lancehead.
    pub version: String,
}

/// A function of the library with an object of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// The digest by which other objects name it.
    pub name: Digest,
    /// As those of an entry.
    pub words: Vec<(Extern, u32)>,
    /// As those of an entry.
    pub types: Vec<(u32, Vec<u8>)>,
    /// ELF object.
    pub object: Vec<u8>,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The request that it answers: function, argument types, options, environment.
    pub key: Digest,
    /// For people.
    pub facts: Facts,
    /// Everything that was read, parents first.
    pub steps: Vec<Step>,
    /// Numbers of the process that the object refers to, and the step that each is found by.
    pub words: Vec<(Extern, u32)>,
    /// File names that the object refers to, and the function whose file each is.
    pub files: Vec<(u32, u32)>,
    /// Types whose numbers the object refers to, as bytes that name steps.
    pub types: Vec<(u32, Vec<u8>)>,
    /// Result type.
    pub ret: Vec<u8>,
    /// Whether arguments may live on after the call.
    pub escapes: bool,
    /// The facts that a launch needs, if it is a kernel.
    pub kernel: Option<KernelInfo>,
    /// Parallel loops that run in order, with their files: the user is told of them.
    pub races: Vec<(String, Race)>,
    /// If it is code for a GPU, its facts without the code, which is the object.
    pub on_gpu: Option<GpuKernel>,
    /// Functions of the library that the object calls, each after those that it calls itself.
    pub parts: Vec<StoredPart>,
    /// ELF object; empty if there is one for each of several levels of processors.
    pub object: Vec<u8>,
    /// Objects by level.
    pub variants: Vec<(String, Vec<u8>)>,
}

/// Appends to bytes.
#[derive(Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, b: u8) {
        self.0.push(b);
    }
    pub(crate) fn number(&mut self, n: u32) {
        self.0.extend(n.to_le_bytes());
    }
    pub(crate) fn bytes(&mut self, b: &[u8]) {
        self.number(u32::try_from(b.len()).unwrap_or_else(|_| lh_ir::bug!("a cache entry of 4 GB")));
        self.0.extend(b);
    }
    pub(crate) fn text(&mut self, s: &str) {
        self.bytes(s.as_bytes());
    }
    fn many<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Writer, &T)) {
        self.number(items.len() as u32);
        items.iter().for_each(|i| each(self, i));
    }
    fn kernel(&mut self, k: &KernelInfo) {
        self.byte(match k.entry {
            func::Entry::Plain => 0,
            func::Entry::Blocks => 1,
            func::Entry::Thread => 2,
        });
        self.byte(u8::from(k.is_cooperative));
        self.byte(u8::from(k.prints));
        self.byte(u8::from(k.spins));
        self.byte(u8::from(k.is_checked));
        self.byte(match k.gangs {
            func::Gangs::None => 0,
            func::Gangs::Rows => 1,
            func::Gangs::Warps => 2,
        });
        self.number(k.thread_cost);
        // Memory of a block or thread is far below 4 GB.
        [k.shared_bytes, k.local_bytes, k.scratch].iter().for_each(|n| self.number(*n as u32));
    }
    fn race(&mut self, (file, race): &(String, Race)) {
        [file, &race.text, &*race.way].iter().for_each(|t| self.text(t));
        self.span(race.first);
        self.many(race.second.as_slice(), |w, s| w.span(*s));
    }
    fn span(&mut self, s: Span) {
        [s.line, s.end_line, s.col, s.end_col].iter().for_each(|n| self.number(*n));
    }
    fn gpu(&mut self, k: &GpuKernel) {
        self.text(&k.symbol);
        self.0.extend(k.contents.0);
        self.many(&k.captured, |w, o| w.number(o.0));
        self.many(&k.sites, |w, (class, text, function, file, line)| {
            [class, text, function, file].iter().for_each(|t| w.text(t));
            w.number(*line);
        });
    }
    fn words(&mut self, words: &[(Extern, u32)]) {
        self.many(words, |w, (what, step)| {
            let kind = match what {
                Extern::Array(_) => 0,
                Extern::Class(_) => 1,
                Extern::Foreign(_) => 2,
                Extern::Function(_) => 3,
                Extern::Type(_) => lh_ir::bug!("types have a list of their own"),
            };
            w.tagged(kind, &[what.number(), *step]);
        });
    }
    fn types(&mut self, types: &[(u32, Vec<u8>)]) {
        self.many(types, |w, (number, ty)| {
            w.number(*number);
            w.bytes(ty);
        });
    }
    fn step(&mut self, s: &Step) {
        match &s.place {
            Place::Root => self.byte(0),
            Place::Argument(n) => self.tagged(1, &[*n]),
            Place::Global(f, name) => {
                self.tagged(2, &[*f]);
                self.text(name);
            }
            Place::Free(f, index) => self.tagged(3, &[*f, *index]),
            Place::Attribute(o, name) => {
                self.tagged(4, &[*o]);
                self.text(name);
            }
            Place::Import(name, attr) => {
                self.tagged(5, &[u32::from(attr.is_some())]);
                self.text(name);
                self.text(attr.as_deref().unwrap_or_default());
            }
            Place::Part(o, index) => self.tagged(6, &[*o, *index]),
        }
        self.byte(u8::from(s.digest.is_some()));
        if let Some(d) = s.digest {
            self.0.extend(d.0);
        }
    }
    fn tagged(&mut self, tag: u8, numbers: &[u32]) {
        self.byte(tag);
        numbers.iter().for_each(|n| self.number(*n));
    }
}

/// Takes from bytes; `None` where they end or make no sense.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }
    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }
    pub(crate) fn number(&mut self) -> Option<u32> {
        self.take(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.number()?;
        self.take(n as usize)
    }
    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
    fn digest(&mut self) -> Option<Digest> {
        self.take(32)?.try_into().ok().map(Digest)
    }
    fn many<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.number()?;
        (0..n).map(|_| each(self)).collect()
    }
    fn step(&mut self) -> Option<Step> {
        let place = match self.byte()? {
            0 => Place::Root,
            1 => Place::Argument(self.number()?),
            2 => Place::Global(self.number()?, self.text()?),
            3 => Place::Free(self.number()?, self.number()?),
            4 => Place::Attribute(self.number()?, self.text()?),
            5 => {
                let has_attr = self.number()? != 0;
                let (name, attr) = (self.text()?, self.text()?);
                Place::Import(name, has_attr.then_some(attr))
            }
            6 => Place::Part(self.number()?, self.number()?),
            _ => return None,
        };
        let digest = if self.byte()? != 0 { Some(self.digest()?) } else { None };
        Some(Step { place, digest })
    }
    fn kernel(&mut self) -> Option<KernelInfo> {
        let entry = match self.byte()? {
            0 => func::Entry::Plain,
            1 => func::Entry::Blocks,
            2 => func::Entry::Thread,
            _ => return None,
        };
        let mut flag = || self.byte().map(|b| b != 0);
        let (is_cooperative, prints, spins, is_checked) = (flag()?, flag()?, flag()?, flag()?);
        let gangs = match self.byte()? {
            0 => func::Gangs::None,
            1 => func::Gangs::Rows,
            2 => func::Gangs::Warps,
            _ => return None,
        };
        let thread_cost = self.number()?;
        let mut bytes = || self.number().map(|n| n as usize);
        let (shared_bytes, local_bytes, scratch) = (bytes()?, bytes()?, bytes()?);
        Some(KernelInfo {
            entry,
            is_cooperative,
            shared_bytes,
            local_bytes,
            scratch,
            thread_cost,
            prints,
            spins,
            is_checked,
            gangs,
        })
    }
    fn race(&mut self) -> Option<(String, Race)> {
        let (file, text, way) = (self.text()?, self.text()?, self.text()?.into());
        let first = self.span()?;
        let second = self.many(Reader::span)?.pop();
        Some((file, Race { text, way, first, second }))
    }
    fn span(&mut self) -> Option<Span> {
        Some(Span { line: self.number()?, end_line: self.number()?, col: self.number()?, end_col: self.number()? })
    }
    fn gpu(&mut self) -> Option<GpuKernel> {
        let (symbol, contents) = (self.text()?, self.digest()?);
        let captured = self.many(|r| r.number().map(ObjId))?;
        let sites = self.many(|r| Some((r.text()?, r.text()?, r.text()?, r.text()?, r.number()?)))?;
        Some(GpuKernel { symbol, contents, captured, sites, ..GpuKernel::default() })
    }
    fn types(&mut self) -> Option<Vec<(u32, Vec<u8>)>> {
        self.many(|r| Some((r.number()?, r.bytes()?.to_vec())))
    }
    fn part(&mut self) -> Option<StoredPart> {
        Some(StoredPart {
            name: self.digest()?,
            words: self.many(Reader::word)?,
            types: self.types()?,
            object: self.bytes()?.to_vec(),
        })
    }
    fn word(&mut self) -> Option<(Extern, u32)> {
        let (kind, number) = (self.byte()?, self.number()?);
        let what = match kind {
            0 => Extern::Array(ObjId(number)),
            1 => Extern::Class(ExcId(number)),
            2 => Extern::Foreign(ObjId(number)),
            3 => Extern::Function(ObjId(number)),
            _ => return None,
        };
        Some((what, self.number()?))
    }
}

impl Entry {
    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.0.extend(self.key.0);
        let f = &self.facts;
        for text in [&f.function, &f.file, &f.signature, &f.cpu, &f.version] {
            w.text(text);
        }
        w.number(f.line);
        w.many(&self.steps, Writer::step);
        w.words(&self.words);
        w.many(&self.files, |w, (file, step)| {
            w.number(*file);
            w.number(*step);
        });
        w.types(&self.types);
        w.bytes(&self.ret);
        w.byte(u8::from(self.escapes));
        w.many(self.kernel.as_slice(), Writer::kernel);
        w.many(&self.races, Writer::race);
        w.many(self.on_gpu.as_slice(), Writer::gpu);
        w.many(&self.parts, |w, p| {
            w.0.extend(p.name.0);
            w.words(&p.words);
            w.types(&p.types);
            w.bytes(&p.object);
        });
        w.bytes(&self.object);
        w.many(&self.variants, |w, (level, object)| {
            w.text(level);
            w.bytes(object);
        });
        let mut out = MAGIC.to_vec();
        out.extend(blake2b(&w.0).0);
        out.extend(w.0);
        out
    }

    /// The entry in a file; `None` if the file is not whole, or of another format.
    pub fn read(bytes: &[u8]) -> Option<Entry> {
        let mut r = Reader(bytes);
        if r.take(8)? != MAGIC || r.digest()? != blake2b(r.0) {
            return None;
        }
        let key = r.digest()?;
        let mut facts = Facts::default();
        for text in [&mut facts.function, &mut facts.file, &mut facts.signature, &mut facts.cpu, &mut facts.version] {
            *text = r.text()?;
        }
        facts.line = r.number()?;
        let entry = Entry {
            key,
            facts,
            steps: r.many(Reader::step)?,
            words: r.many(Reader::word)?,
            files: r.many(|r| Some((r.number()?, r.number()?)))?,
            types: r.types()?,
            ret: r.bytes()?.to_vec(),
            escapes: r.byte()? != 0,
            kernel: r.many(Reader::kernel)?.pop(),
            races: r.many(Reader::race)?,
            on_gpu: r.many(Reader::gpu)?.pop(),
            parts: r.many(Reader::part)?,
            object: r.bytes()?.to_vec(),
            variants: r.many(|r| Some((r.text()?, r.bytes()?.to_vec())))?,
        };
        r.0.is_empty().then_some(entry)
    }

    /// The object for a processor that has these levels, best first.
    pub fn code_for(&self, levels: &[&str]) -> Option<&[u8]> {
        if self.variants.is_empty() {
            return Some(&self.object);
        }
        let of = |level: &&str| self.variants.iter().find(|(name, _)| name == level);
        levels.iter().find_map(of).map(|(_, object)| &object[..])
    }

    /// The values that the code has read, named as in Python.
    pub fn reads(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for step in &self.steps {
            let of = |n: &u32| names.get(*n as usize).cloned().unwrap_or_default();
            names.push(match &step.place {
                Place::Root => self.facts.function.clone(),
                Place::Argument(n) => format!("argument {n}"),
                Place::Global(f, name) => format!("{name} in {}", of(f)),
                Place::Free(f, index) => format!("captured variable {index} of {}", of(f)),
                Place::Attribute(o, name) => format!("{}.{name}", of(o).split(' ').next().unwrap_or_default()),
                Place::Import(name, None) => name.clone(),
                Place::Import(name, Some(attr)) => format!("{name}.{attr}"),
                Place::Part(o, index) => format!("part {index} of {}", of(o)),
            });
        }
        names
    }

    /// A hash of everything that the entry depends on beside its key.
    pub fn dependencies(&self) -> Digest {
        let mut w = Writer::default();
        self.steps.iter().for_each(|s| w.step(s));
        let mut h = Hasher::new("dependencies");
        h.bytes(&w.0);
        h.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Entry {
        let d = |n| Some(Digest([n; 32]));
        let step = |place, digest| Step { place, digest };
        Entry {
            key: Digest([9; 32]),
            facts: Facts { function: "f".into(), line: 3, ..Default::default() },
            steps: vec![
                step(Place::Root, d(1)),
                step(Place::Argument(2), d(2)),
                step(Place::Global(0, "g".into()), d(3)),
                step(Place::Global(0, "h".into()), None),
                step(Place::Free(2, 1), d(4)),
                step(Place::Attribute(4, "x".into()), d(5)),
                step(Place::Import("m".into(), Some("a".into())), d(6)),
                step(Place::Import("m".into(), None), d(6)),
                step(Place::Part(3, 7), d(8)),
            ],
            words: vec![(Extern::Array(ObjId(5)), 2), (Extern::Class(ExcId(70)), 3)],
            files: vec![(0, 0)],
            types: vec![(4, vec![6])],
            ret: vec![1, 2],
            escapes: true,
            kernel: Some(KernelInfo {
                entry: func::Entry::Thread,
                is_cooperative: true,
                shared_bytes: 3,
                local_bytes: 4,
                scratch: 5,
                thread_cost: 6,
                prints: false,
                spins: true,
                is_checked: true,
                gangs: func::Gangs::Rows,
            }),
            races: vec![(
                "f.py".into(),
                Race {
                    text: "may write".into(),
                    way: "use `range`".into(),
                    first: Span { line: 1, end_line: 1, col: 2, end_col: 5 },
                    second: Some(Span { line: 2, end_line: 2, col: 0, end_col: 1 }),
                },
            )],
            on_gpu: Some(GpuKernel {
                symbol: "f".into(),
                contents: Digest([5; 32]),
                captured: vec![ObjId(2)],
                sites: vec![("ValueError".into(), "no".into(), "f".into(), "f.py".into(), 7)],
                ..GpuKernel::default()
            }),
            parts: vec![StoredPart {
                name: Digest([6; 32]),
                words: vec![(Extern::Array(ObjId(1)), 4)],
                types: vec![(2, vec![7, 8])],
                object: vec![1; 20],
            }],
            object: vec![0x7f; 300],
            variants: vec![("x86-64-v2".into(), vec![1]), ("x86-64-v3".into(), vec![2, 3])],
        }
    }

    #[test]
    fn the_best_level_is_taken() {
        let entry = sample();
        assert_eq!(entry.code_for(&["x86-64-v4", "x86-64-v3", "x86-64-v2"]), Some(&[2, 3][..]));
        assert_eq!(entry.code_for(&["x86-64-v2"]), Some(&[1][..]));
        assert_eq!(entry.code_for(&[]), None);
        assert_eq!(Entry { variants: Vec::new(), ..entry }.code_for(&[]).map(<[u8]>::len), Some(300));
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Entry::read(&sample().write()), Some(sample()));
    }

    #[test]
    fn no_damaged_entry_is_read() {
        let whole = sample().write();
        for n in 0..whole.len() {
            assert_eq!(Entry::read(&whole[..n]), None, "cut at {n}");
            let mut changed = whole.clone();
            changed[n] ^= 1;
            assert_eq!(Entry::read(&changed), None, "changed at {n}");
        }
        assert_eq!(Entry::read(&[whole, vec![0]].concat()), None);
    }
}
