"""Non-maximum suppression by 64-bit masks on the device, the classic kernel; the masks are copied to the host and swept there."""
CPP = "at::Tensor nms_cuda(const at::Tensor& boxes, const at::Tensor& scores, float iou_threshold);"
CUDA = r'''
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <memory>
#include <vector>

int const threadsPerBlock = sizeof(unsigned long long) * 8;
#define DIVUP(m, n) ((m) / (n) + ((m) % (n) > 0))

template <typename T>
__device__ inline bool devIoU(T const *const a, T const *const b, const float threshold) {
  T left = max(a[0], b[0]), right = min(a[2], b[2]);
  T top = max(a[1], b[1]), bottom = min(a[3], b[3]);
  T width = max(right - left, (T)0), height = max(bottom - top, (T)0);
  T interS = width * height;
  T Sa = (a[2] - a[0]) * (a[3] - a[1]);
  T Sb = (b[2] - b[0]) * (b[3] - b[1]);
  return interS > threshold * (Sa + Sb - interS);
}

template <typename T>
__global__ void nms_kernel(const int n_boxes, const float threshold, const T *dev_boxes, unsigned long long *dev_mask) {
  const int row_start = blockIdx.y;
  const int col_start = blockIdx.x;
  if (row_start > col_start) return;

  const int row_size = min(n_boxes - row_start * threadsPerBlock, threadsPerBlock);
  const int col_size = min(n_boxes - col_start * threadsPerBlock, threadsPerBlock);

  __shared__ T block_boxes[threadsPerBlock * 4];
  if (threadIdx.x < col_size) {
    for (int c = 0; c < 4; c++) block_boxes[threadIdx.x * 4 + c] = dev_boxes[(threadsPerBlock * col_start + threadIdx.x) * 4 + c];
  }
  __syncthreads();

  if (threadIdx.x < row_size) {
    const int cur_box_idx = threadsPerBlock * row_start + threadIdx.x;
    const T *cur_box = dev_boxes + cur_box_idx * 4;
    int i = 0;
    unsigned long long t = 0;
    int start = 0;
    if (row_start == col_start) start = threadIdx.x + 1;
    for (i = start; i < col_size; i++) {
      if (devIoU<T>(cur_box, block_boxes + i * 4, threshold)) t |= 1ULL << i;
    }
    const int col_blocks = DIVUP(n_boxes, threadsPerBlock);
    dev_mask[cur_box_idx * col_blocks + col_start] = t;
  }
}

at::Tensor nms_cuda(const at::Tensor &boxes, const at::Tensor &scores, float iou_threshold) {
  TORCH_CHECK(boxes.dim() == 2, "boxes should be a 2d tensor, got ", boxes.dim(), "D");
  TORCH_CHECK(boxes.size(1) == 4, "boxes should have 4 elements in dimension 1, got ", boxes.size(1));
  TORCH_CHECK(boxes.size(0) == scores.size(0), "boxes and scores should have same number of elements in dimension 0, got ", boxes.size(0), " and ", scores.size(0));
  if (boxes.numel() == 0) return at::empty({0}, boxes.options().dtype(at::kLong));

  auto order_t = std::get<1>(scores.sort(/*stable=*/true, /*dim=*/0, /* descending=*/true));
  auto boxes_sorted = boxes.index_select(0, order_t).contiguous();
  const int dets_num = boxes.size(0);
  const int col_blocks = DIVUP(dets_num, threadsPerBlock);

  at::Tensor mask = at::zeros({dets_num * col_blocks}, boxes.options().dtype(at::kLong));
  dim3 blocks(col_blocks, col_blocks);
  dim3 threads(threadsPerBlock);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();

  AT_DISPATCH_FLOATING_TYPES(boxes_sorted.scalar_type(), "nms_cuda", [&] {
    nms_kernel<scalar_t><<<blocks, threads, 0, stream>>>(dets_num, iou_threshold, boxes_sorted.data_ptr<scalar_t>(), (unsigned long long *)mask.data_ptr<int64_t>());
  });

  at::Tensor mask_cpu = mask.to(at::kCPU);
  unsigned long long *mask_host = (unsigned long long *)mask_cpu.data_ptr<int64_t>();
  std::vector<unsigned long long> remv(col_blocks);
  memset(&remv[0], 0, sizeof(unsigned long long) * col_blocks);

  at::Tensor keep = at::empty({dets_num}, boxes.options().dtype(at::kLong).device(at::kCPU));
  int64_t *keep_out = keep.data_ptr<int64_t>();
  int num_to_keep = 0;
  for (int i = 0; i < dets_num; i++) {
    int nblock = i / threadsPerBlock;
    int inblock = i % threadsPerBlock;
    if (!(remv[nblock] & (1ULL << inblock))) {
      keep_out[num_to_keep++] = i;
      unsigned long long *p = mask_host + i * col_blocks;
      for (int j = nblock; j < col_blocks; j++) remv[j] |= p[j];
    }
  }
  AT_CUDA_CHECK(cudaGetLastError());
  return order_t.index({keep.narrow(/*dim=*/0, /*start=*/0, /*length=*/num_to_keep).to(order_t.device(), keep.scalar_type())});
}
'''
FUNCTIONS = ["nms_cuda"]


def check(m, t):
    import numpy as np

    for n, dtype in ((203, np.float32), (64, np.float64), (1, np.float32)):
        xy = t.rng.integers(0, 60, (n, 2))
        boxes = np.concatenate([xy, xy + t.rng.integers(0, 25, (n, 2))], 1).astype(dtype)  # integers, some of them empty
        scores = t.rng.integers(0, 30, n).astype(dtype)  # with ties: in the order of the boxes
        order, keep = list(np.argsort(-scores, kind="stable")), []
        while order:
            i = order.pop(0)
            keep.append(i)

            def overlaps(j):
                w, h = (min(boxes[i, a + 2], boxes[j, a + 2]) - max(boxes[i, a], boxes[j, a]) for a in (0, 1))
                inter = max(w, 0.0) * max(h, 0.0)
                area = [np.prod(boxes[k, 2:] - boxes[k, :2]) for k in (i, j)]
                return inter > 0.375 * (sum(area) - inter)  # three eighths: exact

            order = [j for j in order if not overlaps(j)]
        t.close(m.nms_cuda(t(boxes), t(scores), 0.375), np.array(keep))
    assert t.np(m.nms_cuda(t(np.zeros((0, 4), np.float32)), t(np.zeros(0, np.float32)), 0.5)).shape == (0,)
    with t.raises(RuntimeError, "boxes should have 4 elements in dimension 1, got 5"):
        m.nms_cuda(t(np.zeros((2, 5), np.float32)), t(np.zeros(2, np.float32)), 0.5)
    with t.raises(RuntimeError, "same number of elements in dimension 0, got 1 and 2"):
        m.nms_cuda(t(boxes), t(np.zeros(2, np.float32)), 0.5)
