"""The benchmark of kernels on the CPU."""
