// hlsgen_recording holds the recorded words of a stream, for a simulation. They are in STREAM.dat, in the folder that
// +data=FOLDER names. A frame has PER words or, if STEPS is set, PER words for each step. The file frames.txt has the
// number of frames, and the steps of each.
module hlsgen_recording #(
    parameter int BITS   = 8,
    parameter int WORDS  = 1,
    parameter int PER    = 1,
    parameter bit STEPS  = 0,
    parameter     STREAM = "s0"
) (
    input  int              at,    // number of a word
    output logic [BITS-1:0] word,
    output logic            ends,  // the word is the last of its frame
    output int              count
);
    logic [BITS-1:0] words[WORDS];
    bit              last [WORDS];

    assign word = words[at < WORDS ? at : WORDS - 1];
    assign ends = last[at < WORDS ? at : WORDS - 1];

    initial begin
        string folder;
        int file, frames, steps;
        if ($value$plusargs("data=%s", folder) == 0) folder = "tb/data";
        $readmemh({folder, "/", STREAM, ".dat"}, words);
        file = $fopen({folder, "/frames.txt"}, "r");
        count = 0;
        steps = 1;
        if ($fscanf(file, "%d", frames) != 1) frames = 0;
        for (int f = 0; f < frames; f++) begin
            if (STEPS && $fscanf(file, "%d", steps) != 1) steps = 0;
            count = count + PER * steps;
            if (count > 0 && count <= WORDS) last[count-1] = 1'b1;
        end
        $fclose(file);
    end
endmodule
