// test run

// A struct of more members than are copied one by one: words are, in a loop, holes and all.
struct Eight { char tag; int a, b; float c; double d; const float* p; short e; unsigned char f; };
struct Big { Eight left[8]; char last; __device__ Eight& at(int i) { return left[i]; } };
struct Both { Big one, two; };
__device__ Big made(float x, const float* p) {
    Big b = {};
    for (int i = 0; i < 8; i++) {
        b.at(i).tag = (char)(i + 1);
        b.at(i).a = i * 10;
        b.at(i).c = x + i;
        b.at(i).d = x * i;
        b.at(i).p = p + i;
        b.at(i).e = (short)-i;
    }
    b.last = 7;
    return b;
}
struct Marked { int* count; int which; __device__ ~Marked() { if (count) *count = *count * 3 + which; } };

__global__ void use(float* out, const float* x) {
    Big b = made(x[0], x);
    Both both = { b, b };
    both.two.left[3].a += 1;
    Big c = both.two;
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += c.left[i].a + c.left[i].b + c.left[i].c + (float)c.left[i].d + *c.left[i].p + c.left[i].e + c.left[i].tag + c.left[i].f;
    out[0] = sum;
    out[1] = both.one.left[3].a;
    out[2] = c.left[3].a;
    out[3] = c.last;
}
__global__ void ends(int* out) {
    {
        Marked some[20];
        for (int i = 0; i < 20; i++) { some[i].count = i < 3 || i > 17 ? out : nullptr; some[i].which = i; }
    }
}
// run: use<<<1, 1>>>(out = poison(4), x = [1, 2, 3, 4, 5, 6, 7, 8])
//   out == [389, 30, 31, 7]
// run: ends<<<1, 1>>>(out = [1])
//   out == [2289]
