"""The command `kalibre`: writes experiment files, looks at them, and calls Snakemake."""
