// Spectra over the network. This side listens; an acquisition program connects and sends blocks
// (engine/acquire/stream.h). A thread receives blocks as fast as they arrive, even if no session runs. No outdated data
// therefore waits in the network when a session starts, and a session that is too slow loses blocks here, where they
// are counted.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/acquire/source.h"
#include "engine/acquire/stream.h"
#include "engine/net/tcp.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto stop_check_interval = 50ms;  // between checks whether to stop
constexpr auto greets_within = 5s;          // after connecting
constexpr auto max_silence = 20s;           // max silence within a block
constexpr std::int64_t max_block_bytes = std::int64_t{1} << 32;

// Fills `to`. Returns false if stopped, or if the connection was closed before the first byte. Throws Error{device}.
bool received(TcpConnection& from, std::span<std::byte> to, std::chrono::milliseconds timeout, bool may_wait,
              const std::stop_token& stop, const std::string& where) {
    std::size_t done = 0;
    auto last = steady_clock::now();
    while (done < to.size()) {
        if (stop.stop_requested()) return false;
        const std::optional<std::size_t> came = from.receive(to.subspan(done), stop_check_interval);
        if (!came && done == 0 && may_wait) return false;
        if (!came) throw Error(ErrorCode::device, "the connection ended within a block", where, "restart the sender");
        done += *came;
        const auto now = steady_clock::now();
        if (*came > 0 || (done == 0 && may_wait)) last = now;
        if (now - last > timeout) {
            throw Error(ErrorCode::device, fmt::format("{} stopped sending in the middle of a block", from.peer()),
                        where, "restart the sender");
        }
    }
    return true;
}

struct AcceptedStream {
    TcpConnection connection;
    echolux_push_stream stream;
};

// Accepts the next program with a valid greeting. Others are disconnected without an answer.
std::optional<AcceptedStream> accept_stream(TcpListener& listener, const std::stop_token& stop,
                                            const std::string& where, std::string& problem) {
    std::optional<TcpConnection> came = listener.accept(stop_check_interval);
    if (!came) return std::nullopt;
    std::array<std::byte, sizeof(PushGreeting)> bytes;
    try {
        if (!received(*came, bytes, greets_within, false, stop, where)) return std::nullopt;
        return AcceptedStream{std::move(*came), parsed_greeting(bytes, where)};
    } catch (const Error& error) {
        problem = fmt::format("{} {}", came->peer(), error.problem());
        return std::nullopt;
    }
}

class TcpSource : public Source {
  public:
    TcpSource(const SourceRequest& wanted, std::string where, TcpListener listener, AcceptedStream first)
        : where_(std::move(where)), listener_(std::move(listener)), stream_(wanted, first.stream, where_),
          peer_(first.connection.peer()), waste_(std::size_t{1} << 16) {
        if (stream_.block_bytes() > max_block_bytes) {
            throw Error(ErrorCode::device,
                        fmt::format("blocks of {} are too large", plural(stream_.block_bytes(), "bytes")), where_,
                        "configure the acquisition program to send smaller blocks");
        }
        is_connected_ = true;
        receiving_ = std::jthread([this, greeted = std::move(first)](const std::stop_token& stop) mutable {
            receive(std::move(greeted), stop);
        });
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
        const std::scoped_lock lock(mutex_);
        ready_.clear();
        problem_ = nullptr;
        ends_ = false;
        if (!is_connected_) {
            throw Error(ErrorCode::device, rejected_.empty() ? "no sender is connected" : rejected_, where_,
                        "connect the acquisition program");
        }
        stream_.begin();
        is_running_ = true;
    }

    void stop() noexcept override {
        const std::scoped_lock lock(mutex_);
        is_running_ = false;
        ready_.clear();
    }

    Arrival next(std::chrono::milliseconds timeout) override {
        std::unique_lock lock(mutex_);
        if (!is_running_) throw Error(ErrorCode::device, "is not started", where_);
        changed_.wait_for(lock, timeout, [this] { return !ready_.empty() || ends_ || problem_; });
        if (!ready_.empty()) {
            Arrival arrival{Arrival::Kind::block, std::move(ready_.front())};
            ready_.pop_front();
            return arrival;
        }
        if (!ends_ && !problem_) return {};
        is_running_ = false;
        if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
        ends_ = false;
        return {Arrival::Kind::ended, {}};
    }

