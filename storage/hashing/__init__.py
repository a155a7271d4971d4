"""SHA-256 of a recording and the leaf hashes of its blobs, in one pass where the machine can."""
