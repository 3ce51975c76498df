//! Functions of the run-time library, as far as what passes do depends on them.

use super::Stop;
use super::exception::{Exc, mismatch, out_of_memory};
use super::grid::THREADS;
use super::state::{Flow, Machine, Thread};
use super::word::{Word, Words, boolean, int};
use lh_ir::ExcId;
use lh_ir::runtime::{Exception, Memory, Parts, Race, Role, RuntimeFn, Shapes, Threads};
use lh_ir::types::Prim;
use lh_ops::exceptions::{INDEX_ERROR, MEMORY_ERROR};
use lh_ops::runtime as rt;

impl<'a> Machine<'a> {
    /// Calls a function with its operands flattened.
    pub(super) fn runtime(
        &mut self,
        t: &mut Thread<'a>,
        f: &'static RuntimeFn,
        args: &Words,
    ) -> Result<Flow<'a>, Stop> {
        if let Some(words) = t.answer.take() {
            return Ok(Flow::Next(words));
        }
        if let Some(done) = self.check(f, args) {
            return done;
        }
        if let Some(done) = self.items_runtime(f.role, args).or_else(|| self.text_runtime(f, args)) {
            return done;
        }
        if let Some(done) = self.device_runtime(t, f.role, args).or_else(|| self.lanes_runtime(f, args)) {
            return done;
        }
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined(format!("{} gets poison", f.name)));
        Ok(Flow::Next(match f.role {
            Role::Memory(_) if f.allocates() => {
                let bytes = known(0)? as i64;
                let Some(data) = self.memory.allocate(bytes) else {
                    return Ok(Flow::Raise(Exc::with_text(MEMORY_ERROR, out_of_memory(bytes))));
                };
                if f.role == Role::Memory(Memory::AllocateZeroed) {
                    self.memory.write(Some(data), &vec![0; bytes as usize], true)?;
                }
                [Some(data), Some(data)].into_iter().collect()
            }
            Role::Memory(Memory::Move | Memory::Moved) => {
                self.memory.copy(args[0], args[1], known(2)? as usize)?;
                Words::new()
            }
            Role::Memory(Memory::CopyRow) => {
                let (stride, n, size) = (known(1)? as i64, known(3)? as i64, known(4)? as usize);
                for i in 0..n.max(0) {
                    let to = args[0].map(|a| a.wrapping_add_signed(i * stride));
                    let from = args[2].map(|a| a.wrapping_add_signed(i * size as i64));
                    self.memory.copy(to, from, size)?;
                }
                Words::new()
            }
            Role::Address(_) => args.clone(),
            // Either answer is right.
            Role::Parts(Parts::IsProduced) => int(known(0)? as i64 / 64 % 2),
            Role::Parts(Parts::Part) => {
                let before = (known(2)? as i64).wrapping_mul(known(4)? as i64);
                [args[0], args[1].map(|a| a.wrapping_add_signed(before))].into_iter().collect()
            }
            Role::Exception(what) => self.exception_runtime(t, what, args)?,
            Role::Threads(Threads::Grain) => int(self.settings.grain.min((known(0)? as i64).max(1))),
            Role::Threads(Threads::Number) => int(THREADS),
            Role::Threads(Threads::ChunkSize) => int(0),
            // Polls find nothing, hints do nothing, and checks of races see nothing here.
            Role::Poll(_) | Role::Memory(Memory::Prefetch) => Words::new(),
            Role::Race(Race::Access) => {
                self.announced = Some((args[4], known(5)? as usize));
                Words::new()
            }
            Role::Race(_) => Words::new(),
            Role::Threads(Threads::ThreadId) => return Err(Stop::Unmodelled("numbers of threads".into())),
            _ if *f == rt::lh_check_stack => Words::new(),
            _ => self.parallel_runtime(f, args)?,
        }))
    }

    /// Tests before parallel loops.
    fn parallel_runtime(&self, f: &'static RuntimeFn, args: &Words) -> Result<Words, Stop> {
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined(format!("{} gets poison", f.name)));
        Ok(match f {
            _ if *f == rt::lh_parallel_ordered => Words::new(),
            _ if *f == rt::lh_parallel_tested => int(known(1)? as i64),
            _ if *f == rt::lh_gcd => int(gcd(known(0)? as i64, known(1)? as i64)),
            _ if *f == rt::lh_parallel_beside => {
                let [distance, every, size, other] = [known(0)?, known(1)?, known(2)?, known(3)?].map(|n| n as i64);
                let apart = distance.rem_euclid(every.max(1));
                boolean(every > 0 && apart >= size && every - apart >= other)
            }
            _ if *f == rt::lh_parallel_distinct => {
                let all = self.column(args, known(3)? as i64)?;
                let extent = known(5)? as i64;
                let place = |(_, at): &(i64, i64)| if *at < 0 && args[6] == Some(1) { at + extent } else { *at };
                let mut places: Vec<i64> = all.iter().map(place).collect();
                let fit = places.iter().all(|at| (0..extent).contains(at));
                places.sort_unstable();
                boolean(fit && places.windows(2).all(|pair| pair[0] < pair[1]))
            }
            _ if *f == rt::lh_parallel_in_turn => {
                let n = known(8)? as i64;
                let of = |at: usize| [args[at], args[at + 1], args[at + 2], None, args[at + 3]];
                let (begins, ends) = (self.column(&of(0), n)?, self.column(&of(4), n)?);
                let mut free = 0;
                boolean(begins.iter().zip(&ends).all(|((low, from), (high, to))| {
                    let is_after = from >= to || *from >= free;
                    free = if from < to { *to } else { free };
                    *low >= 0 && *high >= 0 && *from >= 0 && *to >= 0 && is_after
                }))
            }
            _ => return Err(Stop::Unmodelled(format!("the function {}", f.name))),
        })
    }

    /// Integers at equal distances, each with its sum with an offset: address, distance, bits, number, offset.
    fn column(&self, args: &[Word], n: i64) -> Result<Vec<(i64, i64)>, Stop> {
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined("a test of indices gets poison"));
        let (first, step, bits, offset) = (known(0)?, known(1)? as i64, known(2)? as i64, known(4)? as i64);
        let prim = match bits.abs() {
            8 => Prim::I8,
            16 => Prim::I16,
            32 => Prim::I32,
            _ => Prim::I64,
        };
        let spare = 64 - bits.unsigned_abs() as u32;
        (0..n)
            .map(|i| {
                let at = Some(first.wrapping_add_signed(i * step));
                let word =
                    self.memory.load(at, prim)?.ok_or_else(|| Stop::undefined("a test of indices reads poison"))?;
                let value = if bits > 0 { (word as i64) << spare >> spare } else { (word << spare >> spare) as i64 };
                Ok((value, value.wrapping_add(offset)))
            })
            .collect()
    }

    /// Functions by which handlers use the pending exception.
    fn exception_runtime(&mut self, t: &mut Thread<'a>, what: Exception, args: &Words) -> Result<Words, Stop> {
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined("a handler gets poison"));
        Ok(match what {
            Exception::Take => {
                let exc = t.pending.take().ok_or_else(|| Stop::undefined("no exception is pending"))?;
                let address = self.memory.allocate(1).ok_or(Stop::Fuel)?;
                self.taken.insert(address, exc);
                int(address as i64)
            }
            Exception::Matches => boolean(self.taken(known(0)?)?.is_a(ExcId(known(1)? as u32))),
            Exception::Restore => {
                t.pending = Some(self.taken(known(0)?)?.clone());
                Words::new()
            }
            Exception::Chain => Words::new(),
            Exception::Made => return Err(Stop::Unmodelled("exceptions that are made or asked".into())),
            Exception::Str | Exception::Repr => {
                let exc = self.taken(known(0)?)?;
                let text = if what == Exception::Str { exc.message() } else { exc.to_string() };
                self.memory.new_text(&text)?
            }
        })
    }

    fn taken(&self, handle: u64) -> Result<&Exc, Stop> {
        self.taken.get(&handle).ok_or_else(|| Stop::undefined("no exception"))
    }

    /// Functions that raise if something does not hold.
    fn check(&mut self, f: &RuntimeFn, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        let all = || args.iter().map(|w| w.map(|n| n as i64)).collect::<Option<Vec<i64>>>();
        let done = Ok(Flow::Next(Words::new()));
        Some(match (f.role, all()) {
            (Role::CheckIndex | Role::Shapes(Shapes::Extent), None) => {
                Err(Stop::undefined(format!("{} gets poison", f.name)))
            }
            (Role::CheckIndex, Some(n)) if (0..n[2]).contains(&n[3]) => done,
            (Role::CheckIndex, Some(n)) => {
                let text = format!("index {} is out of bounds for axis {} with size {}", n[0], n[1], n[2]);
                Ok(Flow::Raise(Exc::with_text(INDEX_ERROR, text)))
            }
            (Role::Shapes(Shapes::Begin | Shapes::Extent), _) => done,
            (Role::Shapes(Shapes::Raise), _) => Ok(Flow::Raise(mismatch())),
            _ => return None,
        })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
