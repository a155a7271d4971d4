"""The machine's block devices: what they are, how they are attached, how they are, what is lost.

inventory    the way in for people: all that is known of the machine's block devices
a device     devices: what there is; interfaces: how it is attached; nvme: its paths;
             filesystems, mounts: what is on it, and where; standing: below which path
its state    health: by its own word; links: of its paths, in words;
             counters: what went through; routes: which network card leads there
NVMe-oF      nvmeof: found, connected, disconnected; saved: for the next start;
             keeper: connected and mounted anew
around       kernel: sysfs and procfs; tools: other people's, with a time limit
"""
