#include "engine/io/raw_guess.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "engine/io/file_name.h"

namespace echolux {
namespace {

struct FormatWord {
    std::string_view word;
    SampleFormat format;
};
constexpr FormatWord format_words[] = {{"u8", SampleFormat::u8},       {"uint8", SampleFormat::u8},
                                       {"uchar", SampleFormat::u8},    {"u16", SampleFormat::u16},
                                       {"uint16", SampleFormat::u16},  {"ushort", SampleFormat::u16},
                                       {"i16", SampleFormat::i16},     {"s16", SampleFormat::i16},
                                       {"int16", SampleFormat::i16},   {"u32", SampleFormat::u32},
                                       {"uint32", SampleFormat::u32},  {"f32", SampleFormat::f32},
                                       {"float32", SampleFormat::f32}, {"float", SampleFormat::f32},
                                       {"single", SampleFormat::f32},  {"packed12", SampleFormat::packed12},
                                       {"12p", SampleFormat::packed12}};

struct OrderWord {
    std::string_view word;
    ByteOrder order;
};
constexpr OrderWord order_words[] = {
    {"le", ByteOrder::little}, {"little", ByteOrder::little}, {"littleendian", ByteOrder::little},
    {"be", ByteOrder::big},    {"big", ByteOrder::big},       {"bigendian", ByteOrder::big}};

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::optional<SampleFormat> format_in(std::string_view word) {
    const auto found = std::ranges::find(format_words, word, &FormatWord::word);
    return found == std::end(format_words) ? std::nullopt : std::optional(found->format);
}

std::optional<ByteOrder> order_in(std::string_view word) {
    const auto found = std::ranges::find(order_words, word, &OrderWord::word);
    return found == std::end(order_words) ? std::nullopt : std::optional(found->order);
}

// Parses "u16", "be", or both as "u16be".
void add_word(std::string_view word, RawName& name) {
    if (const auto format = format_in(word)) name.format = format;
    if (const auto order = order_in(word)) name.order = order;
    if (word.size() <= 2) return;
    const auto format = format_in(word.substr(0, word.size() - 2));
    const auto order = order_in(word.substr(word.size() - 2));
    if (format && order) name.format = format, name.order = order;
}

// Parses "1024", or "100x100x1024".
void add_numbers(std::string_view word, RawName& name) {
    constexpr std::int64_t max = std::int64_t{1} << 24;
    const bool are_sizes = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == 'x'; });
    if (!are_sizes) return;
    for (std::size_t begin = 0; begin < word.size();) {
        const std::size_t end = std::min(word.find('x', begin), word.size());
        std::int64_t number = 0;
        const auto [at, problem] = std::from_chars(word.data() + begin, word.data() + end, number);
        if (problem == std::errc() && at == word.data() + end && number > 1 && number <= max)
            name.numbers.push_back(number);
        begin = end + 1;
    }
}

}  // namespace

bool RawName::allows(SampleFormat other_format, ByteOrder other_order) const {
    return (!format || *format == other_format) && (!order || *order == other_order);
}

bool RawName::has(std::int64_t number) const {
    return std::ranges::count(numbers, number) > 0;
}

RawName parsed_raw_name(const std::string& file_name) {
    const std::string text = lower_case(file_name);
    RawName name;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin;
        while (end < text.size() && is_of_word(text[end])) ++end;
        const std::string_view word = std::string_view(text).substr(begin, end - begin);
        add_word(word, name);
        add_numbers(word, name);
        begin = end + 1;
    }
    return name;
}

}  // namespace echolux
