"""What storage must reach."""

from typing import Final

from storage.bench.ours.targets import Target, Targets

TARGETS: Final[Targets] = {
    "upload_ratio": Target(
        "upload to two synced copies, beside the slower of dd of both and sha256sum", 0.8, ""
    ),
    "cassandra_write_ratio": Target(
        "recording into Cassandra, beside the best bare driver loop", 0.9, ""
    ),
    "cassandra_read_ratio": Target(
        "verified stream from Cassandra, beside the best bare driver loop", 0.9, ""
    ),
    "volume_read_ratio": Target(
        "verified stream from the volume, beside a plain read with sha256", 0.9, ""
    ),
    "rss_mb": Target("most that the gateway had resident, MB", 300, "MB", most=True),
}
