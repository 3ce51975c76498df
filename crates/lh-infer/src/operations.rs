//! Operations on values by their types.

pub(crate) mod alternatives;
pub(crate) mod attributes;
pub(crate) mod cells;
pub(crate) mod classes;
pub(crate) mod comparisons;
pub(crate) mod described_dtypes;
pub(crate) mod exceptions;
pub(crate) mod generator;
pub(crate) mod index;
pub(crate) mod instances;
pub(crate) mod iterate;
pub(crate) mod iterators;
pub(crate) mod objects;
pub(crate) mod operators;
pub(crate) mod own_exceptions;
pub(crate) mod patterns;
pub(crate) mod record_values;
pub(crate) mod records;
pub(crate) mod stencils;
pub(crate) mod supers;
pub(crate) mod templates;
pub(crate) mod user_classes;
