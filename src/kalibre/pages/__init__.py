"""Pages that people look at: an experiment's report with its charts and labs, and the index of all."""
