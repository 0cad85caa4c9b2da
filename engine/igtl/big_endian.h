// Big-endian numbers, as in OpenIGTLink.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace echolux::igtl {

// Converts between native and big-endian order.
template <class T>
T swapped(T value) {
    std::array<std::byte, sizeof(T)> bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

// `bytes` must contain the whole number at offset `at`.
template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.subspan(at, sizeof value).data(), sizeof value);
    return swapped(value);
}

// Returns the text of a fixed-size field, up to its first zero.
inline std::string text_at(std::span<const std::byte> bytes, std::size_t at, std::size_t room) {
    const std::span<const std::byte> field = bytes.subspan(at, room);
    const std::string text(reinterpret_cast<const char*>(field.data()), field.size());
    return text.substr(0, text.find('\0'));
}

}  // namespace echolux::igtl
