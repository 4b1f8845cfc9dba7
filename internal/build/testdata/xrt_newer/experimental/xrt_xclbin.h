// What an xclbin says of its kernels, as far as the driver takes it.
#pragma once
#include <xrt/xrt_device.h>

namespace xrt {

class xclbin {
public:
    class mem {
    public:
        std::int32_t get_index() const { return 3; }
    };

    class arg {
    public:
        explicit arg(bool is_buffer) : buffer(is_buffer) {}
        std::vector<mem> get_mems() const { return std::vector<mem>(buffer ? 1 : 0); }

    private:
        bool buffer;
    };

    class ip {
    public:
        arg get_arg(std::int32_t index) const { return arg(index != 1); }
    };

    ip get_ip(const std::string& name) const {
        if (name.find(":{") != std::string::npos || name.find(':') == std::string::npos) card::fail("an ip is called " + name);
        return {};
    }
};

} // namespace xrt
