"""What can be measured about probabilities: their reliability, their error, their order."""
