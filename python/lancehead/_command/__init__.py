"""The subcommands of the `lancehead` command, one per file."""
