"""The same experiment on many splits: shards of splits, joined to a distribution."""
