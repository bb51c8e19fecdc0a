// What scanlab::DeviceScan does not take: each is refused by a sentence that says what to use instead, and by no other.
#include "variants/scan/scan_function.hpp"

struct Large {
  double words[3];
};
struct Fancy {
  int operator[](int) const;
};
struct Owner {
  Owner(const Owner&);
};

bool taken = scanlab::scan::taken<Large*, Large*>() || scanlab::scan::taken<Fancy, int*>() ||
             scanlab::scan::taken<const Owner*, int*>();
