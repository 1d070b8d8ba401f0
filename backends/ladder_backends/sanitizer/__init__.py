"""compute-sanitizer reports of every era, as findings."""
