// Copies, which are complete at once: committing and waiting do nothing.
__device__ inline void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
    __builtin_memcpy(to, from, size - zeros);
    __builtin_memset(static_cast<char*>(to) + (size - zeros), 0, zeros);
}
__device__ inline void __pipeline_commit() {}
__device__ inline void __pipeline_wait_prior(size_t) {}
