// test error

__global__ void a(float* x) {
    float y = 1.0f
    x[0] = y;
}

__global__ void b(float* x) {
    x[0] = (1.0f + 2.0f;
}

__global__ void c(float* x) {
    if (x[0] > 1) {
        x[0] = 2;
// error WB0201 4:19 `;`
// error WB0201 9:24 `)`
// error WB0202 12:29
