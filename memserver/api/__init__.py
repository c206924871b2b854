"""The HTTP API: routes parse, call a service, and shape its answer."""
