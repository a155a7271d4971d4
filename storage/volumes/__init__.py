"""Volumes that hold whole recordings as files. The block devices are in `storage.drives`.

volumes      what recordings use: all volumes of a gateway, in order
volume       one volume with its threads, in use or out; volumepart: a part on it
on the disk  directory: the files; part: a file being written; marker: the volume's identity
"""
