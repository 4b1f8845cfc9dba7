// The UART top in Verilator, as a serial port for simulate.py. Each line of the input is a command, and each answer is
// a line:
//     w BYTES      sends bytes, in hexadecimal
//     b BITS       holds the line low for the time of BITS bits
//     p            presses the button for the time of a bit
//     r N BITS     receives N bytes, or as many as come within the time of BITS bits
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "Vuart.h"
#include "verilated.h"

namespace {

class port {
public:
    port(Vuart& model, int divide) : model_(model), divide_(divide) {
        model_.rx = model_.reset_n = 1;
        for (int i = 0; i < 8; i++) clock();
    }

    void say(uint8_t byte) {
        bit(false);
        for (int i = 0; i < 8; i++) bit(byte >> i & 1);
        bit(true);
    }

    void hold(int bits) {
        for (int i = 0; i < bits; i++) bit(false);
        bit(true);
    }

    void press() {
        model_.reset_n = 0;
        bit(true);
        model_.reset_n = 1;
    }

    std::deque<uint8_t> hear(size_t n, int64_t bits) {
        for (int64_t left = bits * divide_; left > 0 && heard_.size() < n; left--) clock();
        std::deque<uint8_t> list;
        for (; list.size() < n && !heard_.empty(); heard_.pop_front()) list.push_back(heard_.front());
        return list;
    }

private:
    void bit(bool level) {
        model_.rx = level;
        for (int i = 0; i < divide_; i++) clock();
    }

    // The line is sampled in the middle of each bit.
    void clock() {
        model_.clk = 0;
        model_.eval();
        model_.clk = 1;
        model_.eval();
        if (at_ < 0) {
            if (model_.tx) return;
            at_   = 0;
            left_ = divide_ / 2;
        }
        if (left_-- > 0) return;
        left_ = divide_ - 1;
        if (at_ > 0 && at_ < 9) byte_ = static_cast<uint8_t>(byte_ >> 1 | model_.tx << 7);
        if (at_++ < 9) return;
        at_ = -1;
        if (model_.tx) heard_.push_back(byte_);
        else std::cerr << "a byte without a stop bit\n", std::exit(1);
    }

    Vuart&              model_;
    int                 divide_, at_ = -1, left_ = 0;
    uint8_t             byte_ = 0;
    std::deque<uint8_t> heard_;
};

}  // namespace

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vuart model(&context);
    port  p(model, argc > 1 ? std::atoi(argv[1]) : 0);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        char               command = 0;
        words >> command;
        if (command == 'w') {
            std::string hex;
            words >> hex;
            for (size_t i = 0; i + 1 < hex.size(); i += 2) p.say(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
        } else if (command == 'b') {
            int bits = 0;
            words >> bits;
            p.hold(bits);
        } else if (command == 'p') {
            p.press();
        } else if (command == 'r') {
            size_t  n    = 0;
            int64_t bits = 0;
            words >> n >> bits;
            for (const uint8_t byte : p.hear(n, bits)) std::cout << std::hex << std::setw(2) << std::setfill('0') << int(byte);
        }
        std::cout << std::endl;
    }
    return 0;
}
