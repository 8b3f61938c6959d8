// test error

struct Vec {
    float x, y;
    __device__ void set(float v) { x = v; }
    __device__ float get() const { return x; }
    __device__ void bad() const { x = 1; }
};
struct Own { __device__ Own(int) {} };
struct Later;
struct Holds { Later l; };
struct Bad { int a; int a2; };
struct Deleted { __device__ Deleted(int) {} Deleted(const Deleted&) = delete; };

__device__ void take(Vec& v) { v.x = 1; }

__global__ void use(float* out, Vec* p) {
    Vec v{1, 2};
    v.z = 1;
    p.x = 2;
    v->x = 3;
    const Vec c{1, 2};
    c.set(1);
    c.x = 2;
    take(Vec{1, 2});
    Own o;
    Own q = {1, 2};
    Vec w = {1, 2, 3};
    float f = v;
    v = 1.0f;
    v + v;
    Vec* none = &c;
    Deleted d(1);
    Deleted e = d;
    Vec g(1, 2, 3);
    out[0] = v.get;
    out[1] = v.missing();
    Later* fine = nullptr;
    fine->x = 1;
    this->x = 1;
}
// error WB0306 7:35 this is `const float` and cannot be written
// error WB0312 11:16 what it holds is not known here
// error WB0301 19:7 `Vec` has no member `z`
// error WB0303 20:5 has no members, so no `x`
// error WB0303 21:5 `Vec` has no operator `->`
// error WB0303 23:5 may change its object, and this one is const
// error WB0306 24:5 cannot be written
// error WB0303 25:10 cannot refer to this `Vec`
// error WB0314 26:9 has no constructor without arguments
// error WB0305 27:13 takes 1 argument, and 2 are given
// error WB0314 28:20 too many initialisers
// error WB0303 29:15 cannot be initialised with `Vec`
// error WB0303 30:9 cannot be assigned to `Vec`
// error WB0303 31:7 `+` cannot take `Vec` and `Vec`
// error WB0303 32:17 cannot be initialised with `const Vec*`
// error WB0303 34:17 `Deleted` cannot be copied
// error WB0304 35:10 has no constructor that takes
// error WB0303 36:14 must be called
// error WB0301 37:16 has no member `missing`
// error WB0312 39:5 what it holds is not known here
// error WB0301 40:5 `this` exists only in methods
