// The sources of the experiments, page by page.
#pragma once

#include <vector>

#include "harness/implicit_sync/experiment.hpp"

/// Code of a trial: none in a build without CUDA, which lists the statements alone.
#ifdef SCANLAB_WITH_CUDA
#define SCANLAB_TRIAL(...) __VA_ARGS__
#else
#define SCANLAB_TRIAL(...) nullptr
#endif

namespace scanlab::implicit_sync {

/// Calls that are issued while a kernel spins: for each, NAME.host and NAME.streams; the controls first.
std::vector<Experiment> call_experiments();

inline constexpr auto kNo = Expected::no;
inline constexpr auto kYes = Expected::yes;
inline constexpr auto kSilent = Expected::nothing;

using Sources = std::vector<Source>;
inline const Sources kNobody;
inline const char* const kMe759 = "ME759, University of Wisconsin-Madison, lecture of 16 October 2013";
inline const Sources kMe759Asynchronous{{kMe759, "Asynchronous Concurrent Execution"}};
inline const Sources kMe759Transfers{{kMe759, "Host-Device Data Transfer Issues"}};
inline const Sources kMe759Overview{{kMe759, "CUDA Streams: Overview"}};
inline const Sources kMe759CleanUp{{kMe759, "CUDA Streams: Clean Up Phase"}};
inline const Sources kMe759Caveats{{kMe759, "CUDA Streams: Caveats"}};
inline const Sources kMe759Synchronization{{kMe759, "CUDA Streams: Synchronization Aspects"}};
inline const Sources kDli{{"NVIDIA DLI course C-AC-04", "Considerations for Copy/Compute Overlap"}};
inline const char* const kRussian = "CUDA course in Russian, part 7 (cudaStream)";
inline const Sources kRussianStreams{{kRussian, "cudaStream"}};
inline const Sources kRussianControl{{kRussian, "When control returns to the host thread"}};
inline const Sources kRussianQueue{{kRussian, "The only hardware queue"}};
inline const Sources kRussianCopies{{kRussian, "Copying and a kernel"}};
inline const Sources kRussianOneEngine{{kRussian, "No concurrent copies"}};
inline const char* const kMarkidis = "S. Markidis, Optimizing Host-Device Data Communication III";
inline const Sources kMarkidisHyperQ{{kMarkidis, "Hyper-Q"}};
inline const Sources kMarkidisEngines{{kMarkidis, "Which version performs better?"}};
inline const char* const kTutorial = "CUDA Programming Series, tutorial 08, Streams & Async Execution";
inline const Sources kTutorialDefault{{kTutorial, "The Default Stream Trap"}};
inline const Sources kTutorialStreams{{kTutorial, "CUDA Streams"}};
inline const Sources kTutorialEvents{{kTutorial, "CUDA Events"}};
inline const Sources kTutorialNull{{kTutorial, "The Null Stream"}};

inline Sources operator+(Sources all, const Sources& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace scanlab::implicit_sync
