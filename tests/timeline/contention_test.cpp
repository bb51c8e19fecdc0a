// Causes that gaps of an engine do not show, or that a call or a record names: each in a timeline that has it, and not
// in one that lacks what makes it the cause.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/timeline/diagnosis.hpp"

namespace scanlab::streams {
namespace {

constexpr double kMicro = 1e-6;

/// A program whose host issues an operation a microsecond, from zero on. Times are microseconds.
class Program {
 public:
  Program() {
    static const Workload kBytes{.about = {.id = "bytes", .type = ElementType::i8}};
    recording_.job = {.workload = &kBytes};
    timeline_.kernels = {"step"};
  }

  Span& kernel(int stream, double start, double end, double fill = 0.1) {
    Span& span = work({.kind = OperationKind::side_kernel}, stream, start, end);
    span.fill = fill;
    span.kernel = 0;
    return span;
  }
  Span& copy(OperationKind kind, std::int64_t bytes, int stream, double start, double end) {
    return work({.kind = kind, .chunk = {.items = bytes}}, stream, start, end);
  }
  Program& lacks_orders() {
    timeline_.lacks_orders = true;
    return *this;
  }
  Program& loads(double start, double end) {
    timeline_.loads.push_back({kMicro * start, kMicro * end});
    return *this;
  }

  /// The latest copy is of pageable memory, and the host in its call for so long.
  Program& holds_host(double start, double end) {
    recording_.job.memory = HostMemory::pageable;
    timeline_.issued.back() = {kMicro * start, kMicro * end};
    return *this;
  }

  /// The seconds of a cause; 0 where it is not named.
  double seconds(Cause cause) {
    timeline_.recording = &recording_;
    const std::vector<Diagnosis> found = diagnose(timeline_, analyse(timeline_));
    const auto at = std::ranges::find(found, cause, &Diagnosis::cause);
    return at == found.end() ? 0 : at->seconds / kMicro;
  }

 private:
  Span& work(Operation operation, int stream, double start, double end) {
    operation.stream = {stream == 0 ? StreamKind::legacy_default : StreamKind::blocking, stream};
    const double issued = kMicro * static_cast<double>(recording_.operations.size());
    timeline_.issued.push_back({issued, issued + 0.5 * kMicro});
    timeline_.spans.push_back({.operation = recording_.operations.size(), .when = {kMicro * start, kMicro * end}});
    recording_.operations.push_back(operation);
    return timeline_.spans.back();
  }

  Recording recording_;
  Timeline timeline_;
};

/// Kernels of two streams, one after another.
Program by_turns(bool allocates, double fill, bool in_graph = false) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    Span& span = program.kernel(1 + i % 2, 10 + 103 * i, 110 + 103 * i, fill);
    span.allocated = allocates;
    span.in_graph = in_graph;
  }
  return program;
}

TEST(Contention, BlamesThePoolForKernelsOneAfterAnother) {
  EXPECT_NEAR(by_turns(true, 0.1).seconds(Cause::reused_memory), 300, 1) << "two streams gain half at most";
  EXPECT_EQ(by_turns(false, 0.1).seconds(Cause::reused_memory), 0);
  EXPECT_EQ(by_turns(true, 0.1).lacks_orders().seconds(Cause::reused_memory), 0);
  EXPECT_EQ(by_turns(true, 0.7).seconds(Cause::reused_memory), 0) << "there was no room for two";
  EXPECT_NEAR(by_turns(false, 0.1).seconds(Cause::unrecorded_order), 300, 1) << "it says that it does not know";
  EXPECT_EQ(by_turns(false, 0).seconds(Cause::unrecorded_order), 0) << "the blocks are not known";
  EXPECT_EQ(by_turns(false, 0.7).seconds(Cause::unrecorded_order), 0) << "there was no room for two";
  EXPECT_EQ(by_turns(false, 0.1, true).seconds(Cause::unrecorded_order), 0) << "edges of graphs are not recorded";
}

