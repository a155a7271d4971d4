"""Long work in the background: jobs that their owners begin, watch, cancel and fetch."""
