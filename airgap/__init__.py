"""What makes the same program work without the internet: engine, plugins, mirror."""