  private:
    // Thread function: serves one program after another.
    void receive(AcceptedStream first, const std::stop_token& stop) {
        std::optional<AcceptedStream> now = std::move(first);
        while (!stop.stop_requested()) {
            std::string rejected;
            if (!now) now = accept_stream(listener_, stop, where_, rejected);
            if (!rejected.empty()) {
                const std::scoped_lock lock(mutex_);
                rejected_ = rejected;
            }
            if (!now) continue;
            std::exception_ptr problem;
            bool ends = false;
            try {
                stream_.require_alike(now->stream);
                {
                    const std::scoped_lock lock(mutex_);
                    is_connected_ = true;
                    rejected_.clear();
                }
                ends = receive_blocks(now->connection, stop);
                if (!ends)
                    throw Error(ErrorCode::device, now->connection.peer() + " has disconnected", where_,
                                "restart it: the session then continues");
            } catch (const Error& error) {
                problem = std::current_exception();
                const std::scoped_lock lock(mutex_);
                rejected_ = error.problem();
            } catch (...) {
                problem = std::current_exception();
            }
            now.reset();
            const std::scoped_lock lock(mutex_);
            is_connected_ = false;
            if (is_running_ && ends) ends_ = true;
            if (is_running_ && !ends) problem_ = problem;
            changed_.notify_all();
        }
    }

    // Receives blocks until the end. Returns true if the sender has signalled the end, false if it has disconnected.
    bool receive_blocks(TcpConnection& from, const std::stop_token& stop) {
        std::array<std::byte, sizeof(PushHead)> bytes;
        while (received(from, bytes, max_silence, true, stop, where_)) {
            const ParsedHead head = parsed_head(bytes, where_);
            if (head.is_end) return true;
            {
                const std::scoped_lock lock(mutex_);
                stream_.check(head.block);
            }
            if (!receive_block(from, head.block, stop)) return false;
        }
        return false;
    }

    // Receives the spectra of a block. Returns false if the connection has ended.
    bool receive_block(TcpConnection& from, const echolux_push_block& sent, const std::stop_token& stop) {
        std::optional<BlockMemory> memory;
        {
            const std::scoped_lock lock(mutex_);
            if (is_running_) memory = stream_.room();
        }
        if (!memory) return skipped(from, sent.bytes, stop);
        const std::span<std::byte> room(memory->data, static_cast<std::size_t>(sent.bytes));
        if (!received(from, room, max_silence, false, stop, where_)) return false;
        const std::scoped_lock lock(mutex_);
        if (!is_running_) return true;
        if (std::optional<Block> block = stream_.placed(sent, *memory)) ready_.push_back(std::move(*block));
        changed_.notify_all();
        return true;
    }

    // Discards the block without a session or free memory. It is counted by the gap in the sequence.
    bool skipped(TcpConnection& from, std::uint64_t bytes, const std::stop_token& stop) {
        while (bytes > 0) {
            const std::span<std::byte> part(waste_.data(), std::min<std::uint64_t>(bytes, waste_.size()));
            if (!received(from, part, max_silence, false, stop, where_)) return false;
            bytes -= part.size();
        }
        return true;
    }

    std::string where_;
    SourceCapabilities capabilities_;
    TcpListener listener_;
    std::mutex mutex_;  // protects the members below
    PushedStream stream_;
    std::string peer_;
    std::condition_variable changed_;
    std::deque<Block> ready_;
    std::string rejected_;  // why the last program was disconnected
    std::exception_ptr problem_;
    bool is_connected_ = false;
    bool is_running_ = false;
    bool ends_ = false;
    std::vector<std::byte> waste_;  // used only by the thread
    std::jthread receiving_;        // destroyed first
};

}  // namespace

std::unique_ptr<Source> open_tcp(const SourceRequest& wanted, std::chrono::milliseconds timeout) {
    std::string rest = SourceName(wanted.name).rest;
    if (rest.starts_with("//")) rest = rest.substr(2);
    const NetAddress address = parsed_address(rest, "source " + wanted.name);
    const std::string where = "tcp://" + address.text();
    TcpListener listener(address, where);
    const auto until = steady_clock::now() + timeout;
    if (wanted.progress != nullptr) wanted.progress->begin("wait for a sender on " + where, 0, "");
    std::string rejected;
    std::optional<AcceptedStream> first;
    while (!first) {
        first = accept_stream(listener, {}, where, rejected);
        if (wanted.progress != nullptr) wanted.progress->advance(0);
        if (first || steady_clock::now() < until) continue;
        throw Error(ErrorCode::device, rejected.empty() ? "no sender is connected" : rejected, where,
                    "connect the acquisition program");
    }
    if (wanted.progress != nullptr) wanted.progress->end();
    return std::make_unique<TcpSource>(wanted, where, std::move(listener), std::move(*first));
}

}  // namespace echolux
