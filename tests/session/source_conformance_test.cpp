// One table of live sources, and what engine/acquire/source.h promises of each: counting from zero, restarts, blocks
// that stay valid, and a prompt stop.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "await.h"
#include "engine/acquire/source.h"
#include "engine/net/tcp.h"
#include "plugins/echolux_push_tcp.h"
#include "push_support.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;

// An instrument or a program that feeds the source, as long as it exists.
using Feeder = std::shared_ptr<void>;

// Pushes blocks, one per millisecond, until it is destroyed.
class Pushing {
  public:
    // One of both is used.
    Pushing(const std::string& ring, std::uint16_t port) {
        const echolux_push_stream stream = small_stream();
        const int status = ring.empty()
                               ? echolux_push_connect(&sender_, "127.0.0.1", std::to_string(port).c_str(), &stream)
                               : echolux_push_create(&sender_.push, ring.c_str(), &stream);
        if (status != 0) throw std::runtime_error(sender_.push.problem);
        is_ring_ = !ring.empty();
        thread_ = std::jthread([this](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::memset(echolux_push_begin(&sender_.push), 1, sender_.push.block_bytes);
                echolux_push_publish(&sender_.push, nullptr);
                std::this_thread::sleep_for(1ms);
            }
        });
    }
    ~Pushing() {
        thread_ = {};
        if (is_ring_) echolux_push_close(&sender_.push);
        if (!is_ring_) echolux_push_disconnect(&sender_, 0);
    }
    Pushing(const Pushing&) = delete;
    Pushing& operator=(const Pushing&) = delete;

  private:
    echolux_push_sender sender_{};
    bool is_ring_ = false;
    std::jthread thread_;
};

struct Kind {
    std::string name;
    std::function<std::string(Feeder&)> begin;  // starts the feeder and returns the name of the source
};

void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

std::vector<Kind> kinds() {
    std::vector<Kind> all{
        {"Simulator", [](Feeder&) { return "sim:mirror"; }},
        {"Plugin", [](Feeder&) { return "plugin:" ECHOLUX_SAMPLE_PLUGIN; }},
        {"SharedMemory",
         [](Feeder& feeder) {
             const std::string name = own_ring_name();
             feeder = std::make_shared<Pushing>(name, std::uint16_t{0});
             return "shm:" + name;
         }},
        {"Network",
         [](Feeder& feeder) {
             const std::uint16_t port = TcpListener({"127.0.0.1", 0}, "test").port();
             feeder = std::make_shared<Pushing>("", port);
             return "tcp://127.0.0.1:" + std::to_string(port);
         }},
    };
#ifdef ECHOLUX_FAKE_GENTL
    all.push_back({"FrameGrabber", [](Feeder&) { return "gentl:" ECHOLUX_FAKE_GENTL "/fake.cti"; }});
#endif
    return all;
}

class EverySource : public testing::TestWithParam<Kind> {
  protected:
    EverySource() {
        SourceRequest wanted{.name = GetParam().begin(feeder_), .memory = MemoryKind::host};
        wanted.assignments = {"scan.samples=64", "scan.a_scans=4", "scan.b_scans=6"};
        if (wanted.name.starts_with("sim")) {
            wanted.assignments = {"simulation.samples=512", "simulation.a_scans=8", "simulation.b_scans=6",
                                  "simulation.volumes=1"};
        }
        wanted.settings.block_b_scans = 2;
        wanted.settings.line_rate_hz = 4000;
        source_ = open_source(wanted);
    }

    Feeder feeder_;
    std::unique_ptr<Source> source_;
};

TEST_P(EverySource, CountsFromZeroAfterEachStart) {
    for (int run = 0; run < 2; ++run) {
        AWAIT(error_of([&] { source_->start(); }).line.empty());
        double last_s = -1;
        std::int64_t position = -1;
        for (std::uint64_t i = 0; i < 6; ++i) {
            const Block block = next_block(*source_);
            EXPECT_EQ(block.sequence, i);
            EXPECT_EQ(block.bytes % block.b_scans, 0);
            EXPECT_EQ(block.first_b_scan % source_->block_b_scans(), 0);
            position += 1 + block.lost_before;
            EXPECT_EQ(block.volume * 3 + block.first_b_scan / source_->block_b_scans(), position);
            EXPECT_GE(block.time_s, 0);
            EXPECT_GT(block.time_s, last_s);
            last_s = block.time_s;
        }
        source_->stop();
        source_->stop();  // does nothing
    }
}

TEST_P(EverySource, BlocksOutliveSource) {
    source_->start();
    std::vector<Block> blocks;
    std::vector<std::vector<std::byte>> copies;
    for (int i = 0; i < 3; ++i) {
        blocks.push_back(next_block(*source_));
        copies.emplace_back(blocks.back().data, blocks.back().data + blocks.back().bytes);
    }
    std::this_thread::sleep_for(20ms);
    const auto before = std::chrono::steady_clock::now();
    source_->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
    source_.reset();
    feeder_.reset();
    for (std::size_t i = 0; i < blocks.size(); ++i)
        EXPECT_EQ(std::memcmp(blocks[i].data, copies[i].data(), copies[i].size()), 0) << i;
}

TEST_P(EverySource, WaitsNoLongerThanRequested) {
    source_->start();
    next_block(*source_);
    for (int i = 0; i < 20; ++i) {
        const auto before = std::chrono::steady_clock::now();
        source_->next(5ms);
        EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EverySource, testing::ValuesIn(kinds()),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace echolux
