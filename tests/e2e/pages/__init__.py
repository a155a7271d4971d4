"""Tests of pages; a package, so that its site and browser end with its last test."""
