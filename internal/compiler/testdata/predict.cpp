// Predicts with the driver in C++. in: float32 values of all samples; the output the same; lengths as integers.
//     predict IN OUT [LENGTH...]
#include "accelerator.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

template <class F> static void refuses(const char* what, F f) {
    try {
        f();
    } catch (const hlsgen::unfit& e) {
        std::cout << "refused " << what << " : " << e.what() << "\n";
        return;
    }
    std::cout << "FAIL " << what << " is not refused\n";
    std::exit(1);
}

int main(int argc, char** argv) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> raw((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::vector<float> x(raw.size() / sizeof(float));
    std::memcpy(x.data(), raw.data(), raw.size());
    std::vector<std::size_t> steps;
    for (int i = 3; i < argc; i++) steps.push_back(std::size_t(std::stoul(argv[i])));
    hlsgen::library device;
    hlsgen::accelerator net(device);
    const std::vector<float> y = net.predict(x, steps);
    std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(y.data()), std::streamsize(y.size() * sizeof(float)));
    std::vector<float> bad = x;
    bad[1] = std::nanf("");
    refuses("what is not a number", [&] { net.predict(bad, steps); });
    bad = x;
    bad.pop_back();
    refuses("a part of a sample", [&] { net.predict(bad, steps); });
    std::vector<std::size_t> none(steps.size() + 1, 0);
    refuses("lengths of 0", [&] { net.predict(x, none); });
    struct foreign : hlsgen::library {
        std::string hash() override { return "0"; }
    } other;
    refuses("another design", [&] { hlsgen::accelerator another(other); });
    std::cout << "PASS " << y.size() << " values\n";
}
