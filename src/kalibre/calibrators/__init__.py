"""Maps that make a model's probabilities truer without looking at anything but its score."""
