"""Which GPUs, links and ports a machine has, as far as user space can read it: facts with their sources."""
