// Drives and reads the streams of a verilated block; whole arrays in, whole arrays out.
// ports.h is generated: class Top, the numbers of streams and ports, access by number, class Wave.
#include <cstdint>
#include <cstring>
#include <memory>

#include "ports.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

// xorshift64*: the same stalls from the same seed, everywhere.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull | 1) { next(); next(); }
    uint32_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return static_cast<uint32_t>(state * 0x2545F4914F6CDD1Dull >> 32);
    }
};

// Decides each clock whether a side of a stream is willing.
struct Gate {
    Random random;
    uint32_t closing;  // chance of a stall in 2^-32
    uint32_t longest;  // clocks of the longest stall
    uint32_t left = 0;
    Gate(uint64_t seed, uint32_t closing, uint32_t longest)
        : random(seed), closing(closing), longest(longest) {}
    bool open() {
        if (left == 0 && closing != 0 && random.next() < closing) left = 1 + random.next() % longest;
        if (left == 0) return true;
        left--;
        return false;
    }
};

// The map memory outside the block: bytes of the caller (`MapMemorySignature`, and the readers of
// `MapReadSignature`).
struct Memory {
    uint8_t* bytes = nullptr;
    uint64_t size = 0;
    uint64_t stray = 0;  // writes behind the end: the block must make none
    unsigned turn = 0;
    uint32_t answer[MEMORY_LATENCY][MEMORY_READERS][MEMORY_BYTES / 4 + 1] = {};  // reads under way

    // Look at the port before a rising edge; `drive` gives the answer that is due behind it.
    void serve(Top& top) {
        MemoryPort port = read_memory_port(top);
        const uint64_t to = port.write_addr * MEMORY_BYTES;
        for (unsigned n = 0; n < MEMORY_READERS; n++) {
            const uint64_t from = port.read_addr[n] * MEMORY_BYTES;
            if (port.read_en[n] && from < size)
                std::memcpy(answer[turn][n], bytes + from, MEMORY_BYTES);
        }
        turn = (turn + 1) % MEMORY_LATENCY;
        if (port.write_mask == 0) return;
        if (to >= size) {
            stray++;
            return;
        }
        const uint8_t* data = reinterpret_cast<const uint8_t*>(port.write_data);
        for (unsigned lane = 0; lane < MEMORY_BYTES; lane++)
            if (port.write_mask >> lane & 1) bytes[to + lane] = data[lane];
    }
    void drive(Top& top) {
        for (unsigned n = 0; n < MEMORY_READERS; n++) drive_memory_port(top, n, answer[turn][n]);
    }
};

struct Handle {
    std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    std::unique_ptr<Top> top{new Top{context.get()}};
    Memory memory;
    std::unique_ptr<Wave> wave;
    uint64_t cycle = 0, wave_from = 0, wave_to = 0;
    bool offered[INPUTS + 1] = {};  // valid is high and must stay so
    bool waiting[OUTPUTS + 1] = {};
    uint32_t held[OUTPUTS + 1][OUTPUT_WORDS] = {};

    void dump(uint64_t time) {
        if (wave && cycle >= wave_from && cycle < wave_to) wave->dump(time);
    }
    // A rising edge; a clock takes 10 units of time.
    void clock() {
        dump(10 * cycle + 5);
        if (HAS_MEMORY) memory.serve(*top);
        drive_clock(*top, true);
        top->eval();
        dump(10 * cycle + 10);
        drive_clock(*top, false);  // the falling edge is folded into the next eval
        if (HAS_MEMORY) memory.drive(*top);
        cycle++;
    }
};

}  // namespace

