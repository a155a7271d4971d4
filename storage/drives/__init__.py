"""The machine's drives: its block devices, their interfaces, health and links, and NVMe-oF.

inventory    everything that is known of the block devices at one moment
a device     devices: all of them; interfaces: how it is attached; nvme: its paths;
             filesystems, mounts: what is on it, and where; standing: what is below a directory
its state    health: by SMART; links: the state of its paths, in words;
             counters: its I/O; routes: the network card that leads to it;
             reported: all drives' health, also without root rights
NVMe-oF      targets: where to connect, and how; discovery: what a target offers;
             nvmeof: connect, disconnect; secrets: for nvme-cli alone; abilities: of this machine;
             owned: which connections are ours; saved: files for the next start;
             keeper: connects and mounts again
around       kernel: sysfs and procfs; tools: other programs, with a time limit
"""
