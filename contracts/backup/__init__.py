"""Backups of a gateway or a node: what they hold, how they are written, checked and put back.

A backup is a folder `gateway-20261123T181500.123Z` (or `node-…`) with `manifest.json` and the files
that it names. It appears under this name once it is whole and durable, and never changes.

Modules: `kept` lists every file that Wayseal keeps; `manifest` is the manifest; `writing` makes a
backup; `shelf` finds, counts and drops those of one directory; `checking` compares files with the
manifest; `restoring` puts a backup back; `commands` is what the commands of both have in common.
"""
