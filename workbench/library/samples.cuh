// helper_cuda.h, helper_timer.h and helper_string.h of the CUDA samples, for host code. An error ends the call with the samples' own text.
template <typename T> inline const char* _cudaGetErrorEnum(T) { return "<unknown>"; }
inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <typename T> inline void __wb_check_cuda(T result, const char* call, const char* file, int line) {
    if (result)
        __wb::fail(0, "", "CUDA error at ", file, ":", line, " code=", (unsigned)result, "(", _cudaGetErrorEnum(result), ") \"", call, "\"");
}
inline void __wb_last_cuda_error(const char* message, const char* file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        __wb::fail(0, "", file, "(", line, ") : getLastCudaError() CUDA error : ", message, " : (", (int)error, ") ", cudaGetErrorString(error));
}
inline int _ConvertSMVer2Cores(int major, int) { return major >= 8 ? 128 : 64; }
inline int gpuDeviceInit(int device) {
    if (device != 0) __wb::fail(0, "", "gpuDeviceInit: there is no device ", device);
    return device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline bool checkCudaCapabilities(int major, int minor) {
    const cudaDeviceProp properties;
    return properties.major > major || properties.major == major && properties.minor >= minor;
}

// The command line: `-name`, `--name`, `-name=value`.
inline const char* __wb_argument(int argc, const char** argv, const char* name) {
    for (int i = 1; i < argc; i++) {
        const char* text = argv[i];
        while (*text == '-') text++;
        int at = 0;
        while (name[at] && text[at] == name[at]) at++;
        if (name[at] == 0 && (text[at] == 0 || text[at] == '=')) return text + at;
    }
    return nullptr;
}
inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) { return __wb_argument(argc, argv, name) != nullptr; }
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
    const char* text = __wb_argument(argc, argv, name);
    return text && *text == '=' ? atoi(text + 1) : 0;
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
    const char* text = __wb_argument(argc, argv, name);
    return text && *text == '=' ? (float)atof(text + 1) : 0.0f;
}
inline int findCudaDevice(int argc, const char** argv) {
    if (checkCmdLineFlag(argc, argv, "device")) return gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device="));
    const cudaDeviceProp properties;
    printf("GPU Device 0: \"%s\" with compute capability %d.%d\n\n", properties.name, properties.major, properties.minor);
    return 0;
}

// Timers, in milliseconds.
struct StopWatchInterface {
    double since, total;
    int sessions;
    bool running;
};
inline bool sdkCreateTimer(StopWatchInterface** timer) {
    *timer = (StopWatchInterface*)__wb_alloc(sizeof(StopWatchInterface));
    **timer = StopWatchInterface{0, 0, 0, false};
    return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
    if (*timer) __wb_free(*timer);
    *timer = nullptr;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
    (*timer)->since = __wb_seconds();
    (*timer)->running = true;
    return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
    (*timer)->total += (__wb_seconds() - (*timer)->since) * 1e3;
    (*timer)->running = false;
    (*timer)->sessions++;
    return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
    (*timer)->total = 0;
    (*timer)->sessions = 0;
    (*timer)->since = __wb_seconds();
    return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
    const double more = (*timer)->running ? (__wb_seconds() - (*timer)->since) * 1e3 : 0;
    return (float)((*timer)->total + more);
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
    return (*timer)->sessions ? (float)((*timer)->total / (*timer)->sessions) : 0.0f;
}
