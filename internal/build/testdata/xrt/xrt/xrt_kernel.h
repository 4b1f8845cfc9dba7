// What the driver takes of XRT, with the card of card.hpp behind it: kernels. Where hw_context is, what XRT deprecates is.
#pragma once
#include "xrt_bo.h"
#include <chrono>

#if __has_include(<xrt/xrt_hw_context.h>)
#include <xrt/xrt_hw_context.h>
#define DEPRECATED(why) [[deprecated(why)]]
#else
#define DEPRECATED(why)
#endif

enum ert_cmd_state {
    ERT_CMD_STATE_NEW = 1,
    ERT_CMD_STATE_QUEUED = 2,
    ERT_CMD_STATE_RUNNING = 3,
    ERT_CMD_STATE_COMPLETED = 4,
    ERT_CMD_STATE_ERROR = 5,
    ERT_CMD_STATE_ABORT = 6,
    ERT_CMD_STATE_TIMEOUT = 8,
};

namespace xrt {

class kernel {
public:
    enum class cu_access_mode : std::uint8_t { exclusive = 0, shared = 1, none = 2 };

    kernel() = default;
    DEPRECATED("use kernel(hw_context, name)")
    kernel(const device&, const uuid&, const std::string& name, cu_access_mode mode = cu_access_mode::shared)
        : of(std::make_shared<card::opened>(name)), exclusive(mode == cu_access_mode::exclusive) {}
#if __has_include(<xrt/xrt_hw_context.h>)
    kernel(const hw_context&, const std::string& name) : of(std::make_shared<card::opened>(name)) {}
#endif

    int group_id(int argument) const { return argument == 1 ? -1 : 3; }
    DEPRECATED("use xrt::ip")
    std::uint32_t read_register(std::uint32_t at) const {
        if (!exclusive) throw std::runtime_error("Cannot read or write kernel with shared access");
        return of->of->peek(at);
    }
    DEPRECATED("use xrt::ip") void write_register(std::uint32_t at, std::uint32_t value) { card::poke(*of->of, at, value); }

private:
    friend class run;
    std::shared_ptr<card::opened> of;
    bool exclusive = false;
};

class run {
public:
    run() = default;
    explicit run(const kernel& k) : of(k.of) {}

    void set_arg(int argument, const bo& buffer) { set(argument, buffer.address(), true); }
    void set_arg(int argument, bo& buffer) { set(argument, buffer.address(), true); }
    template <class T> void set_arg(int argument, T&& value) { set(argument, value, sizeof value == 8); }
    void start() { card::poke(*of->of, 0, 1); }
    ert_cmd_state state() const { return of->of->started ? ERT_CMD_STATE_RUNNING : ERT_CMD_STATE_COMPLETED; }
    ert_cmd_state wait(const std::chrono::milliseconds& longest = std::chrono::milliseconds(0)) const {
        if (of->of->started && longest.count() == 0) card::fail("it waits forever");
        return of->of->started ? ERT_CMD_STATE_TIMEOUT : ERT_CMD_STATE_COMPLETED;
    }
    explicit operator bool() const { return of != nullptr; }

private:
    std::shared_ptr<card::opened> of;

    void set(int argument, std::uint64_t value, bool wide) {
        if (wide != (argument != 1)) card::fail("an argument has another size");
        const unsigned at[] = {0x10, 0x1c, 0x24};
        card::poke(*of->of, at[argument], std::uint32_t(value));
        if (wide) card::poke(*of->of, at[argument] + 4, std::uint32_t(value >> 32));
    }
};

} // namespace xrt
