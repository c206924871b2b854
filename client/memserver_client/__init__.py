"""The Python client of memserver: the base install, with httpx and pydantic as its only needs."""
