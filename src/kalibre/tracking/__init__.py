"""MLflow's view of the records: the only code that knows MLflow."""
