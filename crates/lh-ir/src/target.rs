//! Targets of branches, in untyped and in typed functions.

use crate::entity::{Block, Value};
use serde::{Deserialize, Serialize};

/// A block with arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The destination.
    pub block: Block,
    /// Arguments; in an untyped function, `for` passes the item as the first argument, before these.
    pub args: Vec<Value>,
}
