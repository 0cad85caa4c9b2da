// A file that grows while an experiment runs, and of which one knows at any time how much a power cut would leave.
// An interface, so that tests can put a full, a slow or a forgetful disk in the place of a real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

class DurableFile {
  public:
    virtual ~DurableFile() = default;

    // Puts `bytes` at `place`, which is not before the end of the last write that succeeded; what is left out between
    // reads as zeros. They survive the end of this program when it returns, and a power cut from the next sync() on.
    // Throws Error{output}; the file may then hold some of them, and still takes further writes.
    virtual void write(std::int64_t place, std::span<const std::byte> bytes) = 0;

    // Asks for room up to `end` without making the file longer. False: that would leave less free than it takes, or
    // room cannot be asked for.
    virtual bool reserve(std::int64_t end) = 0;

    // All that was written is on the disk. Throws Error{output}.
    virtual void sync() = 0;

    // Makes the file `size` bytes long, and gives room beyond that back. Throws Error{output}.
    virtual void end_at(std::int64_t size) = 0;
};

}  // namespace echolux
