// Behaviour of the two ECP5 hard blocks as minmip uses them, written from Lattice's descriptions
// (FPGA-TN-02204, FPGA-TN-02205): Yosys ships their ports only, without behaviour.

// Port A writes, port B reads through its output register. A read of the row that is written in the
// same clock gives nonsense on purpose: the primitive promises nothing.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", GSR = "ENABLED",
    `define I(n) parameter [319:0] INITVAL_``n = 320'b0
    `define I16(h) `I(h``0), `I(h``1), `I(h``2), `I(h``3), `I(h``4), `I(h``5), `I(h``6), `I(h``7), \
                   `I(h``8), `I(h``9), `I(h``A), `I(h``B), `I(h``C), `I(h``D), `I(h``E), `I(h``F)
    `I16(0), `I16(1), `I16(2), `I16(3)
) (
    `define P18(d, p) d p``17, d p``16, d p``15, d p``14, d p``13, d p``12, d p``11, d p``10, d p``9, \
        d p``8, d p``7, d p``6, d p``5, d p``4, d p``3, d p``2, d p``1, d p``0
    `define P14(d, p) d p``13, d p``12, d p``11, d p``10, d p``9, d p``8, d p``7, d p``6, d p``5, \
        d p``4, d p``3, d p``2, d p``1, d p``0
    `define C18(p) {p``17, p``16, p``15, p``14, p``13, p``12, p``11, p``10, p``9, p``8, p``7, p``6, \
        p``5, p``4, p``3, p``2, p``1, p``0}
    `define C14(p) {p``13, p``12, p``11, p``10, p``9, p``8, p``7, p``6, p``5, p``4, p``3, p``2, \
        p``1, p``0}
    `P18(input, DIA), `P18(input, DIB), `P14(input, ADA), `P14(input, ADB),
    `P18(output, DOA), `P18(output, DOB),
    input CLKA, CLKB, CEA, CEB, OCEA, OCEB, RSTA, RSTB, WEA, WEB,
    input CSA0, CSA1, CSA2, CSB0, CSB1, CSB2
);
    wire [13:0] ada = `C14(ADA), adb = `C14(ADB);
    wire [35:0] di = {`C18(DIB), `C18(DIA)};
    reg [18431:0] cells;  // 1024 rows of 18 bits
    reg [35:0] row, out;
    integer n, w, width;
    // First cell of bit b at address a: narrow rows leave each byte's ninth bit empty.
    function integer place(input [13:0] a, input integer b);
        case (DATA_WIDTH_A)
            36: place = a[13:5] * 36 + b;
            18: place = a[13:4] * 18 + b;
            9: place = a[13:3] * 9 + b;
            4: place = a[13:3] * 9 + a[2] * 4 + b;
            2: place = a[13:3] * 9 + a[2:1] * 2 + b;
            default: place = a[13:3] * 9 + a[2:0];
        endcase
    endfunction
    wire [3:0] bytes = DATA_WIDTH_A == 36 ? ada[3:0] : DATA_WIDTH_A == 18 ? {2'b00, ada[1:0]} : 4'b1;
    wire [13:0] same = DATA_WIDTH_A == 36 ? 14'h3fe0 : DATA_WIDTH_A == 18 ? 14'h3ff0 : 14'h3fff;
    wire writing = CEA & WEA & ({CSA2, CSA1, CSA0} == 0);
    wire clash = writing & (bytes != 0) & ((ada & same) == (adb & same));
    initial begin
        row = 0;
        out = 0;
        `define F(n) for (w = 0; w < 16; w = w + 1) \
            cells[('h``n * 16 + w) * 18 +: 18] = INITVAL_``n[w * 20 +: 18];
        `define F16(h) `F(h``0) `F(h``1) `F(h``2) `F(h``3) `F(h``4) `F(h``5) `F(h``6) `F(h``7) \
                       `F(h``8) `F(h``9) `F(h``A) `F(h``B) `F(h``C) `F(h``D) `F(h``E) `F(h``F)
        `F16(0) `F16(1) `F16(2) `F16(3)
    end
    always @(posedge CLKB) begin
        if (CEB & ~WEB & ({CSB2, CSB1, CSB0} == 0))
            for (n = 0; n < DATA_WIDTH_B; n = n + 1) row[n] <= cells[place(adb, n)] ^ clash;
        if (OCEB) out <= row;
        if (RSTB) begin row <= 0; out <= 0; end
    end
    always @(posedge CLKA)
        if (writing)
            for (n = 0; n < DATA_WIDTH_A; n = n + 1)
                if (bytes[n / 9]) cells[place(ada, n)] <= di[n];
    // 36 bits leave by both ports; a register on each half.
    wire [35:0] q = REGMODE_B == "OUTREG" ? out : row;
    wire [17:0] low = REGMODE_A == "OUTREG" ? out[17:0] : row[17:0];
    assign `C18(DOA) = DATA_WIDTH_B == 36 ? low : 18'b0;
    assign `C18(DOB) = DATA_WIDTH_B == 36 ? q[35:18] : q[17:0];
endmodule

module MULT18X18D #(
    parameter REG_INPUTA_CLK = "NONE", REG_INPUTB_CLK = "NONE", REG_PIPELINE_CLK = "NONE",
    parameter REG_OUTPUT_CLK = "NONE", GSR = "ENABLED"
) (
    `P18(input, A), `P18(input, B), `P18(output, P),
    output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0
);
    reg [17:0] a_q, b_q;
    reg [35:0] pipeline_q, p_q;
    wire [17:0] a = REG_INPUTA_CLK == "CLK0" ? a_q : `C18(A);
    wire [17:0] b = REG_INPUTB_CLK == "CLK0" ? b_q : `C18(B);
    wire signed [18:0] a_wide = {SIGNEDA & a[17], a}, b_wide = {SIGNEDB & b[17], b};
    wire signed [37:0] product = a_wide * b_wide;
    wire [35:0] inner = REG_PIPELINE_CLK == "CLK0" ? pipeline_q : product[35:0];
    initial {a_q, b_q, pipeline_q, p_q} = 0;
    always @(posedge CLK0)
        if (RST0) {a_q, b_q, pipeline_q, p_q} <= 0;
        else if (CE0) begin
            a_q <= `C18(A);
            b_q <= `C18(B);
            pipeline_q <= product[35:0];
            p_q <= inner;
        end
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
            `C18(P)} = REG_OUTPUT_CLK == "CLK0" ? p_q : inner;
endmodule
