#include "ui/web/page_message.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "engine/io/json_text.h"

namespace echolux {
namespace {

using Json = nlohmann::json;

// Limits of a message. Exceeding one is an error, because our pages stay below them.
constexpr std::size_t max_events = 1000, max_names = 1000, max_text = 1 << 19, max_name = 255;
constexpr double max_size = 8192, max_place = 1e5;

[[noreturn]] void refuse(const std::string& problem) {
    throw Error(ErrorCode::bad_setting, problem, "message", "reload the page: it may be outdated");
}

const Json& member(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) refuse(fmt::format("has no \"{}\"", name));
    return *found;
}

double number(const Json& value, double low, double high) {
    if (!value.is_number()) refuse("expected a number");
    const double read = value.get<double>();
    if (!(read >= low && read <= high)) refuse("a number is out of its range");
    return read;
}

std::int64_t whole(const Json& value, double low, double high) {
    return static_cast<std::int64_t>(std::llround(number(value, low, high)));
}

std::uint32_t counter(const Json& value) {
    return static_cast<std::uint32_t>(whole(value, 0, 4294967295.0));
}

// `most` is the maximum size in bytes.
std::string text(const Json& value, std::size_t most) {
    if (!value.is_string()) refuse("expected a string");
    std::string read = value.get<std::string>();
    if (read.size() > most) refuse("a text is too long");
    return read;
}

bool flag(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    return number(value, 0, 1) != 0;
}

// Parses an input event: an array [kind, ...], which is compact because events are frequent.
WindowEvent event_of(const Json& event) {
    if (!event.is_array() || event.empty() || event.size() > 4) refuse("expected an event array");
    const std::string kind = text(event[0], 1);
    const auto has = [&](std::size_t parts) {
        if (event.size() != parts + 1) refuse("an event has the wrong number of elements");
    };
    switch (kind.empty() ? '\0' : kind[0]) {
        case 'm':
            has(2);
            return PointerMoved{number(event[1], -max_place, max_place), number(event[2], -max_place, max_place)};
        case 'b': has(2); return PointerButton{static_cast<int>(whole(event[1], 0, 2)), flag(event[2])};
        case 'w': has(2); return Scrolled{number(event[1], -100, 100), number(event[2], -100, 100)};
        case 'k': has(3); return KeyPressed{text(event[1], 12), flag(event[2]), flag(event[3])};
        case 't': has(1); return TextTyped{static_cast<std::uint32_t>(whole(event[1], 1, 0x10FFFF))};
        case 'f': has(1); return FocusChanged{flag(event[1])};
        default: refuse("an event has an unknown kind");
    }
}

// Unknown codecs are ignored, so that pages of newer versions can connect.
PageHello hello_of(const Json& json) {
    const Json& codecs = member(json, "codecs");
    if (!codecs.is_array() || codecs.size() > 16) refuse("expected a list of codecs");
    PageHello hello;
    for (const Json& name : codecs) {
        if (const auto codec = stream_codec(text(name, 16))) hello.codecs.push_back(*codec);
    }
    if (json.contains("page")) hello.page = text(json["page"], 64);
    return hello;
}

// Video codecs need even sizes.
PageSize size_of(const Json& json) {
    PageSize size;
    size.width = whole(member(json, "width"), 64, max_size) & ~1;
    size.height = whole(member(json, "height"), 64, max_size) & ~1;
    size.scale = number(member(json, "scale"), 0.5, 4);
    return size;
}

PageInput input_of(const Json& json) {
    PageInput input{counter(member(json, "number")), {}};
    const Json& events = member(json, "events");
    if (!events.is_array() || events.size() > max_events) refuse("expected a list of events");
    for (const Json& event : events) input.events.push_back(event_of(event));
    return input;
}

PageSteer steer_of(const Json& json) {
    const std::string what = text(member(json, "what"), 8);
    if (what == "ask") return {PageSteer::Command::request};
    if (what == "give") return {PageSteer::Command::release};
    if (what == "keep") return {PageSteer::Command::keep};
    refuse("expected \"ask\", \"give\" or \"keep\"");
}

PageDropped dropped_of(const Json& json) {
    const Json& names = member(json, "names");
    if (!names.is_array() || names.size() > max_names) refuse("expected a list of names");
    PageDropped dropped;
    for (const Json& name : names) dropped.names.push_back(text(name, max_name));
    return dropped;
}

PageQuality quality_of(const Json& json) {
    const Json& level = member(json, "level");
    if (level.is_null()) return {};
    return {static_cast<int>(whole(level, 0, stream_levels - 1))};
}

}  // namespace

PageMessage parsed_page_message(std::string_view from) {
    const Json json = parsed_json(from, "message", "");
    if (!json.is_object()) refuse("is not an object");
    const std::string type = text(member(json, "type"), 32);
    if (type == "input") return input_of(json);
    if (type == "shown") return PageAcknowledgement{counter(member(json, "picture"))};
    if (type == "size") return size_of(json);
    if (type == "hello") return hello_of(json);
    if (type == "steer") return steer_of(json);
    if (type == "clipboard") return PageClipboard{text(member(json, "text"), max_text)};
    if (type == "dropped") return dropped_of(json);
    if (type == "action") return PageAction{text(member(json, "id"), 200)};
    if (type == "quality") return quality_of(json);
    refuse("has an unknown type");
}

bool is_for_control(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == text.npos) return false;
    return text[begin] == '[' || text.find("\"jsonrpc\"") != text.npos;
}

}  // namespace echolux
