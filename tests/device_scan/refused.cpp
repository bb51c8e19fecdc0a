// Calls that scanlab::DeviceScan refuses, each by one sentence that says what to use instead.
#include <functional>

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

struct Text {
  const char* words;
};
struct Negation {
  int operator()(int a) const { return -a; }
};
struct Longest {
  Text operator()(Text a, Text) const { return a; }
};

bool taken = scanlab::scan::taken<Large*, Large*>() || scanlab::scan::taken<Fancy, int*>() ||
             scanlab::scan::taken<const Owner*, int*>() || scanlab::scan::taken<int*, const int*>() ||
             scanlab::scan::taken<long double*, long double*>();
bool callable = scanlab::scan::callable<Text, Text, scanlab::scan::Add>() ||
                scanlab::scan::callable<int, int, Negation>() || scanlab::scan::callable<Text, int, Longest>();
bool along_axis = scanlab::scan::taken_along_axis<bool>() || scanlab::scan::callable_along_axis<short, std::plus<>>();
