"""What differs between two snapshots, or between a snapshot and a directory."""
