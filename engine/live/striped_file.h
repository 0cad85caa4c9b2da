// One file in stripes on several disks that write in parallel, with one thread per disk. It behaves as a single file: a
// write returns when every disk has written its part.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/io/durable_file.h"
#include "engine/scan/striping.h"

namespace echolux {

// Use from one thread.
class StripedFile final : public DurableFile {
  public:
    // `files` are two or more new, empty files.
    StripedFile(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);
    ~StripedFile() override;
    StripedFile(const StripedFile&) = delete;
    StripedFile& operator=(const StripedFile&) = delete;

    // Every part is extended as if no earlier write had been left out.
    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    // The functions of DurableFile, applied to every part.
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

  private:
    struct Part {
        std::unique_ptr<DurableFile> file;
        std::int64_t end = 0;  // end of the last successful write
        std::exception_ptr problem = {};
    };

    void each(std::function<void(std::size_t part)> work);
    void work_on(std::size_t part) noexcept;
    void write_part(std::size_t part, std::int64_t place, std::span<const std::byte> bytes);

    Striping striping_;
    std::vector<Part> parts_;
    std::function<void(std::size_t)> work_;  // empty: the threads end
    std::barrier<> turn_;                    // for all threads and the writer: work_ is set, work_ is done
    std::vector<std::jthread> threads_;      // for all parts except the first
};

// Returns a single file unchanged, or several files as a striped one.
std::unique_ptr<DurableFile> as_one(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);

}  // namespace echolux
