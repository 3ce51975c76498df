"""What the `lancehead` command does, one file per subcommand."""
