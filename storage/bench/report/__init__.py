"""The page of a run, its charts, and the tables on a terminal."""
