"""CUDA C as functions of the compiler's own language: `tokens` reads, `parsing` makes a tree, `writing` its text.

The part of the language is that of kernels: expressions, declarations, control flow, pointers into arrays, shared
memory, atomics, functions and their templates. The text has C's types: each operation is written with the conversions
that C makes.
"""
