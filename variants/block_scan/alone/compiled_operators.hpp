// The operators of a block scan that is compiled alone; CMake writes the file of this name that all others are compiled
// with.
#pragma once

#include "variants/operators/plus.hpp"

#define SCANLAB_OPERATORS(X) X(Plus)
namespace scanlab {
struct CompiledOperators;
}
