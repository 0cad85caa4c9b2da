#include "engine/acquire/shared_ring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t max_slot_bytes = std::uint64_t{1} << 40;  // prevents overflow in all products

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
    throw Error(ErrorCode::device, problem, where, "see docs/push.md");
}

}  // namespace

// Copies the header once, because the producer could change it after the checks.
RingView::RingView(std::span<const std::byte> memory, const std::string& where) : memory_(memory.data()) {
    if (memory.size() < sizeof(echolux_push_header)) refuse(where, "is too short for a ring of blocks");
    echolux_push_header header;
    std::memcpy(&header, memory.data(), sizeof header);
    if (std::memcmp(header.magic, ECHOLUX_PUSH_MAGIC, sizeof header.magic) != 0)
        refuse(where, "is not a ring of blocks");
    if (header.version != ECHOLUX_PUSH_VERSION) {
        refuse(where, fmt::format("is a ring of version {}, this program reads version {}", header.version,
                                  ECHOLUX_PUSH_VERSION));
    }
    const auto slots = static_cast<std::uint64_t>(header.stream.slots);
    const bool has_sizes = header.header_bytes == page && header.stream.struct_size == sizeof header.stream &&
                           slots >= 2 && slots <= ECHOLUX_PUSH_MAX_SLOTS && header.slots_at == page &&
                           header.data_at == page + echolux_push_pages(slots * sizeof(echolux_push_slot)) &&
                           header.slot_bytes >= page && header.slot_bytes % page == 0 &&
                           header.slot_bytes <= max_slot_bytes;
    if (!has_sizes) refuse(where, "has sizes that no ring of blocks has");
    if (header.total_bytes != header.data_at + slots * header.slot_bytes || header.total_bytes != memory.size()) {
        refuse(where, fmt::format("has {}, {} would have {}", counted(memory.size(), "bytes"), counted(slots, "blocks"),
                                  header.data_at + slots * header.slot_bytes));
    }
    stream_ = header.stream;
    slots_ = slots;
    slot_bytes_ = header.slot_bytes;
    data_at_ = header.data_at;
    generation_ = header.generation;
    pid_ = header.pid;
}

std::uint64_t RingView::published() const {
    const auto* header = reinterpret_cast<const echolux_push_header*>(memory_);
    return __atomic_load_n(&header->published, __ATOMIC_ACQUIRE);
}

bool RingView::has_ended() const {
    const auto* header = reinterpret_cast<const echolux_push_header*>(memory_);
    return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == ECHOLUX_PUSH_ENDED;
}

int RingView::take(std::uint64_t sequence, echolux_push_block& block, std::span<std::byte> to) const {
    const auto* slots = reinterpret_cast<const echolux_push_slot*>(memory_ + page);
    const std::byte* data = memory_ + data_at_ + sequence % slots_ * slot_bytes_;
    const std::uint64_t room = std::min<std::uint64_t>(to.size(), slot_bytes_);
    return echolux_push_take(slots + sequence % slots_, data, sequence, &block, to.data(), room);
}

// Opens without following links and without blocking, because other users can create files in /dev/shm.
SharedRing::SharedRing(const std::string& name) : path_(ECHOLUX_PUSH_PREFIX + name) {
    const std::string where = "shm:" + name;
    if (echolux_push_is_name(name.c_str()) == 0) {
        throw Error(ErrorCode::bad_setting, "is not a name of a ring", where,
                    "expected letters, digits, \".\", \"_\" or \"-\"");
    }
    const auto absent = [&](const std::string& problem) {
        return Error(ErrorCode::device, problem, where, "start the acquisition program");
    };
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor_ < 0) {
        if (errno == ENOENT) throw absent("no program pushes spectra under this name");
        throw absent(fmt::format("cannot open {}: {}", path_, std::strerror(errno)));
    }
    try {
        struct stat found {};
        if (fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode)) refuse(where, "is not shared memory");
        if (!is_produced()) throw absent("its producer is gone");
        const auto bytes = static_cast<std::size_t>(found.st_size);
        if (bytes < sizeof(echolux_push_header)) throw absent("is not ready yet");
        void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
        if (memory == MAP_FAILED) refuse(where, fmt::format("cannot be mapped: {}", std::strerror(errno)));
        memory_ = {static_cast<const std::byte*>(memory), bytes};
        const auto* header = static_cast<const echolux_push_header*>(memory);
        if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == ECHOLUX_PUSH_MAKING) throw absent("is not ready yet");
        view_ = std::make_unique<RingView>(memory_, where);
    } catch (...) {
        if (!memory_.empty()) munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
        close(descriptor_);
        throw;
    }
}

SharedRing::~SharedRing() {
    munmap(const_cast<std::byte*>(memory_.data()), memory_.size());
    close(descriptor_);
}

bool SharedRing::is_produced() const {
    return echolux_push_is_produced(descriptor_) == 1;
}

bool SharedRing::is_current() const {
    return echolux_push_is_current(path_.c_str(), descriptor_) != 0;
}

std::vector<std::string> shared_rings() {
    const std::filesystem::path prefix = ECHOLUX_PUSH_PREFIX;
    std::vector<std::string> names;
    std::error_code problem;
    for (std::filesystem::directory_iterator at(prefix.parent_path(), problem), end; !problem && at != end;
         at.increment(problem)) {
        const std::string file = at->path().filename().string();
        const std::string start = prefix.filename().string();
        if (!file.starts_with(start) || echolux_push_is_name(file.c_str() + start.size()) == 0) continue;
        const int descriptor = open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (descriptor < 0) continue;
        if (echolux_push_is_produced(descriptor) == 1) names.push_back(file.substr(start.size()));
        close(descriptor);
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace echolux
