#include "engine/acquire/shared_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/acquire/source.h"
#include "engine/acquire/stream.h"

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
        refuse(where, fmt::format("is a version {} ring, this program reads version {}", header.version,
                                  ECHOLUX_PUSH_VERSION));
    }
    const auto slots = static_cast<std::uint64_t>(header.stream.slots);
    const bool has_sizes = header.header_bytes == page && header.stream.struct_size == sizeof header.stream &&
                           slots >= 2 && slots <= ECHOLUX_PUSH_MAX_SLOTS && header.slots_at == page &&
                           header.data_at == page + echolux_push_pages(slots * sizeof(echolux_push_slot)) &&
                           header.slot_bytes >= page && header.slot_bytes % page == 0 &&
                           header.slot_bytes <= max_slot_bytes;
    if (!has_sizes) refuse(where, "has sizes that are impossible for a ring of blocks");
    if (header.total_bytes != header.data_at + slots * header.slot_bytes || header.total_bytes != memory.size()) {
        refuse(where, fmt::format("has {}, {} would have {}", plural(memory.size(), "bytes"), plural(slots, "blocks"),
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
        throw Error(ErrorCode::bad_setting, "is not a valid ring name", where,
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
        if (!is_produced()) throw absent("its producer has exited");
        const auto bytes = index(found.st_size);
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

// ---- Spectra from another program in shared memory (plugins/echolux_push.h). Blocks are copied out of the ring
// immediately: the producer never waits, so blocks that are displayed or recorded later would be overwritten in the
// ring. A block that was overwritten during the copy counts as lost.

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto block_poll_interval = 300us;  // the ring has no wake-up mechanism
constexpr auto producer_poll_interval = 50ms;
constexpr auto producer_check_interval = 20ms;  // whether the producer still runs

class SharedSource : public Source {
  public:
    SharedSource(const SourceRequest& wanted, const std::string& name, std::unique_ptr<SharedRing> ring)
        : name_(name), where_("shm:" + name), ring_(std::move(ring)), stream_(wanted, ring_->view().stream(), where_) {
        require_room();
    }

    const Scan& scan() const override { return stream_.scan(); }
    std::int64_t block_b_scans() const override { return stream_.block_b_scans(); }
    std::int64_t pool_blocks() const override { return stream_.pool_blocks(); }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override {
        const std::string instrument = name_of(stream_.stream());
        return where_ + (instrument.empty() ? "" : " (" + instrument + ")");
    }

    void start() override {
        is_running_ = false;
        if (!ring_ || !ring_->is_current() || !ring_->is_produced()) {
            ring_.reset();
            ring_ = std::make_unique<SharedRing>(name_);
            stream_.require_alike(ring_->view().stream());
            require_room();
        }
        next_ = ring_->view().published();
        stream_.begin();
        is_running_ = true;
    }

    void stop() noexcept override { is_running_ = false; }

    Arrival next(std::chrono::milliseconds timeout) override {
        if (!is_running_) throw Error(ErrorCode::device, "is not started", where_);
        const auto until = steady_clock::now() + timeout;
        auto look_at_producer = steady_clock::now();
        for (;;) {
            const bool looks = steady_clock::now() >= look_at_producer;
            const bool has_ended = looks && ring_->view().has_ended();
            const bool is_disconnected = looks && !ring_->is_produced();
            if (std::optional<Block> block = taken()) return {Arrival::Kind::block, std::move(*block)};
            // Check the ring's end before its block count, so that all published blocks are delivered.
            if (has_ended && next_ >= ring_->view().published()) return ended();
            if (is_disconnected && next_ >= ring_->view().published()) fail_disconnected();
            const auto now = steady_clock::now();
            if (looks) look_at_producer = now + producer_check_interval;
            if (now >= until) return {};
            std::this_thread::sleep_for(std::min<steady_clock::duration>(block_poll_interval, until - now));
        }
    }

  private:
    // Checks the slot size that the producer claims.
    void require_room() const {
        if (static_cast<std::uint64_t>(stream_.block_bytes()) <= ring_->view().slot_bytes()) return;
        throw Error(ErrorCode::device,
                    fmt::format("has room for {} per block, which has {}", plural(ring_->view().slot_bytes(), "bytes"),
                                stream_.block_bytes()),
                    where_, "see docs/push.md");
    }

    Arrival ended() {
        is_running_ = false;
        return {Arrival::Kind::ended, {}};
    }

    [[noreturn]] void fail_disconnected() {
        is_running_ = false;
        throw Error(ErrorCode::device, fmt::format("its producer (process {}) has exited", ring_->view().pid()), where_,
                    "restart it: the session then continues");
    }

    // Returns std::nullopt if there is no block. Without free memory the block stays in the ring.
    std::optional<Block> taken() {
        const RingView& ring = ring_->view();
        for (;;) {
            const std::uint64_t published = ring.published();
            if (next_ >= published) return std::nullopt;
            // The oldest slot may be in the process of being overwritten. Skip a few more, or the next copy would be
            // overtaken too.
            if (published - next_ >= ring.slots()) next_ = published - ring.slots() + 1 + ring.slots() / 4;
            std::optional<BlockMemory> memory = stream_.room();
            if (!memory) return std::nullopt;
            echolux_push_block sent;
            const std::span<std::byte> room(memory->data, index(stream_.block_bytes()));
            switch (ring.take(next_, sent, room)) {
                case ECHOLUX_PUSH_TAKEN:
                    ++next_;
                    if (std::optional<Block> block = stream_.placed(sent, *memory)) return block;
                    continue;
                case ECHOLUX_PUSH_OVERTAKEN: ++next_; continue;  // counted by the gap in the sequence
                case ECHOLUX_PUSH_NOT_YET: return std::nullopt;
                default: break;
            }
            is_running_ = false;
            throw Error(ErrorCode::device,
                        fmt::format("block {}: does not fit into its slot with {}", next_, plural(sent.bytes, "bytes")),
                        where_, "see docs/push.md");
        }
    }

    std::string name_, where_;
    SourceCapabilities capabilities_;
    std::unique_ptr<SharedRing> ring_;
    PushedStream stream_;
    std::uint64_t next_ = 0;
    bool is_running_ = false;
};

// Reports waiting as progress.
class Waiting {
  public:
    Waiting(Progress* progress, const std::string& name) : progress_(progress) {
        if (progress_ != nullptr) progress_->begin("wait for a producer of shm:" + name, 0, "");
    }
    ~Waiting() {
        if (progress_ == nullptr) return;
        try {
            progress_->end();
        } catch (const std::exception&) {  // ignored in the destructor
        }
    }
    void go_on() {
        if (progress_ != nullptr) progress_->advance(0);
        std::this_thread::sleep_for(producer_poll_interval);
    }

  private:
    Progress* progress_;
};

}  // namespace

std::unique_ptr<Source> open_shared_memory(const SourceRequest& wanted, std::chrono::milliseconds timeout) {
    const std::string name = SourceName(wanted.name).rest;
    const auto until = steady_clock::now() + timeout;
    std::optional<Waiting> waiting;
    for (;;) {
        std::unique_ptr<SharedRing> ring;
        try {
            ring = std::make_unique<SharedRing>(name);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::device || steady_clock::now() >= until) throw;
        }
        if (ring) return std::make_unique<SharedSource>(wanted, name, std::move(ring));
        if (!waiting) waiting.emplace(wanted.progress, name);
        waiting->go_on();
    }
}

}  // namespace echolux
