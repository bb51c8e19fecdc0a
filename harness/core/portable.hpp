// Words that let one source be read by nvcc (for the GPU) and by a plain C++ compiler (for the CPU executor).
#pragma once

#if defined(__CUDACC__)
#define SCANLAB_HD __host__ __device__
#else
#define SCANLAB_HD
#endif
