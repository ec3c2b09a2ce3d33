"""Plain-Python versions of the lessons' procedures, against which the fast engine is checked.

They are written for the eye, not for speed: rows are dictionaries, every number is computed one
row at a time and added up from left to right, so that each double is the one the lesson's own
code arrives at. Nothing here imports the engine.
"""
