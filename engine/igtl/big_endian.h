// Numbers as OpenIGTLink has them: the highest byte first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace echolux::igtl {

// To that order and back.
template <class T>
T swapped(T value) {
    std::array<std::byte, sizeof(T)> bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

// `bytes` has them.
template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.subspan(at, sizeof value).data(), sizeof value);
    return swapped(value);
}

// Of a field of fixed size: up to its first zero.
inline std::string text_at(std::span<const std::byte> bytes, std::size_t at, std::size_t room) {
    const std::span<const std::byte> field = bytes.subspan(at, room);
    const std::string text(reinterpret_cast<const char*>(field.data()), field.size());
    return text.substr(0, text.find('\0'));
}

}  // namespace echolux::igtl
