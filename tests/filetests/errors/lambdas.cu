// test error

__global__ void use(int* out) {
    int a = 1;
    auto no_capture = [](int x) { return x + a; };
    out[0] = no_capture(1);
    auto constant = [a](int x) { a = 2; return x; };
    out[1] = constant(1);
    auto f = [](int x) { return x; };
    out[2] = f(1, 2);
    out[3] = f(out);
    auto recursive = [](int x) { return x; }();
    constexpr int c = a;
    auto [p, q] = a;
    for (int v : a) {}
    auto x = {1, 2};
}
// error WB0301 5:46 `a` is a variable of the function round this one
// error WB0306 7:34 cannot be written
// error WB0305 10:14 takes 1 argument, and 2 are given
// error WB0303 11:16 argument 1 of
// error WB0305 12:22 takes 1 argument, and none is given
// error WB0308 13:23 must be known when compiling
// error WB0303 14:5 has no parts to name
// error WB0303 15:18 is no range
// error WB0314 16:10 `auto` needs one initialiser
