#include "engine/reader/serve.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <span>

#include "compute/counted.h"
#include "engine/reader/cage.h"

namespace echolux {
namespace {

// The shared memory, mapped up to the largest size requested.
class SharedMemory {
  public:
    std::span<std::byte> at(std::int64_t place, std::int64_t bytes) {
        const auto wanted = static_cast<std::size_t>(place + bytes);
        if (wanted > bytes_) {
            void* begin = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, reader_memory, 0);
            if (begin == MAP_FAILED) throw std::bad_alloc();
            if (begin_ != nullptr) munmap(begin_, bytes_);
            begin_ = static_cast<std::byte*>(begin);
            bytes_ = wanted;
        }
        return {begin_ + place, static_cast<std::size_t>(bytes)};
    }

  private:
    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

// Builds the answer to an open request: capabilities and headers of all levels.
Frame header_frame(const ImageReader& reader) {
    const std::vector<ImageHeader> levels = reader.levels();
    Frame frame(Says::header);
    frame.add(static_cast<std::int64_t>(reader.reads_boxes())).add(reader.slices_together()).add(std::ssize(levels));
    for (const ImageHeader& level : levels) frame.add(level);
    return frame;
}

// Reads the requested voxels into the shared memory.
Frame answer_to(const ReadOrder& order, ImageReader& reader, SharedMemory& memory, const std::string& where) {
    const std::vector<std::byte> voxels =
        order.level < 0 ? reader.read(order.time_point, order.box.slices)
                        : reader.read_box(order.time_point, static_cast<std::size_t>(order.level), order.box);
    if (std::ssize(voxels) != order.bytes) {
        throw Error(ErrorCode::bad_file, fmt::format("gave {} of {}", counted(voxels.size(), "bytes"), order.bytes),
                    where, "copy the file again");
    }
    std::memcpy(memory.at(order.place, order.bytes).data(), voxels.data(), voxels.size());
    return Frame(Says::done);
}

// Converts exceptions to error frames. An alarm ends answers that hang, even if the program is gone. A compromised
// process could cancel the alarm, but not the sandbox's limit of processor time.
Frame answered(const OpenOrder& opened, std::int64_t bytes, const std::function<Frame()>& work) {
    alarm(static_cast<unsigned>(opened.longest_s +
                                static_cast<std::int64_t>(static_cast<double>(bytes) / slowest_reading)));
    Frame answer(Says::done);
    try {
        answer = work();
    } catch (const Error& error) {
        answer = frame_of(error);
    } catch (const std::bad_alloc&) {
        answer =
            frame_of(Error(ErrorCode::bad_file,
                           fmt::format("needs more than {} MiB of memory to be read: it is damaged, or made to do harm",
                                       opened.max_bytes >> 20),
                           opened.path, "copy the file again"));
    } catch (const std::exception& error) {
        answer = frame_of(Error(ErrorCode::bad_file, std::string("cannot be read: ") + error.what(), opened.path,
                                "copy the file again"));
    }
    alarm(0);
    return answer;
}

}  // namespace

int serve_reader(const OpenReader& open) {
    const std::optional<std::string> first = receive_frame(reader_socket);
    if (!first) return 1;
    FrameReader order(*first);
    OpenOrder opened = OpenOrder::of(order);
    const std::int64_t first_work_s = opened.longest_s + opened.max_bytes / static_cast<std::int64_t>(slowest_reading);
    const std::string missing = enter_cage(opened.max_bytes, longest_work_s + 2 * first_work_s);
    if (!missing.empty()) {
        send_frame(reader_socket, frame_of(Error(ErrorCode::device, "cannot be read safely: " + missing, opened.path,
                                                 "read it on a system whose kernel has seccomp")));
        return 1;
    }
    std::unique_ptr<ImageReader> reader;
    const auto open_it = [&] {
        return answered(opened, 0, [&] {
            reader.reset();
            reader = open(opened);
            return header_frame(*reader);
        });
    };
    bool listens = send_frame(reader_socket, open_it());
    SharedMemory memory;
    while (listens) {
        const std::optional<std::string> asked = receive_frame(reader_socket);
        if (!asked) return 0;
        FrameReader frame(*asked);
        if (frame.what() == Says::open) {
            opened = OpenOrder::of(frame);
            listens = send_frame(reader_socket, open_it());
            continue;
        }
        if (!reader) return 0;
        const ReadOrder wanted = ReadOrder::of(frame);
        listens = send_frame(reader_socket, answered(opened, wanted.bytes,
                                                     [&] { return answer_to(wanted, *reader, memory, opened.path); }));
    }
    return 0;
}

}  // namespace echolux
