#include "app/movie/movie_encoding.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/seconds_since.h"

namespace echolux {

// ---- Encoding

MovieEncoding::MovieEncoding(std::unique_ptr<MovieWriter> writer)
    : writer_(std::move(writer)), encoder_(writer_->encoder()), taker_([this] { take(); }),
      coder_([this] { encode(); }) {}

MovieEncoding::~MovieEncoding() {
    drawn_.close();
    finished_.close();
    if (taker_.joinable()) taker_.join();
    if (coder_.joinable()) coder_.join();
}

void MovieEncoding::add(std::function<Image()> picture, std::map<std::string, std::string> text) {
    if (!drawn_.push({std::move(picture), std::move(text)})) throw_failure();
}

void MovieEncoding::drop_waiting() {
    drawn_.close();
    finished_.close();
}

void MovieEncoding::finish() {
    drawn_.end();
    if (taker_.joinable()) taker_.join();
    if (coder_.joinable()) coder_.join();
    const auto start = std::chrono::steady_clock::now();
    writer_->finish();
    busy_s_ += seconds_since(start);
    throw_failure();
}

std::int64_t MovieEncoding::pictures() const {
    return writer_->pictures();
}

// Thread that reads pictures back: they wait for the device, which must not delay drawing or encoding.
void MovieEncoding::take() {
    try {
        while (auto drawn = drawn_.pop()) {
            if (!finished_.push({drawn->picture(), std::move(drawn->text)})) break;
        }
    } catch (...) {
        fail();
    }
    finished_.end();
}

void MovieEncoding::encode() {
    try {
        while (const auto taken = finished_.pop()) {
            const auto start = std::chrono::steady_clock::now();
            writer_->add(taken->image.pixels, taken->text);
            busy_s_ += seconds_since(start);
        }
    } catch (...) {
        fail();
        finished_.close();
    }
}

// Called on a worker thread that fails. It accepts no more work, so callers waiting in add() are woken.
void MovieEncoding::fail() {
    {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
    drawn_.close();
}

void MovieEncoding::throw_failure() {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
}

// ---- Motion blur

namespace {

constexpr std::size_t channels = 4;

// Inverse of the sRGB transfer function (IEC 61966-2-1).
double light_of(double shown) {
    return shown <= 0.04045 ? shown / 12.92 : std::pow((shown + 0.055) / 1.055, 2.4);
}

double shown_of(double light) {
    return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

const std::array<float, 256>& lights() {
    static const std::array<float, 256> table = [] {
        std::array<float, 256> all{};
        for (std::size_t code = 0; code < all.size(); ++code)
            all[code] = static_cast<float>(light_of(double(code) / 255));
        return all;
    }();
    return table;
}

std::uint8_t code_of(double part) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(part, 0.0, 1.0)));
}

}  // namespace

std::vector<double> moments_of_exposure(const Studio& studio) {
    if (studio.shutter == 0) return {0};
    std::vector<double> moments;
    const auto count = static_cast<double>(studio.shutter_pictures);
    for (double i = 0; i < count; ++i) moments.push_back(studio.shutter * (i + 0.5) / count);
    return moments;
}

// Different frame numbers select different random numbers.
View part_of_exposure(View view, std::size_t number, std::size_t pictures) {
    if (pictures == 1) return view;
    const auto share = [&](std::int64_t all) {
        const auto count = static_cast<std::int64_t>(pictures);
        return (all + count - 1) / count;
    };
    view.paths = share(view.paths);
    view.frame = view.frame * static_cast<std::uint32_t>(pictures) + static_cast<std::uint32_t>(number);
    return view;
}

void Exposure::add(const Image& image) {
    sums_.resize(image.pixels.size());
    for (std::size_t i = 0; i < image.pixels.size(); i += channels) {
        const float alpha = static_cast<float>(image.pixels[i + 3]) / 255;
        for (std::size_t c = 0; c < 3; ++c) sums_[i + c] += alpha * lights()[image.pixels[i + c]];
        sums_[i + 3] += alpha;
    }
    last_ = image;
    ++count_;
}

Image Exposure::image() const {
    if (count_ == 1) return last_;
    Image mean = last_;
    for (std::size_t i = 0; i < sums_.size(); i += channels) {
        const double alpha = double{sums_[i + 3]};
        for (std::size_t c = 0; c < 3; ++c)
            mean.pixels[i + c] = alpha > 0 ? code_of(shown_of(double{sums_[i + c]} / alpha)) : std::uint8_t{0};
        mean.pixels[i + 3] = code_of(alpha / static_cast<double>(count_));
    }
    return mean;
}

}  // namespace echolux
