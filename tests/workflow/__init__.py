"""Tests that run the whole workflow in a project of their own."""
