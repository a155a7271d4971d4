"""The rows of the table of actions, by subject."""
