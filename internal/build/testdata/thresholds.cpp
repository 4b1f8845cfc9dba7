// Predicts with the driver in C++. IN and OUT hold doubles, of all samples.
//     thresholds IN OUT
#include "accelerator.hpp"

#include <fstream>

int main(int, char** arg) {
    std::ifstream in(arg[1], std::ios::binary);
    std::vector<double> x;
    for (double v; in.read(reinterpret_cast<char*>(&v), sizeof v);) x.push_back(v);
    hlsgen::library device;
    hlsgen::accelerator net(device);
    const std::vector<double> y = net.run({x})[0];
    std::ofstream out(arg[2], std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), std::streamsize(y.size() * sizeof(double)));
}
