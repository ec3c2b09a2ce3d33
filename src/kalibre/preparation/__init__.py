"""Preparation: steps that learn from rows before the model does, and the chain they form."""
