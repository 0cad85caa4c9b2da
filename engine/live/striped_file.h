// One file in stripes on several disks, which all write at once: each has a thread. To its writer it is one file: a
// write returns when every disk has its part.
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

class StripedFile final : public DurableFile {
  public:
    // New and empty files, two or more.
    StripedFile(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);
    ~StripedFile() override;
    StripedFile(const StripedFile&) = delete;
    StripedFile& operator=(const StripedFile&) = delete;

    // Every part is as long then as if nothing had been left out before.
    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

  private:
    struct Part {
        std::unique_ptr<DurableFile> file;
        std::int64_t end = 0;  // of the last write that succeeded
        std::exception_ptr problem = {};
    };

    void each(std::function<void(std::size_t part)> work);
    void work_on(std::size_t part) noexcept;
    void write_part(std::size_t part, std::int64_t place, std::span<const std::byte> bytes);

    Striping striping_;
    std::vector<Part> parts_;
    std::function<void(std::size_t)> work_;  // nothing: the threads end
    std::barrier<> turn_;                    // of all threads and the writer: work_ is there, work_ is done
    std::vector<std::jthread> threads_;      // of all parts but the first
};

// Of several files a striped one; where there is one, that itself.
std::unique_ptr<DurableFile> as_one(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);

}  // namespace echolux
