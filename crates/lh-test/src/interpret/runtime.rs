//! Functions of the run-time library, as far as what passes do depends on them.

use super::Stop;
use super::exception::{Exc, mismatch, out_of_memory};
use super::grid::THREADS;
use super::state::{Flow, Machine, Thread};
use super::word::{Word, Words, boolean, int, number, words_of};
use lh_ir::op::RuntimeFn;
use lh_ir::{Const, ExcId, Ty};
use lh_ops::exceptions::{INDEX_ERROR, MEMORY_ERROR};

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
        if let Some(done) = self.check(f.name, args) {
            return done;
        }
        if let Some(done) = self.list_runtime(f.name, args).or_else(|| self.text_runtime(f.name, args)) {
            return done;
        }
        if let Some(done) = self.device_runtime(t, f.name, args).or_else(|| self.lanes_runtime(f.name, args)) {
            return done;
        }
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined(format!("{} gets poison", f.name)));
        Ok(Flow::Next(match f.name {
            "lh_alloc" | "lh_calloc" | "lh_cuda_temporary" => {
                let bytes = known(0)? as i64;
                let Some(data) = self.memory.allocate(bytes) else {
                    return Ok(Flow::Raise(Exc::with_text(MEMORY_ERROR, out_of_memory(bytes))));
                };
                if f.name == "lh_calloc" {
                    self.memory.write(Some(data), &vec![0; bytes as usize], true)?;
                }
                [Some(data), Some(data)].into_iter().collect()
            }
            "lh_memmove" => {
                self.memory.copy(args[0], args[1], known(2)? as usize)?;
                Words::new()
            }
            "lh_ptr_addr" | "lh_addr_ptr" => args.clone(),
            name if name.starts_with("lh_exc_") => self.exception_runtime(t, name, args)?,
            "lh_parallel_grain" => int(self.settings.grain.min((known(0)? as i64).max(1))),
            "lh_get_num_threads" => int(THREADS),
            "lh_get_chunksize" => int(0),
            "lh_dot_f64" | "lh_dot_f32" => {
                let ty = if f.name == "lh_dot_f64" { Ty::f64() } else { Ty::f32() };
                self.dot(ty, args)?
            }
            // Polls find nothing, hints do nothing, and checks of races see nothing here.
            "lh_interrupted" | "lh_interrupted_in_turn" | "lh_stopped" | "lh_check_stack" | "lh_prefetch" => {
                Words::new()
            }
            "lh_race_access" => {
                self.announced = Some((args[4], known(5)? as usize));
                Words::new()
            }
            name if name.starts_with("lh_race_") => Words::new(),
            "lh_get_thread_id" => return Err(Stop::Unmodelled("numbers of threads".into())),
            name => return Err(Stop::Unmodelled(format!("the function {name}"))),
        }))
    }

    /// Functions by which handlers use the pending exception.
    fn exception_runtime(&mut self, t: &mut Thread<'a>, name: &str, args: &Words) -> Result<Words, Stop> {
        let known = |i: usize| args[i].ok_or_else(|| Stop::undefined(format!("{name} gets poison")));
        Ok(match name {
            "lh_exc_take" => {
                let exc = t.pending.take().ok_or_else(|| Stop::undefined("no exception is pending"))?;
                self.taken.push(Some(exc));
                int(self.taken.len() as i64)
            }
            "lh_exc_matches" => boolean(self.taken(known(0)?)?.is_a(ExcId(known(1)? as u32))),
            "lh_exc_restore" => {
                t.pending = Some(self.taken(known(0)?)?.clone());
                Words::new()
            }
            "lh_exc_drop" => {
                self.taken(known(0)?)?;
                self.taken[known(0)? as usize - 1] = None;
                Words::new()
            }
            "lh_exc_str" | "lh_exc_repr" => {
                let exc = self.taken(known(0)?)?;
                let text = if name == "lh_exc_str" { exc.message() } else { exc.to_string() };
                self.memory.new_text(&text)?
            }
            _ => return Err(Stop::Unmodelled(format!("the function {name}"))),
        })
    }

    fn taken(&self, handle: u64) -> Result<&Exc, Stop> {
        let found = (handle as usize).checked_sub(1).and_then(|i| self.taken.get(i)).and_then(Option::as_ref);
        found.ok_or_else(|| Stop::undefined("a handle of no exception"))
    }

    /// Functions that raise if something does not hold.
    fn check(&mut self, name: &str, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        let all = || args.iter().map(|w| w.map(|n| n as i64)).collect::<Option<Vec<i64>>>();
        let done = Ok(Flow::Next(Words::new()));
        Some(match (name, all()) {
            ("lh_check_index" | "lh_shape_extent", None) => Err(Stop::undefined(format!("{name} gets poison"))),
            ("lh_check_index", Some(n)) if (0..n[2]).contains(&n[3]) => done,
            ("lh_check_index", Some(n)) => {
                let text = format!("index {} is out of bounds for axis {} with size {}", n[0], n[1], n[2]);
                Ok(Flow::Raise(Exc::with_text(INDEX_ERROR, text)))
            }
            ("lh_shape_begin" | "lh_shape_extent", _) => done,
            ("lh_raise_broadcast", _) => Ok(Flow::Raise(mismatch())),
            _ => return None,
        })
    }

    /// `sum(x * y)`: number, address and stride of x, of y.
    fn dot(&mut self, ty: Ty, args: &[Word]) -> Result<Words, Stop> {
        let [Some(n), x, Some(dx), y, Some(dy)] = *args else { return Err(Stop::undefined("a product of poison")) };
        let prim = ty.flatten()[0];
        let mut sum = 0.0;
        for i in 0..(n as i64).max(0) as u64 {
            let load = |at: Word, step: u64| self.memory.load(at.map(|a| a.wrapping_add(i.wrapping_mul(step))), prim);
            let (Some(a), Some(b)) = (load(x, dx)?, load(y, dy)?) else { return Ok([None].into_iter().collect()) };
            if let (Const::Float(a, _), Const::Float(b, _)) = (number(a, ty), number(b, ty)) {
                sum += a * b;
            }
        }
        Ok(words_of(&Const::Float(sum, ty)))
    }
}
