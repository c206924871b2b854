"""Request and response models of the HTTP API, shared by server and client; pydantic only."""
