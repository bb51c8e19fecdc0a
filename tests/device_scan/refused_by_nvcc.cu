// A function for the host alone. The device's code would leave it out, with all that follows: nothing would be written.
#include "include/scanlab/device_scan.cuh"

struct Larger {
  int operator()(int a, int b) const { return a > b ? a : b; }
};

void scan(std::size_t& bytes, int* items) {
  scanlab::DeviceScan::InclusiveScan(nullptr, bytes, items, items, Larger{}, 1);
}
