"""Machines with GPUs that do not exist, described by a TOML file; faults lie below the calls that are tested."""
