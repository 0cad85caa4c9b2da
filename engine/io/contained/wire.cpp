#include "engine/io/contained/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr std::uint64_t longest_frame = 256 << 20;
constexpr std::int64_t most_entries = 1 << 24;

bool send_all(int socket, const char* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        count -= index(sent);
    }
    return true;
}

// Waits for data until a deadline. Returns false on timeout.
bool has_come(int socket, const std::optional<WireClock::time_point>& until) {
    while (until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - WireClock::now()).count();
        pollfd waited{.fd = socket, .events = POLLIN, .revents = 0};
        constexpr std::int64_t longest = 1000;
        const int ready = poll(&waited, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, longest)));
        if (ready > 0) return true;
        if (left <= 0) return false;
    }
    return true;
}

bool receive_all(int socket, char* bytes, std::size_t count, const std::optional<WireClock::time_point>& until) {
    while (count > 0) {
        if (!has_come(socket, until)) return false;
        const ssize_t got = read(socket, bytes, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        count -= index(got);
    }
    return true;
}

// Makes text safe for a terminal, because a compromised reader process may have sent it.
std::string printable(std::string text) {
    constexpr std::size_t longest = 4096;
    text.resize(std::min(text.size(), longest));
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return text;
}

}  // namespace

Frame& Frame::add(std::int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
}

Frame& Frame::add(double number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
}

Frame& Frame::add(std::string_view text) {
    add(std::ssize(text));
    bytes_.append(text);
    return *this;
}

Frame& Frame::add(const ImageHeader& header) {
    for (const std::int64_t side : header.size) add(side);
    for (const double spacing : header.spacing_mm) add(spacing);
    for (const double origin : header.origin_mm) add(origin);
    add(static_cast<std::int64_t>(header.has_unit)).add(static_cast<std::int64_t>(header.type));
    add(header.scale).add(header.offset).add(header.time_points).add(header.time_step_s);
    add(std::ssize(header.times_s));
    for (const double time : header.times_s) add(time);
    add(std::ssize(header.texts));
    for (const auto& [key, text] : header.texts) add(key).add(text);
    return *this;
}

FrameReader::FrameReader(std::string_view bytes) : rest_(bytes) {
    if (rest_.empty()) throw BadFrame();
    what_ = static_cast<Response>(rest_.front());
    rest_.remove_prefix(1);
}

template <class T>
T FrameReader::plain() {
    T value{};
    if (rest_.size() < sizeof value) throw BadFrame();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
}

std::int64_t FrameReader::number() {
    return plain<std::int64_t>();
}

double FrameReader::real() {
    return plain<double>();
}

std::string FrameReader::text() {
    const std::int64_t length = number();
    if (length < 0 || static_cast<std::uint64_t>(length) > rest_.size()) throw BadFrame();
    std::string text(rest_.substr(0, index(length)));
    rest_.remove_prefix(text.size());
    return text;
}

// Limits sizes and enumerations, because the sender is untrusted.
ImageHeader FrameReader::header() {
    ImageHeader header;
    constexpr std::int64_t longest_side = std::int64_t{1} << 40;
    for (std::int64_t& side : header.size) {
        side = number();
        if (side < 1 || side > longest_side) throw BadFrame();
    }
    for (double& spacing : header.spacing_mm) spacing = real();
    for (double& origin : header.origin_mm) origin = real();
    header.has_unit = number() != 0;
    const std::int64_t type = number();
    if (type < 0 || type > static_cast<std::int64_t>(VoxelType::complex64)) throw BadFrame();
    header.type = static_cast<VoxelType>(type);
    header.scale = real();
    header.offset = real();
    header.time_points = number();
    header.time_step_s = real();
    const std::int64_t times = number();
    if (header.time_points < 1 || header.time_points > longest_side || times < 0 || times > most_entries)
        throw BadFrame();
    for (std::int64_t i = 0; i < times; ++i) header.times_s.push_back(real());
    const std::int64_t texts = number();
    if (texts < 0 || texts > most_entries) throw BadFrame();
    for (std::int64_t i = 0; i < texts; ++i) {
        std::string key = text();
        header.texts[std::move(key)] = text();
    }
    return header;
}

Frame ReadOrder::frame() const {
    Frame frame(level < 0 ? Response::read : Response::box);
    frame.add(time_point).add(level);
    for (const Interval& side : {box.columns, box.rows, box.slices}) frame.add(side.begin).add(side.end);
    frame.add(place).add(bytes);
    return frame;
}

ReadOrder ReadOrder::of(FrameReader& frame) {
    ReadOrder order;
    order.time_point = frame.number();
    order.level = frame.number();
    for (Interval* side : {&order.box.columns, &order.box.rows, &order.box.slices}) {
        side->begin = frame.number();
        side->end = frame.number();
    }
    order.place = frame.number();
    order.bytes = frame.number();
    return order;
}

Frame OpenOrder::frame() const {
    Frame frame(Response::open);
    frame.add(kind).add(path).add(part).add(max_bytes).add(longest_s).add(std::ssize(numbers));
    for (const std::int64_t number : numbers) frame.add(number);
    return frame;
}

OpenOrder OpenOrder::of(FrameReader& frame) {
    OpenOrder order;
    order.kind = frame.text();
    order.path = frame.text();
    order.part = frame.text();
    order.max_bytes = frame.number();
    order.longest_s = frame.number();
    const std::int64_t count = frame.number();
    for (std::int64_t i = 0; i < count; ++i) order.numbers.push_back(frame.number());
    return order;
}

Frame frame_of(const Error& error) {
    Frame frame(Response::error);
    frame.add(static_cast<std::int64_t>(error.code())).add(error.problem()).add(error.where()).add(error.remedy());
    return frame;
}

Error error_of(FrameReader& frame) {
    const std::int64_t code = frame.number();
    if (code < 0 || code > static_cast<std::int64_t>(ErrorCode::out_of_memory)) throw BadFrame();
    const std::string problem = printable(frame.text()), where = printable(frame.text());
    return {static_cast<ErrorCode>(code), problem, where, printable(frame.text())};
}

bool send_frame(int socket, const Frame& frame) {
    const std::uint64_t length = frame.bytes().size();
    return length <= longest_frame && send_all(socket, reinterpret_cast<const char*>(&length), sizeof length) &&
           send_all(socket, frame.bytes().data(), frame.bytes().size());
}

std::optional<std::string> receive_frame(int socket, std::optional<WireClock::time_point> until) {
    std::uint64_t length = 0;
    if (!receive_all(socket, reinterpret_cast<char*>(&length), sizeof length, until) || length > longest_frame)
        return {};
    std::string bytes;
    constexpr std::uint64_t piece = 1 << 20;  // allocate in pieces: a claimed length must not allocate memory
    while (bytes.size() < length) {
        const std::size_t before = bytes.size();
        bytes.resize(std::min<std::uint64_t>(length, before + piece));
        if (!receive_all(socket, bytes.data() + before, bytes.size() - before, until)) return {};
    }
    return bytes;
}

}  // namespace echolux
