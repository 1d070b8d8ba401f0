"""A CuPy raw kernel that writes one row too many."""

import cupy

SOURCE = r"""
extern "C" __global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n + 3)
        y[i] = 2.0f * x[i];
}
"""

scale = cupy.RawKernel(SOURCE, "scale", options=("-lineinfo",))
x = cupy.ones(1000, dtype=cupy.float32)
y = cupy.empty_like(x)
scale((4,), (256,), (x, y, cupy.int32(1000)))
cupy.cuda.runtime.deviceSynchronize()
print("ok", float(y.sum()))
