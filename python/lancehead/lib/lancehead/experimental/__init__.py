"""`lancehead.experimental` in compiled code."""
