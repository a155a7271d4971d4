"""Recordings over one blob store and some volumes: written once, read near first, verified.

store          what everybody else uses: `RecordingStore`
manifest       what is written down of a whole recording, and of an upload under way
catalogue      the files that keep it; `places`: the catalogue with the blob store and the volumes
blobcopies     the copies of one blob: read, verified, surveyed
reading        reader
writing        uploadstart, writer, splitter; `locks` lets one writer at a time have a recording
missing copies backlog (which), backfill (makes them)
damage         repair (one blob), verification (every byte), recovery (a manifest from the bytes)
deletion       deletion; orphans: bytes that belong to nothing
"""
