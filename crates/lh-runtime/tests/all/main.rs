//! The run-time library from outside: the pool, its protocol under a model checker, and what is released.

mod leaks;
mod pool;
mod pool_model;
mod pool_schedule;
