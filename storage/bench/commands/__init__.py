"""The subcommands of `wayseal-bench`: one module each, with its options and its plan."""
