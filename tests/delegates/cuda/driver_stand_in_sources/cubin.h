// What a driver reads in a cubin: its architecture, and each kernel's parameters and needs.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

struct Parameter {
    uint32_t offset, size;
};

struct Entry {
    std::map<uint32_t, Parameter> parameters;  // by their number
    uint32_t parameter_bytes = 0;
    uint32_t registers = 0;
    uint32_t static_shared = 0;
};

struct Cubin {
    std::vector<char> image;
    int arch = 0;
    std::map<std::string, Entry> entries;
};

namespace cubin {

constexpr uint16_t MACHINE = 190;  // EM_CUDA
constexpr uint8_t ATTRIBUTE_PARAMETER = 0x17;
constexpr uint8_t ATTRIBUTE_PARAMETER_BYTES = 0x19;
constexpr uint8_t FORMAT_SIZED = 4;  // the others hold their value in two bytes

inline bool starts_with(const std::string &text, const char *prefix) {
    return text.compare(0, strlen(prefix), prefix) == 0;
}

// Records of .nv.info.<kernel>: a format, an attribute, and a value or its size in 16 bits.
inline void read_attributes(const char *at, const char *end, Entry &entry) {
    while (at + 4 <= end) {
        uint8_t format = at[0], attribute = at[1];
        uint16_t value;
        memcpy(&value, at + 2, 2);
        at += 4;
        if (attribute == ATTRIBUTE_PARAMETER_BYTES) entry.parameter_bytes = value;
        if (format != FORMAT_SIZED) continue;
        if (attribute == ATTRIBUTE_PARAMETER && value == 12 && at + 12 <= end) {
            uint16_t number, offset;
            uint32_t bits;
            memcpy(&number, at + 4, 2);
            memcpy(&offset, at + 6, 2);
            memcpy(&bits, at + 8, 4);
            entry.parameters[number] = {offset, bits >> 18};
        }
        at += value;
    }
}

inline size_t image_bytes(const Elf64_Ehdr &header) {
    size_t sections = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
    size_t segments = header.e_phoff + size_t(header.e_phnum) * header.e_phentsize;
    return sections > segments ? sections : segments;
}

// False unless the image is machine code of a GPU.
inline bool read(const void *data, Cubin &found) {
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != MACHINE) return false;
    found.image.assign((const char *)data, (const char *)data + image_bytes(header));
    const char *base = found.image.data();
    bool is_new = header.e_ident[EI_ABIVERSION] >= 8;
    found.arch = is_new ? (header.e_flags >> 8) & 0xff : header.e_flags & 0xff;
    auto *sections = (const Elf64_Shdr *)(base + header.e_shoff);
    const char *names = base + sections[header.e_shstrndx].sh_offset;
    auto is_kernel = [](const std::string &name) { return starts_with(name, ".text."); };
    for (int n = 0; n < header.e_shnum; n++) {
        std::string name = names + sections[n].sh_name;
        if (is_kernel(name)) found.entries[name.substr(6)].registers = sections[n].sh_info >> 24;
    }
    for (int n = 0; n < header.e_shnum; n++) {
        std::string name = names + sections[n].sh_name;
        const Elf64_Shdr &section = sections[n];
        for (auto &[kernel, entry] : found.entries) {
            if (name == ".nv.shared." + kernel) entry.static_shared = section.sh_size;
            if (name == ".nv.info." + kernel) {
                const char *start = base + section.sh_offset;
                read_attributes(start, start + section.sh_size, entry);
            }
        }
    }
    return true;
}

}  // namespace cubin
