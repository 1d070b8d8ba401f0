// A torch extension that believes its indices.
#include <torch/extension.h>

__global__ void gather_rows(const float *table, const long *index, float *out, int columns) {
    int row = blockIdx.x, column = threadIdx.x;
    long from = index[row];
    out[row * columns + column] = table[from * columns + column];   // BUG: from may be past the table
}

torch::Tensor gather(torch::Tensor table, torch::Tensor index) {
    auto out = torch::empty({index.size(0), table.size(1)}, table.options());
    int columns = table.size(1);
    gather_rows<<<index.size(0), columns>>>(table.data_ptr<float>(), index.data_ptr<long>(), out.data_ptr<float>(),
                                            columns);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("gather", &gather); }
