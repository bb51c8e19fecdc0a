#include <concepts>
#include <source_location>
#include <span>
static_assert(std::integral<int>);
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error older than anything this is tested with
#endif