TEST(Contention, BlamesTheDefaultStream) {
  const auto program = [](int second) {
    Program kernels;
    for (int i = 0; i < 4; ++i) {
      kernels.kernel(1 + i, 10 + 120 * i, 110 + 120 * i);
      kernels.kernel(second, 112 + 120 * i, 127 + 120 * i);
    }
    return kernels;
  };
  EXPECT_GT(program(0).seconds(Cause::default_stream), 300);
  EXPECT_EQ(program(9).seconds(Cause::default_stream), 0);
}

TEST(Contention, BlamesAKernelThatFillsTheDeviceForFewBlocksThatWait) {
  const auto program = [](double few, double start) {
    Program kernels;
    kernels.kernel(1, 10, 510, 20);
    kernels.kernel(2, start, start + 100, few);  // and one behind it in its stream, which waits with it
    kernels.kernel(2, start + 101, start + 301, few);
    return kernels;
  };
  EXPECT_NEAR(program(0.05, 505).seconds(Cause::full_device), 295, 3);
  EXPECT_EQ(program(0.9, 505).seconds(Cause::full_device), 0);
  EXPECT_EQ(program(0.05, 12).seconds(Cause::full_device), 0) << "it did not wait";
  EXPECT_EQ(program(0, 505).seconds(Cause::full_device), 0) << "its blocks are not known";
  EXPECT_EQ(program(0.05, 505).lacks_orders().seconds(Cause::full_device), 0);
}

TEST(Contention, LosesADelayOnce) {
  Program kernels;
  kernels.kernel(0, 10, 1010);
  for (int i = 0; i < 100; ++i) kernels.kernel(1, 1011 + 501 * i, 1511 + 501 * i);
  kernels.kernel(2, 60000, 62000);
  EXPECT_EQ(kernels.seconds(Cause::default_stream), 0) << "1 ms of 62 does not stand out";
}

TEST(Contention, NamesKernelsThatAreSlowerBesideOthersIfOneRanAlone) {
  const auto program = [](double beside, bool alone) {
    Program kernels;
    for (int i = 0; alone && i < 2; ++i) kernels.kernel(1, 10 + 110 * i, 110 + 110 * i);
    for (int i = 1; i <= 3; ++i) {
      for (int stream = 1; stream <= 2; ++stream) kernels.kernel(stream, 300 * i, 300 * i + beside);
    }
    return kernels;
  };
  EXPECT_NEAR(program(200, true).seconds(Cause::slower_kernels), 300, 1);
  EXPECT_EQ(program(110, true).seconds(Cause::slower_kernels), 0);
  EXPECT_EQ(program(200, false).seconds(Cause::slower_kernels), 0);

  Program many;  // 8 at a time, each a third slower
  for (int i = 0; i < 2; ++i) many.kernel(1, 10 + 110 * i, 110 + 110 * i);
  for (int stream = 1; stream <= 8; ++stream) {
    for (int i = 1; i <= 2; ++i) many.kernel(stream, 300 * i, 300 * i + 133);
  }
  EXPECT_EQ(many.seconds(Cause::slower_kernels), 0) << "they gain six times as much";
}

TEST(Contention, NamesCopiesThatAreSlowerBesideCopiesTheOtherWayIfOneRanAlone) {
  const auto program = [](double beside, bool alone) {
    Program copies;
    for (int i = 0; alone && i < 2; ++i) copies.copy(OperationKind::copy_in, 1 << 20, 1, 10 + 30 * i, 30 + 30 * i);
    for (int i = 2; i <= 4; ++i) {
      copies.copy(OperationKind::copy_in, 1 << 20, 1, 40 * i, 40 * i + beside);
      copies.copy(OperationKind::copy_out, 1 << 20, 2, 40 * i, 40 * i + beside);
    }
    return copies;
  };
  EXPECT_NEAR(program(30, true).seconds(Cause::slower_copies), 30, 1);
  EXPECT_EQ(program(20, true).seconds(Cause::slower_copies), 0);
  EXPECT_EQ(program(30, false).seconds(Cause::slower_copies), 0);
}

