// test run

// Local and shared arrays are accessed through vectors, whatever they are declared as.
struct Fragment { char tag; alignas(16) float values[4]; };
struct Mixed { char a; alignas(8) short b; char c; };

__global__ void vectors(const float* x, float* y, int* sizes) {
    char odd = 1;
    float row[4];
    __shared__ char flag;
    __shared__ float tile[8];
    flag = odd;
    *reinterpret_cast<float4*>(row) = *reinterpret_cast<const float4*>(x);
    *reinterpret_cast<float4*>(&tile[4]) = make_float4(row[3], row[2], row[1], row[0]);
    for (int i = 0; i < 4; i++) y[i] = row[i] * 10 + tile[4 + i] + flag;
    Fragment f;
    *reinterpret_cast<float4*>(f.values) = make_float4(1, 2, 3, 4);
    y[4] = f.values[0] + f.values[3];
    sizes[0] = sizeof(Fragment); sizes[1] = alignof(Fragment); sizes[2] = sizeof(Mixed); sizes[3] = alignof(Mixed);
}
// run: vectors<<<1, 1>>>(x = [1, 2, 3, 4], y = poison(5), sizes = poison(4))
//   y == [15, 24, 33, 42, 5]
//   sizes == [32, 16, 16, 8]
