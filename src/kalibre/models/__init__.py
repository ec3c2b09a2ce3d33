"""The lessons' own classifiers, behind scikit-learn's estimator interface."""
