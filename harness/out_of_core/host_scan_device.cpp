// A ScanDevice without a device: a scan of the registry that runs on the host. Every operation is done when it returns.
#include <cstring>

#include "harness/core/operators.hpp"
#include "harness/out_of_core/carried_scan.hpp"
#include "harness/out_of_core/out_of_core_scan.hpp"

namespace scanlab::out_of_core {

namespace {

class HostScanDevice final : public ScanDevice {
 public:
  HostScanDevice(const ChunkedScan& asked, const Recording& recording)
      : problem_(asked.problem),
        item_bytes_(asked.item_bytes()),
        longest_items_(recording.buffer_items),
        buffer_bytes_(static_cast<std::size_t>(longest_items_) * item_bytes_),
        buffers_(pageable_memory(2 * static_cast<std::size_t>(recording.buffers) * buffer_bytes_)),
        carries_(pageable_memory((static_cast<std::size_t>(recording.job.chunks) + 1) * item_bytes_)) {
    std::memcpy(carry(0), asked.first_carry().data(), item_bytes_);
    if (recording.job.items > 0) longest_ = asked.bind(longest_items_);
    if (longest_items_ > 1) shorter_ = asked.bind(longest_items_ - 1);
  }

  void copy_in(const Chunk& chunk, Stream, const void* from) override { std::memcpy(input(chunk), from, bytes(chunk)); }
  void scan(const Chunk& chunk, Stream) override {
    with_monoid(problem_.type, problem_.op, [&]<class Op>(Op) {
      using Item = typename Op::Item;
      auto* const in = reinterpret_cast<Item*>(input(chunk));
      auto* const out = reinterpret_cast<Item*>(output(chunk));
      const Item before = *reinterpret_cast<Item*>(carry(chunk.index));
      fold_carry<Op>(before, in);
      (chunk.items == longest_items_ ? longest_ : shorter_).host({.in = in, .out = out});
      *reinterpret_cast<Item*>(carry(chunk.index + 1)) = leave_carry<Op>(problem_.mode, before, in, out, chunk.items);
    });
  }
  void copy_out(const Chunk& chunk, Stream, void* to) override { std::memcpy(to, output(chunk), bytes(chunk)); }
  std::span<const std::byte> carry_after(const Chunk& chunk) const override {
    return {carry(chunk.index + 1), item_bytes_};
  }

 private:
  std::byte* input(const Chunk& chunk) const {
    return buffers_.get() + 2 * static_cast<std::size_t>(chunk.buffer) * buffer_bytes_;
  }
  std::byte* output(const Chunk& chunk) const { return input(chunk) + buffer_bytes_; }
  std::byte* carry(int cell) const { return carries_.get() + static_cast<std::size_t>(cell) * item_bytes_; }
  std::size_t bytes(const Chunk& chunk) const { return static_cast<std::size_t>(chunk.items) * item_bytes_; }

  Problem problem_;
  std::size_t item_bytes_;
  std::int64_t longest_items_;
  std::size_t buffer_bytes_;
  HostArray buffers_;  ///< an input and an output, by turns
  HostArray carries_;
  BoundScan longest_, shorter_;
};

class NoScanDevice final : public ScanDevice {
 public:
  explicit NoScanDevice(const ChunkedScan& asked) : carry_(asked.first_carry()) {}

  void copy_in(const Chunk&, Stream, const void*) override {}
  void scan(const Chunk&, Stream) override {}
  void copy_out(const Chunk&, Stream, void*) override {}
  std::span<const std::byte> carry_after(const Chunk&) const override { return carry_; }

 private:
  std::vector<std::byte> carry_;
};

}  // namespace

std::unique_ptr<ScanDevice> no_scan_device(const ChunkedScan& asked) { return std::make_unique<NoScanDevice>(asked); }

std::unique_ptr<ScanDevice> host_scan_device(const ChunkedScan& asked, const Recording& recording) {
  return std::make_unique<HostScanDevice>(asked, recording);
}

}  // namespace scanlab::out_of_core
