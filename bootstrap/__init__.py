"""Phase 2: turns machines that answer SSH into a cluster. Knows no platform."""
