// applications.cpp: compaction, one digit of a radix sort, and a linear recurrence, each by a scan of the standard
// library.
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

using Items = std::vector<int>;

// The sum of the items before each item.
Items exclusive(const Items& items) {
  Items sums(items.size());
  std::exclusive_scan(items.begin(), items.end(), sums.begin(), 0);
  return sums;
}

// The items above a limit, in their order.
Items compact(const Items& items, int limit) {
  Items flags;
  for (const int item : items) flags.push_back(item > limit);
  const Items places = exclusive(flags);
  Items kept(places.back() + flags.back());
  for (std::size_t i = 0; i < items.size(); ++i) {  // in parallel: a thread per item
    if (flags[i]) kept[places[i]] = items[i];
  }
  return kept;
}

// Items whose bit is 0 first, then the others, both in their order.
Items by_bit(const Items& items, int bit) {
  Items zero;
  for (const int item : items) zero.push_back((item >> bit & 1) == 0);
  const Items before = exclusive(zero);
  const int zeros = before.back() + zero.back();
  Items sorted(items.size());
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    sorted[zero[i] ? before[i] : zeros + i - before[i]] = items[i];
  }
  return sorted;
}

// A map x -> a x + b. Maps one after another are such a map again: that is the operator.
struct Map {
  int a, b;
};
Map then(Map first, Map second) { return {second.a * first.a, second.a * first.b + second.b}; }

// y[i] = 2 y[i - 1] + x[i], with y[-1] = 0.
Items recurrence(const Items& items) {
  std::vector<Map> maps;
  for (const int item : items) maps.push_back({2, item});
  std::inclusive_scan(maps.begin(), maps.end(), maps.begin(), then);
  Items y;
  for (const Map& map : maps) y.push_back(map.b);  // the map at 0
  return y;
}

void print(const char* what, const Items& items) {
  std::printf("%-16s", what);
  for (const int item : items) std::printf(" %d", item);
  std::printf("\n");
}

int main() {
  const Items items{3, 1, 7, 0, 4, 1, 6, 3};
  print("above 2:", compact(items, 2));
  Items sorted = items;
  for (int bit = 0; bit < 3; ++bit) print("sorted by a bit:", sorted = by_bit(sorted, bit));
  print("recurrence:", recurrence(items));
}
