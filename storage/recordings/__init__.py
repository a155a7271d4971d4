"""Recordings over one blob store and some volumes: written once, read near first, verified.

store        the way in for everybody else
manifest     what is written down of a recording, and of an upload under way
catalogue    where that is written down; shelves: with blob store and volumes, all places
an upload    opening, writer, splitter; writers: one at a time
a reader     reader, fetching; mending: behind it
a copy       backlog: which are missing; filling: made; removing: given up, or gone
a check      examining: one blob of every copy; verifying: all of one recording;
             restoring: a manifest, from the bytes; strays: what belongs to nothing
"""
