// Kernels that a program starts by itself, as XRT has them.
#pragma once
#include <xrt/xrt_hw_context.h>

namespace xrt {

class ip {
public:
    ip() = default;
    ip(const device&, const uuid&, const std::string& name) : of(std::make_shared<card::opened>(name)) {}
    ip(const hw_context& on, const std::string& name) : of(std::make_shared<card::opened>(name)) {
        if (on.get_mode() != hw_context::access_mode::exclusive) card::fail("an ip is shared");
    }
    std::uint32_t read_register(std::uint32_t at) const { return of->of->peek(at); }
    void write_register(std::uint32_t at, std::uint32_t value) { card::poke(*of->of, at, value); }

private:
    std::shared_ptr<card::opened> of;
};

} // namespace xrt
