// test error

__global__ void f(int* out, int x) {
    {
        auto x = x;
    }
    {
        int& x = x;
    }
    {
        int x[] = {1, x[0]};
    }
    {
        constexpr int x = x + 1;
    }
    {
        static const int x[2] = {1, x[0]};
    }
    out[0] = x;
}
// error WB0314 5:14 `x` is used in its own initialiser: the type of `auto` is taken from it
// error WB0314 8:14 `x` is used in its own initialiser: a reference needs something to refer to
// error WB0314 11:13 `x` is used in its own initialiser: its length is taken from the list
// error WB0308 14:27 the value of `x`
// error WB0314 17:26 `x` is used in its own initialiser
