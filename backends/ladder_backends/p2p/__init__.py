"""Do transfers between GPUs arrive? Pair tests in worker processes, and the verdict on what they found."""
