// test ir

__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
// ir:
// kernel f0 saxpy(a: f32, x: ptr const f32, y: ptr f32, n: i32) contracts {
//   v0: f32 = param 0
//   v1: ptr = param 1
//   v2: ptr = param 2
//   v3: i32 = param 3
//   v4: u32 = block_idx.x
//   v5: u32 = block_dim.x
//   v6: u32 = mul v4, v5
//   v7: u32 = thread_idx.x
//   v8: u32 = add v6, v7
//   v9: i32 = convert v8
//   v10: bool = lt v9, v3
//   if v10 {
//     v11: i64 = convert v9
//     v12: ptr = ptr_add v1, v11 * f32
//     v13: f32 = load v12
//     v14: f32 = mul v0, v13
//     v15: i64 = convert v9
//     v16: ptr = ptr_add v2, v15 * f32
//     v17: f32 = load v16
//     v18: f32 = add v14, v17
//     v19: i64 = convert v9
//     v20: ptr = ptr_add v2, v19 * f32
//     store v20, v18
//   }
//   return
// }
