// test error

__global__ void clocks(long long* x) {
    x[0] = clock64();
}

struct Flags { virtual int f(); };

__global__ void jump(int* x) {
    goto end;
end:
    x[0] = 1;
}
// error WB0401 4:12 clock64
// warning WB0401 7:16 `Flags` is left out, which no kernel needs: virtual functions
// error WB0401 10:5 goto
// error WB0401 11:1 labels
