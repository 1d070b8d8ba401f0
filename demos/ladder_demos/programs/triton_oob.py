"""A Triton kernel without a mask: the last block runs past the vectors."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))  # BUG: no mask=i < n


x = torch.ones(1000, device="cuda")
y = torch.ones(1000, device="cuda")
out = torch.empty(1000, device="cuda")
add[(4,)](x, y, out, 1000, BLOCK=256)
torch.cuda.synchronize()
print("ok")