TEST(Diagnosis, BlamesTheLoadsOfKernelsForTheGapsInWhichTheyHappen) {
  const auto program = [] {
    Program kernels;
    for (int i = 0; i < 4; ++i) kernels.kernel(1, 100 + 50 * i, 110 + 50 * i);
    return kernels;
  };
  EXPECT_NEAR(program().loads(0, 90).loads(115, 135).seconds(Cause::lazy_loading), 110, 1);
  EXPECT_EQ(program().seconds(Cause::lazy_loading), 0);
}

TEST(Diagnosis, BlamesNoCopyForTheWorkThatItWaitsFor) {
  const auto program = [](double ready) {
    Program kernels;
    kernels.kernel(1, 10, ready);
    kernels.copy(OperationKind::copy_out, 4, 1, ready + 1, 1000);
    return kernels.holds_host(2, 1000);
  };
  EXPECT_EQ(program(990).seconds(Cause::pageable_memory), 0) << "the host was in the call for 1000 us";
  EXPECT_NEAR(program(400).seconds(Cause::pageable_memory), 600, 1);
}

TEST(Diagnosis, AsksForNoChunksOfCopiesAlone) {
  const auto program = [](bool computes) {
    Program copies;
    if (computes) copies.kernel(1, 600, 620);
    copies.copy(OperationKind::copy_in, 1 << 20, 1, 10, 600);
    copies.copy(OperationKind::copy_out, 1 << 20, 1, 620, 1220);
    return copies;
  };
  EXPECT_GT(program(true).seconds(Cause::few_chunks), 500);
  EXPECT_EQ(program(false).seconds(Cause::few_chunks), 0);
}

TEST(Diagnosis, BlamesWorkOutsideOfGraphs) {
  const auto program = [](bool first, bool second) {
    Program kernels;
    for (int i = 0; i < 8; ++i) kernels.kernel(1, 50 * (i + 1), 50 * i + 80).in_graph = i % 2 == 0 ? first : second;
    return kernels;
  };
  EXPECT_NEAR(program(true, false).seconds(Cause::outside_graph), 140, 1);
  EXPECT_EQ(program(true, true).seconds(Cause::outside_graph), 0);
  EXPECT_EQ(program(false, false).seconds(Cause::outside_graph), 0);
  Program once;
  once.kernel(1, 10, 40).in_graph = true;
  once.kernel(1, 90, 120);
  EXPECT_EQ(once.seconds(Cause::outside_graph), 0) << "nothing is replayed";
  EXPECT_GT(once.seconds(Cause::small_work), 0);
}

TEST(Diagnosis, BlamesFunctionsOfTheHostInAStream) {
  const auto program = [](bool behind) {
    Program kernels;
    for (int i = 0; i < 4; ++i) kernels.kernel(1, 10 + 60 * i, 40 + 60 * i).behind_host_function = behind;
    return kernels;
  };
  EXPECT_NEAR(program(true).seconds(Cause::host_functions), 90, 1);
  EXPECT_EQ(program(false).seconds(Cause::host_functions), 0);
}

TEST(Diagnosis, TellsSmallCopiesFromOtherSmallWork) {
  const auto program = [](std::int64_t bytes) {
    Program copies;
    for (int i = 0; i < 40; ++i) copies.copy(OperationKind::copy_in, bytes, 1, 4 + 4 * i, 5 + 4 * i);
    return copies;
  };
  EXPECT_GT(program(512).seconds(Cause::small_copies), 100);
  EXPECT_EQ(program(1 << 20).seconds(Cause::small_copies), 0);
  EXPECT_GT(program(1 << 20).seconds(Cause::small_work), 100);
}

}  // namespace
}  // namespace scanlab::streams
