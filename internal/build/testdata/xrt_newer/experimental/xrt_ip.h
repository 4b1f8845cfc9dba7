// Kernels that a program starts by itself, as XRT has them.
#pragma once
#include <chrono>
#include <condition_variable>
#include <xrt/xrt_hw_context.h>

namespace xrt {

class ip {
public:
    class interrupt {
    public:
        explicit interrupt(std::shared_ptr<card::opened> unit) : of(std::move(unit)) {}
        std::cv_status wait(const std::chrono::milliseconds& longest) const {
            if (longest.count() <= 0) card::fail("it waits for no time");
            card::unit& u = *of->of;
            if (u.registers[4] != 1 || u.registers[8] != 1) card::fail("an interrupt is waited for that is off");
            card::waited++;
            if (u.registers[0x0c] == 0) card::wake();
            return u.registers[0x0c] == 0 ? std::cv_status::timeout : std::cv_status::no_timeout;
        }

    private:
        std::shared_ptr<card::opened> of;
    };

    interrupt create_interrupt_notify() {
        if (!card::wired) throw std::runtime_error("the ip has no interrupt");
        return interrupt(of);
    }

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
