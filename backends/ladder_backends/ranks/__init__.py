"""All ranks of a parallel job: which there are, where each stands, and which one went wrong."""
