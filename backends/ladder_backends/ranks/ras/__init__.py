"""NCCL's RAS: what the library itself knows of the job's communicators, asked twice."""
