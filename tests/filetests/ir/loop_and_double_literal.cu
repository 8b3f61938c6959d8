// test ir

__global__ void halve(float* x, int steps) {
    for (int k = 0; k < steps; ++k) x[0] = x[0] * 0.5;
}
// ir:
// kernel f0 halve(x: ptr f32, steps: i32) contracts {
//   local l0 k: i32
//   v0: ptr = param 0
//   v1: i32 = param 1
//   v2: i32 = 0i32
//   l0 = v2
//   b0: loop {
//     v3: i32 = get l0
//     v4: bool = lt v3, v1
//     if v4 {
//     } else {
//       break b0
//     }
//     v5: f32 = load v0
//     v6: f64 = convert v5
//     v7: f64 = 0.5f64
//     v8: f64 = mul v6, v7
//     v9: f32 = convert v8
//     store v0, v9
//   } step {
//     v10: i32 = get l0
//     v11: i32 = 1i32
//     v12: i32 = add v10, v11
//     l0 = v12
//   }
//   return
// }
