"""`make release`: wheels, Debian packages, SBOMs, checksums and signature of one commit."""
