#include "engine/io/contained/reader_process.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compute/error.h"

namespace echolux {
namespace {

// Compares the properties that buffer sizes depend on. A restarted process might report different ones, because the
// file may have taken control of it.
bool has_same_voxels(const ImageHeader& a, const ImageHeader& b) {
    return a.size == b.size && a.type == b.type && a.time_points == b.time_points;
}

class ContainedReader final : public ImageReader {
  public:
    ContainedReader(ContainedFile what, Descriptor file)
        : what_(std::move(what)), file_(std::move(file)), file_bytes_(size_of(file_)) {
        open();
    }

    const ImageHeader& header() const override { return levels_.front(); }
    std::vector<ImageHeader> levels() const override { return levels_; }
    std::int64_t slices_together() const override { return slices_together_; }
    bool reads_boxes() const override { return reads_boxes_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const Wanted wanted{time_point, slices};
        const std::int64_t bytes = (slices.end - slices.begin) * header().slice_bytes();
        if (ahead_ != wanted) {
            drop_ahead();
            ask_for(wanted, 0);
        }
        ahead_.reset();
        await_answer(bytes);
        const std::int64_t place = place_;
        const bool is_in_order = slices.begin == 0 || last_ == Wanted{time_point, {last_.slices.begin, slices.begin}};
        last_ = wanted;
        if (is_in_order) ask_ahead(after(wanted), place == 0 ? bytes : 0);
        return copied(place, bytes);
    }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box) override {
        drop_ahead();
        if (!reads_boxes_ || level >= levels_.size()) return ImageReader::read_box(time_point, level, box);
        const std::int64_t bytes = (box.columns.end - box.columns.begin) * (box.rows.end - box.rows.begin) *
                                   (box.slices.end - box.slices.begin) * bytes_of(levels_[level].type);
        ask({.time_point = time_point, .level = static_cast<std::int64_t>(level), .box = box, .bytes = bytes}, bytes);
        await_answer(bytes);
        return copied(0, bytes);
    }

  private:
    struct Wanted {
        std::int64_t time_point = -1;
        Interval slices{};

        bool operator==(const Wanted& other) const {
            return time_point == other.time_point && slices.begin == other.slices.begin &&
                   slices.end == other.slices.end;
        }
    };

    // Timeout of an answer, from the sizes of the file and the voxels.
    double longest_s(std::int64_t bytes) const {
        return static_cast<double>(what_.longest_s) +
               (static_cast<double>(file_bytes_) + static_cast<double>(bytes)) / slowest_reading;
    }

    void open() {
        OpenOrder order{.kind = what_.kind,
                        .path = what_.path.string(),
                        .part = what_.part,
                        .numbers = what_.numbers,
                        .max_bytes = what_.max_bytes,
                        .longest_s = static_cast<std::int64_t>(longest_s(0)) + 1};
        process_ = std::make_unique<ReaderProcess>(order, file_);
        const std::string answer = process_->answer(Says::header, longest_s(0));
        try {
            FrameReader frame(answer);
            reads_boxes_ = frame.number() != 0;
            slices_together_ = std::clamp<std::int64_t>(frame.number(), 1, std::int64_t{1} << 40);
            const std::int64_t count = frame.number();
            constexpr std::int64_t most = 64;
            if (count < 1 || count > most) throw BadFrame();
            levels_.clear();
            for (std::int64_t i = 0; i < count; ++i) levels_.push_back(frame.header());
            const auto is_of_one_type = [&](const ImageHeader& level) { return level.type == header().type; };
            if (!std::ranges::all_of(levels_, is_of_one_type)) throw BadFrame();
        } catch (const BadFrame&) {
            throw Error(ErrorCode::bad_file, "is damaged: what read it said nonsense", what_.path.string(),
                        "copy the file again");
        }
    }

    // Returns the piece after `one`, of the same length, if necessary in the next time point. Returns std::nullopt at
    // the end.
    std::optional<Wanted> after(const Wanted& one) const {
        const std::int64_t count = one.slices.end - one.slices.begin, all = header().size[2];
        // Larger pieces are not read ahead: their callers do other work between reads.
        constexpr std::int64_t most_ahead = 64 << 20;  // bytes
        if (count * header().slice_bytes() > most_ahead) return std::nullopt;
        if (one.slices.end < all)
            return Wanted{one.time_point, {one.slices.end, std::min(one.slices.end + count, all)}};
        if (one.time_point + 1 < header().time_points) return Wanted{one.time_point + 1, {0, std::min(count, all)}};
        return std::nullopt;
    }

    // Requests the next piece in advance. Errors are reported when that piece is read.
    void ask_ahead(const std::optional<Wanted>& next, std::int64_t place) {
        // A new process would lack the voxels that are already in shared memory.
        if (!next || !process_->can_go_on()) return;
        const std::int64_t place_of_this = place_;
        try {
            ask_for(*next, place);  // not larger than the current piece
            ahead_ = next;
        } catch (const Error&) {
            place_ = place_of_this;
        }
    }

    void ask_for(const Wanted& wanted, std::int64_t place) {
        const std::int64_t bytes = (wanted.slices.end - wanted.slices.begin) * header().slice_bytes();
        ask({.time_point = wanted.time_point,
             .box = {.columns = {}, .rows = {}, .slices = wanted.slices},
             .place = place,
             .bytes = bytes},
            place + bytes);
        place_ = place;
    }

    // Sends a request. Replaces the process if it has ended or is close to its time limit.
    void ask(const ReadOrder& order, std::int64_t memory) {
        if (!process_ || !process_->can_go_on()) {
            const std::vector<ImageHeader> before = levels_;
            open();
            if (!std::ranges::equal(levels_, before, has_same_voxels)) {
                throw Error(ErrorCode::bad_file, "has changed since it was opened", what_.path.string(),
                            "open it again");
            }
        }
        process_->memory(memory);
        process_->ask(order.frame());
    }

    void await_answer(std::int64_t bytes) { process_->answer(Says::done, longest_s(bytes)); }

    std::vector<std::byte> copied(std::int64_t place, std::int64_t bytes) {
        const std::span<const std::byte> all = process_->memory(place + bytes);
        const std::byte* begin = all.data() + place;
        return {begin, begin + bytes};
    }

    // Discards a piece that was read in advance. Its errors are ignored until the piece is read again.
    void drop_ahead() {
        if (!ahead_) return;
        const Wanted unwanted = *std::exchange(ahead_, std::nullopt);
        try {
            await_answer((unwanted.slices.end - unwanted.slices.begin) * header().slice_bytes());
        } catch (const Error&) {
        }
    }

    ContainedFile what_;
    Descriptor file_;
    std::int64_t file_bytes_;
    std::unique_ptr<ReaderProcess> process_;
    std::vector<ImageHeader> levels_;
    std::int64_t slices_together_ = 1;
    bool reads_boxes_ = false;
    std::optional<Wanted> ahead_;  // requested, not yet answered
    Wanted last_;
    std::int64_t place_ = 0;  // offset of the last requested voxels in shared memory
};

}  // namespace

std::unique_ptr<ImageReader> open_contained(ContainedFile what, Descriptor file) {
    return std::make_unique<ContainedReader>(std::move(what), std::move(file));
}

std::unique_ptr<ImageReader> open_contained(ContainedFile what) {
    Descriptor file = open_regular(what.path);
    return open_contained(std::move(what), std::move(file));
}

}  // namespace echolux
