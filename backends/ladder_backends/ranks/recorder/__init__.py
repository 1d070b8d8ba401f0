"""PyTorch's flight recorder: what each rank's collectives were, out of dump files or of its debug server."""
