"""Volumes that hold whole recordings as files, each under guard; `storage.drives` is below.

volumes      the way in for recordings: all volumes of a gateway, in order
volume       one of them, its threads, in use or out; guarded: a part on it
on the disk  directory: the files; part: one on its way; marker: which volume it is
"""
