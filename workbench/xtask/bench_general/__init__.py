"""The benchmark of kernels as people write them."""
