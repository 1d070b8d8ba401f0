"""Ranks on other nodes: an agent on each, started by what the cluster has; their answers are one job's."""
