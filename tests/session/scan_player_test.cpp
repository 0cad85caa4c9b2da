// Playing a recorded scan: the volume requested last is sent, whole and unchanged, never faster than it is processed.
// Unreadable volumes are reported and skipped.
#include "engine/acquire/scan_player.h"

#include <gmock/gmock.h>

#include <numeric>

#include "await.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t line_bytes = 4, a_scans = 3, b_scans = 5, volumes = 4;
constexpr std::int64_t volume_bytes = line_bytes * a_scans * b_scans;

class PlayerTest : public ::testing::Test {
  protected:
    PlayerTest() {
        std::string spectra(index(volumes * volume_bytes), '\0');
        std::iota(spectra.begin(), spectra.end(), char{1});
        folder_.write("s.raw", spectra);
        folder_.write("scan.toml", R"([scan]
file = "s.raw"
sample_format = "u8"
samples = 4
a_scans = 3
b_scans = 5
volumes = 4
line_rate_hz = 30
)");
        player_ = std::make_unique<ScanPlayer>(open_scan(folder_ / "scan.toml"), MemoryKind::host, 2);
    }

    // Returns blocks until none comes; each releases its memory with the vector.
    std::vector<Block> sent() {
        std::vector<Block> blocks;
        for (int idle = 0; idle < 2;) {
            const Arrival arrival = player_->next(1ms);
            if (arrival.kind == Arrival::Kind::block)
                blocks.push_back(arrival.block);
            else
                ++idle;
        }
        return blocks;
    }

    // Returns the bytes of a volume of the file, as written.
    static std::vector<int> expected(std::int64_t volume) {
        std::vector<int> bytes;
        for (std::int64_t i = 0; i < volume_bytes; ++i)
            bytes.push_back(static_cast<unsigned char>(volume * volume_bytes + i + 1));
        return bytes;
    }
    static std::vector<int> bytes_of(const std::vector<Block>& blocks) {
        std::vector<int> bytes;
        for (const Block& block : blocks) {
            for (std::int64_t i = 0; i < block.bytes; ++i) bytes.push_back(std::to_integer<int>(block.data[i]));
        }
        return bytes;
    }

    TemporaryFolder folder_;
    std::unique_ptr<ScanPlayer> player_;
};

TEST_F(PlayerTest, SendsFirstVolumeThenWaits) {
    EXPECT_EQ(player_->next(1ms).kind, Arrival::Kind::ended) << "not started";
    player_->start();
    const std::vector<Block> blocks = sent();
    ASSERT_EQ(blocks.size(), 3);
    EXPECT_EQ(bytes_of(blocks), expected(0));
    EXPECT_EQ(blocks[2].first_b_scan, 4);
    EXPECT_EQ(blocks[2].b_scans, 1);
    EXPECT_EQ(player_->shown_by(0), 0);
    EXPECT_DOUBLE_EQ(player_->volume_s(), 0.5);
}

TEST_F(PlayerTest, SendsVolumesInRequestedOrder) {
    player_->start();
    sent();
    std::int64_t number = 0;
    std::uint64_t sequence = 3;
    for (const std::int64_t volume : {2, 1, 3, 3, 0}) {
        player_->show(volume);
        const std::vector<Block> blocks = sent();
        EXPECT_EQ(bytes_of(blocks), expected(volume)) << "volume " << volume;
        ++number;
        for (const Block& block : blocks) {
            EXPECT_EQ(block.volume, number);
            EXPECT_EQ(block.sequence, sequence);
            EXPECT_DOUBLE_EQ(block.time_s,
                             0.5 * static_cast<double>(number) + 0.1 * static_cast<double>(block.first_b_scan));
            ++sequence;
        }
        EXPECT_EQ(player_->shown_by(number), volume);
    }
    player_->show(99);
    EXPECT_EQ(bytes_of(sent()), expected(3));
}

TEST_F(PlayerTest, FinishesCurrentVolumeThenSendsNewestRequest) {
    player_->start();
    Arrival first;
    AWAIT((first = player_->next(1ms)).kind == Arrival::Kind::block);
    for (const std::int64_t volume : {1, 2, 3}) player_->show(volume);
    std::vector<int> bytes = bytes_of({first.block});
    first = {};
    const std::vector<int> rest = bytes_of(sent());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    std::vector<int> wanted = expected(0);
    const std::vector<int> last = expected(3);
    wanted.insert(wanted.end(), last.begin(), last.end());
    EXPECT_EQ(bytes, wanted);
}

// A consumer that keeps all blocks gets two volumes and a few blocks, and more once it releases some.
TEST_F(PlayerTest, LimitsUnprocessedVolumes) {
    player_->start();
    std::vector<Block> kept;
    for (const std::int64_t volume : {0, 1, 2, 3, 0, 1}) {
        player_->show(volume);
        for (const Block& block : sent()) kept.push_back(block);
    }
    EXPECT_EQ(kept.size(), 2 * 3 + 4);
    EXPECT_EQ(player_->pool_blocks(), 0) << "whoever keeps the last volume need not ask";
    kept.erase(kept.begin());
    EXPECT_EQ(player_->next(10s).kind, Arrival::Kind::block);
}

TEST_F(PlayerTest, ReportsAndSkipsUnreadableVolume) {
    player_->start();
    sent();
    std::filesystem::resize_file(folder_ / "s.raw", 2 * volume_bytes);
    player_->show(3);
    EXPECT_TRUE(sent().empty());
    EXPECT_THAT(player_->take_problems(), ElementsAre(HasSubstr("s.raw")));
    EXPECT_THAT(player_->take_problems(), ElementsAre());
    EXPECT_TRUE(player_->has_failed(3)) << "or it is waited for, for ever";
    EXPECT_FALSE(player_->has_failed(1));
    player_->show(1);
    EXPECT_FALSE(player_->has_failed(3));
}

TEST_F(PlayerTest, RestartsAtLastVolume) {
    player_->start();
    player_->show(2);
    sent();
    player_->stop();
    EXPECT_EQ(player_->next(1ms).kind, Arrival::Kind::ended);
    player_->start();
    const std::vector<Block> blocks = sent();
    EXPECT_EQ(bytes_of(blocks), expected(2));
    EXPECT_EQ(blocks.front().volume, 0);
    EXPECT_EQ(blocks.front().sequence, 0);
}

}  // namespace
}  // namespace echolux
