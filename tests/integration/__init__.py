"""Tests against the real thing: a server, a browser, a cluster."""
