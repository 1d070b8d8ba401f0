"""What runs on the nodes of a job: one file, which needs Python 3.6 and nothing else there."""