extern "C" {

struct Run {
    uint64_t max_cycles;
    uint64_t quiet;     // stop after so many clocks without work, all outputs ready
    uint64_t patience;  // stop after so many clocks without a transfer
    uint64_t all_sent;  // whether to stop when every beat is taken
    uint64_t any_full;  // whether to stop when an output with a capacity has reached it
    uint64_t seed;
    const uint32_t* const* beats;       // [INPUTS][count][words]
    const uint64_t* count;              // [INPUTS]
    uint64_t* const* input_stamp;       // [INPUTS][count]: clock of the transfer
    uint64_t* taken;                    // [INPUTS]
    uint32_t* const* results;           // [OUTPUTS][capacity][words]
    const uint64_t* capacity;           // [OUTPUTS]
    uint64_t* const* output_stamp;      // [OUTPUTS][capacity]
    uint64_t* given;                    // [OUTPUTS], beyond capacity when too many came
    uint64_t* broken;                   // [OUTPUTS]: beats that changed or fell while waiting
    const uint32_t* closing;            // [INPUTS + OUTPUTS]
    const uint32_t* longest;            // [INPUTS + OUTPUTS]
};

void* model_new() { return new Handle; }

void model_delete(void* pointer) {
    auto* handle = static_cast<Handle*>(pointer);
    handle->top->final();
    delete handle;
}

void model_set(void* pointer, uint32_t port, const uint32_t* words) {
    set_port(*static_cast<Handle*>(pointer)->top, port, words);
}

void model_get(void* pointer, uint32_t port, uint32_t* words) {
    auto* handle = static_cast<Handle*>(pointer);
    handle->top->eval();
    get_port(*handle->top, port, words);
}

void model_reset(void* pointer, uint64_t cycles) {
    auto* handle = static_cast<Handle*>(pointer);
    for (unsigned n = 0; n < INPUTS; n++) drive_valid(*handle->top, n, handle->offered[n] = false);
    for (unsigned n = 0; n < OUTPUTS; n++) drive_ready(*handle->top, n, handle->waiting[n] = false);
    drive_reset(*handle->top, true);
    for (uint64_t c = 0; c < cycles; c++) { handle->top->eval(); handle->clock(); }
    drive_reset(*handle->top, false);
}

void model_memory(void* pointer, uint8_t* bytes, uint64_t size) {
    auto& memory = static_cast<Handle*>(pointer)->memory;
    memory.bytes = bytes;
    memory.size = size;
    memory.stray = 0;
}

uint64_t model_stray(void* pointer) { return static_cast<Handle*>(pointer)->memory.stray; }

// Writes clocks from..to - 1 to a file, counted from here.
void model_wave(void* pointer, const char* path, uint64_t from, uint64_t to) {
    auto* handle = static_cast<Handle*>(pointer);
    handle->cycle = 0;
    handle->wave_from = from;
    handle->wave_to = to;
    handle->wave.reset(new Wave{*handle->context, *handle->top, path});
}

void model_wave_end(void* pointer) { static_cast<Handle*>(pointer)->wave.reset(); }

uint64_t model_run(void* pointer, const Run* run) {
    auto* handle = static_cast<Handle*>(pointer);
    Top& top = *handle->top;
    std::unique_ptr<Gate> gate[INPUTS + OUTPUTS + 1];
    for (unsigned n = 0; n < INPUTS + OUTPUTS; n++)
        gate[n].reset(new Gate(run->seed + n, run->closing[n], run->longest[n]));
    uint64_t cycle = 0, still = 0, stuck = 0;
    bool stop = false;
    while (cycle < run->max_cycles && still < run->quiet && stuck < run->patience && !stop) {
        bool work = false, all_ready = true, moved = false, more_left = false;
        for (unsigned n = 0; n < INPUTS; n++) {
            const bool more = run->taken[n] < run->count[n];
            handle->offered[n] |= gate[n]->open() && more;
            if (handle->offered[n] && more)
                drive_payload(top, n, run->beats[n] + run->taken[n] * INPUT_SIZE[n]);
            drive_valid(top, n, handle->offered[n]);
            work |= more;
        }
        bool ready[OUTPUTS + 1];
        for (unsigned n = 0; n < OUTPUTS; n++) {
            ready[n] = gate[INPUTS + n]->open();
            drive_ready(top, n, ready[n]);
            all_ready &= ready[n];
        }
        top.eval();
        for (unsigned n = 0; n < INPUTS; n++) {
            if (!handle->offered[n] || !input_ready(top, n)) continue;
            handle->offered[n] = false;
            run->input_stamp[n][run->taken[n]++] = cycle;
            moved = true;
        }
        for (unsigned n = 0; n < INPUTS; n++) more_left |= run->taken[n] < run->count[n];
        stop = run->all_sent && !more_left;
        for (unsigned n = 0; n < OUTPUTS; n++) {
            uint32_t beat[OUTPUT_WORDS];
            const bool valid = output_valid(top, n);
            const size_t bytes = 4 * OUTPUT_SIZE[n];
            read_payload(top, n, beat);
            if (handle->waiting[n] && (!valid || std::memcmp(beat, handle->held[n], bytes) != 0))
                run->broken[n]++;
            handle->waiting[n] = valid && !ready[n];
            std::memcpy(handle->held[n], beat, bytes);
            if (valid && ready[n]) {
                if (run->given[n] < run->capacity[n]) {
                    std::memcpy(run->results[n] + run->given[n] * OUTPUT_SIZE[n], beat, bytes);
                    run->output_stamp[n][run->given[n]] = cycle;
                }
                run->given[n]++;
                moved = true;
                stop |= run->any_full && run->given[n] == run->capacity[n];
            }
            work |= valid;
        }
        still = work ? 0 : still + all_ready;
        stuck = moved ? 0 : stuck + 1;
        handle->clock();
        cycle++;
    }
    return cycle;
}

}  // extern "C"
