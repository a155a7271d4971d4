"""Volumes that hold whole recordings as files, each under guard; and the drives below them.

volumes      the way in for recordings: all volumes of a gateway, in order
volume       one of them, its threads, in use or out; guarded: a part on it
on the disk  directory: the files; part: one on its way; marker: which volume it is
inventory    the way in for people: all that is known of the machine's block devices
a device     devices: what there is; interfaces: how it is attached; nvme: its paths;
             filesystems, mounts: what is on it, and where; standing: below which path
its state    health: by its own word; links: of its paths, in words;
             counters: what went through; routes: which network card leads there
NVMe-oF      nvmeof: found, connected, disconnected; saved: for the next start;
             keeper: connected and mounted anew
around       kernel: sysfs and procfs; tools: other people's, with a time limit
"""
