// mpi_exscan: hosts scan their blocks, and MPI tells each what comes before its own.
//
// Idea    As reduce_exchange_scan, in the hosts' memory: MPI_Exscan is just the fold of the aggregates before a rank.
// Work    3 n, and the fold.
// Traffic 3 n. Log2 of the number of ranks items each over the network.
// Bits    Fixed by n and the number of ranks, if MPI folds in a fixed order, as Open MPI does.
// Source  MPI: A Message-Passing Interface Standard, MPI_Exscan; Blelloch 1990 for the three steps.
#include "harness/distributed/algorithm.hpp"
#ifdef SCANLAB_WITH_MPI
#include <mpi.h>

#include <stdexcept>

namespace scanlab::distributed {
namespace {

struct MpiExscan {
  template <class Op>
  static constexpr bool kTakes = true;

  static Description describe() {
    Description about;
    about.id = "mpi_exscan";
    about.title = "Hosts' blocks, and MPI_Exscan";
    about.source = "MPI standard; Blelloch 1990";
    about.family = "hosts";
    about.limits = "any n; ranks that are processes of mpirun";
    about.cost = {.work = "about 3n", .span = "n / ranks", .traffic = "3n"};
    return about;
  }

  static Plan plan(const Problem& problem, int ranks) {
    if (!is_mpi_process())
      return Plan::refuse("mpi_exscan needs ranks that are processes: start them by mpirun -n 4 scanlab distributed …");
    Plan plan = Plan::of_blocks(problem, ranks);
    plan.chain = 2 * plan.distribution.chunk + ranks;
    return plan;
  }

  template <class Op>
  class Rank {
   public:
    using Item = typename Op::Item;

    Rank(const Problem& problem, const Plan& plan, int rank)
        : held_(plan.distribution.held(rank)), first_(rank == 0), mode_(problem.mode) {
      MPI_Type_contiguous(sizeof(Item), MPI_BYTE, &type_);
      MPI_Type_commit(&type_);
      MPI_Op_create(&fold, Op::kCommutative ? 1 : 0, &operation_);
    }
    ~Rank() {
      MPI_Op_free(&operation_);
      MPI_Type_free(&type_);
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    void run(const Item* in, Item* out, StreamHandle) {
      Item aggregate = Op::identity();
      for (std::int64_t i = 0; i < held_; ++i) aggregate = Op{}(aggregate, in[i]);
      Item running = Op::identity();
      if (MPI_Exscan(&aggregate, &running, 1, type_, operation_, MPI_COMM_WORLD) != MPI_SUCCESS) {
        throw std::runtime_error("MPI_Exscan has failed");
      }
      if (first_) running = Op::identity();  // MPI leaves it undefined
      for (std::int64_t i = 0; i < held_; ++i) {
        const Item next = Op{}(running, in[i]);
        out[i] = mode_ == Mode::exclusive ? running : next;
        running = next;
      }
    }

   private:
    /// MPI's form: `right` becomes left ∘ right.
    static void fold(void* left, void* right, int* count, MPI_Datatype*) {
      const auto* const lefts = static_cast<const Item*>(left);
      auto* const rights = static_cast<Item*>(right);
      for (int i = 0; i < *count; ++i) rights[i] = Op{}(lefts[i], rights[i]);
    }

    std::int64_t held_;
    bool first_;
    Mode mode_;
    MPI_Datatype type_{};
    MPI_Op operation_{};
  };
};

const AlgorithmRegistration kMpiExscan{algorithm<MpiExscan>(false)};

}  // namespace
}  // namespace scanlab::distributed
#endif
