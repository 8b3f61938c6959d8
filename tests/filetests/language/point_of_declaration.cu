// test run

// [basic.scope.pdecl]: a name is declared by its declarator, before its initialiser, and after its array bounds.

__global__ void outer(int* out, int x) {
    out[0] = x;
    {
        int x = (x = 5, x + 1);
        out[1] = x;
    }
    {
        int x = sizeof(x) + 0;
        out[2] = x;
    }
    {
        double x = sizeof x;
        out[3] = int(x);
    }
    {
        int y = 2, x = y, z = x;
        out[4] = z;
    }
    {
        int x[] = {3, 4};
        out[5] = x[1];
        int* p = x;
        {
            int p[2] = {7, p[0] + 1};
            out[6] = p[1];
        }
        out[6] += *p;
    }
    {
        int x{(x = 8) + 1};
        out[7] = x;
    }
    for (int x = (x = 2) * 3; x < 7; x++) out[8] = x;
    if (int x = (x = 4) + 5) out[9] = x;
    {
        int* x = (x = out, x + 10);
        *x = 11;
    }
    {
        const int x = *(&x - 0) * 0 + 12;
        out[11] = x;
    }
    out[12] = x;
}

// run: outer<<<1, 1>>>(out = poison(13), x = 100)
//   out == [100, 6, 4, 8, 2, 4, 11, 9, 6, 9, 11, 12, 100]

// What has no value yet is poison, as any local variable without one.
__global__ void poisoned(int* out, int x) {
    int own;
    out[0] = own;
    {
        int x = x;
        out[1] = x;
        out[2] = x == 3;
    }
}

// run: poisoned<<<1, 1>>>(out = [0, 0, 0], x = 3) cpu
//   out == [-875836469, -875836469, 0]
