// test run
struct Node { struct Other* next; struct Node* self; float v; };
__device__ float get(struct Node* n) { return n->v; }
void host(struct Unknown* u);
struct Later* global_pointer_holder();
typedef struct Tag Tag_t;
__global__ void k(float* y) { struct Node n; n.v = 3; n.next = nullptr; struct Local* q = nullptr; y[0] = get(&n) + (q == nullptr); }
// run: k<<<1, 1>>>(y = poison(1))
//   y == [4]
