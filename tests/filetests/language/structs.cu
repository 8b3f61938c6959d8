// test run cpu

struct Point { float x, y; };
struct Particle { Point at; int id; double mass; };
struct Mixed { char c; double d; short s; };
union Bits { float f; unsigned u; };

__device__ Point add(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
__device__ void shift(Point& p, float by) { p.x += by; }
__device__ Point* choose(Point* a, Point* b, bool first) { return first ? a : b; }

__global__ void values(float* out) {
    Point p = {1, 2};
    Point q{3.0f};
    Point r = add(p, q);
    out[0] = r.x; out[1] = r.y;
    Point s = r;
    s.x = 9;
    out[2] = r.x; out[3] = s.x;
    shift(s, 0.5f);
    out[4] = s.x;
    r = s;
    out[5] = r.x;
    choose(&p, &q, false)->y = 8;
    out[6] = q.y;
    Point line[3] = {{1, 2}, 3, 4, {5}};
    out[7] = line[0].y + line[1].x * 10 + line[1].y * 100 + line[2].x * 1000 + line[2].y;
    Point z{};
    out[8] = z.x + z.y;
    Point t = true ? p : q;
    out[9] = t.y;
    Point designated = {.y = 4.0f};
    out[10] = designated.x + designated.y;
    Point same = Point{6, 7};
    out[11] = same.x * same.y;
    r = {same.y, same.x};
    out[12] = r.x;
    Particle all[2] = {};
    all[1].at.y = 2.5f; all[1].mass = 4;
    Particle copy = all[1];
    out[13] = copy.at.y * (float)copy.mass + copy.id;
}
// run: values<<<1, 1>>>(out = poison(14))
//   out == [4, 2, 4, 9, 9.5, 9.5, 8, 5432, 0, 2, 4, 42, 7, 10]

struct Empty {};
struct alignas(16) Wide { int a; };
struct Nested { char a; struct { int b; char c; } in; union { int i; float f; }; };
__global__ void layout(unsigned long* out) {
    out[0] = sizeof(Point); out[1] = sizeof(Particle); out[2] = sizeof(Mixed); out[3] = sizeof(Bits);
    out[4] = alignof(Mixed); out[5] = sizeof(Empty); out[6] = sizeof(Wide); out[7] = alignof(Wide);
    out[8] = sizeof(Nested); out[9] = sizeof(Wide[3]);
    Nested n = {1, {2, 3}, {4}};
    out[10] = n.in.b * 100 + n.in.c * 10 + n.i;
    n.f = 1.0f;
    out[11] = n.i;
    Bits b;
    b.f = -2.0f;
    out[12] = b.u;
}
// run: layout<<<1, 1>>>(out = poison(13))
//   out == [8, 24, 24, 4, 8, 1, 16, 16, 16, 48, 234, 1065353216, 3221225472]

__global__ void by_value(Particle p, float* out) {
    p.at.x += 1;
    out[threadIdx.x] = p.at.x + p.at.y * 10 + p.id * 100 + (float)p.mass * 1000;
}
// run: by_value<<<1, 2>>>(p = bytes(f32 1, f32 2, i32 3, i32 0, f64 4), out = poison(2))
//   out == [4322, 4322]

__global__ void through_pointer(Particle* all, int n) {
    int i = threadIdx.x;
    if (i < n) {
        Particle& p = all[i];
        p.at.x = p.at.y + (float)p.mass;
        p.id++;
        all[i].mass = p.id;
    }
}
// run: through_pointer<<<1, 2>>>(all = bytes(f32 0, f32 2, i32 3, i32 0, f64 4, f32 1, f32 1, i32 7, i32 0, f64 0.5), n = 2)
//   all == bytes(f32 6, f32 2, i32 4, i32 0, f64 4, f32 1.5, f32 1, i32 8, i32 0, f64 8)
