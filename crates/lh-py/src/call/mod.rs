//! Calls from Python: dispatchers, arguments as machine words, results as objects.

pub mod args;
pub mod bind;
pub mod boxing;
pub mod convert;
pub mod copies;
pub mod decode;
pub mod dispatcher_type;
pub mod empty_lists;
pub mod field;
pub mod generator;
pub mod instance;
pub mod linkable;
pub mod lists;
pub mod literals;
pub mod methods;
pub mod overload;
pub mod refusal;
pub mod specialise;
pub mod state;
pub mod tables;
pub mod tag_index;
pub mod tags;
pub mod type_of;
pub mod vectorcall;
