"""The experiment file: one validating model per section."""
