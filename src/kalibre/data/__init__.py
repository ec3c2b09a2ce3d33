"""Where tables come from: generated subscribers, biopsies, predictions, own files."""
