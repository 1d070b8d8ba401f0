"""cuda-gdb on GPU core dumps."""
