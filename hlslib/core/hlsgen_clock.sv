// hlsgen_clock runs the bench of a project, for simulators that have no clock of their own.
module hlsgen_clock;
    logic clk = 1'b0;
    initial forever begin
        #5 clk = !clk;
    end
    hlsgen_bench bench (.clk(clk));
endmodule
