// test error

template <typename T>
__global__ void t(T* x) { x[0] = 1; }

struct Pair { int a; float b; };

__global__ void clocks(long long* x) {
    static int calls;
    x[0] = clock64();
    calls++;
    float4 v;
}

__global__ void simd(int* x) {
    x[0] = __vadd4(x[0], 1);
    memcpy(x + 1, x, 4);
}

__global__ void jump(int* x) {
    goto end;
end:
    x[0] = 1;
}
// error WB0401 3:1 template
// error WB0401 6:1 struct
// error WB0401 9:16 static
// error WB0401 10:12 clock64
// error WB0401 12:5 float4
// error WB0401 16:12 __vadd4
// error WB0401 17:5 memcpy
// error WB0401 21:5 goto
// error WB0401 22:1 labels
