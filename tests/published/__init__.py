"""Tests of the published figures."""
