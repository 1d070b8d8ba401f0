"""Where two runs part, or two sets of ranks of one: by values at source lines, or by their collectives."""
