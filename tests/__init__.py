"""The tests of kalibre, and the reference procedures that they compare with."""
