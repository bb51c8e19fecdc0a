// What scanlab::DeviceScan does not take: each call is refused by a sentence that says what to use instead.
#include "variants/scan/device_scan.cuh"

struct Large {
  double words[3];
};
struct Fancy {
  int operator[](int) const;
};

int main() {
  std::size_t bytes = 0;
  const auto first = [](const Large& a, const Large&) { return a; };
  scanlab::DeviceScan::InclusiveScan(nullptr, bytes, static_cast<Large*>(nullptr), first, 10);
  scanlab::DeviceScan::InclusiveSum(nullptr, bytes, Fancy{}, static_cast<int*>(nullptr), 10);
}
